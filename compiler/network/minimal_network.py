"""The same network with the fewest states: before masks are precomputed, which each state costs.

    state 1   'a' leads to 2, 'b' to 3          state 1   'a' and 'b' lead to 2
    2, 3      call 5, then 4                ->  2         calls 4, then 3

A call is an edge over its procedure, so that a network is one automaton over bytes, token terminals
and procedures, with one state more that leads to where each procedure starts.
"""

import numpy as np

from constrain.artifacts.network.tables import NetworkTables

from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..limits import Limits

# Cells of the table with columns for calls beyond which a network stays as it is: 64 MB.
_MOST_CELLS = 1 << 24


def minimal_network(tables: NetworkTables, limits: Limits) -> NetworkTables:
    """The quotient of a network by the equivalence of its states, if that is no large table.

    Raises ``LimitError``.
    """
    if tables.counters is not None:
        # Masks are computed while decoding, for the states that texts come to.
        return tables
    states, width = tables.table.shape
    count = len(tables.entries)
    nothing_is_read = not tables.table.any()
    if nothing_is_read or (states + 1) * (width + 2 * count) > _MOST_CELLS:
        return tables
    number = np.zeros(states, dtype=np.int64)
    number[tables.entries] = np.arange(count)
    sources = np.repeat(np.arange(states), np.diff(tables.call_offsets))
    # Rows of states, and one that leads to the entries; columns, then calls, then entries.
    table = np.zeros((states + 1, width + 2 * count), dtype=np.int32)
    table[:-1, :width] = tables.table
    table[sources, width + number[tables.call_starts]] = tables.call_returns
    table[-1, width + count :] = tables.entries
    accepting = np.append(tables.accepting, 0).astype(np.bool_)
    nothing: tuple[frozenset[int], ...] = (frozenset(),) * (states + 1)
    found = minimize(Dfa(table, tables.classes, accepting, states, nothing), limits)
    # The state that leads to the entries is no part of them; nothing leads to it.
    root = found.start
    inner = np.append(np.arange(root), np.arange(root + 1, found.states))
    renumbered = np.zeros(found.states, dtype=np.int32)
    renumbered[inner] = np.arange(len(inner))
    # Columns of bytes may have been joined.
    whole = renumbered[found.table]
    width = whole.shape[1] - 2 * count
    calls = whole[inner, width : width + count]
    sources, called = np.nonzero(calls)
    entries = whole[root, width + count :]
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
        entries=entries,
    )
