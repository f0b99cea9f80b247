"""Masks in the middle of long counts, which need not know where they are.

A text of a language is in any larger one, too, and so are its canonical token sequences: where more
members go on, a row has more tokens. Of a counter where enough items have begun and h or more may
follow, what may follow lies between

    at most h items more    and    any number of them

so that its row is that of both where these have one row: the *usual* row, which is found once, for
all such counts and at any height of the stack. Elsewhere a row is found for its count: where fewer
items may follow than a token holds, and where items must follow, which no two counts have
in common.

The two are counters of their own, behind those of the network.
"""

from dataclasses import replace

import numpy as np

from ..network.configurations import BOTTOM, Network
from ..network.counts import UNBOUNDED, Counters
from ..network.tables import DEAD, NetworkTables

# How many items may follow at least, of which the most that may is taken.
HORIZONS = (4, 8, 16, 32, 64, 128, 256)


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
    # Frames of sets are behind those of all counters.
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
        pending = [node]
        while pending:
            current = pending[-1]
            entries = stacks.entries[current]
            missing = [lower for frame, lower in entries if frame > DEAD and lower not in known]
            if missing and current not in known:
                pending.extend(missing)
                continue
            pending.pop()
            if current not in known:
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
