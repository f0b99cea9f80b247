"""Automata of numbers, against fractions and Python's JSON reader."""

import json
import operator
import random
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from support.oracles.automata import minimize_via_moore

from constrain.compiler.automata.compare import are_equal
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.schema import numbers

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def texts_of(digits: str, longest: int) -> list[str]:
    """All numbers without an exponent over some digits."""
    wholes = ["0"] + [
        first + "".join(rest)
        for count in range(longest)
        for first in digits.replace("0", "")
        for rest in product(digits, repeat=count)
    ]
    found = []
    for whole in wholes:
        found.append(whole)
        for count in range(1, longest - len(whole)):
            found.extend(f"{whole}.{''.join(rest)}" for rest in product(digits, repeat=count))
    return found + ["-" + text for text in found if len(text) < longest]


def accepted(dfa: Dfa, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts are members, bool (n,)."""
    states = np.full(len(texts), dfa.start)
    ends = states.copy()
    lengths = np.array([len(text) for text in texts])
    letters = np.array([text.encode() for text in texts])
    columns = letters.view(np.uint8).reshape(len(texts), -1)
    for place in range(columns.shape[1]):
        states = dfa.table[states, dfa.classes[columns[:, place]]]
        ends[lengths > place] = states[lengths > place]
    return dfa.accepting[ends]


def scaled(texts: Sequence[str]) -> NDArray[np.int64]:
    """Values times a million."""
    return np.array([int(Decimal(text).scaleb(6)) for text in texts])


# Those of six characters over four digits, and of seven over three.
ALL = [*texts_of("0159", 6), *texts_of("015", 7)]
VALUES = scaled(ALL)


@pytest.mark.parametrize(
    "bound",
    ["0", "1", "-1", "10", "15", "-150", "1.5", "-0.5", "0.015", "-1.05", "99", "5.01", "100.0"],
)
@pytest.mark.parametrize("op", OPERATORS)
def test_a_comparison_holds_the_numbers_that_compare_so(op: str, bound: str) -> None:
    """All texts of up to seven characters over some digits."""
    found = accepted(numbers.compared(op, Fraction(bound)), ALL)
    assert (OPERATORS[op](VALUES, int(Decimal(bound).scaleb(6))) == found).all()


@pytest.mark.parametrize(
    "divisor", ["1", "2", "3", "5", "10", "12", "100", "0.1", "0.5", "0.01", "1.5", "0.25", "0.15"]
)
def test_a_remainder_automaton_holds_the_multiples(divisor: str) -> None:
    """All texts of up to seven characters over some digits."""
    texts = ALL if "." in divisor else texts_of("0123456789", 5)
    found = accepted(numbers.multiple_of(Fraction(divisor)), texts)
    assert (scaled(texts) % int(Decimal(divisor).scaleb(6)) == 0).tolist() == found.tolist()


def test_random_bounds_and_divisors_are_decided_as_by_fractions(full: bool) -> None:
    """Numbers of up to twelve digits, near their bounds and far from them."""
    rng = random.Random(1)

    def number(longest: int) -> str:
        whole = str(rng.randrange(10 ** rng.randint(1, longest)))
        digits = rng.randint(0, longest - 1)
        decimals = f".{rng.randrange(10**digits):0{digits}d}" if digits else ""
        return rng.choice(["", "-"]) + whole + decimals

    for _ in range(2000 if full else 13):
        bound = number(6)
        near = [str(Decimal(bound) + Decimal(rng.randint(-2, 2)).scaleb(-i)) for i in range(7)]
        texts = [text for text in (number(6), bound, bound + "0", *near) if "E" not in text]
        texts = [text for text in texts if NUMBER.fullmatch(text)]
        for op, holds in OPERATORS.items():
            dfa = numbers.compared(op, Fraction(bound))
            for text in texts:
                assert holds(Fraction(text), Fraction(bound)) == dfa.accepts(text.encode()), text
        divisor = abs(Fraction(number(2)))
        if divisor:
            dfa = numbers.multiple_of(divisor)
            for text in (number(4), str(Decimal(number(2)) * 7), "0", "-0.00"):
                if NUMBER.fullmatch(text):
                    expected = Fraction(text) % divisor == 0
                    assert expected == dfa.accepts(text.encode()), (text, divisor)


@pytest.mark.quick
def test_one_number_has_all_its_spellings() -> None:
    """Zeros after the decimals, and minus zero."""
    assert accepted(numbers.compared("=", Fraction(3, 2)), ["1.5", "1.50", "1.500"]).all()
    assert not accepted(
        numbers.compared("=", Fraction(3, 2)), ["-1.5", "1.05", "01.5", "1.", "15"]
    ).any()
    assert accepted(numbers.compared("=", Fraction(0)), ["0", "-0", "0.0", "-0.00"]).all()


@pytest.mark.quick
def test_integers_are_digits_and_if_asked_for_zeros_behind_the_point() -> None:
    """Values decide if ``decimal``."""
    digits_alone = ["." not in text for text in ALL]
    assert digits_alone == accepted(numbers.integers(False), ALL).tolist()
    assert (VALUES % 10**6 == 0).tolist() == accepted(numbers.integers(True), ALL).tolist()


def test_numbers_are_those_that_json_readers_read() -> None:
    """All texts of up to five characters over the letters of numbers."""
    texts = ["".join(word) for n in range(6) for word in product("-+.e0E1", repeat=n)]

    def is_number(text: str) -> bool:
        try:
            return isinstance(json.loads(text), int | float)
        except ValueError:
            return False

    assert [is_number(text) for text in texts] == accepted(numbers.numbers(), texts).tolist()


def test_number_automata_are_minimal_and_small() -> None:
    """No more states than Moore's algorithm leaves, and about two for each digit and sign."""
    dfas = [numbers.compared(op, Fraction(b)) for op in OPERATORS for b in ("0", "-1.25", "65535")]
    dfas += [
        numbers.multiple_of(Fraction(m)) for m in ("1", "7", "60", "0.01", "1000", "3600", "0.7")
    ]
    for dfa in [*dfas, numbers.numbers(), numbers.integers(True), numbers.integers(False)]:
        assert minimize_via_moore(dfa).states == dfa.states
    assert numbers.compared("<", Fraction(2**63)).states < 60
    assert numbers.multiple_of(Fraction(1000)).states == 10
    assert numbers.multiple_of(Fraction(1_000_000)).states == 13
    assert are_equal(numbers.multiple_of(Fraction(1)), numbers.integers(True))


def test_what_is_too_large_is_a_limit_and_what_has_no_decimals_a_value_error() -> None:
    """Neither takes long."""
    for divisor in (Fraction("0.123456789"), Fraction(10**9 + 7), Fraction("1e-300000")):
        with pytest.raises(LimitError, match=r"states|memory"):
            numbers.multiple_of(divisor)
    with pytest.raises(LimitError, match="states"):
        numbers.compared("<", Fraction(10) ** 1_000_000)
    assert numbers.compared("<", Fraction("1e400")).accepts(b"9" * 400)
    assert not numbers.compared("<", Fraction("1e400")).accepts(b"9" * 401)
    for wrong in (Fraction(1, 3), Fraction(0), Fraction(-2)):
        with pytest.raises(ValueError, match="not"):
            numbers.multiple_of(wrong)
    with pytest.raises(ValueError, match="finitely many decimals"):
        numbers.compared("<", Fraction(1, 3))
