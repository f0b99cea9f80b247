"""Products, comparisons and members of regular languages."""

import random
from collections import Counter
from itertools import islice, product

import numpy as np
import pytest
from support.automata import words_of as symbols_of
from support.oracles.automata import minimize_via_moore
from support.regexes import minimal_dfa_of

from constrain.compiler.automata import boolean
from constrain.compiler.automata.compare import are_equal, compare, is_included
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa, from_tables, nothing
from constrain.compiler.automata.members import Members, longest_length, shortest
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.regex_ir import TokenTerminal
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

# All words over two letters of up to six bytes.
WORDS = [bytes(w) for n in range(7) for w in product(b"ab", repeat=n)]


def random_pattern(rng: random.Random, depth: int = 4) -> str:
    """A pattern over a and b."""
    kind = rng.random()
    if depth == 0 or kind < 0.2:
        return rng.choice(["a", "b", "ab", "[ab]", "()"])
    inner = random_pattern(rng, depth - 1)
    if kind < 0.5:
        return inner + random_pattern(rng, depth - 1)
    if kind < 0.75:
        return f"({inner}|{random_pattern(rng, depth - 1)})"
    return f"({inner}){rng.choice(['*', '+', '?', '{2}', '{1,3}'])}"


def words_of(dfa: Dfa) -> set[bytes]:
    """The members among ``WORDS``."""
    return {word for word in WORDS if dfa.accepts(word)}


def random_pairs(seed: int, count: int) -> list[tuple[Dfa, Dfa]]:
    """Pairs of languages that often overlap."""
    rng = random.Random(seed)
    return [
        (minimal_dfa_of(random_pattern(rng)), minimal_dfa_of(random_pattern(rng)))
        for _ in range(count)
    ]


def test_boolean_operations_are_those_of_sets(full: bool) -> None:
    """Difference, intersection and union of automata hold the words that sets hold."""
    for left, right in random_pairs(1, 1000 if full else 25):
        a, b = words_of(left), words_of(right)
        assert words_of(boolean.difference(left, right)) == a - b
        assert words_of(boolean.common(left, right)) == a & b
        assert words_of(boolean.union(left, right)) == a | b


def test_complement_is_that_of_texts() -> None:
    """All UTF-8 texts that are no members; twice is the language itself."""
    dfa = minimal_dfa_of("a|é.*")
    other = boolean.complement(dfa)
    assert [t for t in ("a", "é", "éb") if other.accepts(t.encode())] == []
    assert [t for t in ("", "b", "aa", "é\n") if not other.accepts(t.encode())] == []
    assert not other.accepts(b"\xff")
    assert np.array_equal(boolean.complement(other).table, dfa.table)


def test_products_are_minimal_and_canonical() -> None:
    """De Morgan: both sides are the same table."""
    for left, right in random_pairs(2, 30):
        one = boolean.complement(boolean.union(left, right))
        other = boolean.common(boolean.complement(left), boolean.complement(right))
        assert np.array_equal(one.table, other.table)
        assert np.array_equal(one.accepting, other.accepting)


def test_comparison(full: bool) -> None:
    """Equality, inclusion and witnesses agree with the differences of sets."""
    equal = 0
    for left, right in random_pairs(3, 2000 if full else 60):
        found = compare(left, right)
        a, b = words_of(left), words_of(right)
        by_length = [min(s, key=lambda w: (len(w), w), default=None) for s in (a - b, b - a)]
        witnesses = [w if w is None or len(w) < 7 else None for w in found.witnesses]
        assert witnesses == by_length
        same = np.array_equal(left.table, right.table)
        same &= np.array_equal(left.accepting, right.accepting)
        same &= np.array_equal(left.classes, right.classes)
        assert same == found.is_equal == are_equal(left, right)
        assert is_included(left, right) == found.only_left.is_empty
        equal += found.is_equal
    assert equal


def test_equality_needs_no_minimal_automata() -> None:
    """Two automata of different sizes can be equal; one state apart they are not."""
    loop = minimal_dfa_of("(a|b)*")
    unrolled = Dfa(
        np.array([[0, 0], [2, 1], [1, 2]], dtype=np.int32),
        minimal_dfa_of("[^ab]").classes * 0 + np.array([i not in b"ab" for i in range(256)]),
        np.array([False, True, True]),
        1,
        (frozenset(),) * 3,
    )
    # Column 0 is a and b, column 1 all other bytes, which must not matter here.
    unrolled.table[1:, 1] = 0
    assert are_equal(loop, unrolled)
    assert not are_equal(loop, minimal_dfa_of("(a|b)+"))
    assert are_equal(nothing(), boolean.difference(loop, loop))


def test_products_over_token_terminals() -> None:
    """Each is a symbol of its own; both sides must have the same."""
    one, other = (minimize(determinize(thompson(TokenTerminal(k)), terminals=2)) for k in range(2))
    assert sorted(symbols_of(boolean.union(one, other), 2)) == [(256,), (257,)]
    assert boolean.common(one, other).is_empty
    assert not are_equal(one, other)
    with_token = minimize(determinize(thompson(TokenTerminal(0)), terminals=1))
    with pytest.raises(ValueError, match="token terminals"):
        boolean.union(one, with_token)
    with pytest.raises(ValueError, match="token terminals"):
        Members(with_token)


def test_products_keep_limits() -> None:
    """Two coprime cycles have a product of their lengths."""
    one, other = minimal_dfa_of("(a{31})*"), minimal_dfa_of("(a{37})*")
    assert boolean.common(one, other).states == 31 * 37 + 1
    with pytest.raises(LimitError, match="more than 1,000 states"):
        boolean.common(one, other, Limits(states=1000))


def test_tables_are_read_back() -> None:
    """What an artifact stores is the automaton again."""
    dfa = minimal_dfa_of("a|bc*")
    again = from_tables(dfa.tables())
    assert [again.accepts(w) for w in WORDS] == [dfa.accepts(w) for w in WORDS]


def test_members_in_length_lexicographic_order(full: bool) -> None:
    """All members come once, shortest first, equally long ones by their bytes."""
    rng = random.Random(4)
    for _ in range(600 if full else 50):
        dfa = minimal_dfa_of(random_pattern(rng))
        members = Members(dfa)
        found = list(members.up_to(6))
        assert found == [word for word in WORDS if dfa.accepts(word)]
        places = [(n, place) for n in range(7) for place in range(members.count(n))]
        assert found == [members.unranked(place, n) for n, place in places]
        counts = Counter(map(len, found))
        assert [members.count(n) for n in range(7)] == [counts[n] for n in range(7)]
        if found:
            assert shortest(dfa) == found[0]


def test_longest_length() -> None:
    """None if there is no longest member, -1 if there is none at all."""
    lengths = {"(a|b){2,5}|ccc": 5, "a|éa": 3, "": 0, "a+": None}
    assert {text: longest_length(minimal_dfa_of(text)) for text in lengths} == lengths
    assert longest_length(nothing()) == -1


def test_places_behind_the_last_member() -> None:
    """A finite language ends."""
    members = Members(minimal_dfa_of("[a-c]"))
    assert members.unranked(2, 1) == b"c"
    with pytest.raises(IndexError):
        members.unranked(3, 1)
    assert list(members.up_to(9)) == [b"a", b"b", b"c"]


def test_counts_are_exact_beyond_machine_integers() -> None:
    """Any bytes but one: 255 to the power of the length."""
    members = Members(boolean.complement(boolean.complement(minimal_dfa_of("[a-z]*"))))
    assert [members.count(n) for n in (0, 1, 13, 40, 200)] == [26**n for n in (0, 1, 13, 40, 200)]
    assert members.unranked(26**40 - 1, 40) == b"z" * 40
    assert members.unranked(26**39, 40) == b"b" + b"a" * 39


def test_counting_keeps_limits() -> None:
    """The table of counts is bounded by memory."""
    with pytest.raises(LimitError, match="--max-memory"):
        Members(minimal_dfa_of("[a-z]*"), Limits(memory=10_000)).count(1000)


def test_draws_are_uniform() -> None:
    """Every member is drawn as often as the others (chi-squared, 1 % level), with a fixed seed."""
    members = Members(minimal_dfa_of("a{0,3}|b[0-9]|ccccc"))
    drawn = Counter(islice(members.draws(5, seed=1), 30_000))
    expected = 30_000 / 15
    assert sorted(drawn) == sorted(members.up_to(5))
    statistic = sum((count - expected) ** 2 / expected for count in drawn.values())
    assert statistic < 29.1  # 14 degrees of freedom.
    one, same, other = (list(islice(members.draws(5, seed=n), 9)) for n in (1, 1, 2))
    assert one == same != other
    with pytest.raises(IndexError):
        next(Members(minimal_dfa_of("aaa")).draws(2, seed=1))


def test_hopcroft_equals_moore_on_any_table(full: bool) -> None:
    """Random tables: cycles, traps besides the dead state, states that are never reached."""
    rng = np.random.default_rng(5)
    classes = np.arange(256, dtype=np.uint8) % 3
    sizes = set()
    for _ in range(5000 if full else 150):
        states = int(rng.integers(1, 14))
        table = rng.integers(0, states, (states, 3), dtype=np.int32)
        table[rng.random(table.shape) < 0.4] = 0
        table[0] = 0
        accepting = rng.random(states) < 0.4
        accepting[0] = False
        dfa = Dfa(table, classes, accepting, int(rng.integers(states)), (frozenset(),) * states)
        small, oracle = minimize(dfa), minimize_via_moore(dfa)
        assert np.array_equal(small.table, oracle.table)
        assert np.array_equal(small.accepting, oracle.accepting)
        assert small.start == oracle.start
        assert minimize(small) is small
        sizes.add(small.states)
    assert len(sizes) > 8
