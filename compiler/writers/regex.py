"""Write regex nodes in the syntax of the dialect ``regex``."""

import re

from ..automata import regex_ir as regex
from ..automata.regex_ir import complement
from ..automata.unicode_properties import class_ranges
from .printer import SEQUENCE, CodePoints, NoCounterpart, Special, Style, Text, all_others, escaped

_SPECIAL = frozenset(r"\|.*+?{}()[]^$")
_OPERATORS = frozenset("&~")
# Where Python's ``surrogateescape`` puts a byte that is no UTF-8.
_ESCAPED_BYTE = 0xDC00
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_IN_CLASSES = {char: f"\\{char}" for char in r"\[]^-&~"} | _NAMED
_by_number = "\\x{{{:X}}}".format
_DOT = complement([(10, 10)])
_ANY = r"[\s\S]"
_LETTERS = {"digit": "d", "space": "s", "word": "w"}

# A class, a group, or one character.
_ONE_ITEM = re.compile(r"[\[(]|\\?.\Z", re.DOTALL)

# No class with a letter has fewer ranges, nor has its complement.
_FEWEST_RANGES = 8


class RegexStyle(Style):
    """The syntax of the dialect ``regex``, or ``regex-extended``, in which `&` and `~` are
    operators."""

    name = "a regex"
    joiner = ""
    bar = "|"

    def __init__(self, *, extended: bool = False) -> None:
        self._extended = extended
        special = _SPECIAL | _OPERATORS if extended else _SPECIAL
        self._named = {char: f"\\{char}" for char in special} | _NAMED

    def literal(self, data: bytes) -> Text:
        """Characters one after the other."""
        text = data.decode("utf-8")
        if not text:
            return Text("()")
        return Text(escaped(text, self._named, _by_number))

    def characters(self, ranges: CodePoints) -> Text:
        """A class, negated where that is shorter."""
        if ranges == _DOT:
            return Text(".")
        if len(ranges) >= _FEWEST_RANGES and (letter := _letter(ranges)):
            return Text(f"\\{letter}")
        others = all_others(ranges)
        if not others:
            return Text(_ANY)
        if len(others) < len(ranges):
            return Text(f"[^{_members(others)}]")
        return Text(f"[{_members(ranges)}]")

    def special(self, node: Special, inside: list[Text]) -> Text:
        """Assertions as their names say; a byte class stands in a group of its own."""
        match node:
            case regex.Look():
                return Text(node.kind.value)
            case regex.Around():
                return Text(f"{node.opening}{inside[0].text})")
            case regex.ByteClass():
                return Text(f"(?-u:[{''.join(_octets(*pair) for pair in node.ranges)}])")
        if not self._extended:
            raise NoCounterpart("intersections and complements are of regex-extended alone")
        if isinstance(node, regex.Not):
            return Text(f"~({inside[0].text})")
        return Text(f"({'&'.join(part.within(SEQUENCE) for part in inside)})")

    def raw(self, data: bytes) -> Text:
        """Characters, and the bytes that make none."""
        out = [
            f"\\y{{{ord(char) - _ESCAPED_BYTE:02X}}}"
            if _ESCAPED_BYTE <= ord(char) < _ESCAPED_BYTE + 0x100
            else escaped(char, self._named, _by_number)
            for char in data.decode("utf-8", "surrogateescape")
        ]
        return Text("".join(out))

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """? * + or a count."""
        # A quantifier after a quantifier would be lazy or possessive, and after a literal it
        # would repeat the last character alone.
        whole = _ONE_ITEM.match(item.text) and item.text[-1:] not in ("?", "*", "+", "}")
        inner = item.within() if whole else f"({item.text})"
        return Text(inner + self.in_braces(low, high))

    def lazy(self, repetition: Text) -> Text:
        """Another ? after it."""
        return Text(repetition.text + "?")


def _letter(ranges: CodePoints) -> str | None:
    """The letter of ``\\d``, ``\\s``, ``\\w`` and their complements."""
    for name, letter in _LETTERS.items():
        named = class_ranges(name)
        if ranges == named:
            return letter
        if all_others(ranges) == named:
            return letter.upper()
    return None


def _members(ranges: CodePoints) -> str:
    out = []
    for low, high in ranges:
        first, last = (escaped(chr(code), _IN_CLASSES, _by_number) for code in (low, high))
        out.append(first if low == high else f"{first}-{last}" if high > low + 1 else first + last)
    return "".join(out)


def _octets(low: int, high: int) -> str:
    return f"\\x{low:02X}" if low == high else f"\\x{low:02X}-\\x{high:02X}"
