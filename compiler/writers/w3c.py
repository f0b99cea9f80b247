"""Write grammars in the W3C's EBNF."""

import re

from ..grammar.tree import Grammar, Literal, walk
from ..lnf.longest_ignored import weave_longest
from .printer import ATOM, CHOICE, SEQUENCE, CodePoints, Style, Text, in_quotes

_EMPTY = '""'


class W3cStyle(Style):
    """W3C's syntax: strings have no escapes, other characters are ``#xN``."""

    name = "W3C's EBNF"

    def literal(self, data: bytes) -> Text:
        """Strings in either quote and code points, one after the other."""
        pieces: list[str] = []
        for part in re.findall(r"[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+", data.decode("utf-8")):
            for run in in_quotes(part):
                if run.isprintable():
                    pieces.append(run)
                else:
                    pieces.extend(f"#x{ord(char):X}" for char in run[1:-1])
        if len(pieces) == 1:
            return Text(pieces[0])
        return Text(" ".join(pieces), SEQUENCE) if pieces else Text(_EMPTY)

    def characters(self, ranges: CodePoints) -> Text:
        """A class; in letters and digits if it has no others, else in code points."""
        plain = all(_is_plain(code) for pair in ranges for code in pair)
        shown = chr if plain else "#x{:X}".format
        members = [shown(a) if a == b else f"{shown(a)}-{shown(b)}" for a, b in ranges]
        return Text(f"[{''.join(members)}]")

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """? * + after the item; there are no counts."""
        return self.suffixed(item, low, high)

    def difference(self, left: Text, right: Text) -> Text:
        """A - B; binds tighter than a sequence, and stands in brackets there all the same."""
        return Text(f"{left.within()} - {right.within()}", CHOICE)

    def valid(self, name: str) -> str:
        """Words with dots and hyphens inside."""
        safe = re.sub(r"[^\w.-]", "_", name)
        return re.sub(r"^(?=[\d.-])", "_", safe).rstrip(".-") or "_"

    def write(self, grammar: Grammar) -> str:
        """Ignored text is woven in unless it is of this dialect."""
        if not self._keeps_passed(grammar):
            grammar = weave_longest(grammar)
        names = self.names(grammar)
        if names[grammar.start] != "start":
            # A rule of that name would be taken for the start.
            names = {old: "start_" if new == "start" else new for old, new in names.items()}
        first = [grammar.start] if names[grammar.start] != "start" else []
        bodies = self.bodies(grammar, names, first)
        terminals = grammar.terminals if grammar.ignored else frozenset[str]()
        lines = {name: self.rule.format(names[name], body) for name, body in bodies.items()}
        text = "".join(line for name, line in lines.items() if name not in terminals)
        if not grammar.ignored:
            return text
        passed = [self.expression(expr, names, grammar.source) for expr in grammar.ignored]
        below = "".join(line for name, line in lines.items() if name in terminals)
        return f"{text}@terminals\n{below}" + "".join(f"@pass {body}\n" for body in passed)

    def _keeps_passed(self, grammar: Grammar) -> bool:
        """Whether each terminal of the rules is written as one, so that @pass means the same."""
        if not self.is_own or grammar.start in grammar.terminals:
            return False
        parts = (part for rule in grammar.rules if not rule.terminal for part in walk(rule.body))
        literals = (part.data for part in parts if isinstance(part, Literal))
        return all(self.literal(data).binds == ATOM for data in literals)


def _is_plain(code: int) -> bool:
    char = chr(code)
    return char.isascii() and char.isalnum()
