"""Inclusion of states, and the canonical texts where it keeps sets of states small."""

import random
from dataclasses import replace

import pytest
from support.automata import build_automaton
from support.oracles.automata import is_included_via_product
from support.regexes import random_regex
from support.wordpiece import tokenizer_of

from constrain.compiler.automata.boolean import common, union
from constrain.compiler.automata.compare import (
    Inclusion,
    is_included,
)
from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.limits import Limits
from constrain.compiler.wordpiece import normalized_language as module
from constrain.compiler.wordpiece.image import image_table


def dfa_of(pattern: str) -> Dfa:
    """The minimal automaton of a regex."""
    return build_automaton(pattern, dialect="regex").dfa


def test_all_pairs_of_states(full: bool) -> None:
    """State by state the answer of the difference of both languages."""
    draw = random.Random(31)
    held = 0
    for _ in range(200 if full else 4):
        dfa = dfa_of(random_regex(draw, 3))
        inclusion = Inclusion(dfa)
        states = [s for s in range(dfa.states) if s != DEAD][:8]
        for p in states:
            for q in states:
                expected = is_included_via_product(replace(dfa, start=p), replace(dfa, start=q))
                assert expected == inclusion.holds(p, q), (p, q)
                held += expected and p != q
    assert held


def test_inclusion_is_that_of_the_product(full: bool) -> None:
    """Of random languages, of their parts, and of the empty one."""
    draw = random.Random(7)
    held = 0
    for _ in range(300 if full else 12):
        left, right = (dfa_of(random_regex(draw, 2)) for _ in range(2))
        for one, other in ((left, right), (common(left, right), right), (left, union(left, right))):
            expected = is_included_via_product(one, other)
            assert expected == is_included(one, other)
            held += expected
    assert held


def test_the_largest_of_a_counter() -> None:
    """Of the counts of a bounded repetition the first accepts all that others do."""
    dfa = dfa_of("[ab]{0,30}")
    counts = [dfa.run(b"a" * n) for n in range(31)]

    assert [counts[4]] == Inclusion(dfa).largest(reversed(counts[4:]))
    exact = dfa_of("[ab]{30}")
    counts = [exact.run(b"a" * n) for n in range(31)]
    assert counts == Inclusion(exact).largest(counts)


def test_what_is_not_looked_at_is_not_included() -> None:
    """Beyond its bound the answer is no."""
    dfa = dfa_of("[ab]{0,30}")

    assert Inclusion(dfa).holds(dfa.run(b"a"), dfa.start)
    assert not Inclusion(dfa, pairs=5).holds(dfa.run(b"a"), dfa.start)


@pytest.mark.parametrize(
    "pattern",
    [r"[a\u00ad -]{0,6}", r"([a\u00ad]{0,4} ){2}b", r"[ab\u200b]{3}", r"(\u00ad{0,3}a|b ?-)*c"],
)
def test_canonical_texts_are_the_same_without(
    monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """Where characters vanish, dropping states of a set changes nothing but the time."""
    images = image_table(tokenizer_of(["a", "##a", "b", "##b", "c", "-"]))
    found = module.canonical_text(dfa_of(pattern), images, Limits()).dfa
    monkeypatch.setattr(Inclusion, "holds", lambda *_: False)
    expected = module.canonical_text(dfa_of(pattern), images, Limits()).dfa

    assert expected.table.tolist() == found.table.tolist()
    assert expected.classes.tolist() == found.classes.tolist()
    assert expected.accepting.tolist() == found.accepting.tolist()
