"""The counters of a network, from its calls of items that are counted."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.counts import UNBOUNDED, Counters
from constrain.artifacts.network.tables import DEAD, NetworkTables

# The least and the most items, None for any number.
Times = tuple[int, int | None]


def counted(
    states: int,
    starts: NDArray[np.int32],
    times: Sequence[Times | None],
    called: NDArray[np.int64],
    returns: NDArray[np.int64],
) -> tuple[NDArray[np.int32], Counters | None]:
    """The frames of calls, int32, and the counters that they are of, if there are any.

    Of each procedure ``starts`` says where it begins, and ``times`` its bounds if it is an item.
    Call i is of procedure ``called[i]`` and goes on in state ``returns[i]``.
    """
    frames = returns.astype(np.int32)
    numbers: dict[tuple[int, int, int, int], int] = {}
    for place in np.flatnonzero([times[p] is not None for p in called.tolist()]).tolist():
        procedure = int(called[place])
        bounds = times[procedure]
        assert bounds is not None
        least, most = bounds
        most = UNBOUNDED if most is None else most
        key = int(starts[procedure]), least, most, int(returns[place])
        frames[place] = states + numbers.setdefault(key, len(numbers))
    if not numbers:
        return frames, None
    items, least_, most_, backs = np.array(list(numbers), dtype=np.int64).T
    counters = Counters(states, items.astype(np.int32), least_, most_, backs.astype(np.int32))
    return frames, counters


def has_open_items(tables: NetworkTables, most: int) -> bool:
    """Whether some counter needs more than ``most`` items, whose ends cannot be told from the byte
    behind them: sets of stacks may hold as many counts.

    An item's end can be told if nothing that may end in it goes on with what an item begins with.
    """
    counters = tables.counters
    items = set() if counters is None else {item for item, n, *_ in counters.rows if n > most}
    if not items:
        return False
    first = _first_bytes(tables)
    for item in items:
        inside = _reached(tables, item)
        ends = inside[tables.accepting[inside] != 0]
        if bool((first[ends] & first[item]).any()):
            return True
    return False


def _first_bytes(tables: NetworkTables) -> NDArray[np.bool_]:
    """Which columns of bytes each state may read next, by itself or in a call."""
    first: NDArray[np.bool_] = tables.table[:, : int(tables.classes.max()) + 1] != DEAD
    callers = np.repeat(np.arange(tables.states), np.diff(tables.call_offsets))
    before = -1
    while before != (before := int(first.sum())):
        np.logical_or.at(first, callers, first[tables.call_starts])
    return first


def _reached(tables: NetworkTables, state: int) -> NDArray[np.int64]:
    """The states that are come to in what begins in a state, calls included."""
    ends = tables.call_ends.tolist()
    offsets = tables.call_offsets.tolist()
    found, pending = {state}, [state]
    for current in pending:
        calls = slice(offsets[current], offsets[current + 1])
        targets = {*tables.table[current].tolist(), *tables.call_starts[calls].tolist()}
        for target in (targets | set(ends[calls])) - found - {DEAD}:
            found.add(target)
            pending.append(target)
    return np.array(sorted(found))
