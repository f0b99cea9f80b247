"""Texts with two factorizations, against counting all of them."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import itertools
import random
from functools import cache

import pytest
from support.automata import build_automaton

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.members import shortest
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.lints import lint, repetition
from constrain.compiler.lints.ambiguity import (
    ambiguous_concatenation,
    ambiguous_factorization,
)

LIMITS = Limits()
TEXTS = [bytes(t) for n in range(8) for t in itertools.product(b"ab", repeat=n)]


def random_regex(rng: random.Random, depth: int) -> str:
    """A regular expression over two letters."""
    kind = rng.randrange(4) if depth else 0
    if kind == 0:
        return rng.choice(("a", "b", "ab", "ba", "aab"))
    if kind == 1:
        return f"({random_regex(rng, depth - 1)}){rng.choice('*+?')}"
    joiner = "|" if kind == 2 else ""
    return f"({joiner.join(random_regex(rng, depth - 1) for _ in range(2))})"


def dfa_of(text: str) -> Dfa:
    """The minimal DFA of a regular expression."""
    return build_automaton(text, dialect="regex").dfa


def factorizations(item: Dfa, text: bytes) -> int:
    """How many factorizations a text has into members that are not empty."""

    @cache
    def behind(start: int) -> int:
        if start == len(text):
            return 1
        ends = range(start + 1, len(text) + 1)
        return sum(behind(end) for end in ends if item.accepts(text[start:end]))

    return behind(0)


def splits(first: Dfa, second: Dfa, text: bytes) -> int:
    """In how many ways a text is a member of one and one of the other."""
    return sum(
        first.accepts(text[:end]) and second.accepts(text[end:]) for end in range(len(text) + 1)
    )


def test_repetitions_against_counting(full: bool) -> None:
    """The text found is a shortest with two factorizations, for random expressions."""
    rng = random.Random(4)
    found = 0
    for _ in range(3000 if full else 41):
        text = random_regex(rng, 3)
        item = dfa_of(text)
        witness = ambiguous_factorization(item, LIMITS)
        if item.accepting[item.start]:
            assert b"" == witness
            continue
        least = next((t for t in TEXTS if factorizations(item, t) > 1), None)
        if witness is None or len(witness) >= 8:
            assert least is None, text
            continue
        assert factorizations(item, witness) > 1, text
        assert least is not None
        assert len(least) == len(witness), text
        found += 1
    assert found > 8


def test_neighbours_against_counting(full: bool) -> None:
    """The same for two neighbours."""
    rng = random.Random(5)
    found = 0
    for _ in range(3000 if full else 75):
        first, second = dfa_of(random_regex(rng, 3)), dfa_of(random_regex(rng, 3))
        witness = ambiguous_concatenation(first, second, LIMITS)
        least = next((t for t in TEXTS if splits(first, second, t) > 1), None)
        if witness is None or len(witness) >= 8:
            assert least is None
            continue
        assert splits(first, second, witness) > 1
        assert least is not None
        assert len(least) == len(witness)
        found += 1
    assert found > 8


def test_shortest_members() -> None:
    """Breadth-first, and nothing of an empty automaton."""
    assert b"abba" == shortest(dfa_of("abba+|bbbbb"), is_read=True)
    assert b"" == shortest(dfa_of("a?"), is_read=True)
    assert (b"\x00", b"0") == tuple(shortest(dfa_of(r"[\0-~]"), is_read=r) for r in (False, True))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('("a" | "a"+)*', "'aa'"),
        ('("a" | "aa")*', "'aa'"),
        ('("a"*)*', "may be empty"),
        ('("a"?)*', "may be empty"),
        ('"a"* "a"*', "'a'"),
        ('("a" | b)*', "'aba'"),
        ('#"([a-z]+ ?)*"', "'aa'"),
        ('("é" | "éé")*', "'éé'"),
    ],
)
def test_the_lint_shows_a_text(body: str, text: str) -> None:
    """The one with two factorizations, or a word that the empty text can be repeated."""
    grammar = read_grammar(f'a ::= {body}; b ::= "ab" | "ba";', "kbnf")
    (found,) = [f for f in lint(grammar) if f.lint == "ambiguous-repetition"]
    assert text in found.message


@pytest.mark.parametrize(
    "body",
    ['("a" | "ab")*', '("," "a"+)*', '"a"* "b"*', '#"([a-z]+,)*"', '("a" b)* "a"', '"a"? "a"?'],
)
def test_the_lint_is_silent_about_one_reading(body: str) -> None:
    """Codes, separated items, neighbours that begin otherwise, and counts with an end."""
    grammar = read_grammar(f'a ::= {body}; b ::= "ab" | "ba";', "kbnf")
    assert [] == [f for f in lint(grammar) if f.lint == "ambiguous-repetition"]


def test_long_grammars_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of many repetitions are looked at, then the nodes are used up."""
    monkeypatch.setattr(repetition, "_ALL_NODES", repetition._ALL_NODES // 10)
    rules = "".join(f'r{i} ::= ("a" "a"*)* "{i}";\n' for i in range(260))
    found = lint(read_grammar(rules, "kbnf", start="r0"))
    count = sum(f.lint == "ambiguous-repetition" for f in found)
    assert 0 < count < 260
