"""NFA to minimal DFA, small automata without arrays on the way.

A grammar's network is made of dozens of automata with a handful of states each. For those the
arrays of ``determinize`` and ``minimize`` cost more than the loops that they are made for. So
the edges between subsets stay lists here, and go through the same loop of Hopcroft's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .determinize import Subsets, determinize, subsets
from .dfa import DEAD, Dfa, as_nfa
from .minimize import blocks_by, minimize, refine
from .nfa import FIRST_TERMINAL, Arc, Nfa, Origins, united

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


def minimal_nfa(nfa: Nfa, limits: Limits | None = None, terminals: int = 0) -> Nfa:
    """The minimal automaton to be copied into others: ``as_nfa`` of it, without origins.

    State for state the same; neighbouring bytes that lead to one state are one arc. Raises
    ``LimitError``.
    """
    limits = (limits or Limits()).started()
    found = subsets(nfa, limits, terminals)
    if found.edges > SMALL:
        return as_nfa(minimize(found.dfa(), limits), keep_origins=False)
    return _quotient(found, limits).nfa()


def minimal_via_lists(found: Subsets, limits: Limits) -> Dfa:
    """The minimal automaton of what the subset construction leaves. Raises ``LimitError``."""
    return _quotient(found, limits).dfa()


@dataclass(frozen=True, slots=True, eq=False)
class _Quotient:
    """One state for each block of equivalent ``sets``, numbered breadth-first; 0 is dead.

    ``edges``: of each state, over the columns of ``found``. ``number``: the state of each set.
    """

    found: Subsets
    edges: _Edges
    accepting: Sequence[bool]
    start: int
    number: Sequence[int]

    def dfa(self) -> Dfa:
        """The same as a table."""
        table, classes = _as_table(self.edges, self.found)
        accepting = np.array(self.accepting, dtype=np.bool_)
        return Dfa(table, classes, accepting, self.start, self._origins(), is_trimmed=True)

    def nfa(self) -> Nfa:
        """The same as an NFA, without origins."""
        symbols = self.found.symbols()
        arcs: list[list[Arc]] = []
        for row in self.edges:
            leaving: list[Arc] = []
            for column, target in row:
                low, high = symbols[column]
                last = leaving[-1] if leaving else None
                if last and last.target == target and last.high + 1 == low < FIRST_TERMINAL:
                    low = leaving.pop().low
                leaving.append(Arc(low, high, target, frozenset()))
            arcs.append(leaving)
        finals = frozenset(state for state, final in enumerate(self.accepting) if final)
        return Nfa(arcs, [[] for _ in arcs], self.start, finals)

    def _origins(self) -> tuple[Origins, ...]:
        """Of each state those of all its sets."""
        parts: list[list[Origins]] = [[] for _ in self.edges]
        for number, origins in zip(self.number, self.found.origins(), strict=True):
            parts[number].append(origins if number != DEAD else frozenset())
        return tuple(map(united, parts))


def _quotient(found: Subsets, limits: Limits) -> _Quotient:
    """All sets are reached; those that lead to no final state are one with the dead one."""
    accepting = found.accepting()
    edges, before = _live_edges(found, accepting)
    keys = [(final, *(c for c, _ in row)) for final, row in zip(accepting, edges, strict=True)]
    blocks, block_of = blocks_by(keys)
    refine(blocks, block_of, before.__getitem__, limits)
    number = {block_of[DEAD]: DEAD}
    start = number.setdefault(block_of[found.start], len(number))
    # For each number one of its sets.
    sets = [DEAD, found.start][: len(number)]
    quotient: list[list[tuple[int, int]]] = []
    for state in sets:
        row = []
        for column, target in edges[state]:
            following = number.setdefault(block_of[target], len(number))
            if following == len(sets):
                sets.append(target)
            row.append((column, following))
        quotient.append(row)
    final = [accepting[state] for state in sets]
    return _Quotient(found, quotient, final, start, [number[block] for block in block_of])


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


def _as_table(edges: _Edges, found: Subsets) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
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
