r"""Escapes and bracketed classes of regexes: sets of characters or bytes, or assertions.

    \d            ->  Nd                    [\w--[a-z]]  ->  a difference of sets
    (?i)[k]        ->  k, K, the Kelvin sign  \b           ->  an assertion

Which set it is depends on the flags at the place: under i the other cases are added, and then the
set is negated if it is; without u it holds bytes; under a, classes and cases are those of ASCII.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ..automata import regex_ir as ir
from ..diagnostics import Span
from ..unicode import class_ranges
from ..unicode.properties import UnknownPropertyError, property_code_points, with_other_cases
from ..unicode.utf8 import ANY, complement, intersection, normalized
from .builder import HEX_DIGITS, Builder, Token, is_scalar
from .regex_lexer import CONTROL, PLAIN, Flags, RegexToken

_PERL = {"d": "digit", "s": "space", "w": "word"}
_KINDS = {"d": "DIGIT", "s": "WHITESPACE", "w": "WORD"}
_WIDTHS = {"x": 2, "u": 4, "U": 8}

# Named classes of POSIX, which are ASCII; \d, \s and \w are three of them there.
POSIX: Mapping[str, ir.CodePoints] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}

_LOOKS = {
    "A": "START_TEXT",
    "z": "END_TEXT",
    "Z": "END_TEXT",
    "b": "WORD",
    "B": "NOT_WORD",
    "b{start}": "WORD_START",
    "b{end}": "WORD_END",
    "b{start-half}": "WORD_START_HALF",
    "b{end-half}": "WORD_END_HALF",
}

_UNSUPPORTED = {
    "G": r"\G asks where a search began, which a text to be written has not",
    "K": r"\K moves where a match begins, which says nothing about the text",
    "R": r"\R is not supported; write (?:\r\n|[\n\v\f\r\x85\u2028\u2029])",
    "X": r"\X, a grapheme cluster, is not supported",
    "N": r"\N{…}, a character by its name, is not supported; write \u{…}",
    "Q": r"\Q…\E is not supported; escape each character",
    "E": r"\Q…\E is not supported; escape each character",
    "C": r"\C is not supported; for a byte write \y{…} or (?-u:[\x00-\xFF])",
    "<": r"\< is an assertion to some and a character to others: write \b{start} or <",
    ">": r"\> is an assertion to some and a character to others: write \b{end} or >",
}


class EscapeError(Exception):
    """What is wrong with an escape, and how to mend it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class Set(NamedTuple):
    """What an escape stands for: code points, or bytes if ``raw``. ``single``: by its spelling it
    is one character, which can end a range. ``negated``: all others are meant; they are not
    taken yet because (?i) adds the other cases first."""

    ranges: ir.CodePoints
    kind: str = "BRACKET"
    raw: bool = False
    single: bool = False
    negated: bool = False


def is_bytes(flags: Flags) -> bool:
    """Whether an atom stands for bytes there."""
    return "u" not in flags


def is_ascii(flags: Flags) -> bool:
    """Whether classes and cases are those of ASCII there."""
    return "a" in flags or "u" not in flags


def look_of(text: str, flags: Flags) -> ir.LookKind | None:
    """The assertion that an escape is, if it is one."""
    name = _LOOKS.get(text[1:])
    if name is None:
        return None
    if "WORD" in name and is_ascii(flags):
        name = f"ASCII_{name}"
    return ir.LookKind[name]


def set_of(text: str, flags: Flags, inside_class: bool) -> Set:
    """The set that an escape stands for. Raises ``EscapeError``."""
    letter = text[1]
    if letter.lower() in _PERL:
        return _perl(letter, flags)
    if letter in CONTROL and len(text) == 2:
        return _one(CONTROL[letter])
    if letter == "b" and inside_class and len(text) == 2:
        return _one(8)
    if letter in "xuU":
        return _code_point(text, flags)
    if letter == "y":
        return _raw_byte(text)
    if letter in "pP":
        return _property(text, flags)
    if letter.isdigit():
        return _octal(text, inside_class)
    if letter in "kg" and len(text) > 2:
        raise EscapeError(f"{text} is a back-reference, which no finite automaton can follow")
    if letter in _UNSUPPORTED and not (letter in "<>" and PLAIN in flags):
        raise EscapeError(_UNSUPPORTED[letter])
    if letter == "b":
        raise EscapeError(f"unknown escape {text}", "known: start, end, start-half, end-half")
    if letter.isascii() and letter.isalnum():
        raise EscapeError(f"unknown escape {text}")
    return _one(ord(letter))


def _one(code: int) -> Set:
    return Set(((code, code),), single=True)


def _perl(letter: str, flags: Flags) -> Set:
    name = _PERL[letter.lower()]
    ranges = POSIX[name] if is_ascii(flags) else class_ranges(name)
    kind = _KINDS[letter.lower()]
    if letter.islower():
        return Set(ranges, kind)
    return Set(ranges, f"NOT_{kind}", negated=True)


def _code_point(text: str, flags: Flags) -> Set:
    letter, braces = text[1], text[2:3] == "{"
    digits = text[3:-1] if braces else text[2:]
    if not braces and len(digits) != _WIDTHS[letter]:
        raise EscapeError(f"\\{letter} needs {_WIDTHS[letter]} hexadecimal digits, or braces")
    code = int(digits, 16) if 0 < len(digits) < 9 and HEX_DIGITS.issuperset(digits) else -1
    if code < 0 or not is_scalar(code):
        raise EscapeError(f"{text} is no code point that UTF-8 can encode")
    raw = is_bytes(flags) and letter == "x" and not braces and code > 0x7F
    return Set(((code, code),), raw=raw, single=True)


def _raw_byte(text: str) -> Set:
    digits = text[3:-1]
    if text[2:3] != "{" or len(digits) != 2 or not HEX_DIGITS.issuperset(digits):
        raise EscapeError(r"\y needs two hexadecimal digits in braces, as in \y{FF}")
    code = int(digits, 16)
    return Set(((code, code),), raw=True, single=True)


def _octal(text: str, inside_class: bool) -> Set:
    digits = text[1:]
    octal = set(digits) <= set("01234567")
    if octal and (digits[0] == "0" or len(digits) == 3 or inside_class):
        return _one(int(digits, 8))
    raise EscapeError(f"{text} is a back-reference, which no finite automaton can follow")


def _property(text: str, flags: Flags) -> Set:
    name = text[3:-1] if text[2:3] == "{" else text[2:]
    negated = name.startswith("^")
    if is_bytes(flags):
        raise EscapeError(f"{text} is about characters, but (?-u) is about bytes")
    try:
        ranges = property_code_points(name.removeprefix("^"))
    except UnknownPropertyError as error:
        hint = f"did you mean {error.suggestion!r}?" if error.suggestion else None
        raise EscapeError(f"there is no property {name!r} in {text}", hint) from None
    return Set(ranges, negated=negated != (text[1] == "P"))


ALL_BYTES: ir.CodePoints = ((0, 255),)


def cased(ranges: Iterable[tuple[int, int]], flags: Flags) -> ir.CodePoints:
    """``ranges``, and under i their other cases."""
    if "i" not in flags:
        return normalized(ranges)
    if not is_ascii(flags):
        return with_other_cases(normalized(ranges))
    found = list(ranges)
    for low, high in list(found):
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                found.append((max(low, first) + shift, min(high, last) + shift))
    return normalized(found)


@lru_cache(maxsize=1024)
def cases_of(code: int, flags: Flags) -> ir.CodePoints:
    """The same of one character."""
    return cased([(code, code)], flags)


def others(ranges: Iterable[tuple[int, int]], flags: Flags) -> ir.CodePoints:
    """All other characters, or all other bytes under -u."""
    if not is_bytes(flags):
        return complement(ranges)
    return intersection(complement(ranges), ALL_BYTES)


def combined(operator: str, left: ir.CodePoints, right: ir.CodePoints) -> ir.CodePoints:
    """``&&`` intersection, ``--`` difference, ``~~`` symmetric difference."""
    if operator == "&&":
        return intersection(left, right)
    only_left = intersection(left, complement(right))
    if operator == "--":
        return only_left
    return normalized((*only_left, *intersection(right, complement(left))))


def node_of(ranges: ir.CodePoints, flags: Flags, kind: str = "BRACKET") -> ir.Node:
    """One character of a set, or one byte under -u."""
    if is_bytes(flags):
        return ir.byte_class(ranges)
    return ir.char_class(ranges, kind)


def any_node(flags: Flags) -> ir.Node:
    """The dot: line feeds are in it under s alone, and under R carriage returns neither."""
    ranges = _any_ranges(flags)
    return ir.byte_class(ranges) if is_bytes(flags) else ir.char_class(ranges, "ANY")


@cache
def _any_ranges(flags: Flags) -> ir.CodePoints:
    everything = ALL_BYTES if is_bytes(flags) else ANY
    ends = [(10, 10), (13, 13)] if "R" in flags else [(10, 10)]
    return normalized(everything if "s" in flags else intersection(everything, complement(ends)))


@dataclass(frozen=True, slots=True)
class Bracketed:
    """What a bracketed class holds, and where it stands."""

    ranges: ir.CodePoints
    flags: Flags
    span: Span


class ClassBuilder(Builder):
    """The part of the builder of regular expressions that reads classes."""

    def bracketed(self, items: list[Any]) -> Bracketed:
        """[…] and [^…]; the operators hold equally, from left to right."""
        opening, closing = items[0], items[-1]
        flags = opening.flags
        operator = ""
        result: ir.CodePoints = ()
        for item in items[1:-1]:
            if isinstance(item, Token):
                operator = str(item)
                continue
            operand = cased(item, flags)
            result = combined(operator, result, operand) if operator else operand
        if opening.endswith("^"):
            result = others(result, flags)
        return Bracketed(result, flags, opening.span.cover(closing.span))

    def members(self, items: list[Bracketed | ir.CodePoints]) -> ir.CodePoints:
        """What stands between the brackets or operators of a class."""
        sets = (item.ranges if isinstance(item, Bracketed) else item for item in items)
        return normalized(piece for ranges in sets for piece in ranges)

    def member(self, items: list[RegexToken]) -> ir.CodePoints:
        """A character or an escape in a class."""
        token = items[0]
        return self.in_case(self._found(token), token)

    def posix(self, items: list[RegexToken]) -> ir.CodePoints:
        """[:alpha:] and [:^alpha:]"""
        token = items[0]
        negated = token.startswith("[:^")
        name = token[3 if negated else 2 : -2]
        if name not in POSIX:
            known = ", ".join(POSIX)
            self.report(f"there is no class [:{name}:]", token.span, f"known: {known}")
            return ()
        return self.in_case(Set(POSIX[name], negated=negated), token)

    def range(self, items: list[RegexToken]) -> ir.CodePoints:
        """a-z"""
        first, _, last = items
        span = first.span.cover(last.span)
        ends = []
        for token in (first, last):
            found = self._found(token)
            if not found.ranges:
                return ()
            if not found.single:
                self.report(f"{token} is a class and cannot end a range", span)
                return ()
            ends.append(found.ranges[0][0])
        low, high = ends
        if low > high:
            text = self.source.text[span.start : span.end]
            self.report(f"the range {text} runs backwards", span)
            return ()
        return ((low, high),)

    def escaped(self, token: RegexToken, *, inside_class: bool) -> Set:
        """The set that an escape stands for, nothing if it is wrong."""
        try:
            return set_of(str(token), token.flags, inside_class)
        except EscapeError as error:
            self.report(error.message, token.span, error.hint)
            return Set(())

    def in_case(self, found: Set, token: RegexToken) -> ir.CodePoints:
        """The set's characters under the flags: other cases first, then the negation."""
        ranges = cased(found.ranges, token.flags)
        return others(ranges, token.flags) if found.negated else ranges

    def _found(self, token: RegexToken) -> Set:
        """The character or the escape at a place in a class."""
        if token.type == "CLASS_ESCAPE":
            found = self.escaped(token, inside_class=True)
        else:
            found = Set(((ord(token), ord(token)),), single=True)
        if found.raw and not is_bytes(token.flags):
            hint = "write (?-u:[…]) for a class of bytes"
            self.report("a byte cannot stand in a class of characters", token.span, hint)
        elif found.single and not found.raw and is_bytes(token.flags):
            self._check_byte(found.ranges[0][0], token)
        return found

    def _check_byte(self, code: int, token: RegexToken) -> None:
        if code > 0x7F:
            message = "under (?-u) a class is of bytes, and this character has several"
            self.report(message, token.span, r"write bytes as \xHH")
