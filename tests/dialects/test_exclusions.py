"""Differences, ``except!`` and their like, against their definitions on enumerated words."""

import random

import pytest
from support.regexes import minimal_dfa_of

from constrain.compiler.automata.boolean import (
    difference,
    embedded,
    excluding,
    shortest_matches,
    substrings,
)
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

LONGEST = 6


def words(dfa: Dfa) -> set[str]:
    """The short members over a, b, c."""
    found = set()
    for word in all_words():
        if dfa.accepts(word.encode()):
            found.add(word)
    return found


def all_words() -> list[str]:
    """All words over a, b, c up to a length."""
    listed = [""]
    for word in listed:
        if len(word) < LONGEST:
            listed.extend(word + letter for letter in "abc")
    return listed


def random_pattern(rng: random.Random, depth: int) -> str:
    """A pattern over a, b, c."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(["a", "b", "c", "ab", "[bc]", "[ac]"])
    kind = rng.randrange(3)
    if kind == 0:
        return random_pattern(rng, depth - 1) + random_pattern(rng, depth - 1)
    if kind == 1:
        return f"({random_pattern(rng, depth - 1)}|{random_pattern(rng, depth - 1)})"
    return f"({random_pattern(rng, depth - 1)}){rng.choice('*+?')}"


def test_against_the_definitions(full: bool) -> None:
    """On random patterns: difference, exclusion with and without a count, shortest matches."""
    rng = random.Random(23)
    every = all_words()
    for _ in range(60 if full else 11):
        left, right = minimal_dfa_of(random_pattern(rng, 3)), minimal_dfa_of(random_pattern(rng, 3))
        members = words(right)
        assert words(difference(left, right)) == words(left) - members
        assert words(minimize(determinize(thompson(embedded(right))))) == members
        shortest = {w for w in members if not any(w[:i] in members for i in range(len(w)))}
        assert words(shortest_matches(right)) == shortest
        if "" in members:
            continue
        for at_most in (None, 1, 3):
            expected = {
                w
                for w in every
                if 1 <= len(w) <= (at_most or LONGEST) and not any(m in w for m in members)
            }
            assert words(excluding(right, at_most)) == expected


def test_exclusions_count_characters() -> None:
    """The count is of characters, not of bytes, and any character but those excluded may stand."""
    dfa = excluding(minimal_dfa_of("x"), 2)
    assert dfa.accepts("é😀".encode())
    assert dfa.accepts(b"\n")
    assert not dfa.accepts("é😀a".encode())
    assert not dfa.accepts(b"\xff")


def test_substrings() -> None:
    """Every run of neighbouring characters, whole ones only, the empty one too."""
    dfa = minimize(determinize(thompson(substrings("aéa"))))
    expected = {"aéa"[i:j] for i in range(4) for j in range(i, 4)}
    for text in ("", "a", "é", "aé", "éa", "aéa", "aa", "éé", "b"):
        assert dfa.accepts(text.encode()) == (text in expected)
    assert dfa.run(b"\xa9") == DEAD


def test_states_are_capped() -> None:
    """A product beyond the cap is refused."""
    with pytest.raises(LimitError, match="more than 3 states"):
        difference(minimal_dfa_of("[ab]{9}"), minimal_dfa_of("a[ab]{8}"), Limits(states=3))
