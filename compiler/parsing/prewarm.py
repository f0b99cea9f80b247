"""Work a network's masks out ahead of time, for every stack that can come about.

A mask is a chain of answers F(e, p) down the stack (``constrain.artifacts.residual``). The
first has the root as its exit set, at any state; each further one has what the one before
left pending, at a frame that can lie right below (``below``). Pending exit sets lie ever
deeper in the token trie, so this ends; but there can be many of them, so it is also bounded.

The rows of a chain are united in its order, as far as there is room, short chains first
(``constrain.artifacts.chains``): a text then finds nearly all of its masks ready.
"""

from collections import deque

from constrain.artifacts.chains import Chain, Chains, frames_of
from constrain.artifacts.network_tables import NetworkTables
from constrain.artifacts.residual import NOTHING, ROOT, Residual

from ..limits import Limits
from .below import frames_below


def prewarm(
    tables: NetworkTables, residual: Residual, answers: int, memory: int, limits: Limits
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
    tables: NetworkTables, residual: Residual, memory: int, limits: Limits
) -> tuple[Chains, bool]:
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
                return Chains.of(tables, first, steps), False
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
    return Chains.of(tables, first, steps), True
