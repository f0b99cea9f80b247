"""The same network with the fewest states: before masks are precomputed, which each state costs.

    state 1   'a' leads to 2, 'b' to 3          state 1   'a' and 'b' lead to 2
    2, 3      call 5, then 4                ->  2         calls 4, then 3

A call is an edge over its procedure, so that a network is one automaton over bytes, token terminals
and procedures, with one state more that leads to where each procedure starts. The frame of a
counter or a set is a state that nothing else is equivalent to.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.counts import Counters
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens.distinct import distinct

from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..limits import Limits

# Cells of the table with columns for calls beyond which a network stays as it is: 64 MB.
_MOST_CELLS = 1 << 24


def minimal_network(tables: NetworkTables, limits: Limits) -> NetworkTables:
    """The quotient of a network by the equivalence of its states, if that is no large table.

    Raises ``LimitError``.
    """
    counters, states = tables.counters, tables.states
    starts, ends = _called_and_behind(tables)
    count, frames = len(starts), 0 if counters is None else counters.tabled
    # Columns, then calls, then where procedures start and what counters go on in, then frames.
    width, begun = tables.table.shape[1], count + len(ends)
    columns = width + count + begun + (frames > 0)
    nothing_is_read = not tables.table.any()
    if nothing_is_read or (states + 1 + frames) * columns > _MOST_CELLS:
        return tables
    number = np.zeros(states, dtype=np.int64)
    number[starts] = np.arange(count)
    sources = np.repeat(np.arange(states), np.diff(tables.call_offsets))
    # An edge leads to one frame; procedures that start alike may be called with several.
    edges = sources << 32 | tables.call_starts
    if len(distinct(edges)) < len(edges):
        return tables
    # Rows of states, one that leads to where all begins, and those of frames that are no states.
    table = np.zeros((states + 1 + frames, columns), dtype=np.int32)
    table[:states, :width] = tables.table
    returns = tables.call_returns + (tables.call_returns >= states)
    table[sources, width + number[tables.call_starts]] = returns
    table[states, width + count : width + count + begun] = np.concatenate((starts, ends))
    accepting = np.zeros(len(table), dtype=np.bool_)
    accepting[:states] = tables.accepting
    if frames:
        # Each leads to the next one, which distinguishes all of them.
        table[states:, -1] = np.append(np.arange(states + 1, len(table)), len(table) - 1)
        accepting[-1] = True
    nothing: tuple[frozenset[int], ...] = (frozenset(),) * len(table)
    found = minimize(Dfa(table, tables.classes, accepting, states, nothing), limits)
    # The state that leads to the entries is no part of them; nothing leads to it.
    outer = [found.start]
    for _ in range(frames):
        outer.append(int(found.table[outer[-1], -1]))
    inner = np.setdiff1d(np.arange(found.states), outer)
    renumbered = np.zeros(found.states, dtype=np.int32)
    renumbered[inner] = np.arange(len(inner))
    renumbered[outer[1:]] = len(inner) + np.arange(frames)
    # Columns of bytes may have been joined.
    whole = renumbered[found.table]
    width = whole.shape[1] - (columns - width)
    calls = whole[inner, width : width + count]
    sources, called = np.nonzero(calls)
    entries, behind = np.split(whole[found.start, width + count :][:begun], [count])
    if counters is not None:
        lookup = np.zeros(states, dtype=np.int32)
        lookup[starts], lookup[ends] = entries, behind
        counters = _renumbered(counters, lookup, len(inner))
        if counters is None:
            return tables
    return NetworkTables(
        table=np.ascontiguousarray(whole[inner, :width]),
        classes=found.classes,
        accepting=found.accepting[inner].astype(np.uint8),
        call_offsets=np.searchsorted(sources, np.arange(len(inner) + 1)).astype(np.int64),
        call_starts=entries[called],
        call_returns=calls[sources, called],
        start=int(entries[0]),
        nullable_start=tables.nullable_start,
        names=tables.names,
        entries=entries[: len(tables.entries)],
        counters=counters,
    )


def _called_and_behind(tables: NetworkTables) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where what is called starts, the rules first; and the states after counters and sets."""
    counters = tables.counters
    if counters is None:
        return tables.entries, np.zeros(0, dtype=np.int32)
    others = np.setdiff1d(tables.callees, tables.entries)
    sets = () if counters.sets is None else (counters.sets.backs,)
    return np.concatenate((tables.entries, others)), np.concatenate((counters.backs, *sets))


def _renumbered(counters: Counters, state: NDArray[np.int32], states: int) -> Counters | None:
    """The same counters and sets in other states; None if different parts of one set begin in one
    state then, as which of equal parts have begun is a count."""
    sets = counters.sets
    if sets is not None:
        parts = state[sets.parts]
        of_set = sets.owners << 32
        if len(distinct(of_set | parts)) < len(distinct(of_set | sets.parts)):
            return None
        sets = replace(
            sets, parts=parts, separators=state[sets.separators], backs=state[sets.backs]
        )
    items, backs = state[counters.items], state[counters.backs]
    return replace(counters, states=states, items=items, backs=backs, sets=sets)
