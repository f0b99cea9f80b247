"""What an expression becomes is counted before it is built."""

import random

import pytest
from support.regexes import node_of, random_regex

from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.regex_ir import EPSILON, NOTHING, Node, repeat, seq
from constrain.compiler.automata.thompson import Size, Thompson, thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits


def size_of(node: Node) -> Size:
    """Before it is built."""
    return Thompson(Limits()).size_of(node, {})


def built(node: Node) -> Size:
    """By building it."""
    nfa = thompson(node)
    return Size(nfa.states, sum(map(len, nfa.arcs)))


def test_sizes_are_those_of_what_is_built() -> None:
    """Of states and of arcs, for expressions of all kinds."""
    rng = random.Random(14)
    nodes = [node_of(random_regex(rng, 4)) for _ in range(150)]
    nodes += [resolved(node_of(text, extended=True)) for text in (r"\bab\b", "(a|b)*&~(b*)")]
    nodes += [EPSILON, NOTHING, seq(NOTHING, EPSILON), repeat(node_of("ab|c"), 3, None)]

    assert [built(node) for node in nodes] == [size_of(node) for node in nodes]


def test_a_count_of_any_size_is_refused_at_once() -> None:
    """Nothing of it is built; the outermost count is named, as its author wrote it."""
    builder = Thompson(Limits(states=1000))

    with pytest.raises(LimitError, match="more than 1,000 states") as found:
        builder.compile(node_of("x((a{1,1000000000}){999}){0,999}"))

    assert found.value.part == "((a{1,1000000000}){999}){0,999}"
    assert builder.nfa.states == 0


def test_sizes_of_counts_inside_counts_are_short_numbers() -> None:
    """Each alone would have a bit more than the one inside it: quadratic memory."""
    assert max(size_of(node_of("a" + "{2}" * 1_000))).bit_length() < 100


def test_memory_of_arcs_is_refused_before_they_are_built() -> None:
    """A class of many ranges has many arcs for few states."""
    builder = Thompson(Limits(memory=5_000_000))

    with pytest.raises(LimitError, match="bytes of memory"):
        builder.compile(node_of(r"[\p{L}\p{N}]{1,200}"))

    assert builder.nfa.states == 0


def test_time_inside_an_intersection_is_no_count() -> None:
    """Another engine is tried where a count is exceeded, never where the time is over."""
    limits = Limits(seconds=0.0).started()

    with pytest.raises(LimitError, match="seconds") as found:
        resolved(node_of("(a*b)&~(b*)", extended=True), limits)

    assert (found.value.is_measured, found.value.part) == (True, "~(b*)")
