"""Procedure summaries of a network with counters: which tokens fit, whatever the count.

For suspended nodes e, let e0 = e and e(i+1) what F(ei, item) leaves suspended, until that is empty
(L sets, ever deeper in the trie). In front of what lies below a counter where k items have begun

    G(e, k) = row(F(ei, item)) for all i < hi  |  F(ei, back) for lo <= i <= hi, i < L
    lo = min(max(least - k, 0), L)    hi = min(most - k, L)

because inside a token the call on the frame ends for the i-th time with ei suspended: then another
item may begin if i < most - k, and the counter may return if i >= least - k. So G depends on k by
(lo, hi) alone: along all counts there are at most 2 L + 2 of them. Where a node is read in one way,
one walk finds F of all ei (``item_walk``); else they are found one by one.

In front of what lies below a set V of parts, of which R must be there,

    G(e, V) = row(F(e, part i)) for all i that are not in V, with G(e', V and i) of what that leaves
              |  F(e, back) if R is in V

of which a text needs one wherever a part begins or ends: it is found while decoding, from rows that
do not depend on V.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..network.counts import UNBOUNDED
from ..network.sets import MOST_BELOW, MOST_FOLLOWED, NONE, check_ways
from ..network.summaries import Summaries
from ..network.summary_tables import SummaryTables
from ..network.tables import NetworkTables
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, CacheBudget, solve_recursive
from ..tokens.trie import Trie
from .first_octets import FirstOctets
from .item_walk import Exits, Items, ItemWalk, level_row, united
from .stored_items import StoredItems

# Nodes of a set that is large; and bytes of rows, beyond which no summaries of others are stored.
_LARGE, _SMALL_ROWS = 256, 1 << 20

_NO_NODES = np.zeros(0, dtype=np.int32)

_Key = tuple[int, int]
_Summary = tuple[int, int]


class _Walked(NamedTuple):
    """The items that tokens begin from set ``base``, ``shift`` of which lead to the set at hand."""

    items: Items
    base: int
    shift: int


class CountingSummaries(Summaries):
    """``Summaries``, also of frames that are counters: ``summary(e, frame)``."""

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocab_size: int,
        precomputed: SummaryTables | None = None,
        caches: CacheBudget | None = None,
        stored: StoredItems | None = None,
    ) -> None:
        super().__init__(tables, trie, vocab_size, precomputed, caches)
        self._stored = stored or StoredItems.of({}, {}, vocab_size)
        self._tables, self._counters = tables, tables.some_counters
        self._states = tables.states
        # By (set, item): e0, e1, …, and the rows of the first 0, 1, … items.
        self._items: dict[_Key, tuple[list[int], list[int]]] = {}
        # How many items those are of together.
        self._begun = 0
        # By (set, item), None where items have to be found one by one; and by (base, item, back).
        self._walked: dict[_Key, _Walked | None] = {}
        self._exits: dict[tuple[int, int, int], Exits | None] = {}
        self._item_walk: ItemWalk | None = None
        self._walked_bytes = 0
        self._firsts = FirstOctets(tables, self._following)
        # By (set, counter, lo, hi), or (set, set of parts, its value, 0).
        self._levels: dict[tuple[int, int, int, int], _Summary] = {}
        # The sets of some of them whose rows are not known.
        self._left: dict[tuple[int, int, int, int], int] = {}

    @property
    def is_full(self) -> bool:
        """Whether a cache limit is passed, so that ``forget`` should be called."""
        entries = len(self._items) + len(self._walked) + len(self._exits)
        entries += len(self._levels) + len(self._left)
        size = 16 * self._begun + self._walked_bytes + ENTRY_BYTES * entries + self._firsts.nbytes
        return super().is_full or size > self._most_bytes

    def forget(self) -> None:
        """Go back to what was precomputed; numbers of other rows and sets are given again."""
        super().forget()
        self._items.clear()
        self._begun = 0
        self._walked.clear()
        self._exits.clear()
        self._walked_bytes = 0
        self._levels.clear()
        self._left.clear()
        self._firsts.forget()

    def large(self) -> tuple[SummaryTables, StoredItems]:
        """What takes long to find, to begin with another time: the walks of items, and summaries,
        those of large sets first, as long as rows take not too much."""
        walked = {
            key: found and found.items
            for key, found in self._walked.items()
            if (len(self.sets[key[0]]) < _LARGE if found is None else not found.shift)
        }
        exits = {key: found for key, found in self._exits.items() if found}
        known = sorted(self.known().items())
        known.sort(key=lambda pair: pair[0][0] != ROOT and len(self.sets[pair[0][0]]) < _LARGE)
        rows, sets = {NOTHING: 0}, {NOTHING: 0, ROOT: 1}
        for suspended, _ in walked:
            sets.setdefault(suspended, len(sets))
        renamed = dict[_Key, _Summary]()
        for (suspended, state), (row, left) in known:
            is_large = suspended == ROOT or len(self.sets[suspended]) >= _LARGE
            if not is_large and len(rows) * self.rows.row_bytes > _SMALL_ROWS:
                break
            numbers = sets.setdefault(suspended, len(sets)), sets.setdefault(left, len(sets))
            renamed[numbers[0], state] = rows.setdefault(row, len(rows)), numbers[1]
        nodes = [self.sets[number] for number in sets]
        tables = SummaryTables.of([self.rows[number] for number in rows], nodes, renamed)
        items = StoredItems.of(
            {(sets[suspended], item): found for (suspended, item), found in walked.items()},
            {(sets[key[0]], *key[1:]): found for key, found in exits.items()},
            self._vocab_size,
        )
        return tables, items

    def find(self, suspended: int, state: int) -> _Summary | None:
        """F(suspended, state), or G where ``state`` is a counter's frame, if it is cached."""
        if state < self._states:
            return super().find(suspended, state)
        counter, begun = self._counters.split(state)
        return self.counted(suspended, counter, begun)

    def counted(self, suspended: int, counter: int, begun: int) -> _Summary | None:
        """G(suspended, begun) of a counter, or of a set with that value, if it is cached."""
        if counter >= len(self._counters.rows):
            return self._levels.get((suspended, counter, begun, 0))
        item, least, most, _ = self._counters.rows[counter]
        length = self._length(suspended, item)
        if length is None:
            return None
        low, high = _levels(begun, least, most, length)
        return self._levels.get((suspended, counter, low, high))

    def alike(self, suspended: int, counter: int, begun: int) -> tuple[int, int]:
        """The least and the most count of which G is that of ``begun``, which is known."""
        item, least, most, _ = self._counters.rows[counter]
        length = self._length(suspended, item) or 0
        low, high = _levels(begun, least, most, length)
        first, last = begun, begun
        if low in (0, length) and high == length:
            first = least if low == 0 else 1
            last = most - length if most != UNBOUNDED else least
            if low:
                last = min(last, least - length)
        return first, last

    def _length(self, suspended: int, item: int) -> int | None:
        """L, if it is known."""
        walked = self._walked.get((suspended, item))
        if walked is not None:
            return walked.items.count - walked.shift
        found = self._items.get((suspended, item))
        return None if found is None else len(found[0])

    def below(self, suspended: int, counter: int, begun: int) -> _Summary:
        """G(suspended, begun) of a counter."""
        found = self.counted(suspended, counter, begun)
        if found is not None:
            return found
        key = suspended, self._states + (begun - 1) * len(self._counters) + counter
        return solve_recursive(key, self._find_key, self._steps)

    def left(self, suspended: int, state: int) -> int:
        """The set of ``summary(suspended, state)``, without a row for each level of a counter."""
        if state < self._states or self.find(suspended, state):
            return self.summary(suspended, state)[1]
        counter, begun = self._counters.split(state)
        if counter >= len(self._counters.rows):
            return self.summary(suspended, state)[1]
        item, least, most, back = self._counters.rows[counter]
        walked = self._items_of(suspended, item)
        exits = walked and self._exits_of(walked, item, back)
        if not walked or not exits:
            return self.summary(suspended, state)[1]
        key = suspended, counter, *_levels(begun, least, most, walked.items.count - walked.shift)
        if key not in self._left:
            nodes, calls = self._behind(walked, exits, *key[2:])
            different = dict.fromkeys([nodes, *(self.summary(*call)[1] for call in calls)])
            different.pop(NOTHING, None)
            self._left[key] = self._merged(different)
        return self._left[key]

    def meet(self, suspended: int, state: int) -> None:
        """Find what masks that texts come to often need: not those near the end of a count."""
        if state >= self._states:
            counter, begun = self._counters.split(state)
            rows = self._counters.rows
            if counter < len(rows) and begun not in (1, rows[counter][1]):
                self.left(suspended, state)
                return
        self.summary(suspended, state)

    def _of_few(self, suspended: int, state: int) -> _Summary | None:
        return super()._of_few(suspended, state) if state < self._states else None

    def _steps(self, key: _Key) -> Generator[_Key, _Summary, _Summary]:
        suspended, state = key
        if state < self._states:
            return (yield from super()._steps(key))
        counter, begun = self._counters.split(state)
        if counter >= len(self._counters.rows):
            united = set[int]()
            left = yield from self._set_steps(united, suspended, counter, (begun,))
            found = self._levels[suspended, counter, begun, 0] = self.rows.union(united), left
            return found
        item, least, most, back = self._counters.rows[counter]
        walked = self._items_of(suspended, item)
        exits = walked and self._exits_of(walked, item, back)
        if walked and exits:
            low, high = _levels(begun, least, most, walked.items.count - walked.shift)
            summary = yield from self._level(walked, exits, low, high)
        else:
            low, high, summary = yield from self._level_one_by_one(suspended, counter, begun)
        self._levels[suspended, counter, low, high] = summary
        return summary

    def _level(
        self, walked: _Walked, exits: Exits, low: int, high: int
    ) -> Generator[_Key, _Summary, _Summary]:
        """G of (lo, hi)."""
        size = 32 * tokenset.word_count(self._vocab_size)
        row = level_row(walked.items, exits, walked.shift, low, high, size)
        nodes, calls = self._behind(walked, exits, low, high)
        pending = {nodes: None}
        for key in calls:
            part, left = yield key
            row |= self.rows[part]
            pending[left] = None
        pending.pop(NOTHING, None)
        return self.rows.add(row), self._merged(pending)

    def _behind(self, walked: _Walked, exits: Exits, low: int, high: int) -> tuple[int, list[_Key]]:
        """The set of nodes at which the call that a counter is in may end, and what it calls."""
        items, _, shift = walked
        top = min(shift + high + 1, items.count)
        low = min(shift + low, top)
        calls = list[_Key]()
        for state, called in exits.calls.items():
            # All levels at once, of which most masks are, or each, once for all masks.
            whole = low == 0 and top == items.count
            levels = called.each(low, top)
            found = [united(levels)] if whole and levels else levels
            calls += [(self.sets.number(nodes), state) for nodes in found]
        return self.sets.number(united(exits.nodes.each(low, top) or [_NO_NODES])), calls

    def _level_one_by_one(
        self, suspended: int, counter: int, begun: int
    ) -> Generator[_Key, _Summary, tuple[int, int, _Summary]]:
        """lo, hi and G by F of all ei."""
        item, least, most, back = self._counters.rows[counter]
        if (suspended, item) not in self._items:
            met, rows, left = dict[int, None](), [NOTHING], suspended
            while left != NOTHING:
                if left in met:
                    raise ArtifactError("damaged artifact: an item of a count does not move on")
                met[left] = None
                row, left = yield left, item
                rows.append(self.rows.union((rows[-1], row)))
            self._items[suspended, item] = list(met), rows
            self._begun += len(rows)
        sets, rows = self._items[suspended, item]
        low, high = _levels(begun, least, most, len(sets))
        parts, pending = {rows[high]}, dict[int, None]()
        for nodes in sets[low : high + 1]:
            row, left = yield nodes, back
            parts.add(row)
            pending[left] = None
        pending.pop(NOTHING, None)
        return low, high, (self.rows.union(parts), self._merged(pending))

    @property
    def _walk_of_items(self) -> ItemWalk:
        if self._item_walk is None:
            self._item_walk = ItemWalk(self._tables, self._make_trie(), self._vocab_size)
        return self._item_walk

    def _items_of(self, suspended: int, item: int) -> _Walked | None:
        """The items that tokens begin from a set, if its nodes are read in one way."""
        key = suspended, item
        if key not in self._walked:
            base = self.find(ROOT, item) if suspended != ROOT else None
            found = None
            if base is not None and base[1] == suspended:
                # What one item leads to from the root.
                whole = self._items_of(ROOT, item)
                found = whole and _Walked(whole.items, ROOT, 1)
            else:
                size = 32 * tokenset.word_count(self._vocab_size)
                if self._stored.has(suspended, item):
                    items = self._stored.items(suspended, item, size)
                else:
                    items = self._walk_of_items.items(self.sets[suspended], item)
                    self.watch(self._walk_of_items.work, 0)
                if items is not None:
                    found = _Walked(items, suspended, 0)
                    self._walked_bytes += items.nbytes
            self._walked[key] = found
        return self._walked[key]

    def _exits_of(self, walked: _Walked, item: int, back: int) -> Exits | None:
        """What follows a counter behind its items."""
        key = walked.base, item, back
        if key not in self._exits:
            exits = self._stored.following(*key)
            if exits is None:
                walk, nodes = self._walk_of_items, walked.items.nodes
                if nodes is None:
                    again = walk.items(self.sets[walked.base], item)
                    nodes = None if again is None else again.nodes
                exits = None if nodes is None else walk.exits(nodes, back)
                self.watch(walk.work, 0)
            self._exits[key] = exits
            self._walked_bytes += exits.nbytes if exits else 0
        return self._exits[key]

    def _merged(self, pending: Collection[int]) -> int:
        """The set of the nodes of several."""
        if len(pending) < 2:
            return next(iter(pending), NOTHING)
        return self.sets.number(united([self.sets[n] for n in pending]))

    def add_rows_of_set(
        self, rows: set[int], suspended: int, counter: int, values: Sequence[int]
    ) -> int:
        """Add the rows of what is suspended above a set, by all ``values`` that it may have; what
        it leaves suspended in turn. Raises ``AmbiguousPartsError``.

        They are not united here: where a part begins, each set has a row of its own.
        """
        steps = self._set_steps(rows, suspended, counter, values)
        try:
            key = next(steps)
            while True:
                key = steps.send(self.summary(*key))
        except StopIteration as done:
            left: int = done.value
            return left

    def _set_steps(
        self, rows: set[int], suspended: int, counter: int, values: Sequence[int]
    ) -> Generator[_Key, _Summary, int]:
        """G(suspended, value) of a set, of all ``values`` together: F of all that may follow, and G
        of what that leaves, by the values that the set has then."""
        rule = self._counters.set_rules[counter - len(self._counters.rows)]
        waiting = [(suspended, value) for value in values]
        pending = dict[int, None]()
        seen, below, followed, several = set(waiting), set[int](), 0, 0
        for nodes, current in waiting:
            if rule.is_full(current):
                row, left = yield nodes, rule.back
                rows.add(row)
                pending[left] = None
                continue
            ways = [way for way in rule.pops(current) if self._firsts.meet(nodes, way[0])]
            followed += len(ways)
            check_ways(followed, MOST_FOLLOWED)
            for state, again in ways:
                row, left = yield nodes, state
                rows.add(row)
                if left == NOTHING:
                    continue
                if again == NONE:
                    pending[left] = None
                elif (left, again) not in seen:
                    seen.add((left, again))
                    waiting.append((left, again))
                    several += left in below
                    below.add(left)
            check_ways(several, MOST_BELOW)
        pending.pop(NOTHING, None)
        return self._merged(pending)

    def _following(self, nodes: int) -> NDArray[np.uint8]:
        """The bytes behind a set of trie nodes."""
        return self._make_trie().octets_below(self.sets[nodes])


def _levels(begun: int, least: int, most: int, length: int) -> tuple[int, int]:
    """lo and hi, where tokens tell so many items apart."""
    low = min(max(least - begun, 0), length)
    return low, length if most == UNBOUNDED else min(most - begun, length)
