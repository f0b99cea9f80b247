"""Which frames of a network can lie right below which states: a local relation.

    below(p) = {g : some call (s, g) starts in s, and p can be reached from s in that call}

where a call goes on by its own edges, and behind a call that it makes at the frame to which
that one returns.

Work a network's masks out ahead of time, for every stack that can come about.

A mask is a chain of answers F(e, p) down the stack (``constrain.artifacts.network.summaries``). The
first has the root as its exit set, at any state; each further one has what the one before
left pending, at a frame that can lie right below (``below``). Pending exit sets lie ever
deeper in the token trie, so this ends; but there can be many of them, so it is also bounded.

The rows of a chain are united in its order, as far as there is room, short chains first
(``constrain.artifacts.network.mask_automaton``): a text then finds nearly all of its masks ready.
"""

from collections import deque

import numpy as np

from constrain.artifacts.network.mask_automaton import Chain, MaskAutomaton, frames_of
from constrain.artifacts.network.summaries import NOTHING, ROOT, Summaries
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..limits import Limits


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


def prewarm(
    tables: NetworkTables, residual: Summaries, answers: int, memory: int, limits: Limits
) -> bool:
    """Fill ``residual``; whether all is there.

    Stops beyond so many ``answers`` or bytes of ``memory`` (both approximately: the last one
    is finished). Raises ``LimitError`` on time alone, so that the same grammar gives the same
    memo.
    """
    below = frames_below(tables)
    todo = deque((ROOT, state) for state in range(1, tables.states))
    seen = set(todo)
    while todo:
        if len(residual.answers) >= answers or residual.nbytes > memory:
            return False
        limits.check_time("the masks of the network", tables.names[:1])
        exits, state = todo.popleft()
        _, pending = residual.answer(exits, state)
        if pending == NOTHING:
            continue
        for frame in below[state]:
            if (pending, frame) not in seen:
                seen.add((pending, frame))
                todo.append((pending, frame))
    return True


def prewarm_chains(
    tables: NetworkTables, residual: Summaries, memory: int, limits: Limits
) -> tuple[MaskAutomaton, bool]:
    """The chains of ``residual``, which is prewarmed, and whether all of single stacks are there.

    Stops beyond so many bytes of ``memory`` for them and the rows that are added.
    """
    most = residual.nbytes + memory
    below = frames_below(tables)
    width = 4 * len(frames_of(tables))
    first = {state: residual.answer(ROOT, state) for state in range(1, tables.states)}
    steps: dict[tuple[Chain, int], Chain] = {}
    unions: dict[tuple[int, int], int] = {}
    todo = deque((chain, state) for state, chain in first.items() if chain[1] != NOTHING)
    seen = set(todo)
    found = {chain for chain, _ in todo}
    while todo:
        chain, state = todo.popleft()
        for frame in below[state]:
            if residual.nbytes + len(found) * width > most:
                return MaskAutomaton.of(tables, first, steps), False
            limits.check_time("the masks of the network", tables.names[:1])
            if (chain, frame) not in steps:
                row, pending = chain
                more, still = residual.answer(pending, frame)
                if (row, more) not in unions:
                    both = residual.row(row) | residual.row(more)
                    unions[row, more] = residual.row_number(both)
                steps[chain, frame] = unions[row, more], still
            following = steps[chain, frame]
            if following[1] != NOTHING and (following, frame) not in seen:
                found.add(following)
                seen.add((following, frame))
                todo.append((following, frame))
    return MaskAutomaton.of(tables, first, steps), True
