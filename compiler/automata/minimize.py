"""Minimal DFAs: Hopcroft's algorithm, and Moore's as its oracle."""

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .acyclic import acyclic_classes
from .dfa import DEAD, Dfa, trimmed
from .nfa import Origins, united


def minimize(dfa: Dfa, limits: Limits | None = None) -> Dfa:
    """The minimal automaton, by Hopcroft's algorithm; states numbered breadth-first.

    The loop is Hopcroft's; the rest shuffles data. O(C n log n) for n states and C columns.
    Joined states keep the union of their origins. Raises ``LimitError`` (time).
    """
    limits = (limits or Limits()).started()
    dfa = trimmed(dfa)
    settled = acyclic_classes(dfa)
    blocks, block_of = _first_blocks(dfa, settled)
    before = _predecessors(dfa, settled < 0)
    refine(blocks, block_of, before, limits)
    return _quotient(dfa, np.array(block_of))


def refine(
    blocks: list[set[int]],
    block_of: list[int],
    before: Callable[[int], Iterable[tuple[int, int]]],
    limits: Limits,
) -> None:
    """Hopcroft's loop: split ``blocks`` until the states of each go on alike.

    ``before``: for a state the (column, source) of the edges into it. States of one block have
    edges by the same columns. Raises ``LimitError`` (time).
    """
    waiting = set(range(len(blocks))) - {max(range(len(blocks)), key=lambda i: len(blocks[i]))}
    while waiting:
        limits.check_time("minimisation")
        reaching: dict[int, set[int]] = {}
        for state in blocks[waiting.pop()]:
            for column, source in before(state):
                reaching.setdefault(column, set()).add(source)
        for states in reaching.values():
            touched: dict[int, set[int]] = {}
            for state in states:
                number = block_of[state]
                if len(blocks[number]) > 1:
                    touched.setdefault(number, set()).add(state)
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


def _first_blocks(dfa: Dfa, settled: NDArray[np.int64]) -> tuple[list[set[int]], list[int]]:
    """Blocks to begin with, and the block of each state.

    States that reach no cycle are settled, by their classes; the others are told apart by
    acceptance and by which columns lead anywhere. So the dead state splits no block any more.
    """
    keys: list[Hashable] = settled.tolist()
    open_states = np.flatnonzero(settled < 0)
    alive = np.column_stack([dfa.accepting[open_states], dfa.table[open_states] != DEAD])
    for state, key in zip(open_states.tolist(), alive, strict=True):
        keys[state] = key.tobytes()
    return blocks_by(keys)


def blocks_by(keys: Sequence[Hashable]) -> tuple[list[set[int]], list[int]]:
    """The states of equal keys together, and the block of each state."""
    blocks: dict[Hashable, set[int]] = {}
    for state, key in enumerate(keys):
        blocks.setdefault(key, set()).add(state)
    number = {key: i for i, key in enumerate(blocks)}
    return list(blocks.values()), [number[key] for key in keys]


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


def _predecessors(
    dfa: Dfa, is_open: NDArray[np.bool_]
) -> Callable[[int], Iterable[tuple[int, int]]]:
    """For each state but the dead one the columns by which, and open states from which, it is
    reached."""
    sources, columns = np.nonzero(is_open[:, None] & (dfa.table != DEAD))
    targets = dfa.table[sources, columns]
    order = np.argsort(targets, kind="stable")
    start = np.searchsorted(targets[order], np.arange(dfa.states + 1)).tolist()
    source, column = sources[order].tolist(), columns[order].tolist()

    def before(state: int) -> Iterable[tuple[int, int]]:
        span = slice(start[state], start[state + 1])
        return zip(column[span], source[span], strict=True)

    return before


def _quotient(dfa: Dfa, block_of: NDArray[np.int64]) -> Dfa:
    """One state a block. The dead state's block keeps number 0."""
    if dfa.is_trimmed and len(set(block_of.tolist())) == dfa.states:
        return dfa
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
