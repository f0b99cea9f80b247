"""Which frames can lie right below a state, found without a stack.

That is a local relation of a network:

    below(p) = {g : some call (s, g) starts in s, and p can be reached from s in that call},

where a call goes on by its own edges, and behind a call that it makes at the frame to which that
one returns. So all that any stack needs are the summaries of the token trie's root at every state,
and of what F(e, p) leaves at every frame of below(p) (``artifacts/walk/summaries.py``). What is
left lies ever deeper in the trie, so this ends; but there can be many sets of it.
"""

from ..tokens.watch import Watch, unwatched
from .tables import DEAD, NetworkTables

# What a number takes in a list of numbers that others hold, too.
_PLACE_BYTES = 8


def frames_below(tables: NetworkTables, watch: Watch = unwatched) -> list[list[int]]:
    """For each state the frames that can lie right below it, ascending."""
    frames: dict[int, set[int]] = {}
    for calls in tables.calls:
        for start, frame in calls:
            frames.setdefault(start, set()).add(frame)
    below: list[set[int]] = [set() for _ in range(tables.states)]
    for start, returns in frames.items():
        watch(len(returns), 0)
        for state in states_inside(tables, start):
            below[state] |= returns
            watch(0, 0)
    watch(0, _PLACE_BYTES * sum(map(len, below)))
    return [sorted(found) for found in below]


def states_inside(tables: NetworkTables, start: int) -> set[int]:
    """The states that a call which begins in ``start`` can be in."""
    found = {start}
    pending = [start]
    while pending:
        state = pending.pop()
        targets = {*tables.table[state].tolist(), *(g for _, g in tables.calls[state])}
        for target in targets - found - {DEAD}:
            found.add(target)
            pending.append(target)
    return found
