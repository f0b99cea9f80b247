"""Write grammars in ABNF."""

import re

from ..automata.utf8 import SURROGATES
from ..dialects.ebnf.abnf import CORE
from ..grammar.tree import Grammar, Pattern
from .printer import (
    ATOM,
    CHOICE,
    CodePoints,
    Style,
    Text,
    bodies_by_name,
    unique_names,
)

# A text in either case, as Lark writes it, with escapes of backslashes alone.
_EITHER_CASE = re.compile(r'"((?:[ !#-\[\]-~]|\\\\)*)"i')


class AbnfStyle(Style):
    """ABNF's syntax: strings in either case, characters as numbers, repeats before items."""

    name = "ABNF"
    bar = " / "

    def literal(self, data: bytes) -> Text:
        """A string, after %s if it has letters; code points where one is not plain."""
        text = data.decode("utf-8")
        if re.fullmatch(r"[ !#-~]*", text):
            return Text(f'{"%s" * (text.upper() != text.lower())}"{text}"', ATOM)
        return Text("%x" + ".".join(f"{ord(char):X}" for char in text), ATOM)

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
            return Text('"' + found[1].replace(r"\\", "\\") + '"', ATOM)
        return super().pattern(pattern)

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """[x], *x, 1*x, 3x or 2*4x."""
        if (low, high) == (0, 1):
            return Text(f"[{item.text}]", ATOM)
        inside = item.within(ATOM)
        if inside[0] in "*0123456789":
            inside = f"({inside})"
        least, most = str(low or ""), "" if high is None else str(high)
        return Text((str(low) if low == high else f"{least}*{most}") + inside, ATOM)


def write_abnf(grammar: Grammar) -> str:
    """The grammar as ABNF, its start rule first; one rule for each name. Raises ``WriterError``."""
    names = unique_names(grammar, _valid, alike=str.lower)
    bodies = bodies_by_name(
        grammar, AbnfStyle(grammar.source.dialect == "abnf"), names, [grammar.start]
    )
    # Rules that every grammar has, under the same names.
    written = grammar.rules if grammar.source.dialect == "abnf" else ()
    patterns = {rule.name: rule.body.text for rule in written if isinstance(rule.body, Pattern)}
    core = dict(patterns.items() & CORE.items()).keys() - {grammar.start}
    lines = (f"{names[name]} = {body}\n" for name, body in bodies.items() if name not in core)
    return "".join(lines)


def _valid(name: str) -> str:
    return re.sub(r"^(?=[^A-Za-z])", "x-", re.sub(r"[^A-Za-z0-9-]", "-", name))
