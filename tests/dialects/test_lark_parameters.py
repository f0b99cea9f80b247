"""Rules with parameters, against llguidance."""

# Tests here say `expected == actual`.

import random
from itertools import product

import pytest
from support.oracles.llguidance_members import members_by_llguidance

from constrain.compiler.diagnostics import CheckError, DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.pipeline import build_engine

TEXTS = ["".join(letters) for n in range(7) for letters in product("abX", repeat=n)]


def members(grammar: str) -> set[str]:
    """Of ``TEXTS``, those that a grammar has."""
    found = build_engine(grammar, dialect="lark")
    assert isinstance(found, Automaton)
    return {text for text in TEXTS if found.dfa.accepts(text.encode())}


def condition(rng: random.Random, depth: int = 2) -> str:
    """One of all that there are."""
    bits = rng.choice(["_", "[0:2]", "[1:3]", "[2:4]", "[0:64]"])
    name = rng.choice(["eq", "ne", "lt", "le", "gt", "ge"])
    forms = [f"{name}({bits}, {rng.choice(['0', '1', '2', '0x3', '5'])})", f"is_zeros({bits})"]
    forms += [f"bit_count_{name}({bits}, {rng.randrange(3)})", f"is_ones({bits})", "true"]
    forms += [f"bit_clear({rng.randrange(4)})", f"bit_set({rng.randrange(4)})"]
    if depth:
        one, other = condition(rng, depth - 1), condition(rng, depth - 1)
        forms = [*forms[:3], f"and({one}, {other})", f"or({one},{other})", f"not({one})"]
    return rng.choice(forms)


def test_random_grammars_are_those_of_llguidance(full: bool) -> None:
    """With all expressions and conditions."""
    rng, expressions = random.Random(5), ["set_bit(0)", "set_bit(2)", "clear_bit(1)", "bit_and(6)"]
    expressions += ["bit_or(0x9)", "incr(_)", "incr([0:2])", "decr([1:3])", "decr(_)", "_"]
    counts = set()
    for _ in range(120 if full else 4):
        grammar = (
            f"start: r::{rng.choice(['0', '0x0', '5', '0xE'])}\n"
            f'r::_: "a" r::{rng.choice(expressions)} %if and(lt(_, 16), {condition(rng)})\n'
            f' | "b" r::{rng.choice(expressions)} %if and(lt(_, 16), {condition(rng, 1)}) // or\n'
            f' | "X" %if {condition(rng, 0)}\n'
        )
        try:
            ours = members(grammar)
        except CheckError as error:
            # llguidance has nothing to say of that.
            assert "empty language" in str(error), grammar
            ours = set()
        assert members_by_llguidance(grammar, TEXTS) == ours, grammar
        counts.add(len(ours))
    assert len(counts) > (5 if full else 1)


def test_places_of_the_manual() -> None:
    """Each of some once; a's before b's, together at most four."""
    once = 'start: p::0\np::_: "" %if is_ones([0:2])\n | "a" p::set_bit(0) %if bit_clear(0)\n'
    assert {"ab", "ba"} == members(once + ' | "b" p::set_bit(1) %if bit_clear(1)\n')
    both = 'start: a::0\na::_: "a" a::incr(_) %if lt(_, 4) | b::_\n'
    both += 'b::_: "b" b::incr(_) %if lt(_, 4) |\n'
    assert {"a" * n + "b" * k for n in range(5) for k in range(5 - n)} == members(both)


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ('start: a::1\na: "a"\n', "a::1 has no parameter"),
        ('start: a\na::_: "a"\n', "a needs a parameter"),
        ('start: a::twice(1)\na::_: "a"\n', "stands in a rule without a parameter"),
        ("start: a::1\na::_: a::twice(1)\n", "no expression that is known"),
        ('start: a::1\na::_: "a" %if odd(_)\n', "no condition that is known"),
        ('start: a::1\na::_: "a" %if lt([3:2], 1)\n', "for bits, which are _ or"),
        ('start: a::1\na::_: "a" %if lt(_, x)\n', "has x for a number"),
        ('start: "a" %if lt(_, 1)\n', "stands in a rule without a parameter"),
        ('start: a::1\na::2: "a"\n', "a rule's own parameter is _"),
        ('start: A::1\nA: "a"\n', "terminals have no parameters"),
        ('start: a::0\na::_: "a" a::incr(_) |\n', "more than 20,000 rules"),
    ],
)
def test_what_is_no_parameter_is_refused(grammar: str, message: str) -> None:
    """By name."""
    with pytest.raises(DialectError, match=message):
        read_grammar(grammar, "lark")
