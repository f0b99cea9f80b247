"""NFA to minimal DFA: as lists, for small automata, against as arrays."""

import random
from collections.abc import Iterator

import pytest
from support.oracles.automata import minimal_via_arrays

from constrain.compiler.automata import minimize as module
from constrain.compiler.automata.determinize import subsets
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.minimize import (
    minimal,
    minimal_via_lists,
)
from constrain.compiler.automata.nfa import FIRST_TERMINAL, Arc, Nfa
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

_BORDERS = [0, 1, 2, 97, 98, 99, 254, 255]


def random_nfas(count: int, seed: int) -> Iterator[tuple[Nfa, int]]:
    """With ε, overlapping bytes, tokens, origins, and states that lead nowhere; and their T."""
    rng = random.Random(seed)
    for _ in range(count):
        states, tokens = rng.randint(1, 12), rng.choice([0, 0, 2, 4])
        finals = frozenset(rng.sample(range(states), rng.randint(0, min(states, 3))))
        nothing: list[list[int]] = [[] for _ in range(states)]
        nfa = Nfa([[] for _ in range(states)], nothing, rng.randrange(states), finals)
        for _ in range(rng.randint(0, 3 * states)):
            source, target, kind = rng.randrange(states), rng.randrange(states), rng.random()
            low, high = sorted(rng.choices(_BORDERS, k=2))
            if kind < 0.2:
                nfa.epsilon[source].append(target)
                continue
            if tokens and kind < 0.6:
                low = high = FIRST_TERMINAL + rng.randrange(tokens)
            origins = frozenset(rng.sample(range(4), rng.randint(0, 2)))
            nfa.arcs[source].append(Arc(low, high, target, origins))
        yield nfa, tokens


def content(dfa: Dfa) -> tuple[object, ...]:
    """All that a DFA is made of."""
    arrays = [(a.dtype, a.shape, a.tobytes()) for a in (dfa.table, dfa.classes, dfa.accepting)]
    return *arrays, dfa.start, dfa.origins, dfa.is_trimmed


def test_both_ways_are_one(full: bool) -> None:
    """Table, classes, numbering and origins are the same, also where there is no member."""
    empty = 0
    for nfa, tokens in random_nfas(20_000 if full else 150, seed=5):
        expected = minimal_via_arrays(nfa, terminals=tokens)
        by_lists = minimal_via_lists(subsets(nfa, terminals=tokens), Limits().started())
        assert content(expected) == content(by_lists), nfa
        empty += expected.is_empty
    assert 0 < empty < 1500 or full


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_what_is_split_in_rounds_is_what_splitters_find(
    rounds: int, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Rounds may end before all blocks are found, and find too few, as if sums of weights were the
    same by chance."""
    some = list(random_nfas(300 if full else 55, seed=11))

    def all_minimal() -> list[tuple[object, ...]]:
        return [content(minimal_via_arrays(nfa, terminals=tokens)) for nfa, tokens in some]

    expected = all_minimal()
    monkeypatch.setattr(module, "_ROUNDS", rounds)
    assert expected == all_minimal()
    split = module._split_in_rounds
    monkeypatch.setattr(module, "_split_in_rounds", lambda *given: split(*given) // 2)
    assert expected == all_minimal()


def test_limits_hold_for_small_automata() -> None:
    """Too many subsets are refused before anything is minimised."""
    ways_apart = Nfa([[Arc(97, 97, 1, frozenset())], [], []], [[2], [], []], 0, frozenset([1]))
    with pytest.raises(LimitError):
        minimal(ways_apart, Limits(states=2))
    assert minimal(ways_apart, Limits(states=3)).states == 3
