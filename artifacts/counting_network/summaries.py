"""Procedure summaries of a network with counters: which tokens fit, whatever the count.

For suspended nodes e, let e0 = e and e(i+1) what F(ei, item) leaves suspended, until that is empty
(L sets, ever deeper in the trie). In front of what lies below a counter where k items have begun

    G(e, k) = row(F(ei, item)) for all i < hi  |  F(ei, back) for lo <= i <= hi, i < L
    lo = min(max(least - k, 0), L)    hi = min(most - k, L)

because inside a token the call on the frame ends for the i-th time with ei suspended: then another
item may begin if i < most - k, and the counter may return if i >= least - k. So G depends on k by
(lo, hi) alone: along all counts there are at most 2 L + 2 of them.
"""

from collections.abc import Callable, Generator

from ..network.counts import UNBOUNDED
from ..network.summaries import Summaries
from ..network.summary_tables import SummaryTables
from ..network.tables import NetworkTables
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens.memo import ENTRY_BYTES, CacheBudget, solve_recursive
from ..tokens.trie import Trie

# Nodes of a set that is large.
_LARGE = 256

_Key = tuple[int, int]
_Summary = tuple[int, int]


class CountingSummaries(Summaries):
    """``Summaries``, also of frames that are counters: ``summary(e, frame)``."""

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocab_size: int,
        precomputed: SummaryTables | None = None,
        caches: CacheBudget | None = None,
    ) -> None:
        super().__init__(tables, trie, vocab_size, precomputed, caches)
        self._counters = tables.some_counters
        self._states = tables.states
        # By (set, item): e0, e1, …, and the rows of the first 0, 1, … items.
        self._items: dict[_Key, tuple[list[int], list[int]]] = {}
        # How many items those are of together.
        self._begun = 0
        # By (set, counter, lo, hi).
        self._levels: dict[tuple[int, int, int, int], _Summary] = {}

    @property
    def is_full(self) -> bool:
        """Whether a cache limit is passed, so that ``forget`` should be called."""
        size = 16 * self._begun + ENTRY_BYTES * (len(self._items) + len(self._levels))
        return super().is_full or size > self._most_bytes

    def forget(self) -> None:
        """Go back to what was precomputed; numbers of other rows and sets are given again."""
        super().forget()
        self._items.clear()
        self._begun = 0
        self._levels.clear()

    def large(self) -> SummaryTables:
        """The summaries of large sets alone, to begin with another time: others are found sooner
        than a row is read."""
        kept = {
            key: found
            for key, found in sorted(self.known().items())
            if key[0] == ROOT or len(self.sets[key[0]]) >= _LARGE
        }
        rows, sets = {NOTHING: 0}, {NOTHING: 0, ROOT: 1}
        for (suspended, _), (row, left) in kept.items():
            rows.setdefault(row, len(rows))
            sets.setdefault(suspended, len(sets))
            sets.setdefault(left, len(sets))
        renamed = {
            (sets[suspended], state): (rows[row], sets[left])
            for (suspended, state), (row, left) in kept.items()
        }
        nodes = [self.sets[number] for number in sets]
        return SummaryTables.of([self.rows[number] for number in rows], nodes, renamed)

    def find(self, suspended: int, state: int) -> _Summary | None:
        """F(suspended, state), or G where ``state`` is a counter's frame, if it is cached."""
        if state < self._states:
            return super().find(suspended, state)
        counter, begun = self._counters.split(state)
        return self.counted(suspended, counter, begun)

    def counted(self, suspended: int, counter: int, begun: int) -> _Summary | None:
        """G(suspended, begun) of a counter, if it is cached."""
        item, least, most, _ = self._counters.rows[counter]
        found = self._items.get((suspended, item))
        if found is None:
            return None
        low, high = _levels(begun, least, most, len(found[0]))
        return self._levels.get((suspended, counter, low, high))

    def below(self, suspended: int, counter: int, begun: int) -> _Summary:
        """G(suspended, begun) of a counter."""
        found = self.counted(suspended, counter, begun)
        if found is not None:
            return found
        key = suspended, self._states + (begun - 1) * len(self._counters) + counter
        return solve_recursive(key, self._find_key, self._steps)

    def _steps(self, key: _Key) -> Generator[_Key, _Summary, _Summary]:
        suspended, state = key
        if state < self._states:
            return (yield from super()._steps(key))
        counter, begun = self._counters.split(state)
        item, least, most, back = self._counters.rows[counter]
        if (suspended, item) not in self._items:
            sets, rows, left = list[int](), [NOTHING], suspended
            while left != NOTHING:
                sets.append(left)
                row, left = yield left, item
                rows.append(self.rows.union((rows[-1], row)))
            self._items[suspended, item] = sets, rows
            self._begun += len(rows)
        sets, rows = self._items[suspended, item]
        low, high = _levels(begun, least, most, len(sets))
        parts, pending = {rows[high]}, dict[int, None]()
        for nodes in sets[low : high + 1]:
            row, left = yield nodes, back
            parts.add(row)
            pending[left] = None
        pending.pop(NOTHING, None)
        still = next(iter(pending), NOTHING)
        if len(pending) > 1:
            still = self.sets.number(self._whole_walk().merged([self.sets[n] for n in pending]))
        summary = self._levels[suspended, counter, low, high] = self.rows.union(parts), still
        return summary


def _levels(begun: int, least: int, most: int, length: int) -> tuple[int, int]:
    """lo and hi, where tokens tell so many items apart."""
    low = min(max(least - begun, 0), length)
    return low, length if most == UNBOUNDED else min(most - begun, length)
