"""Sets of characters under flags: bracketed classes, their operators, and case."""

from collections.abc import Iterable
from dataclasses import dataclass

from lark import Token

from ..automata import regex as ir
from ..automata.code_points import ANY, complement, intersection, normalized
from ..automata.unicode.properties import with_other_cases
from ..diagnostics import Span
from .builder import Builder, span_of
from .regex_escapes import POSIX, EscapeError, Set, is_ascii, is_bytes, set_of
from .regex_lexer import Flags, RegexToken

ALL_BYTES: ir.CodePoints = ((0, 255),)


def cased(ranges: Iterable[tuple[int, int]], flags: Flags) -> ir.CodePoints:
    """``ranges``, and under i their other cases."""
    if "i" not in flags:
        return normalized(ranges)
    if not is_ascii(flags):
        return normalized(with_other_cases(ranges))
    found = list(ranges)
    for low, high in list(found):
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                found.append((max(low, first) + shift, min(high, last) + shift))
    return normalized(found)


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
    everything = ALL_BYTES if is_bytes(flags) else ANY
    ends = [(10, 10), (13, 13)] if "R" in flags else [(10, 10)]
    ranges = everything if "s" in flags else intersection(everything, complement(ends))
    return ir.byte_class(ranges) if is_bytes(flags) else ir.char_class(ranges, "ANY")


@dataclass(frozen=True, slots=True)
class Bracketed:
    """What a bracketed class holds, and where it stands."""

    ranges: ir.CodePoints
    flags: Flags
    span: Span


class ClassBuilder(Builder):
    """The part of the builder of regular expressions that reads classes."""

    def bracketed(self, items: list[Token | ir.CodePoints]) -> Bracketed:
        """[…] and [^…]; the operators hold equally, from left to right."""
        opening, closing = items[0], items[-1]
        assert isinstance(opening, RegexToken)
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
        return Bracketed(result, flags, span_of(opening).cover(span_of(closing)))

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
            self.report(f"there is no class [:{name}:]", span_of(token), f"known: {known}")
            return ()
        return self.in_case(Set(POSIX[name], negated=negated), token)

    def range(self, items: list[RegexToken]) -> ir.CodePoints:
        """a-z"""
        first, _, last = items
        span = span_of(first).cover(span_of(last))
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
            self.report(error.message, span_of(token), error.hint)
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
            self.report("a byte cannot stand in a class of characters", span_of(token), hint)
        elif found.single and not found.raw and is_bytes(token.flags):
            self._check_byte(found.ranges[0][0], token)
        return found

    def _check_byte(self, code: int, token: RegexToken) -> None:
        if code > 0x7F:
            message = "under (?-u) a class is of bytes, and this character has several"
            self.report(message, span_of(token), r"write bytes as \xHH")
