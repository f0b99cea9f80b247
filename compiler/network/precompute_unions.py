"""Rows of several threads at once, united ahead of time.

Where symbols can be read in several ways one thread becomes several, over the same stack: as
behind a bracket in front of a space that either belongs to the list or to its first element.
Which these are is found without a stack, frames being looked at one by one as threads return
to them; then their chains (``constrain.artifacts.network.mask_automaton``) are followed together
down the
frames that can lie below.
"""

from collections.abc import Iterator
from functools import reduce

import numpy as np

from constrain.artifacts.network.mask_automaton import UNKNOWN, MaskAutomaton, frames_of
from constrain.artifacts.network.summaries import Summaries
from constrain.artifacts.network.tables import DEAD, FirstTransitions, NetworkTables

from ..limits import Limits
from .precompute import frames_below

# Sets of threads that are looked at, threads and frames that they may have, and pairs of chains.
_SETS, _THREADS, _FRAMES, _PAIRS = 1 << 10, 4, 4, 1 << 12

# A state, and the frames above those that are not known, the top first.
_Thread = tuple[int, tuple[int, ...]]
_Threads = tuple[_Thread, ...]


def prewarm_pairs(
    tables: NetworkTables, chains: MaskAutomaton, residual: Summaries, memory: int, limits: Limits
) -> None:
    """Unite the rows of two threads in ``residual``, up to so many bytes of ``memory``."""
    most = residual.nbytes + memory
    for one, other in pairs_of_rows(tables, chains, limits):
        if residual.nbytes > most:
            return
        residual.numbered_union(one, other)


def thread_sets(tables: NetworkTables, limits: Limits) -> Iterator[tuple[_Threads, list[int]]]:
    """Sets of several threads, and the frames that can lie right below what they know.

    Where there are none, the stack ends there.
    """
    moves, below = FirstTransitions(tables), frames_below(tables)
    symbols = np.unique(tables.classes, return_index=True)[1].tolist()
    todo: dict[tuple[_Threads, bool], list[int]] = {
        (((state, ()),), False): below[state] for state in range(1, tables.states)
    }
    most = len(todo) + _SETS
    waiting = list(todo)
    for threads, ended in waiting:
        limits.check_time("the masks of the network", tables.names[:1])
        frames = todo[threads, ended]
        if len(threads) > 1:
            yield threads, frames
        returned = list(threads)
        for state, known in returned:
            if tables.ends[state] and known:
                returned.append((known[0], known[1:]))
        found: dict[tuple[_Threads, bool], list[int]] = {}
        if not ended and any(tables.ends[state] and not known for state, known in returned):
            found[threads, True] = []
            for frame in frames:
                deeper = tuple((state, (*known, frame)) for state, known in threads)
                found[deeper, False] = below[frame]
        else:
            for symbol in symbols:
                after = {
                    (target, (*reversed(pushed), *known))
                    for state, known in returned
                    for target, pushed in moves.of(state, symbol)
                }
                if len(after) > 1:
                    found[tuple(sorted(after)), ended] = frames
        for key, next_frames in found.items():
            fits = len(key[0]) <= _THREADS and max(len(k) for _, k in key[0]) <= _FRAMES
            if fits and key not in todo and len(todo) < most:
                todo[key] = next_frames
                waiting.append(key)


def pairs_of_rows(
    tables: NetworkTables, chains: MaskAutomaton, limits: Limits
) -> Iterator[tuple[int, int]]:
    """The rows that two threads have over stacks of which all chains are known."""
    below = frames_below(tables)
    columns = {frame: column for column, frame in enumerate(frames_of(tables).tolist())}
    steps, pending = chains.steps.tolist(), len(chains.steps)

    def behind(chain: int, frame: int) -> int:
        return int(steps[chain][columns[frame]]) if chain < pending else chain

    # Two chains, and the frames that can be next; the stack can always end.
    todo: dict[tuple[int, int, tuple[int, ...]], None] = {}
    for threads, frames in thread_sets(tables, limits):
        if len(threads) == 2:
            one, other = (
                reduce(behind, known, int(chains.first[state])) for state, known in threads
            )
            todo[one, other, (DEAD, *frames)] = None
    waiting, rows = list(todo), set()
    for one, other, next_frames in waiting:
        if UNKNOWN in (one, other):
            continue
        if one >= pending and other >= pending:
            found = int(chains.answers[one, 0]), int(chains.answers[other, 0])
            if found not in rows:
                rows.add(found)
                yield found
            continue
        for frame in next_frames:
            deeper = (DEAD, *below[frame]) if frame != DEAD else ()
            new = behind(one, frame), behind(other, frame), deeper
            if new not in todo and len(todo) < _PAIRS:
                todo[new] = None
                waiting.append(new)
