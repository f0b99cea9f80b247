"""All summaries and masks that stacks of any height need, found without a stack.

Which frames can lie right below a state is a local relation of the network,

    below(p) = {g : some call (s, g) starts in s, and p can be reached from s in that call},

where a call goes on by its own edges, and behind a call that it makes at the frame to which that
one returns. So all that any stack needs are the summaries of the token trie's root at every state,
and of what F(e, p) leaves suspended at every frame of below(p). Suspended nodes lie ever deeper in
the trie, so this ends; but there can be many sets of them. The mask automaton
(``mask_automaton``) is made of them in the same order, short stacks first.
"""

from collections import deque

import numpy as np

from ..summaries.node_sets import NOTHING, ROOT
from ..tokens.watch import Watch, unwatched
from .mask_automaton import MaskAutomaton, MaskState, frames_of
from .summaries import Summaries
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
        targets = {*np.unique(tables.table[state]).tolist(), *(g for _, g in tables.calls[state])}
        for target in targets - found - {DEAD}:
            found.add(target)
            pending.append(target)
    return found


def mask_automaton(
    tables: NetworkTables, below: list[list[int]], summaries: Summaries, memory: int, watch: Watch
) -> tuple[MaskAutomaton, bool]:
    """The mask automaton over ``summaries``, and whether it is complete: whether it has the masks
    of all single stacks.

    Stops beyond so many bytes of ``memory`` for it and the rows that it adds.
    """
    most = summaries.nbytes + memory
    width = 4 * len(frames_of(tables))
    initial = {state: summaries.summary(ROOT, state) for state in range(1, tables.states)}
    transitions: dict[tuple[MaskState, int], MaskState] = {}
    unions: dict[tuple[int, int], int] = {}
    # Each with a state of the network, whose frames below can come next.
    todo = deque((reached, state) for state, reached in initial.items() if reached[1] != NOTHING)
    seen = set(todo)
    found = {reached for reached, _ in todo}
    while todo:
        reached, state = todo.popleft()
        for frame in below[state]:
            if summaries.nbytes + len(found) * width > most:
                return MaskAutomaton.of(tables, initial, transitions), False
            watch(1, 0)
            if (reached, frame) not in transitions:
                row, suspended = reached
                more, still = summaries.summary(suspended, frame)
                if (row, more) not in unions:
                    both = summaries.rows[row] | summaries.rows[more]
                    unions[row, more] = summaries.rows.number(both)
                transitions[reached, frame] = unions[row, more], still
            following = transitions[reached, frame]
            if following[1] != NOTHING and (following, frame) not in seen:
                found.add(following)
                seen.add((following, frame))
                todo.append((following, frame))
    return MaskAutomaton.of(tables, initial, transitions), True
