"""Write grammars in GBNF."""

import re
from collections.abc import Iterable

from ..automata.regex_ir import ANY_CHARACTER
from ..grammar.tree import Grammar, Token
from .printer import CHOICE, CodePoints, NoCounterpart, Style, Text, all_others, escaped

_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
_IN_STRINGS = {**_NAMED, '"': r"\""}
_IN_CLASSES = {**_NAMED, "[": r"\[", "]": r"\]", "^": r"\x5E", "-": r"\x2D"}

# Token ids are written as alternatives one by one up to so many.
_LISTED_TOKENS = 100


class GbnfStyle(Style):
    """GBNF's syntax."""

    name = "GBNF"

    def literal(self, data: bytes) -> Text:
        """A string in double quotes."""
        return Text(f'"{escaped(data.decode("utf-8"), _IN_STRINGS)}"')

    def characters(self, ranges: CodePoints) -> Text:
        """A class, negated where that is shorter."""
        if ranges == ANY_CHARACTER.ranges:
            return Text(".")
        others = all_others(ranges)
        head, members = ("[^", others) if 0 < len(others) < len(ranges) else ("[", ranges)
        return Text(head + "".join(_member(low, high) for low, high in members) + "]")

    def token(self, token: Token) -> Text:
        """A name or ids; several ids are alternatives, which cannot be negated."""
        if not self.can_be_named(token):
            raise NoCounterpart("GBNF names a token as <name> or by its number")
        if token.name is not None or (len(token.ids) == 1 and token.ids[0][0] == token.ids[0][1]):
            return Text(token.text)
        count = sum(high - low + 1 for low, high in token.ids)
        if token.negated or not 0 < count <= _LISTED_TOKENS:
            raise NoCounterpart("GBNF names one token or all tokens but one")
        ids = [i for low, high in token.ids for i in range(low, high + 1)]
        return Text(self.bar.join(f"<[{i}]>" for i in ids), CHOICE)

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """? * + or a count in braces."""
        return Text(item.within() + self.in_braces(low, high))

    def valid(self, name: str) -> str:
        """llama.cpp has no underscores in names."""
        return re.sub(r"[^A-Za-z0-9_-]" if self.is_own else r"[^A-Za-z0-9-]", "-", name)

    def names(self, grammar: Grammar, fixed: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
        """The start rule is called ``root``."""
        return super().names(grammar, [(grammar.start, "root"), *fixed])


def _member(low: int, high: int) -> str:
    first, last = (escaped(chr(code), _IN_CLASSES) for code in (low, high))
    return first if low == high else f"{first}-{last}"
