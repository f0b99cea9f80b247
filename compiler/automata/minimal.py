"""NFA to minimal DFA, small automata without arrays on the way.

A grammar's network is made of dozens of automata with a handful of states each. For those the
arrays of ``determinize`` and ``minimize`` cost more than the loops that they are made for. So
the edges between subsets stay lists here, and go through the same loop of Hopcroft's.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .determinize import Subsets, determinize, subsets
from .dfa import DEAD, Dfa
from .minimize import blocks_by, minimize, refine
from .nfa import Nfa, Origins, united

# The most edges, one a column, of an automaton that is small.
SMALL = 4000

# For each state its edges: column, ascending, and target.
_Edges: TypeAlias = Sequence[Sequence[tuple[int, int]]]


def minimal(nfa: Nfa, limits: Limits | None = None, terminals: int = 0) -> Dfa:
    """The minimal automaton of an NFA, equal to ``minimize(determinize(nfa))``.

    ``terminals``: T, how many token terminals the alphabet has. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    found = subsets(nfa, limits, terminals)
    if found.edges > SMALL:
        return minimize(found.dfa(), limits)
    return minimal_via_lists(found, limits)


def minimal_via_arrays(nfa: Nfa, limits: Limits | None = None, terminals: int = 0) -> Dfa:
    """The same, as automata of any size are minimised; the oracle."""
    return minimize(determinize(nfa, limits, terminals), limits)


def minimal_via_lists(found: Subsets, limits: Limits) -> Dfa:
    """The minimal automaton of what the subset construction leaves, states numbered breadth-first.

    All sets are reached; those that lead to no final state are in the dead state's block.
    """
    accepting = found.accepting()
    edges, before = _live_edges(found, accepting)
    keys = [(final, *(c for c, _ in row)) for final, row in zip(accepting, edges, strict=True)]
    blocks, block_of = blocks_by(keys)
    refine(blocks, block_of, before.__getitem__, limits)
    number = {block_of[DEAD]: DEAD}
    start = number.setdefault(block_of[found.start], len(number))
    # For each number one of the states.
    states = [DEAD, found.start][: len(number)]
    quotient: list[list[tuple[int, int]]] = []
    for state in states:
        row = []
        for column, target in edges[state]:
            following = number.setdefault(block_of[target], len(number))
            if following == len(states):
                states.append(target)
            row.append((column, following))
        quotient.append(row)
    table, classes = _as_table(quotient, found)
    origins = _united(found, [number[block] for block in block_of], len(states))
    is_final = np.array([accepting[state] for state in states], dtype=np.bool_)
    return Dfa(table, classes, is_final, start, origins, is_trimmed=True)


def _live_edges(
    found: Subsets, accepting: Sequence[bool]
) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
    """Of each state the (column, target) and the (column, source) of edges between live states."""
    after: list[list[tuple[int, int]]] = [[] for _ in accepting]
    before: list[list[tuple[int, int]]] = [[] for _ in accepting]
    for source, row in enumerate(after):
        for run in range(found.begins[source], found.begins[source + 1]):
            target = found.targets[run]
            for column in range(found.first[run], found.last[run] + 1):
                row.append((column, target))
                before[target].append((column, source))
    pending = [state for state, final in enumerate(accepting) if final]
    live = set(pending)
    while pending:
        for _, source in before[pending.pop()]:
            if source not in live:
                live.add(source)
                pending.append(source)
    if before[DEAD] or len(live) < len(accepting) - 1:
        after = [[edge for edge in row if edge[1] in live] for row in after]
        before = [row if state in live else [] for state, row in enumerate(before)]
    return after, before


def _as_table(
    edges: _Edges, found: Subsets
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Table and classes of bytes, which have one column if theirs are equal, by their first."""
    cells: list[list[tuple[int, int]]] = [[] for _ in range(found.width)]
    for state, row in enumerate(edges):
        for column, target in row:
            cells[column].append((state, target))
    byte_columns = found.columns[-1] + 1
    numbers: dict[tuple[tuple[int, int], ...], int] = {}
    joined = [numbers.setdefault(tuple(cell), len(numbers)) for cell in cells[:byte_columns]]
    kept = [*map(list, numbers), *cells[byte_columns:]]
    table = np.zeros((len(edges), len(kept)), dtype=np.int32)
    places = [state * len(kept) + column for column, cell in enumerate(kept) for state, _ in cell]
    table.ravel()[places] = [target for cell in kept for _, target in cell]
    return table, np.array([joined[column] for column in found.columns], dtype=np.uint8)


def _united(found: Subsets, number: Sequence[int], states: int) -> tuple[Origins, ...]:
    """For each state the origins of its block."""
    parts: list[list[Origins]] = [[] for _ in range(states)]
    for state, origins in zip(number, found.origins(), strict=True):
        parts[state].append(origins if state != DEAD else frozenset())
    return tuple(map(united, parts))
