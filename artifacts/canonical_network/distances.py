"""How far the ends of calls are: what searches for the end of a text look at first."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..network.tables import DEAD, NetworkTables

# In place of the distance where there is no end.
_FAR = 1 << 40


def distances(tables: NetworkTables) -> NDArray[np.int64]:
    """Bytes from each state to the end of its call, at least; int64 (S,).

    From the ends backwards: what leads to states that came nearer is looked at again, so that each
    edge is looked at a few times, however long texts are.
    """
    size = tables.states
    distance = np.where(tables.accepting != 0, 0, np.int64(_FAR))
    distance[DEAD] = _FAR
    rows, columns = np.nonzero(tables.table)
    # Edges by target, each once.
    targets, sources = np.divmod(
        np.unique(tables.table[rows, columns].astype(np.int64) * size + rows), size
    )
    offsets = np.searchsorted(targets, np.arange(size + 1))
    calls = _all_least_calls(tables)
    by_start, by_back = (_ByState(calls[row], size) for row in (1, 2))
    nearer = np.flatnonzero(distance < _FAR)
    while len(nearer):
        counts = offsets[nearer + 1] - offsets[nearer]
        places = np.repeat(offsets[nearer + 1] - np.cumsum(counts), counts)
        led, far = sources[places + np.arange(len(places))], np.repeat(distance[nearer] + 1, counts)
        callers, starts, behind, times = calls[:, [*by_start.of(nearer), *by_back.of(nearer)]]
        # A product that is too large is far.
        fits = distance[starts] <= (_FAR - distance[behind]) // np.maximum(times, 1)
        through = np.where(fits, times * distance[starts] + distance[behind], _FAR)
        met, lengths = np.concatenate((led, callers)), np.concatenate((far, through))
        better = (lengths < distance[met]) & (met != DEAD)
        met = met[better]
        np.minimum.at(distance, met, lengths[better])
        nearer = np.unique(met)
    return distance


class _ByState:
    """Calls by one of their states."""

    def __init__(self, states: NDArray[np.int64], size: int) -> None:
        self._order = np.argsort(states, kind="stable")
        self._offsets = np.searchsorted(states[self._order], np.arange(size + 1)).tolist()

    def of(self, states: NDArray[np.int64]) -> Iterator[int]:
        """The numbers of those of some states."""
        for state in states.tolist() if len(self._order) else ():
            yield from self._order[self._offsets[state] : self._offsets[state + 1]].tolist()


def _all_least_calls(tables: NetworkTables) -> NDArray[np.int64]:
    """The calls of all states: int64 (4, n), the caller, and as ``_least_calls`` has them."""
    found = [
        (state, *call)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist()
        for call in _least_calls(tables, state)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 4).T


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
