"""Masks in the middle of long counts, which need not know where they are.

A text of a language is in any larger one, too, and so are its canonical token sequences: where more
members go on, a row has more tokens. Of a counter where enough items have begun and h or more may
follow, what may follow lies between

    at most h items more    and    any number of them

so that its row is that of both where these have one row: the *usual* row, which is found once, for
all such counts and at any height of the stack.

Where more items must follow than a token holds, no two counts have members in common. But tokens
then come to counters alone that look the same to searches without frames, if their contexts are
one: where such searches decide all tokens, their row is that of all these counts, too
(``far_below``). Elsewhere a row is found for its count.

The two are counters of their own, after those of the network.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..network.configurations import BOTTOM, Network
from ..network.counts import UNBOUNDED, Counters
from ..network.tables import DEAD, NetworkTables
from ..tokens.memo import bottom_up

# How many items may follow at least, of which the most that may is taken.
HORIZONS = (4, 8, 16, 32, 64, 128, 256)

# So many frames are looked at for a counter.
_MOST_FRAMES = 8


def with_usual_counters(tables: NetworkTables) -> NetworkTables:
    """The same network with more counters, which stand for many counts of those that it has."""
    counters = tables.counters
    if counters is None or not counters.rows:
        return tables
    count, most = len(counters.rows), (UNBOUNDED, *(h + 1 for h in HORIZONS))
    times = 1 + len(most)
    usual = Counters(
        counters.states,
        np.tile(counters.items, times),
        np.append(counters.least, np.ones(count * len(most), dtype=np.int64)),
        np.append(counters.most, np.repeat(np.array(most, dtype=np.int64), count)),
        np.tile(counters.backs, times),
        counters.sets,
    )
    # Frames of sets are after those of all counters.
    returns = tables.call_returns
    returns = returns + np.where(returns >= counters.states + count, count * len(most), 0)
    return replace(tables, counters=usual, call_returns=returns.astype(np.int32))


class UsualCounts:
    """Sets of stacks with usual counts in place of their own."""

    def __init__(self, network: Network) -> None:
        self._stacks, self._counters = network.stacks, network.tables.some_counters
        self._count = len(self._counters.rows) // (2 + len(HORIZONS))
        # By node the sets that hold less, and more.
        self._known: dict[int, tuple[int, int]] = {BOTTOM: (BOTTOM, BOTTOM)}

    def between(self, node: int) -> tuple[int, int]:
        """Two sets of stacks, above which no more and no less may follow than above ``node``; both
        are ``node`` where none of its counts are usual."""
        known, stacks = self._known, self._stacks
        for current in bottom_up([node], stacks.below, known):
            entries = stacks.entries[current]
            less, more = [], []
            for frame, lower in entries:
                if frame <= DEAD:
                    less.append(current if len(entries) == 1 else BOTTOM)
                    more.append(less[-1])
                    continue
                fewer, any_number = self._of_frame(frame)
                less.append(stacks.push(fewer, known[lower][0]))
                more.append(stacks.push(any_number, known[lower][1]))
            known[current] = stacks.joined(less), stacks.joined(more)
        return known[node]

    def far_below(
        self,
        node: int,
        most_items: int,
        push: Callable[[int, int], int],
        context_of: Callable[[int], int],
    ) -> tuple[int, ...] | None:
        """What stacks have in common over which so many items must follow that a token of at most
        ``most_items`` sees one context alone: the frames on top of the counter, its number and that
        context. None for others.

        ``push``, ``context_of``: of a frame over a context, and of a set of stacks.
        """
        counters, frames = self._counters, list[int]()
        frame, lower = DEAD, node
        while len(frames) <= _MOST_FRAMES:
            entries = self._stacks.entries[lower]
            frame, lower = entries[0]
            if len(entries) > 1 or frame <= DEAD:
                return None
            if frame >= counters.states:
                break
            frames.append(frame)
        else:
            return None
        counter, begun = counters.split(frame)
        last = begun + most_items
        if counter >= self._count or last >= counters.rows[counter][1]:
            return None
        context = context_of(lower)
        # Each context is made of the next alone: if two are one, so are all before them.
        found = push(counters.frame(counter, last), context)
        if found != push(counters.frame(counter, last - 1), context):
            return None
        return (*frames, counter, found)

    def _of_frame(self, frame: int) -> tuple[int, int]:
        counters = self._counters
        if frame < counters.states:
            return frame, frame
        counter, begun = counters.split(frame)
        if counter >= self._count:
            return frame, frame
        _, least, most, _ = counters.rows[counter]
        if begun < least or most == UNBOUNDED:
            return frame, frame
        fitting = [i for i, h in enumerate(HORIZONS) if h <= most - begun]
        if not fitting:
            return frame, frame
        any_number = counter + self._count
        fewer = any_number + (1 + fitting[-1]) * self._count
        return counters.frame(fewer, 1), counters.frame(any_number, 1)
