"""Minimal DFAs by partition refinement, for automata as tables and for small ones as lists.

Two states are equivalent if the same words lead from both to acceptance; the minimal automaton has
one state for each class of equivalent states. The classes are the coarsest partition into *blocks*
in which acceptance and, column by column, the block of the target depend on a state's block alone.

    states that reach no cycle   their classes are found bottom up, once and for all (Revuz 1992)
    the others                   begin in few blocks. Of a table all are split at once, in rounds
                                 (Moore, Gedanken-experiments on sequential machines, 1956); what so
                                 many rounds leave is split until nothing disagrees
                                 (Hopcroft, An n log n algorithm for minimizing states in a finite
                                 automaton, 1971)

``minimize`` does this for a table. Of small automata, such as the many of a grammar's terminals,
arrays take longer to make than they save: ``minimal`` takes an NFA, and if its subsets have few
edges, leaves these as lists and goes through the same loop.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .determinize import Subsets, subsets
from .dfa import DEAD, Dfa, edges, trimmed
from .graphs import Node, Numbered, reached
from .nfa import Nfa, Origins, united

_STAGE = "minimisation"

# Rows that are read at once, and rounds that split all blocks at once: few automata need more.
_ROWS, _ROUNDS = 4096, 40

# What an edge into a state that reaches a cycle takes, in arrays and in lists.
_EDGE_BYTES = 90

# The most edges, one a column, of an automaton that is minimised as lists.
SMALL = 4000

# A table with more cells for each edge is larger than lists; what an edge takes in those.
_SPARSE, _LISTED_BYTES = 32, 180

# For each state its edges: column, ascending, and target.
_Edges: TypeAlias = Sequence[Sequence[tuple[int, int]]]


def minimize(dfa: Dfa, limits: Limits | None = None) -> Dfa:
    """The minimal automaton, states numbered breadth-first; a trimmed minimal one is itself.

    O(C n log n) for n states and C columns. A state of the result has the origins of all states
    that it stands for. Raises ``LimitError`` (time).
    """
    limits = (limits or Limits()).started()
    dfa = trimmed(dfa, limits)
    settled = acyclic_classes(dfa, limits)
    if (settled >= 0).all():
        return quotient(dfa, settled, limits)
    cyclic = int(np.count_nonzero(dfa.table[settled < 0] != DEAD))
    limits.check_allocation(cyclic * _EDGE_BYTES, _STAGE)
    first = _first_blocks(dfa, settled)
    found = _split_in_rounds(dfa.table, first, limits)
    if not _is_stable(dfa.table, first, found):
        blocks, block_of = blocks_by(list(zip(first.tolist(), found.tolist(), strict=True)))
        limits.check_resources(_STAGE)
        before = _predecessors(dfa, settled < 0)
        refine(blocks, block_of, before, limits)
        found = np.array(block_of)
    return quotient(dfa, found, limits)


def _split_in_rounds(
    table: NDArray[np.int32], block_of: NDArray[np.int64], limits: Limits
) -> NDArray[np.int64]:
    """The block of each state, int64 (S,), after ``_ROUNDS`` rounds, or fewer if one splits none: a
    round splits each block by the blocks of all targets (Moore 1956). Rows are compared by sums of
    random weights, so that what is found must be checked."""
    weights = np.random.default_rng(0).integers(1 << 63, size=table.shape[1] + 1, dtype=np.uint64)
    keys, count = np.zeros(len(table), dtype=np.uint64), 0
    for _ in range(_ROUNDS):
        limits.check_resources(_STAGE)
        numbers = block_of.astype(np.uint64)
        for begin in range(0, len(table), _ROWS):
            rows = slice(begin, begin + _ROWS)
            keys[rows] = numbers[table[rows]] @ weights[1:] + numbers[rows] * weights[0]
        unique, block_of = np.unique(keys, return_inverse=True)
        if len(unique) == count:
            break
        count = len(unique)
    return block_of


def _is_stable(
    table: NDArray[np.int32], first: NDArray[np.int64], block_of: NDArray[np.int64]
) -> bool:
    """Whether blocks are parts of the first ones, and their targets' blocks depend on the block."""
    _, members = np.unique(block_of, return_index=True)
    alike = members[block_of]
    return bool((first == first[alike]).all()) and all(
        (block_of[table[rows]] == block_of[table[alike[rows]]]).all()
        for rows in (slice(begin, begin + _ROWS) for begin in range(0, len(table), _ROWS))
    )


def acyclic_classes(dfa: Dfa, limits: Limits | None = None) -> NDArray[np.int64]:
    """For each state of a trimmed automaton its class, or -1 if it reaches a cycle; int64 (S,).

    States of one class are equivalent, and to no state of another class or of none. The dead state
    is class 0. In the order of their heights, the lengths of the longest words that they accept,
    two states are equivalent if both or neither accept and their edges lead to equivalent states
    (Revuz, Minimisation of acyclic deterministic automata in linear time, 1992). Raises
    ``LimitError``.
    """
    limits = (limits or Limits()).started()
    classes = np.full(dfa.states, -1, dtype=np.int64)
    classes[DEAD] = 0
    sources, targets = edges(dfa.table, limits=limits)
    order = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[order], np.arange(dfa.states + 1)).tolist()
    before = array("i", sources[order].tobytes())
    missing = np.bincount(sources, minlength=dfa.states).tolist()
    accepting = dfa.accepting.tolist()
    count = 1
    level = [state for state in range(1, dfa.states) if not missing[state]]
    while level:
        # Equivalent states have one height.
        numbers: dict[tuple[bool, bytes], int] = {}
        for begin in range(0, len(level), _ROWS):
            limits.check_resources(_STAGE)
            states = level[begin : begin + _ROWS]
            rows = classes[dfa.table[states]].astype(np.int32)
            for state, row in zip(states, rows, strict=True):
                key = (accepting[state], row.tobytes())
                classes[state] = numbers.setdefault(key, count + len(numbers))
        count += len(numbers)
        following = []
        for state in level:
            for source in before[starts[state] : starts[state + 1]]:
                missing[source] -= 1
                if not missing[source]:
                    following.append(source)
        level = following
    return classes


def _first_blocks(dfa: Dfa, settled: NDArray[np.int64]) -> NDArray[np.int64]:
    """The block of each state to begin with, int64 (S,).

    States that reach no cycle are in the blocks of their classes (``settled``), and stay there; the
    others are distinguished by acceptance and by the columns that lead anywhere. So edges to the
    dead state split nothing any more.
    """
    keys: list[Hashable] = settled.tolist()
    cyclic = np.flatnonzero(settled < 0)
    rows = np.column_stack([dfa.accepting[cyclic], dfa.table[cyclic] != DEAD])
    for state, row in zip(cyclic.tolist(), rows, strict=True):
        keys[state] = row.tobytes()
    return np.array(blocks_by(keys)[1])


def blocks_by(keys: Sequence[Hashable]) -> tuple[list[set[int]], list[int]]:
    """The states of equal keys together, and the block of each state."""
    blocks: dict[Hashable, set[int]] = {}
    for state, key in enumerate(keys):
        blocks.setdefault(key, set()).add(state)
    number = {key: i for i, key in enumerate(blocks)}
    return list(blocks.values()), [number[key] for key in keys]


def _predecessors(
    dfa: Dfa, is_cyclic: NDArray[np.bool_]
) -> Callable[[int], Iterable[tuple[int, int]]]:
    """For each state but the dead one the (column, source) of the edges that lead there from states
    that reach a cycle; the other states are in their final blocks."""
    sources, columns = np.nonzero(is_cyclic[:, None] & (dfa.table != DEAD))
    targets = dfa.table[sources, columns]
    order = np.argsort(targets, kind="stable")
    start = np.searchsorted(targets[order], np.arange(dfa.states + 1)).tolist()
    source, column = sources[order].tolist(), columns[order].tolist()

    def before(state: int) -> Iterable[tuple[int, int]]:
        span = slice(start[state], start[state + 1])
        return zip(column[span], source[span], strict=True)

    return before


def refine(
    blocks: list[set[int]],
    block_of: list[int],
    before: Callable[[int], Iterable[tuple[int, int]]],
    limits: Limits,
) -> None:
    """Split ``blocks``, in place, until the targets of each block's states agree on their blocks.

    ``before``: for a state the (column, source) of the edges into it. The states of one block must
    have edges by the same columns: then a missing edge never splits a block. Raises ``LimitError``
    (time).

    A block is a set of states, its number its place in ``blocks``, and ``block_of`` the inverse.
    Splitters wait by their numbers. For each column the sources of edges into the splitter cut any
    block in two that they hold a part of. The smaller half gets a new number and waits, too; the
    larger one stays where it is. If the whole block was a splitter before, the smaller half is
    enough: what the whole and one half do not split, the other half does not. If it still waits,
    both halves do now. So each time that a state is in a splitter, that is at most half as large
    as the last time, and the work of a split is no more than for its smaller half and the sources.
    """
    # One block need not wait, the largest: what leads into no other leads into it.
    waiting = set(range(len(blocks))) - {max(range(len(blocks)), key=lambda i: len(blocks[i]))}
    while waiting:
        limits.check_resources(_STAGE)
        sources: dict[int, set[int]] = {}
        for state in blocks[waiting.pop()]:
            for column, source in before(state):
                sources.setdefault(column, set()).add(source)
        for states in sources.values():
            touched: dict[int, set[int]] = {}
            for state in states:
                number = block_of[state]
                if len(blocks[number]) > 1:
                    touched.setdefault(number, set()).add(state)
            for number, inside in touched.items():
                block = blocks[number]
                if len(inside) == len(block):
                    continue
                if 2 * len(inside) <= len(block):
                    smaller = inside
                    block -= smaller
                else:
                    smaller, blocks[number] = block - inside, inside
                for state in smaller:
                    block_of[state] = len(blocks)
                waiting.add(len(blocks))
                blocks.append(smaller)


def quotient(dfa: Dfa, block_of: NDArray[np.int64], limits: Limits) -> Dfa:
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
        ),
        limits,
    )


def minimal(nfa: Nfa, limits: Limits | None = None, terminals: int = 0) -> Dfa:
    """The minimal automaton of an NFA: ``minimize(determinize(nfa))``.

    ``terminals``: T, how many token terminals the alphabet has. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    found = subsets(nfa, limits, terminals)
    if _is_dense(found):
        return minimize(found.dfa(limits), limits)
    return minimal_via_lists(found, limits)


def _is_dense(found: Subsets) -> bool:
    """Whether tables take less time and room than lists."""
    return found.edges > SMALL and len(found.sets) * found.width < _SPARSE * found.edges


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
    finals = (state for state, final in enumerate(accepting) if final)
    live = set(reached(finals, lambda state: (source for _, source in before[state])))
    if before[DEAD] or len(live) < len(accepting) - 1:
        after = [[edge for edge in row if edge[1] in live] for row in after]
        before = [row if state in live else [] for state, row in enumerate(before)]
    return after, before


def _as_table(edges: _Edges, found: Subsets) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The edges over the columns of ``found``, and the class of each byte: bytes with equal columns
    are one, in the order of the first."""
    cells: list[list[tuple[int, int]]] = [[] for _ in range(found.width)]
    for state, row in enumerate(edges):
        for column, target in row:
            cells[column].append((state, target))
    byte_columns = found.columns[-1] + 1
    numbers: dict[tuple[tuple[int, int], ...], int] = {}
    joined = [numbers.setdefault(tuple(cell), len(numbers)) for cell in cells[:byte_columns]]
    distinct = [*map(list, numbers), *cells[byte_columns:]]
    width = len(distinct)
    table = np.zeros((len(edges), width), dtype=np.int32)
    places = [state * width + column for column, cell in enumerate(distinct) for state, _ in cell]
    table.ravel()[places] = [target for cell in distinct for _, target in cell]
    return table, np.array([joined[column] for column in found.columns], dtype=np.uint8)


def minimal_via_lists(found: Subsets, limits: Limits) -> Dfa:
    """``minimal`` with lists, whatever the size: one state for each block of equivalent sets, those
    from which no final state can be reached being one with the dead one. Raises ``LimitError``."""
    limits.check_allocation(found.edges * _LISTED_BYTES, _STAGE)
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
    table, classes = _as_table(quotient, found)
    parts: list[list[Origins]] = [[] for _ in sets]
    for block, origins in zip(block_of, found.origins(), strict=True):
        parts[number[block]].append(origins if number[block] != DEAD else frozenset())
    final = np.array([accepting[state] for state in sets], dtype=np.bool_)
    return Dfa(table, classes, final, start, tuple(map(united, parts)), is_trimmed=True)


def explored(
    start: Node,
    dead: Node,
    row: Callable[[Node], Iterable[Node]],
    accepts: Callable[[Node], bool],
    classes: NDArray[np.uint8],
    limits: Limits,
    stage: str,
) -> Dfa:
    """The minimal automaton of states that are found one by one. ``row``: of a state what the bytes
    of each class lead to, ``dead`` where nothing follows. Raises ``LimitError`` at ``stage``."""
    numbers = Numbered(start, dead)
    rows = [[DEAD] * (int(classes.max()) + 1)]
    for state in numbers.order:
        limits.check_states(len(numbers), stage)
        limits.check_resources(stage)
        rows.append([numbers[target] for target in row(state)])
    accepting = np.array([False, *map(accepts, numbers.order)])
    table = np.array(rows, dtype=np.int32)
    return minimize(Dfa(table, classes, accepting, 1, (frozenset(),) * len(rows)), limits)
