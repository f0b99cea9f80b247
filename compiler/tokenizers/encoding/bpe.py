"""Byte-pair encoding: merge the pair of lowest rank, leftmost first, until no pair has a rank.

    [l, o, w, e, r]  ->  [lo, w, e, r]  ->  [low, e, r]  ->  [low, er]

    Bpe.merge             one pre-token; short ones by a scan for the lowest rank
    Bpe.merge_via_heap    one long pre-token, by the textbook's heap in O(n log n)
    RowMerges             many short pre-tokens at once, as rows of a table: one step applies to
                          each row its own best merge, so the steps are those of the longest row
    PairRanks             the ranks of many pairs at once, by a hash table with open addressing

The hash table is searched by all pairs together: one look at the place that a pair's hash names,
then one place further for those that find another pair there (linear probing; D. E. Knuth, The Art
of Computer Programming 3, section 6.4, Algorithm L).
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# From so many symbols on the heap is faster.
_MANY = 40

# Up to so many rows left, finishing them one by one is faster.
_FEW = 24

# At most so many symbols of a row. Longer pre-tokens are rare, and would make every row wide.
WIDEST = 32

# A pair of symbols as one number, left << 32 | right: ids are below 2^32.
_SHIFT = 32

# 2^64 divided by the golden ratio: multiples of it are spread evenly (Knuth, ibid.: Fibonacci
# hashing).
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

# Places of the hash table for each pair, so that most searches end at the first look.
_ROOM = 4

# The key of an empty place. A symbol may be -1, so that the key of a pair may be negative too.
_EMPTY = np.iinfo(np.int64).min


class Bpe:
    """Applies a merge list, int32 (n, 3), left, right, result id in rank order, to one pre-token.

    Of several merges of one pair the last one counts.
    """

    def __init__(self, merges: NDArray[np.int32]) -> None:
        wide = merges.astype(np.int64)
        keys = (wide[:, 0] << _SHIFT) | wide[:, 1]
        self._ranks: dict[int, int] = dict(zip(keys.tolist(), range(len(keys)), strict=True))
        self._results: list[int] = merges[:, 2].tolist()

    def merge(self, ids: list[int]) -> list[int]:
        """The symbols ``ids``, merged until no pair has a rank; the list is changed in place."""
        if len(ids) > _MANY:
            return self.merge_via_heap(ids)
        self.merge_via_scan(ids)
        return ids

    def merge_via_scan(self, ids: list[int]) -> int:
        """The same in place, for few symbols; the rank of the last merge made, -1 for none."""
        ranks, none, last = self._ranks, len(self._results), -1
        found = [ranks.get(left << _SHIFT | right, none) for left, right in pairwise(ids)]
        while found:
            rank = min(found)
            if rank == none:
                break
            last, place = rank, found.index(rank)
            merged = ids[place] = self._results[rank]
            del ids[place + 1], found[place]
            if place:
                found[place - 1] = ranks.get(ids[place - 1] << _SHIFT | merged, none)
            if place < len(found):
                found[place] = ranks.get(merged << _SHIFT | ids[place + 1], none)
        return last

    def merge_via_heap(self, ids: list[int]) -> list[int]:
        """The same in O(n log n) for n symbols.

        The symbols form a doubly linked list; a heap holds (rank, place) of every pair. Items whose
        pair has changed since are skipped.
        """
        following = [*range(1, len(ids)), -1]
        before = list(range(-1, len(ids) - 1))
        heap = [
            (rank, place)
            for place, (left, right) in enumerate(pairwise(ids))
            if (rank := self._ranks.get(left << _SHIFT | right)) is not None
        ]
        heapify(heap)
        while heap:
            rank, place = heappop(heap)
            after = following[place]
            if ids[place] < 0 or after < 0 or self._rank(ids, place, after) != rank:
                continue
            ids[place], ids[after] = self._results[rank], -1
            following[place] = after = following[after]
            if after >= 0:
                before[after] = place
            for left, right in ((place, after), (before[place], place)):
                if left >= 0 and right >= 0:
                    created = self._rank(ids, left, right)
                    if created is not None:
                        heappush(heap, (created, left))
        return [i for i in ids if i >= 0]

    def _rank(self, ids: list[int], left: int, right: int) -> int | None:
        return self._ranks.get(ids[left] << _SHIFT | ids[right])


class PairRanks:
    """The ranks of a merge list, int32 (n, 3), left, right and result id in rank order.

    Of several merges of one pair the last one counts. ``none``: n, the rank of other pairs.
    """

    def __init__(self, merges: NDArray[np.int32]) -> None:
        self.none = len(merges)
        bits = (_ROOM * len(merges) + 1).bit_length()
        self._shift = np.uint64(64 - bits)
        self._last = (1 << bits) - 1
        self._keys = np.full(1 << bits, _EMPTY, dtype=np.int64)
        self._ranks = np.full(1 << bits, self.none, dtype=np.int32)
        wide = merges.astype(np.int64)
        keys = wide[:, 0] << _SHIFT | wide[:, 1]
        ranks = np.arange(len(keys), dtype=np.int32)
        places = self._places(keys)
        while len(keys):
            free = self._keys[places] == _EMPTY
            self._keys[places[free]] = keys[free]
            # subtle: equal keys come here together, and of several values numpy keeps the last.
            settled = self._keys[places] == keys
            self._ranks[places[settled]] = ranks[settled]
            keys, ranks = keys[~settled], ranks[~settled]
            places = (places[~settled] + 1) & self._last

    def of(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int32]:
        """The ranks of pairs, int32; ``none`` for those without, as where a symbol is -1."""
        keys = left << _SHIFT | right
        places = self._places(keys)
        found = self._keys[places]
        ranks = self._ranks[places]
        wrong = found != keys
        ranks[wrong] = self.none
        pending = np.flatnonzero(wrong & (found != _EMPTY))
        places = places[pending]
        while len(pending):
            places = (places + 1) & self._last
            found = self._keys[places]
            hits = found == keys[pending]
            ranks[pending[hits]] = self._ranks[places[hits]]
            further = ~hits & (found != _EMPTY)
            pending, places = pending[further], places[further]
        return ranks

    def _places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place where each key is looked for first."""
        places: NDArray[np.uint64] = keys.view(np.uint64) * _FACTOR >> self._shift
        return places.view(np.int64)


class RowMerges:
    """Applies a merge list, int32 (n, 3), to many pre-tokens.

    ``merge``: ``Bpe.merge``, which finishes the last rows.
    """

    def __init__(self, merges: NDArray[np.int32], merge: Callable[[list[int]], list[int]]) -> None:
        self._pairs = PairRanks(merges)
        self._none = self._pairs.none
        self._results = merges[:, 2].astype(np.int64)
        self._merge = merge

    def merged(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[list[int]]:
        """The symbols of each pre-token, merged until no pair has a rank.

        ``ids``: int64, the symbols of all pre-tokens, one after another, none negative.
        ``lengths``: int64 (rows,), how many each has, at least 1 and at most ``WIDEST``.
        """
        if not len(lengths):
            return []
        rows = np.full((len(lengths), int(lengths.max()) + 1), -1, dtype=np.int64)
        ranks = np.full(rows.shape, self._none, dtype=np.int32)
        filled = np.arange(rows.shape[1]) < lengths[:, None]
        rows[filled] = ids
        found = np.append(self._pairs.of(ids[:-1], ids[1:]), self._none)
        found[np.cumsum(lengths) - 1] = self._none
        ranks[filled] = found
        left = self._steps(rows, ranks)
        for row in left.tolist():
            merged = self._merge([i for i in rows[row].tolist() if i >= 0])
            rows[row] = -1
            rows[row, : len(merged)] = merged
        is_symbol = rows >= 0
        symbols = rows[is_symbol].tolist()
        ends = np.cumsum(is_symbol.sum(axis=1)).tolist()
        return [symbols[start:end] for start, end in pairwise([0, *ends])]

    def _steps(self, rows: NDArray[np.int64], ranks: NDArray[np.int32]) -> NDArray[np.int64]:
        """Merge in ``rows`` (-1: no symbol) until few rows have a pair; the numbers of those rows.

        ``ranks``: of each symbol with the next one. The symbols of a row form a doubly linked list
        over its columns, whose ends meet in the last column, which never has a symbol.
        """
        count, width = rows.shape
        columns = np.arange(width)
        following, before = (np.tile(columns + step, (count, 1)) for step in (1, -1))
        before[:, 0] = width - 1
        # From here on places are those of the flattened table. A row begins at its ``start``.
        ids, rank_at, next_at, before_at = (
            table.reshape(-1) for table in (rows, ranks, following, before)
        )
        start = np.arange(count) * width
        while True:
            column = ranks[start // width].argmin(axis=1)
            rank = rank_at[start + column]
            active = np.flatnonzero(rank < self._none)
            start, column, rank = start[active], column[active], rank[active]
            if len(start) <= _FEW:
                left: NDArray[np.int64] = start // width
                return left
            place = start + column
            after = start + next_at[place]
            column_behind = next_at[after]
            behind, previous = start + column_behind, start + before_at[place]
            merged = ids[place] = self._results[rank]
            ids[after], rank_at[after] = -1, self._none
            next_at[place], before_at[behind] = column_behind, column
            created = self._pairs.of(
                np.concatenate((ids[previous], merged)), np.concatenate((merged, ids[behind]))
            )
            rank_at[previous], rank_at[place] = np.split(created, 2)
