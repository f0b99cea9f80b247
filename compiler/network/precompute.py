"""Precompute a network's masks, for every stack that any text can lead to.

The mask of a stack is put together frame by frame from summaries F(e, p)
(``constrain.artifacts.network.summaries``). Which frames can lie right below a state is a local
relation of the network,

    below(p) = {g : some call (s, g) starts in s, and p can be reached from s in that call},

where a call goes on by its own edges, and behind a call that it makes at the frame to which that
one returns. So all summaries that any stack needs are found without a stack: the root of the token
trie at every state, and what F(e, p) leaves suspended at every frame of below(p). Suspended nodes
lie ever deeper in the trie, so this ends; but there can be many sets of them, so it is also
bounded. The mask automaton (``constrain.artifacts.network.mask_automaton``) is made of them in the
same order, short stacks first, as far as there is room.
"""

from collections import deque

import numpy as np

from constrain.artifacts.network.mask_automaton import MaskAutomaton, MaskState, frames_of
from constrain.artifacts.network.summaries import NOTHING, ROOT, Summaries
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.tokens.watch import Watch, unwatched

from ..limits import Effort, Exhausted


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


def precompute_summaries(
    tables: NetworkTables, summaries: Summaries, most: int, memory: int, effort: Effort
) -> bool:
    """Fill ``summaries``; whether all that any stack needs is there.

    Stops beyond ``most`` summaries, so many bytes of ``memory`` or the effort's work: at the same
    place on each machine. Raises ``LimitError`` for time and resident memory.
    """

    def watch(work: int, size: int) -> None:
        effort.spend(work, size)
        if len(summaries.cached) >= most or summaries.nbytes > memory:
            raise Exhausted

    summaries.watch = watch
    try:
        _fill(tables, summaries, watch)
    except Exhausted:
        return False
    finally:
        summaries.watch = unwatched
    return True


def _fill(tables: NetworkTables, summaries: Summaries, watch: Watch) -> None:
    below = frames_below(tables)
    todo = deque((ROOT, state) for state in range(1, tables.states))
    seen = set(todo)
    while todo:
        watch(1, 0)
        nodes, state = todo.popleft()
        _, suspended = summaries.summary(nodes, state)
        for frame in below[state] if suspended != NOTHING else ():
            if (suspended, frame) not in seen:
                seen.add((suspended, frame))
                todo.append((suspended, frame))


def precompute_mask_automaton(
    tables: NetworkTables, summaries: Summaries, memory: int, effort: Effort
) -> tuple[MaskAutomaton, bool]:
    """The mask automaton over ``summaries``, which are precomputed, and whether it is complete:
    whether it has the masks of all single stacks.

    Stops beyond so many bytes of ``memory`` for it and the rows that it adds.
    """
    most = summaries.nbytes + memory
    below = frames_below(tables)
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
            effort.spend(1)
            if (reached, frame) not in transitions:
                row, suspended = reached
                more, still = summaries.summary(suspended, frame)
                if (row, more) not in unions:
                    both = summaries.row(row) | summaries.row(more)
                    unions[row, more] = summaries.row_number(both)
                transitions[reached, frame] = unions[row, more], still
            following = transitions[reached, frame]
            if following[1] != NOTHING and (following, frame) not in seen:
                found.add(following)
                seen.add((following, frame))
                todo.append((following, frame))
    return MaskAutomaton.of(tables, initial, transitions), True
