"""Write grammars in ABNF."""

import re
from collections.abc import Iterable, Mapping

from ..automata.utf8 import SURROGATES
from ..dialects.ebnf.abnf import CORE
from ..grammar.tree import Grammar, Pattern
from .printer import ATOM, CHOICE, CodePoints, Style, Text

# A text in either case, as Lark writes it, with escapes of backslashes alone.
_EITHER_CASE = re.compile(r'"((?:[ !#-\[\]-~]|\\\\)*)"i')


class AbnfStyle(Style):
    """ABNF's syntax: strings in either case, characters as numbers, repeats before items."""

    name = "ABNF"
    bar = " / "
    rule = "{} = {}\n"

    def literal(self, data: bytes) -> Text:
        """A string, after %s if it has letters; code points where one is not plain."""
        text = data.decode("utf-8")
        if re.fullmatch(r"[ !#-~]*", text):
            return Text(f'{"%s" * (text.upper() != text.lower())}"{text}"')
        return Text("%x" + ".".join(f"{ord(char):X}" for char in text))

    def characters(self, ranges: CodePoints) -> Text:
        """An alternative for each range; one that has all around the surrogates goes over them."""
        joined: list[tuple[int, int]] = []
        for first, last in ranges:
            if joined and (joined[-1][1] + 1, first - 1) == SURROGATES:
                first, _ = joined.pop()
            joined.append((first, last))
        parts = [f"%x{a:X}" if a == b else f"%x{a:X}-{b:X}" for a, b in joined]
        return Text(self.bar.join(parts), CHOICE if len(parts) > 1 else ATOM)

    def pattern(self, pattern: Pattern) -> Text | None:
        """A text in either case is a string; regexes are spelled out."""
        if self.keeps_cases(pattern) and (found := _EITHER_CASE.fullmatch(pattern.text)):
            return Text('"' + found[1].replace(r"\\", "\\") + '"')
        return super().pattern(pattern)

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """[x], *x, 1*x, 3x or 2*4x."""
        if (low, high) == (0, 1):
            return Text(f"[{item.text}]")
        inside = item.within()
        if inside[0] in "*0123456789":
            inside = f"({inside})"
        least, most = str(low or ""), "" if high is None else str(high)
        return Text((str(low) if low == high else f"{least}*{most}") + inside)

    def valid(self, name: str) -> str:
        """Letters, digits and hyphens."""
        return re.sub(r"^(?=[^A-Za-z])", "x-", re.sub(r"[^A-Za-z0-9-]", "-", name))

    def alike(self, name: str) -> str:
        """The same in either case."""
        return name.lower()

    def bodies(
        self, grammar: Grammar, names: Mapping[str, str], first: Iterable[str] = ()
    ) -> dict[str, str]:
        """Without rules that every grammar has, under the same names."""
        written = grammar.rules if self.is_own else ()
        patterns = {rule.name: rule.body.text for rule in written if isinstance(rule.body, Pattern)}
        core = dict(patterns.items() & CORE.items()).keys() - {grammar.start}
        found = super().bodies(grammar, names, first)
        return {name: body for name, body in found.items() if name not in core}
