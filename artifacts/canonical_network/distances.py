"""How far the ends of calls are: what searches for the end of a text look at first."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..network.tables import DEAD, NetworkTables

# In place of the distance where there is no end.
_FAR = 1 << 40


def distances(tables: NetworkTables) -> NDArray[np.int64]:
    """Bytes from each state to the end of its call, at least; int64 (S,)."""
    distance = np.where(tables.accepting != 0, 0, np.int64(_FAR))
    distance[DEAD] = _FAR
    while True:
        nearer: NDArray[np.int64] = np.minimum(distance, distance[tables.table].min(axis=1) + 1)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist():
            through = [
                min(times * int(distance[start]) + int(distance[behind]), _FAR)
                for start, behind, times in _least_calls(tables, state)
            ]
            nearer[state] = min(nearer[state], *through)
        np.minimum(nearer, _FAR, out=nearer)
        nearer[DEAD] = _FAR
        if (nearer == distance).all():
            return nearer
        distance = nearer


def _least_calls(tables: NetworkTables, state: int) -> Iterator[tuple[int, int, int]]:
    """The calls of a state: where each starts, the state behind it, and how often it is made at
    least."""
    for start, frame in tables.calls[state]:
        if frame < tables.states:
            yield start, frame, 1
        else:
            counters = tables.some_counters
            counter, _ = counters.split(frame)
            is_set = counter >= len(counters.rows)
            yield start, counters.ends[counter], 1 if is_set else counters.rows[counter][1]
