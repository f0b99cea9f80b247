"""Which frames of a network can lie right below which states: a local relation.

    below(p) = {g : some call (s, g) starts in s, and p can be reached from s in that call}

where a call goes on by its own edges, and behind a call that it makes at the frame to which
that one returns.
"""

import numpy as np

from constrain.artifacts.network_tables import DEAD, NetworkTables


def frames_below(tables: NetworkTables) -> list[list[int]]:
    """For each state the frames that can lie right below it, ascending."""
    frames: dict[int, set[int]] = {}
    for calls in tables.calls:
        for start, frame in calls:
            frames.setdefault(start, set()).add(frame)
    below: list[set[int]] = [set() for _ in range(tables.states)]
    for start, returns in frames.items():
        for state in states_inside(tables, start):
            below[state] |= returns
    return [sorted(found) for found in below]


def states_inside(tables: NetworkTables, start: int) -> set[int]:
    """The states that a call which begins in ``start`` can be in."""
    found = {start}
    pending = [start]
    while pending:
        state = pending.pop()
        targets = {*np.unique(tables.table[state]).tolist(), *(g for _, g in tables.calls[state])}
        for target in targets - found - {DEAD}:
            found.add(target)
            pending.append(target)
    return found
