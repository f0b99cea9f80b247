"""Which frames can lie right below a state, found without a stack.

That is a local relation of a network:

    below(p) = {g : some call (s, g) starts in s, and p can be reached from s in that call},

where a call goes on by its own edges, and after a call that it makes at the frame to which that
one returns. So all that any stack needs are the summaries of the token trie's root at every state,
and of what F(e, p) leaves at every frame of below(p) (``artifacts/walk/summaries.py``). What is
left lies ever deeper in the trie, so this ends; but there can be many sets of it.
"""

from ..tokens.memo import top_down
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
    # Of each state the calls in which it can be, as the bits of a number.
    inside = [0] * tables.states
    for number, start in enumerate(frames):
        inside[start] = 1 << number
    # A round after the other: so most states have grown to what they will be when they are told.
    pending, further = set(frames), dict[int, set[int]]()
    while pending:
        grown = set[int]()
        for state in pending:
            watch(1, 0)
            if state not in further:
                further[state] = targets_of(tables, state)
            for target in further[state]:
                if inside[state] & ~inside[target]:
                    inside[target] |= inside[state]
                    grown.add(target)
        pending = grown
    returns = list(frames.values())
    below: dict[int, list[int]] = {}
    for calls_around in inside:
        if calls_around not in below:
            numbers = (n for n in range(calls_around.bit_length()) if calls_around >> n & 1)
            below[calls_around] = sorted(set().union(*(returns[n] for n in numbers)))
            watch(len(below[calls_around]), _PLACE_BYTES * len(below[calls_around]))
    return [below[calls_around] for calls_around in inside]


def targets_of(tables: NetworkTables, state: int) -> set[int]:
    """Where the call of a state can go on, after a letter or a call that it makes."""
    return {*tables.table[state].tolist(), *(g for _, g in tables.calls[state])} - {DEAD}


def states_inside(tables: NetworkTables, start: int) -> set[int]:
    """The states that a call which begins in ``start`` can be in."""
    return set(top_down([start], lambda state: targets_of(tables, state)))
