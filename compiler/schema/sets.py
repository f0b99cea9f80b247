"""Sets of scalars and their Boolean algebra.

null, booleans     a bit for each value
numbers            all, none, finitely many values, or an automaton over texts without an exponent
strings            all, none, finitely many texts or all but these, a range of lengths, or an
                   automaton over decoded texts (UTF-8)

All is not the same as the automaton of all: numbers about which nothing is asked may have an
exponent, and those that are compared with something may not. So a complement is one among texts
without exponents, which every set here is exact for.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from typing import Generic, TypeAlias, TypeVar, cast

import numpy as np

from constrain.artifacts.dfa.conjunctions import CONTINUES, UNBOUNDED, Conjunction
from constrain.artifacts.dfa.lengths import NEVER
from constrain.artifacts.dfa.lengths import Lengths as Counted

from ..automata import boolean
from ..automata import regex_ir as regex
from ..automata.dfa import Dfa, nothing
from ..automata.members import longest_length
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..limits import Limits
from . import numbers, strings

# States of a product of two languages.
_MOST_STATES = 100_000

# Automata that are kept for other schemas, and states of those that they are made of.
_KEPT, _SMALL = 512, 300


class Ends(Enum):
    """The two sets that need no automaton."""

    NONE = 0
    ALL = 1


@dataclass(frozen=True, slots=True)
class Names:
    """Finitely many texts, in the order of the schema."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Others:
    """All texts but finitely many, whose automaton is made where it is needed: of keys alone."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lengths:
    """Texts of ``least`` to ``most`` characters (None: any number)."""

    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Within:
    """Texts of an automaton of ``least`` to ``most`` characters (None: any number): a product that
    would be too large, so that it is left to whom walks its states lazily."""

    dfa: Dfa
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Values:
    """Finitely many numbers."""

    values: tuple[Fraction, ...]


Texts: TypeAlias = Ends | Names | Others | Lengths | Within | Dfa
Numbers: TypeAlias = Ends | Values | Dfa
# Of null and booleans: bit i is set if value i is in it.
Scalar: TypeAlias = Texts | Numbers | int

S = TypeVar("S", bound=Names | Others | Lengths | Within | Values)


class _Algebra(ABC, Generic[S]):
    """Meets, joins and complements of sets, each computed once."""

    def __init__(self, limits: Limits) -> None:
        self.go_on_within(limits)
        self._known: dict[tuple[str, Ends | S | Dfa, Ends | S | Dfa], Ends | S | Dfa] = {}

    def go_on_within(self, limits: Limits) -> None:
        """Keep to these limits from here on, and to what products may take."""
        self.limits = limits.within(_MOST_STATES)

    def meet(self, left: "Ends | S | Dfa", right: "Ends | S | Dfa") -> "Ends | S | Dfa":
        """What is in both."""
        if left is Ends.NONE or right is Ends.NONE:
            return Ends.NONE
        if left is Ends.ALL or right is Ends.ALL or left == right:
            return right if left is Ends.ALL else left
        return self._once("meet", left, right, self._meet)

    def join(self, left: "Ends | S | Dfa", right: "Ends | S | Dfa") -> "Ends | S | Dfa":
        """What is in one of them."""
        if left is Ends.ALL or right is Ends.ALL:
            return Ends.ALL
        if left is Ends.NONE or right is Ends.NONE or left == right:
            return right if left is Ends.NONE else left
        return self._once("join", left, right, self._join)

    def complement(self, of: "Ends | S | Dfa") -> "Ends | S | Dfa":
        """What is not in it."""
        if isinstance(of, Ends):
            return Ends.ALL if of is Ends.NONE else Ends.NONE
        return self._once("complement", of, of, lambda found, _: self._complement(found))

    def dfa(self, of: "Ends | S | Dfa") -> Dfa:
        """The automaton of a set."""
        if isinstance(of, Dfa):
            return of
        return nothing() if of is Ends.NONE else self._dfa(of)

    def _once(
        self,
        name: str,
        left: "Ends | S | Dfa",
        right: "Ends | S | Dfa",
        make: "Callable[[Ends | S | Dfa, Ends | S | Dfa], Ends | S | Dfa]",
    ) -> "Ends | S | Dfa":
        key = (name, left, right)
        found = self._known.get(key)
        if found is None:
            found = make(left, right)
            self._known[key] = found
        return found

    def _meet(self, left: "Ends | S | Dfa", right: "Ends | S | Dfa") -> "Ends | S | Dfa":
        return nonempty(remembered(boolean.common, self.dfa(left), self.dfa(right), self.limits))

    def _join(self, left: "Ends | S | Dfa", right: "Ends | S | Dfa") -> "Ends | S | Dfa":
        return remembered(boolean.union, self.dfa(left), self.dfa(right), self.limits)

    def _complement(self, of: "Ends | S | Dfa") -> "Ends | S | Dfa":
        every, found = self._dfa(Ends.ALL), self.dfa(of)
        return nonempty(remembered(boolean.difference, every, found, self.limits))

    @abstractmethod
    def _dfa(self, of: "Ends | S") -> Dfa: ...


# An operation of two automata.
_Operation: TypeAlias = Callable[[Dfa, Dfa, Limits], Dfa]


def remembered(operation: _Operation, left: Dfa, right: Dfa, limits: Limits) -> Dfa:
    """What an operation makes of two automata; that of small ones is kept for other schemas, which
    have the same bounds and patterns again and again. Raises ``LimitError``."""
    is_small = left.states + right.states <= _SMALL
    make = partial(_made, operation) if is_small else operation
    return make(left, right, limits)


@lru_cache(_KEPT)
def _made(operation: _Operation, left: Dfa, right: Dfa, limits: Limits) -> Dfa:
    return operation(left, right, limits)


class Bits:
    """The algebra of the subsets of ``whole``, a number with a bit for each value."""

    def __init__(self, whole: int) -> None:
        self.whole = whole

    def meet(self, left: int, right: int) -> int:
        """What is in both."""
        return left & right

    def join(self, left: int, right: int) -> int:
        """What is in one of them."""
        return left | right


class TextAlgebra(_Algebra[Names | Others | Lengths | Within]):
    """The algebra of sets of decoded texts."""

    def holds(self, texts: Texts, text: str) -> bool:
        """Whether a text is in a set."""
        match texts:
            case Ends():
                return texts is Ends.ALL
            case Names():
                return text in texts.texts
            case Others():
                return text not in texts.texts
            case Lengths():
                return texts.least <= len(text) and (texts.most is None or len(text) <= texts.most)
            case Within(dfa, least, most):
                return self.holds(dfa, text) and self.holds(Lengths(least, most), text)
            case _:
                return texts.accepts(text.encode("utf-8"))

    def _meet(self, left: Texts, right: Texts) -> Texts:
        if isinstance(right, Names) and (not isinstance(left, Names) or len(right.texts) == 1):
            left, right = right, left
        if isinstance(left, Names):
            among = frozenset(right.texts if isinstance(right, Names) else ())
            is_in = among.__contains__ if among else partial(self.holds, right)
            kept = tuple(text for text in left.texts if is_in(text))
            return Names(kept) if kept else Ends.NONE
        if isinstance(left, Lengths) and isinstance(right, Lengths):
            most = [m for m in (left.most, right.most) if m is not None]
            return lengths(max(left.least, right.least), min(most) if most else None)
        if isinstance(left, Within) or isinstance(right, Within):
            return self._within(left, right)
        return super()._meet(left, right)

    def _within(self, left: Texts, right: Texts) -> Texts:
        """The meet of two, one of which is an automaton with bounds."""
        bounds, dfa = lengths(0, None), cast("Texts", Ends.ALL)
        for each in (left, right):
            if isinstance(each, Within):
                bounds = self.meet(bounds, lengths(each.least, each.most))
                each = each.dfa
            if isinstance(each, Lengths):
                bounds = self.meet(bounds, each)
            else:
                dfa = self.meet(dfa, each)
        if not isinstance(dfa, Dfa) or not isinstance(bounds, Lengths):
            return self.meet(dfa, bounds)
        return within(dfa, bounds)

    def _join(self, left: Texts, right: Texts) -> Texts:
        if isinstance(left, Lengths) and isinstance(right, Lengths):
            low, high = sorted((left, right), key=lambda each: each.least)
            if low.most is None or high.least <= low.most + 1:
                ends = (low.most, high.most)
                return lengths(low.least, None if None in ends else max(m or 0 for m in ends))
        if isinstance(left, Names) and isinstance(right, Names):
            return Names(tuple(dict.fromkeys(left.texts + right.texts)))
        return super()._join(left, right)

    def _complement(self, of: Texts) -> Texts:
        if isinstance(of, Lengths):
            if of.most is None:
                return lengths(0, of.least - 1)
            if of.least == 0:
                return lengths(of.most + 1, None)
        if isinstance(of, Names):
            return _others(frozenset(of.texts), self.limits)
        return super()._complement(of)

    def _dfa(self, of: Ends | Names | Others | Lengths | Within) -> Dfa:
        match of:
            case Names():
                return strings.one_of(frozenset(of.texts), self.limits)
            case Others():
                return _others(frozenset(of.texts), self.limits)
            case Lengths():
                return strings.lengths(of.least, of.most, self.limits)
            case Within(dfa, least, most):
                return boolean.common(dfa, strings.lengths(least, most), self.limits)
            case _:
                return strings.lengths(0, None)


@lru_cache(_KEPT)
def _others(texts: frozenset[str], limits: Limits) -> Dfa:
    """The automaton of all texts but these."""
    return boolean.difference(strings.lengths(0, None), strings.one_of(texts, limits), limits)


class NumberAlgebra(_Algebra[Values]):
    """The algebra of sets of numbers, by their texts without an exponent."""

    def _meet(self, left: Numbers, right: Numbers) -> Numbers:
        if isinstance(right, Values) and not isinstance(left, Values):
            left, right = right, left
        if isinstance(left, Values):
            if isinstance(right, Values):
                among = frozenset(right.values)
                kept = tuple(value for value in left.values if value in among)
            else:
                kept = tuple(value for value in left.values if self._holds(right, value))
            if isinstance(right, Dfa) and not all(_has_decimals(right, value) for value in kept):
                return super()._meet(Values(kept), right)
            return Values(kept) if kept else Ends.NONE
        return super()._meet(left, right)

    @staticmethod
    def _holds(of: Ends | Dfa, value: Fraction) -> bool:
        return of is Ends.ALL or (isinstance(of, Dfa) and of.accepts(decimal_text(value).encode()))

    def _join(self, left: Numbers, right: Numbers) -> Numbers:
        if isinstance(left, Values) and isinstance(right, Values):
            return Values(tuple(dict.fromkeys(left.values + right.values)))
        return super()._join(left, right)

    def _dfa(self, of: Ends | Values) -> Dfa:
        if isinstance(of, Values):
            texts = regex.alt(*(spelled(value) for value in of.values))
            return minimal(thompson(texts, self.limits), self.limits)
        return numbers.without_exponent()


def _has_decimals(of: Dfa, value: Fraction) -> bool:
    """Whether a set with a number has all its texts. Those of one draft have not: whether 1.0 is an
    integer draft 4 leaves open."""
    return value.denominator > 1 or of.accepts(f"{decimal_text(value)}.0".encode())


def are_within(dfa: Dfa, texts: Lengths) -> bool:
    """Whether all texts of a trimmed automaton are surely of those lengths: no character has less
    than a byte."""
    if texts.least > 0:
        return False
    longest = longest_length(dfa)
    return longest is not None and (texts.most is None or longest <= texts.most)


def nonempty(dfa: Dfa) -> Dfa | Ends:
    return Ends.NONE if dfa.is_empty else dfa


def lengths(least: int, most: int | None) -> Texts:
    """Texts of so many characters."""
    if most is not None and most < least:
        return Ends.NONE
    return Ends.ALL if least == 0 and most is None else Lengths(least, most)


def within(dfa: Dfa, texts: Lengths) -> Within | Ends:
    """The texts of an automaton of so many characters."""
    fewest = _fewest(dfa, texts.least)
    is_none = fewest >= NEVER or (texts.most is not None and fewest > texts.most)
    return Ends.NONE if is_none else Within(dfa, texts.least, texts.most)


def _fewest(dfa: Dfa, enough: int) -> int:
    """The fewest characters of at least ``enough`` that a text of an automaton has."""
    continues = np.zeros(256, dtype=np.int64)
    continues[CONTINUES] = 1
    keys = dfa.classes.astype(np.int64) * 2 + continues
    _, firsts, classes = np.unique(keys, return_index=True, return_inverse=True)
    table, accepting = dfa.table[:, dfa.classes[firsts]], dfa.accepting.astype(np.uint8)
    columns = classes.reshape(-1).astype(np.uint8)
    conjunction = Conjunction(table, columns, accepting, dfa.start, enough, UNBOUNDED)
    return Counted(conjunction).fewest_of(enough, dfa.start)


def decimal_text(value: Fraction) -> str:
    """A number without an exponent and without zeros that say nothing; it has finitely many
    decimals."""
    whole, rest = divmod(abs(value), 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{digits}" if digits else f"{sign}{whole}"


def quoted(text: str, ascii: bool) -> str:  # noqa: A002
    """A text as a JSON string, with escapes where they are needed."""
    return json.dumps(text, ensure_ascii=ascii)


def spelled(value: Fraction) -> regex.Node:
    """All texts of a number without an exponent."""
    text = decimal_text(value)
    zeros = regex.repeat(regex.lit(b"0"), 0, None)
    if "." in text:
        return regex.seq(regex.lit(text.encode()), zeros)
    sign = regex.optional(regex.lit(b"-")) if value == 0 else regex.EPSILON
    tail = regex.optional(regex.seq(regex.lit(b".0"), zeros))
    return regex.seq(sign, regex.lit(text.encode()), tail)
