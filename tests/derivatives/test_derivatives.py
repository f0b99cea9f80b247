"""The construction by derivatives, held against Thompson's."""

import json
import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from support.derivatives.byte_expressions import EPSILON, NONE, Expressions
from support.derivatives.construct import LazyDfa, minimal_via_derivatives
from support.regexes import node_of

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.regex_ir import ByteClass, Embedded, Lit, Node, TokenTerminal
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import GrammarError, LimitError
from constrain.compiler.limits import Limits


def check_both(node: Node, limits: Limits | None = None, terminals: int = 0) -> int:
    """Both constructions give the same minimal DFA; how much larger the lazy one was."""
    one = minimize(determinize(thompson(resolved(node, limits), limits), limits, terminals), limits)
    lazy = LazyDfa(node, limits, terminals).whole()
    other = minimize(lazy, limits)
    assert one.states == other.states
    assert np.array_equal(one.table, other.table)
    assert np.array_equal(one.classes, other.classes)
    assert np.array_equal(one.accepting, other.accepting)
    assert one.start == other.start
    return lazy.states - one.states


def random_node(rng: random.Random, depth: int) -> Node:
    """Any kind of expression but assertions and token terminals."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return rng.choice(
            [
                Lit(b"a"),
                Lit(b"ab"),
                regex.EPSILON,
                regex.char_class([(0x61, 0x62)]),
                regex.char_class([(0x62, 0xE9), (0x20AC, 0x20AF)]),
                regex.ANY_CHARACTER,
                ByteClass(((0x61, 0x61), (0x80, 0xFF))),
                regex.NOTHING,
            ]
        )
    one = random_node(rng, depth - 1)
    if kind < 0.35:
        return regex.seq(one, random_node(rng, depth - 1))
    if kind < 0.55:
        return regex.alt(one, random_node(rng, depth - 1))
    if kind < 0.65:
        return regex.intersection(one, random_node(rng, depth - 1))
    if kind < 0.75:
        return regex.negation(one)
    if kind < 0.8:
        return Embedded(thompson(resolved(one)))
    low = rng.randrange(3)
    return regex.repeat(one, low, rng.choice([None, low, low + 1, low + 3]))


def test_random_expressions(full: bool) -> None:
    """With intersections, complements, counts, bytes that are no UTF-8, embedded automata."""
    rng = random.Random(11)
    larger = [check_both(random_node(rng, 5)) for _ in range(3000 if full else 15)]
    # The expressions are few more than the states, mostly none more.
    assert sum(not extra for extra in larger) > 0.6 * len(larger)


@pytest.mark.quick
@pytest.mark.parametrize(
    "pattern",
    [
        "",
        r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
        r"\w{1,6}",
        r"(a|a)*b",
        r"(.*){50}",
        r'[^"\\]{0,200}',
        r"((a{2}){3}|a{6})b",
        r"(a*)*(b+)*",
        r"(a|b)*a(a|b){6}",
        r"\bfoo\b|\Bx\B.*",
        r"(éa|êa|ëb)*",
    ],
)
def test_patterns(pattern: str) -> None:
    """Patterns of which each needs a law or an approximation."""
    check_both(node_of(pattern))


def suite_patterns(data: Callable[[str], Path]) -> Iterator[str]:
    """The patterns of two engines' suites, without repetition."""
    for path in sorted(data("suites/rust-regex/testdata").glob("**/*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8")).get("test", []):
            found = case["regex"]
            yield from [found] if isinstance(found, str) else found
    lines = data("suites/python-re/re_tests.jsonl").read_text(encoding="utf-8").splitlines()
    yield from (json.loads(line)["pattern"] for line in lines)


def test_patterns_of_other_engines(data: Callable[[str], Path], full: bool) -> None:
    """Every pattern of theirs that the regex dialect reads, up to a size."""
    patterns = sorted(set(suite_patterns(data)))
    random.Random(12).shuffle(patterns)
    limits = Limits(states=20_000)
    compared = 0
    for pattern in patterns if full else patterns[:60]:
        try:
            node = node_of(pattern)
            resolved(node, limits)
        except (GrammarError, LimitError):
            continue
        try:
            check_both(node, limits)
        except LimitError:
            continue
        compared += 1
    assert compared > (800 if full else 40)


@pytest.mark.quick
def test_laws() -> None:
    """Expressions that the laws make similar are one number."""
    build = Expressions(256, Limits())
    a, b, c = (build.symbols(1 << octet) for octet in b"abc")
    long_a = build.rep(a, 0, None)
    pairs = [
        (build.alt([a, build.alt([b, c])]), build.symbols(0b1110 << 96)),
        (build.alt([long_a, EPSILON]), long_a),
        (build.rep(long_a, 0, None), long_a),
        (build.rep(build.rep(a, 1, None), 0, None), long_a),
        (build.rep(build.rep(a, 2, 2), 3, 3), build.rep(a, 6, 6)),
        (build.alt([build.rep(a, 1, 3), build.rep(a, 2, 5)]), build.rep(a, 1, 5)),
        (build.seq(build.rep(a, 1, 3), build.rep(a, 2, None)), build.rep(a, 3, None)),
        (build.negation(build.negation(a)), a),
        (build.alt([a, build.negation(NONE)]), build.all),
        (build.intersection([a, build.negation(NONE)]), a),
        (build.intersection([long_a, EPSILON]), EPSILON),
        (build.intersection([a, b]), NONE),
        (build.seq(NONE, a), NONE),
        (build.alt([build.seq(a, b), build.seq(a, c)]), build.seq(a, build.alt([b, c]))),
        (build.alt([build.seq(a, c), build.seq(b, c)]), build.seq(build.alt([a, b]), c)),
        (build.seq(build.seq(a, b), c), build.seq(a, build.seq(b, c))),
    ]
    assert [one for one, other in pairs if one != other] == []
    # Named tuples with the same content are still different kinds.
    assert build.negation(5) != build.symbols(5)


@pytest.mark.quick
def test_derivatives_are_taken_when_asked_for() -> None:
    """A language of two million states is walked without building it."""
    lazy = LazyDfa(node_of(".*a.{20}"))
    assert lazy.accepts(b"b" * 50 + b"a" + b"c" * 20)
    assert not lazy.accepts(b"b" * 50 + b"a" + b"c" * 21)


@pytest.mark.quick
def test_token_terminals() -> None:
    """They are symbols beyond the bytes."""
    node = regex.seq(Lit(b"a"), regex.repeat(TokenTerminal(1), 1, 3))
    check_both(regex.alt(node, TokenTerminal(0)), terminals=2)


def test_growth_is_capped_with_the_part() -> None:
    """An automaton beyond the cap is refused with its number and the repetition at fault."""
    with pytest.raises(LimitError, match=r"more than 500 states .*'\.\{20\}'"):
        LazyDfa(node_of(".*a.{20}"), Limits(states=500)).whole()
    with pytest.raises(LimitError, match="--max-memory"):
        LazyDfa(node_of(".*a.{20}"), Limits(memory=1_000_000)).whole()


def test_depth_needs_no_python_stack() -> None:
    """Twelve hundred nested nodes, and texts that agree for as long."""
    node: Node = Lit(b"a")
    for _ in range(1_200):
        node = regex.seq(regex.optional(node), Lit(b"b"))
    assert LazyDfa(node).accepts(b"a" + b"b" * 1_200)
    assert (
        minimal_via_derivatives(regex.alt(Lit(b"a" * 1_200 + b"b"), Lit(b"a" * 1_201))).states
        > 1_200
    )
