r"""The syntax of ECMA-262's regular expressions, in unicode mode, as JSON Schema has them.

    ^(?=.*\d)[a-z]{2,}$   ->   edge, look-around, repetition of a set, edge

Where ``u`` makes an error of what browsers read without it and what schemas do write, it is read as
there (annex B): ``\-`` and other escaped marks, ``{`` and ``]`` as themselves, ``[\w-.]``. Escaped
letters without a meaning are errors, as engines disagree about them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypeAlias

from ..automata import regex_ir as ir
from ..limits import check_in_force
from ..unicode.properties import UnknownPropertyError, property_code_points
from ..unicode.utf8 import ANY, SURROGATES, CodePoints, complement, intersection, normalized

# Groups inside groups.
_DEEPEST = 100

_STAGE = "reading a pattern"

_DIGIT: CodePoints = ((0x30, 0x39),)
_WORD: CodePoints = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: CodePoints = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_LINE_ENDS: CodePoints = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(,(\d*))?\})(\?)?", re.ASCII)
_NAME = re.compile(r"<[\w$]+>")
_HEX_ESCAPE = re.compile(
    r"x(?P<x>[0-9a-fA-F]{2})"
    r"|u(?:\{(?P<braces>[0-9a-fA-F]+)\}|(?P<unit>[0-9a-fA-F]{4}))"
    r"|c(?P<control>[a-zA-Z])"
)
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTY = re.compile(r"[pP]\{([^}]*)\}")

_FLAGS = re.compile(r"\?[a-zA-Z]*-?[a-zA-Z]+[:)]")

_ANCHORS_OF_OTHERS = {"A": "^", "z": "$", "Z": "$"}


class PatternError(Exception):
    """What is wrong with a pattern: ``index``, the character where; ``message``; ``hint``, how to
    mend it, or empty."""

    def __init__(self, index: int, message: str, hint: str = "") -> None:
        super().__init__(f"character {index + 1} of the pattern: {message}")
        self.index, self.message, self.hint = index, message, hint


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """An expression without groups: a set of characters, a character, a word boundary."""

    node: ir.Node


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """The start of the text (``is_start``), or its end."""

    is_start: bool


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """A look-ahead, or else a look-behind; it stands at ``index``."""

    is_ahead: bool
    is_negative: bool
    inside: "Tree"
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One part after the other."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of some options."""

    options: tuple["Tree", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repetition:
    """``inside``, ``least`` to ``most`` times (None: any number); ``text``: as it is written."""

    inside: "Tree"
    least: int
    most: int | None
    text: str


Tree: TypeAlias = Atom | Edge | Around | Sequence | Choice | Repetition


def parse(pattern: str) -> Tree:
    """The tree of a pattern. Raises ``PatternError``."""
    return _Parser(pattern).parse()


class _Group(NamedTuple):
    """A group that is open: where it begins and the kind of its bracket, ``?=`` and so on; options
    that are finished, and the parts of the last one."""

    begin: int
    kind: str
    options: list[Tree]
    parts: list[Tree]

    def tree(self) -> Tree:
        """What stands between the brackets."""
        options = [*self.options, _sequence(self.parts)]
        return options[0] if len(options) == 1 else Choice(tuple(options))


def _sequence(parts: list[Tree]) -> Tree:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._place = 0
        self._groups = [_Group(0, "", [], [])]
        # Where the last part begins, if it may be repeated.
        self._repeatable: int | None = None

    def parse(self) -> Tree:
        for number in count():
            if self._place >= len(self._text):
                break
            if not number & 1023:
                check_in_force(_STAGE)
            self._term()
        if len(self._groups) > 1:
            raise PatternError(self._groups[-1].begin, "this group is not closed", "add )")
        return self._groups[0].tree()

    def _term(self) -> None:
        begin, text = self._place, self._text
        char = text[begin]
        parts = self._groups[-1].parts
        quantifier = _QUANTIFIER.match(text, begin)
        if quantifier:
            self._repeat(quantifier)
            return
        self._place += 1
        if char == "(":
            self._open(begin)
        elif char == ")":
            self._close(begin)
        elif char == "|":
            group = self._groups[-1]
            group.options.append(_sequence(list(parts)))
            parts.clear()
            self._repeatable = None
        elif char in "^$":
            parts.append(Edge(char == "^"))
            self._repeatable = None
        elif text.startswith((r"\b", r"\B"), begin):
            self._place += 1
            boundary = ir.LookKind.ASCII_WORD if text[begin + 1] == "b" else _NOT_WORD
            parts.append(Atom(ir.Look(boundary)))
            self._repeatable = None
        else:
            parts.append(Atom(ir.char_class(self._set(begin))))
            self._repeatable = begin

    def _set(self, begin: int) -> CodePoints:
        """The characters that one term stands for."""
        char = self._text[begin]
        if char == ".":
            return intersection(complement(_LINE_ENDS), ANY)
        if char == "[":
            return self._class(begin)
        if char == "\\":
            return self._escape(begin, inside_class=False).ranges
        return ((ord(char), ord(char)),)

    def _repeat(self, quantifier: re.Match[str]) -> None:
        begin, parts = quantifier.start(), self._groups[-1].parts
        if self._repeatable is None:
            raise PatternError(begin, f"there is nothing that {quantifier[0]} could repeat")
        low, rest, high, _ = quantifier.groups()
        if low is None:
            least = 1 if quantifier[0][0] == "+" else 0
            most = 1 if quantifier[0][0] == "?" else None
        else:
            least = _count(low)
            most = least if rest is None else _count(high) if high else None
        if most is not None and most < least:
            raise PatternError(begin, f"{quantifier[0]} has its counts in the wrong order")
        text = self._text[self._repeatable : quantifier.end()]
        parts[-1] = Repetition(parts[-1], least, most, text)
        self._place = quantifier.end()
        self._repeatable = None

    def _open(self, begin: int) -> None:
        text, place = self._text, self._place
        kind = "("
        if text.startswith("?", place):
            kinds = [k for k in ("?:", "?=", "?!", "?<=", "?<!") if text.startswith(k, place)]
            name = _NAME.match(text, place + 1)
            if kinds:
                kind, self._place = kinds[0], place + len(kinds[0])
            elif name:
                self._place = name.end()
            elif text.startswith("?P<", place):
                raise PatternError(begin, "a named group is written (?<name>…)", "leave out the P")
            elif _FLAGS.match(text, place):
                raise PatternError(begin, "patterns of JSON Schema have no flags")
            else:
                raise PatternError(begin, "unknown kind of group")
        if len(self._groups) > _DEEPEST:
            raise PatternError(begin, f"more than {_DEEPEST} groups inside one another")
        self._groups.append(_Group(begin, kind, [], []))
        self._repeatable = None

    def _close(self, begin: int) -> None:
        if len(self._groups) == 1:
            raise PatternError(begin, "there is no group to close", r"for the character write \)")
        group = self._groups.pop()
        tree = group.tree()
        is_around = group.kind in ("?=", "?!", "?<=", "?<!")
        if is_around:
            negative, ahead = group.kind[-1] == "!", "<" not in group.kind
            tree = Around(ahead, negative, tree, group.begin)
        self._groups[-1].parts.append(tree)
        self._repeatable = None if is_around else group.begin

    def _class(self, begin: int) -> CodePoints:
        """A bracketed class; the bracket is read."""
        negated = self._text.startswith("^", self._place)
        self._place += negated
        found: list[tuple[int, int]] = []
        while not self._text.startswith("]", self._place):
            found.extend(self._member(begin))
        self._place += 1
        ranges = normalized(found)
        return intersection(complement(ranges), ANY) if negated else ranges

    def _member(self, begin: int) -> Iterator[tuple[int, int]]:
        """A character, an escape or a range."""
        place = self._place
        low = self._one(begin)
        if not self._text.startswith("-", self._place) or self._text.startswith("-]", self._place):
            yield from low.ranges
            return
        self._place += 1
        high = self._one(begin)
        if low.is_single and high.is_single:
            first, last = low.ranges[0][0], high.ranges[0][0]
            if last < first:
                text = self._text[place : self._place]
                raise PatternError(place, f"the range {text} has its ends in the wrong order")
            yield first, last
            return
        yield from low.ranges
        yield ord("-"), ord("-")
        yield from high.ranges

    def _one(self, begin: int) -> "_Characters":
        """One character or escape inside a class, or a set."""
        if self._place >= len(self._text):
            raise PatternError(begin, "this class is not closed", "add ]")
        char = self._text[self._place]
        self._place += 1
        if char == "\\":
            return self._escape(self._place - 1, inside_class=True)
        return _Characters(((ord(char), ord(char)),), True)

    def _escape(self, begin: int, inside_class: bool) -> "_Characters":
        """What follows a backslash, which is read."""
        text, place = self._text, self._place
        if place >= len(text):
            raise PatternError(begin, "the pattern ends in a backslash", r"for itself write \\")
        letter = text[place]
        self._place += 1
        if letter in "dDwWsS":
            ranges = {"d": _DIGIT, "w": _WORD, "s": _SPACE}[letter.lower()]
            others = intersection(complement(ranges), ANY)
            return _Characters(ranges if letter.islower() else others, False)
        if letter in _CONTROLS:
            return _one(_CONTROLS[letter])
        if letter == "b" and inside_class:
            return _one(8)
        if letter == "0" and not text[place + 1 : place + 2].isdigit():
            return _one(0)
        if letter in "xuc" and (found := _HEX_ESCAPE.match(text, place)):
            return self._code_point(begin, found)
        if letter in "pP":
            return self._property(begin, place)
        if letter in "123456789k":
            raise PatternError(begin, "a back-reference, which no finite automaton can follow")
        if letter in _ANCHORS_OF_OTHERS:
            raise PatternError(
                begin, f"ECMA-262 has no \\{letter}", f"write {_ANCHORS_OF_OTHERS[letter]}"
            )
        if letter.isascii() and letter.isalnum():
            raise PatternError(begin, f"unknown escape \\{letter}")
        return _one(ord(letter))

    def _code_point(self, begin: int, found: re.Match[str]) -> "_Characters":
        self._place = found.end()
        if found["control"]:
            return _one(ord(found["control"]) % 32)
        code = int(found["x"] or found["braces"] or found["unit"], 16)
        if code > 0x10FFFF:
            raise PatternError(begin, f"\\{found[0]} is no code point")
        if found["unit"] and SURROGATES[0] <= code < 0xDC00:
            low = _LOW_SURROGATE.match(self._text, self._place)
            if low:
                self._place = low.end()
                return _one(0x10000 + (code - 0xD800 << 10) + int(low[1], 16) - 0xDC00)
        return _one(code)

    def _property(self, begin: int, place: int) -> "_Characters":
        found = _PROPERTY.match(self._text, place)
        if not found:
            raise PatternError(begin, "a property is written \\p{…}")
        self._place = found.end()
        try:
            ranges = property_code_points(found[1])
        except UnknownPropertyError as error:
            hint = f"did you mean {error.suggestion!r}?" if error.suggestion else ""
            raise PatternError(begin, f"there is no property {found[1]!r}", hint) from None
        if found[0][0] == "P":
            ranges = complement(ranges)
        return _Characters(intersection(ranges, ANY), False)


class _Characters(NamedTuple):
    """Code points, and whether they are one character that may end a range."""

    ranges: CodePoints
    is_single: bool


def _one(code: int) -> _Characters:
    return _Characters(((code, code),), True)


def _count(digits: str) -> int:
    """A count; those that no automaton can have are cut."""
    return int(digits.lstrip("0")[:_LONGEST_COUNT] or "0")


_LONGEST_COUNT = 18
_NOT_WORD = ir.LookKind.ASCII_NOT_WORD
