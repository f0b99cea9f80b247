r"""Escapes and bracketed classes of regexes: sets of characters or bytes, or assertions.

    \d            ->  Nd                    [\w--[a-z]]  ->  a difference of sets
    (?i)[k]        ->  k, K, the Kelvin sign  \b           ->  an assertion

Which set it is depends on the flags at the place: under i the other cases are added, and then the
set is negated if it is; without u it holds bytes; under a, classes and cases are those of ASCII.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from ..automata import regex_ir as ir
from ..automata.unicode_properties import (
    UnknownPropertyError,
    class_ranges,
    property_code_points,
    with_other_cases,
)
from ..automata.utf8 import ANY, complement, intersection, normalized
from .regex_lexer import (
    CONTROL,
    ECMA,
    HEX_DIGITS,
    PLAIN,
    Flags,
    RegexLexer,
    RegexToken,
    Report,
    UnexpectedError,
)

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

# White space and the ends of lines in ECMA-262.
_ECMA_SPACE: ir.CodePoints = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_ECMA_ENDS = [(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]
_ANCHORS_OF_OTHERS = {"A": "^", "z": "$", "Z": "$"}

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

    def under(self, flags: Flags) -> ir.CodePoints:
        """Its characters under the flags: other cases first, then the negation."""
        ranges = cased(self.ranges, flags)
        return others(ranges, flags) if self.negated else ranges


def is_bytes(flags: Flags) -> bool:
    """Whether an atom stands for bytes there."""
    return "u" not in flags


def is_ascii(flags: Flags) -> bool:
    """Whether classes and cases are those of ASCII there."""
    return not flags.isdisjoint(("a", ECMA)) or "u" not in flags


def look_of(text: str, flags: Flags) -> ir.LookKind | None:
    """The assertion that an escape is, if it is one."""
    name = _LOOKS.get(text[1:])
    if name is None or (ECMA in flags and text[1] not in "bB"):
        return None
    if "WORD" in name and is_ascii(flags):
        name = f"ASCII_{name}"
    return ir.LookKind[name]


def set_of(text: str, flags: Flags, inside_class: bool) -> Set:
    """The set that an escape stands for. Raises ``EscapeError``."""
    letter = text[1]
    if letter.lower() in _PERL:
        return _perl(letter, flags)
    if ECMA in flags:
        return _ecma(text, flags, inside_class)
    if letter in CONTROL and len(text) == 2:
        return _one(CONTROL[letter])
    if letter == "b" and inside_class and len(text) == 2:
        return _one(8)
    if letter == "c" and len(text) == 3 and PLAIN in flags:
        return _one(ord(text[2]) % 32)
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
    if name == "space" and ECMA in flags:
        ranges = _ECMA_SPACE
    kind = _KINDS[letter.lower()]
    if letter.islower():
        return Set(ranges, kind)
    return Set(ranges, f"NOT_{kind}", negated=True)


def _ecma(text: str, flags: Flags, inside_class: bool) -> Set:
    letter = text[1]
    if letter in "tnvfr":
        return _one(CONTROL[letter])
    if letter == "b" and inside_class:
        return _one(8)
    if text == r"\0":
        return _one(0)
    if letter == "c" and len(text) == 3:
        return _one(ord(text[2]) % 32)
    if letter in "xu" and len(text) > 2:
        high, _, low = text[2:].strip("{}").partition("\\u")
        code = int(high, 16)
        if low:
            code = 0x10000 + (code - 0xD800 << 10) + int(low, 16) - 0xDC00
        if code > 0x10FFFF:
            raise EscapeError(f"{text} is no code point")
        return _one(code)
    if letter in "pP":
        if len(text) == 2:
            raise EscapeError(r"a property is written \p{…}")
        return _property(text, flags)
    if letter in "123456789k":
        raise EscapeError("a back-reference, which no finite automaton can follow")
    if letter in _ANCHORS_OF_OTHERS:
        hint = f"write {_ANCHORS_OF_OTHERS[letter]}"
        raise EscapeError(f"ECMA-262 has no \\{letter}", hint)
    if letter.isascii() and letter.isalnum():
        raise EscapeError(f"unknown escape \\{letter}")
    return _one(ord(letter))


def is_scalar(code: int) -> bool:
    """Whether a number is a code point that UTF-8 can encode."""
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF


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
    ends = _ECMA_ENDS if ECMA in flags else ends
    return normalized(everything if "s" in flags else intersection(everything, complement(ends)))


@dataclass(slots=True)
class _Class:
    """A bracketed class that is open: what stands before the last operator, and after it; the
    character that may begin a range, and whether it does."""

    opening: RegexToken
    operator: str = ""
    result: ir.CodePoints = ()
    members: list[tuple[int, int]] = field(default_factory=list)
    first: RegexToken | None = None
    is_range: bool = False

    def operate(self, operator: str) -> None:
        """The operators hold equally, from left to right."""
        operand = cased(self.members, self.opening.flags)
        self.result = combined(self.operator, self.result, operand) if self.operator else operand
        self.operator, self.members = operator, []


def class_of(
    opening: RegexToken, tokens: Iterator[RegexToken], lexer: RegexLexer, report: Report
) -> tuple[ir.CodePoints, int]:
    """What […] and [^…] hold, and where they end; ``tokens`` go on after the opening bracket.

    What is wrong inside goes to ``report``. Raises ``UnexpectedError``.
    """
    members = _Members(report)
    classes = [_Class(opening)]
    for token in tokens:
        current = classes[-1]
        if token.type in ("CLASS_CHAR", "CLASS_ESCAPE"):
            members.character(current, token)
            continue
        if token.type == "RANGE":
            current.is_range = True
            continue
        if current.is_range:
            raise UnexpectedError("a range ends with a character", token.span)
        members.end(current)
        match token.type:
            case "CLASS_OPEN":
                classes.append(_Class(token))
            case "CLASS_CLOSE":
                current.operate("")
                found = current.result
                if current.opening.endswith("^"):
                    found = others(found, current.opening.flags)
                classes.pop()
                if not classes:
                    return found, token.span.end
                classes[-1].members += found
            case "SET_OPERATOR":
                current.operate(str(token))
            case "POSIX":
                current.members += members.posix(token)
            case _:
                message, hint = "the regex ends in a backslash", r"write \\ for the character"
                raise UnexpectedError(message, token.span, hint)
    hint = r"a class ends with ]; write \[ for the character"
    if lexer.nested is not None:
        column = lexer.nested + 1
        hint = rf"the '[' at character {column} begins a class in the class: write \[ for it"
    raise UnexpectedError("this class is not closed", opening.span, hint)


class _Members:
    """Reads what stands in classes."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def character(self, current: _Class, token: RegexToken) -> None:
        """A character or an escape: by itself, the first of a range, or the last."""
        if not current.is_range:
            self.end(current)
            current.first = token
            return
        assert current.first is not None
        current.members += self._range(current.first, token)
        current.first, current.is_range = None, False

    def end(self, current: _Class) -> None:
        """What was read last begins no range."""
        if current.first is not None:
            current.members += self._found(current.first).under(current.first.flags)
            current.first = None

    def posix(self, token: RegexToken) -> ir.CodePoints:
        """[:alpha:] and [:^alpha:]"""
        negated = token.startswith("[:^")
        name = token[3 if negated else 2 : -2]
        if name not in POSIX:
            known = ", ".join(POSIX)
            self._report(f"there is no class [:{name}:]", token.span, f"known: {known}")
            return ()
        return Set(POSIX[name], negated=negated).under(token.flags)

    def _range(self, first: RegexToken, last: RegexToken) -> ir.CodePoints:
        """a-z"""
        span = first.span.cover(last.span)
        sides = self._found(first), self._found(last)
        if not all(found.ranges for found in sides):
            return ()
        if not all(found.single for found in sides):
            if ECMA in first.flags:
                both = (piece for found in sides for piece in found.under(first.flags))
                return normalized((*both, (ord("-"), ord("-"))))
            token = last if sides[0].single else first
            self._report(f"{token} is a class and cannot end a range", span, None)
            return ()
        low, high = (found.ranges[0][0] for found in sides)
        if low > high:
            self._report(f"the range {first}-{last} runs backwards", span, None)
            return ()
        return ((low, high),)

    def _found(self, token: RegexToken) -> Set:
        """The character or the escape at a place in a class; nothing if it is wrong."""
        if token.type == "CLASS_ESCAPE":
            try:
                found = set_of(str(token), token.flags, inside_class=True)
            except EscapeError as error:
                self._report(error.message, token.span, error.hint)
                return Set(())
        else:
            found = Set(((ord(token), ord(token)),), single=True)
        if found.raw and not is_bytes(token.flags):
            hint = "write (?-u:[…]) for a class of bytes"
            self._report("a byte cannot stand in a class of characters", token.span, hint)
        is_wide = found.single and not found.raw and found.ranges[0][0] > 0x7F
        if is_wide and is_bytes(token.flags):
            message = "under (?-u) a class is of bytes, and this character has several"
            self._report(message, token.span, r"write bytes as \xHH")
        return found
