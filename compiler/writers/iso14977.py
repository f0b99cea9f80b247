"""Write grammars in ISO/IEC 14977 EBNF."""

import re

from ..automata.regex_ir import ANY_CHARACTER
from ..grammar.tree import Pattern
from .printer import ATOM, CHOICE, SEQUENCE, CodePoints, NoCounterpart, Style, Text, in_quotes

# A class is written as its characters one by one up to so many.
_LISTED = 100

_ANY = "? any character ?"


class Iso14977Style(Style):
    """The standard's syntax: commas between items, no classes, no escapes."""

    name = "ISO 14977"
    joiner = ", "
    rule = "{} = {};\n"

    def literal(self, data: bytes) -> Text:
        """Strings in either quote; an empty group for ε."""
        text = data.decode("utf-8")
        if "\n" in text or "\r" in text:
            raise NoCounterpart("ISO 14977 has no way to write a line break")
        pieces = in_quotes(text)
        if len(pieces) == 1:
            return Text(pieces[0])
        return Text(self.joiner.join(pieces), SEQUENCE) if pieces else Text("()")

    def characters(self, ranges: CodePoints) -> Text:
        """An alternative for each character."""
        if ranges == ANY_CHARACTER.ranges:
            return Text(_ANY)
        codes = [code for low, high in ranges for code in range(low, min(high, low + _LISTED) + 1)]
        if len(codes) > _LISTED:
            raise NoCounterpart("ISO 14977 has no character classes, and this one is large")
        return Text(self.bar.join(self.literal(chr(c).encode()).text for c in codes), CHOICE)

    def pattern(self, pattern: Pattern) -> Text | None:
        """There are no classes: all is spelled out."""
        return None

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """[x], {x}, {x}-, n * x; other counts are spelled out."""
        brackets = {(0, 1): ("[", "]"), (0, None): ("{", "}"), (1, None): ("{", "}-")}
        if (low, high) in brackets:
            before, behind = brackets[low, high]
            return Text(before + item.text + behind, SEQUENCE if behind == "}-" else ATOM)
        if low == high:
            return Text(f"{low} * {item.within()}", SEQUENCE)
        return self.spelled_out(item, low, high)

    def difference(self, left: Text, right: Text) -> Text:
        """a - b; in brackets inside a sequence."""
        return Text(f"{left.within()} - {right.within()}", CHOICE)

    def excluding(self, item: Text, at_most: int | None) -> Text:
        """There is none."""
        raise NoCounterpart("ISO 14977 has no exclusion but the difference")

    def valid(self, name: str) -> str:
        """Letters and digits, with single spaces."""
        return re.sub(r"^(?=[\d_])", "x", re.sub(r"[^\w ]", " ", name)).strip() or "x"
