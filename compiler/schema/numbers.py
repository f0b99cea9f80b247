"""Automata of the texts of JSON numbers: all of them, integers, comparisons and remainders.

    compared(">=", Fraction(3, 2))  ->  1.5, 1.50, 2, 17.25, … and neither 1.49 nor -2

What compares a number with a bound or divides it by one reads digits from the left, so it follows
numbers without an exponent only; ``numbers`` alone has exponents, too. Minus zero is zero.
"""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..automata.dfa import DEAD, Dfa, trimmed
from ..automata.minimize import explored, minimize
from ..limits import Limits
from .patterns import search

_STAGE = "the automaton of a number"
_DIGITS = b"0123456789"
_SIGN, _POINT, _ZERO = b"-.0"
# What numbers without an exponent are written with.
_ALPHABET = b"-." + _DIGITS

# Automata that are kept.
_KEPT = 512

# Which orders of a number and a bound, -1, 0 or 1, an operator asks for.
_ORDERS: Mapping[str, frozenset[int]] = {
    "<": frozenset([-1]),
    "<=": frozenset([-1, 0]),
    "=": frozenset([0]),
    ">=": frozenset([0, 1]),
    ">": frozenset([1]),
}

_Integers: TypeAlias = NDArray[np.int64]

# The part before the point.
_WHOLE = "-?(?:0|[1-9][0-9]*)"


@cache
def numbers() -> Dfa:
    """All numbers of JSON, exponents included."""
    return search(rf"^{_WHOLE}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$")


@cache
def without_exponent() -> Dfa:
    """All numbers that are written without an exponent."""
    return search(rf"^{_WHOLE}(?:\.[0-9]+)?$")


@cache
def integers(decimal: bool) -> Dfa:
    """Integers without an exponent: digits alone, or if ``decimal`` also after them a point and
    zeros."""
    return search(rf"^{_WHOLE}(?:\.0+)?$" if decimal else f"^{_WHOLE}$")


class _Compared(NamedTuple):
    """How far a number is read: ``place`` digits of its ``part``, before the point or after it;
    ``order``: those digits and as many of the bound's, compared, -1, 0 or 1."""

    negative: bool = False
    part: str = "sign"
    place: int = 0
    order: int = 0


@lru_cache(_KEPT)
def compared(op: str, bound: Fraction, limits: Limits | None = None) -> Dfa:
    """Numbers without an exponent that compare so with ``bound``.

    ``op``: one of ``< <= = >= >``. The states are as many as the bound has digits, times a small
    number. Raises ``LimitError``, and ``ValueError`` for a bound without finitely many decimals.
    """
    limits = (limits or Limits()).started()
    whole, decimals = _digits(bound, limits)
    orders = _ORDERS[op]

    def step(state: _Compared, octet: int) -> _Compared | None:
        negative, part, place, order = state
        if octet == _SIGN:
            return _Compared(True) if state == _Compared() else None
        if octet == _POINT:
            if part not in ("zero", "whole"):
                return None
            return _Compared(negative, "point", 0, _order_of_wholes(state, whole))
        if part in ("sign", "whole"):
            if place < len(whole):
                order = order or _sign(octet - whole[place])
            zero = part == "sign" and octet == _ZERO
            following = min(place + 1, len(whole) + 1)
            return _Compared(negative, "zero" if zero else "whole", following, order)
        if part == "zero":
            return None
        expected = decimals[place] if place < len(decimals) else _ZERO
        order = order or _sign(octet - expected)
        # Where the order is known, the place does not matter any more.
        following = len(decimals) if order else min(place + 1, len(decimals))
        return _Compared(negative, "decimals", following, order)

    def accepts(state: _Compared | None) -> bool:
        if state is None or state.part in ("sign", "point"):
            return False
        order, place = state.order, state.place
        if state.part != "decimals":
            order, place = _order_of_wholes(state, whole), 0
        if not order and place < len(decimals):
            order = -1
        if state.negative != (bound < 0) and (bound or order):
            order = -1 if state.negative else 1
        elif state.negative:
            order = -order
        return order in orders

    def row(state: _Compared | None) -> Iterator[_Compared | None]:
        yield None
        if state is not None:
            yield from (step(state, octet) for octet in _ALPHABET)

    return explored(_Compared(), None, row, accepts, _classes(_ALPHABET), limits, _STAGE)


@lru_cache(_KEPT)
def multiple_of(divisor: Fraction, limits: Limits | None = None) -> Dfa:
    """Numbers without an exponent that are integral multiples of ``divisor``, which is positive.

    A divisor p / 10^k (with k the number of its decimals) takes at most about p · (k + 1) states.
    Raises ``LimitError``, and ``ValueError`` for a divisor that is not positive or has not finitely
    many decimals.
    """
    if divisor <= 0:
        raise ValueError(f"{divisor} is not positive")
    limits = (limits or Limits()).started()
    places = len(_digits(divisor, limits)[1])
    base = int(divisor * 10**places)
    if places:
        limits.check_states(base * (places + 1), _STAGE)
    limits.check_allocation(base * _REMAINDER_BYTES, _STAGE)
    # States: dead, the start, after a sign, after the only zero, the end (a multiple, after
    # which only zeros may follow), after the point of an integer if ``places`` is 0; then the
    # remainders of what is read before the point, and of what is read when a point and some
    # decimals, less than ``places``, are read.
    start, sign, zero, end, integer, first = range(1, 7)
    # Of whole numbers, remainders that the same digits complete are one state.
    remainder, number = (np.arange(base),) * 2 if places else _distinct_remainders(base)
    count = len(remainder)
    limits.check_states(count, _STAGE)
    limits.check_resources(_STAGE)
    size = first + count * (places + 1)
    table = np.zeros((size, 12), dtype=np.int32)
    accepting = np.zeros(size, dtype=np.bool_)
    accepting[[zero, end]] = True
    point, minus = 10, 11
    following = number[(remainder[:, None] * 10 + np.arange(10)) % base]
    table[start, :10] = table[sign, :10] = first + number[np.arange(10) % base]
    table[start, 0] = table[sign, 0] = zero
    table[start, minus] = sign
    table[[end, integer], 0] = end
    table[zero, point] = first + count if places else integer
    for level in range(places + 1):
        rows = slice(first + count * level, first + count * (level + 1))
        # Decimals that may follow; before the point these are as many as after the point itself.
        left = places - max(level - 1, 0)
        if level != 1:
            accepting[rows] = remainder * pow(10, left, base) % base == 0
        if level == 0:
            table[rows, :10] = first + following
            table[rows, point] = first + count + number if places else DEAD
        elif level < places:
            table[rows, :10] = first + count * (level + 1) + following
        else:
            table[rows, :10] = np.where(following == 0, end, DEAD)
    if not places:
        table[first + number[0], point] = integer
    # The first column is of all other bytes.
    table = np.insert(table, 0, DEAD, axis=1)
    origins = (frozenset[int](),) * size
    classes = _classes(_DIGITS + b".-")
    dfa = trimmed(Dfa(table, classes, accepting, start, origins), limits)
    return minimize(dfa, limits) if places else dfa


# What a remainder takes while equivalent ones are found.
_REMAINDER_BYTES = 64


def _distinct_remainders(base: int) -> tuple[_Integers, _Integers]:
    """One remainder of each class of equivalent ones, and the class of each, int64 (base,).

    After a remainder r, m digits complete a multiple if their number is -r · 10^m, modulo
    ``base``. So two are equivalent if, for each m, these are equal or both too large.
    """
    number = np.zeros(base, dtype=np.int64)
    power = 1
    while True:
        needed = -np.arange(base) * (power % base) % base
        keys = number * (base + 1) + np.where(needed < power, needed + 1, 0)
        _, remainder, number = np.unique(keys, return_index=True, return_inverse=True)
        if power >= base:
            return remainder, number
        power *= 10


def _order_of_wholes(state: _Compared, whole: bytes) -> int:
    """The digits before the point and those of the bound, compared, both without leading zeros."""
    if state.part == "zero":
        return 0 if whole == b"0" else -1
    return _sign(state.place - len(whole)) or state.order


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def _digits(value: Fraction, limits: Limits) -> tuple[bytes, bytes]:
    """The digits of the absolute value before the point, and those after it without zeros at the
    end. Raises ``LimitError`` and ``ValueError``."""
    digits = max(abs(value.numerator), value.denominator).bit_length() * 3 // 10
    limits.check_states(digits, _STAGE)
    # The denominator is 2^twos · 5^fives.
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest = value.denominator >> twos
    fives = round(math.log(rest, 5))
    if rest != 5**fives:
        raise ValueError(f"{value} has not finitely many decimals")
    places = max(twos, fives)
    scaled = abs(value.numerator) * 10**places // value.denominator
    # Python makes no text of an integer of so many digits, but of a decimal.
    text = str(Decimal(scaled)).rjust(places + 1, "0")
    return text[: len(text) - places].encode(), text[len(text) - places :].encode()


def _classes(alphabet: bytes) -> NDArray[np.uint8]:
    """Byte i of the alphabet is of class i + 1, all others of class 0."""
    classes = np.zeros(256, dtype=np.uint8)
    classes[list(alphabet)] = np.arange(1, len(alphabet) + 1)
    return classes
