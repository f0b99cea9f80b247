"""Minimal DFAs: Hopcroft's algorithm, and Moore's as its oracle."""

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .dfa import Dfa, trimmed
from .nfa import Origins, united


def minimize(dfa: Dfa, limits: Limits | None = None) -> Dfa:
    """The minimal automaton, by Hopcroft's algorithm; states numbered breadth-first.

    The loop is Hopcroft's; the rest shuffles data. O(C n log n) for n states and C columns.
    Joined states keep the union of their origins. Raises ``LimitError`` (time).
    """
    limits = (limits or Limits()).started()
    predecessors = _predecessors(dfa)
    accepting = set(np.flatnonzero(dfa.accepting).tolist())
    others = set(range(dfa.states)) - accepting
    blocks = [block for block in (accepting, others) if block]
    block_of = np.zeros(dfa.states, dtype=np.int64).tolist()
    for number, block in enumerate(blocks):
        for state in block:
            block_of[state] = number
    waiting = {min(range(len(blocks)), key=lambda i: len(blocks[i]))}
    while waiting:
        limits.check_time("minimisation")
        splitter = sorted(blocks[waiting.pop()])
        for before in predecessors:
            reaching: set[int] = set()
            for state in splitter:
                reaching.update(before.get(state, ()))
            touched: dict[int, set[int]] = {}
            for state in reaching:
                touched.setdefault(block_of[state], set()).add(state)
            for number, inside in touched.items():
                if len(inside) == len(blocks[number]):
                    continue
                # The smaller part gets the new number and waits, unless the old one waits
                # already: then both do.
                outside = blocks[number] - inside
                smaller, larger = sorted((inside, outside), key=len)
                blocks[number] = larger
                blocks.append(smaller)
                for state in smaller:
                    block_of[state] = len(blocks) - 1
                waiting.add(len(blocks) - 1)
    return _quotient(dfa, np.array(block_of))


def minimize_via_moore(dfa: Dfa) -> Dfa:
    """The minimal automaton, by Moore's rounds of refinement. O(C n²); the oracle."""
    block_of = dfa.accepting.astype(np.int64)
    count = 0
    while True:
        signatures = np.column_stack([block_of, block_of[dfa.table]])
        _, refined = np.unique(signatures, axis=0, return_inverse=True)
        block_of = refined.reshape(-1)
        if int(block_of.max()) + 1 == count:
            return _quotient(dfa, block_of)
        count = int(block_of.max()) + 1


def _predecessors(dfa: Dfa) -> list[dict[int, list[int]]]:
    """For each column the states that lead to a state."""
    found: list[dict[int, list[int]]] = []
    for column in range(dfa.table.shape[1]):
        before: dict[int, list[int]] = {}
        for state, target in enumerate(dfa.table[:, column].tolist()):
            before.setdefault(target, []).append(state)
        found.append(before)
    return found


def _quotient(dfa: Dfa, block_of: NDArray[np.int64]) -> Dfa:
    """One state a block. The dead state's block keeps number 0."""
    _, representative, number = np.unique(block_of, return_index=True, return_inverse=True)
    dead = int(number[0])
    swap = np.arange(len(representative))
    swap[[0, dead]] = swap[[dead, 0]]
    number = swap[number]
    representative[[0, dead]] = representative[[dead, 0]]
    origins: list[list[Origins]] = [[] for _ in representative]
    for state, block in enumerate(number.tolist()):
        origins[block].append(dfa.origins[state])
    return trimmed(
        Dfa(
            table=number[dfa.table[representative]].astype(np.int32),
            classes=dfa.classes,
            accepting=dfa.accepting[representative],
            start=int(number[dfa.start]),
            origins=tuple(map(united, origins)),
        )
    )
