"""Byte-pair encoding of one piece: lowest rank first, leftmost first.

``merge_via_heap`` is the textbook's and takes O(n log n) for n symbols; ``merge`` does the same
for the short pieces that most texts consist of, with less work for each.
"""

from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# Symbols from which on the heap is the faster way.
_MANY = 40

# A pair of symbols as one number: no id reaches this.
_SHIFT = 32


class Bpe:
    """Applies a merge list, int32 (n, 3), left, right and result id in rank order.

    Of several merges of one pair the last one counts.
    """

    def __init__(self, merges: NDArray[np.int32]) -> None:
        wide = merges.astype(np.int64)
        keys = (wide[:, 0] << _SHIFT) | wide[:, 1]
        self._ranks: dict[int, int] = dict(zip(keys.tolist(), range(len(keys)), strict=True))
        self._results: list[int] = merges[:, 2].tolist()

    def merge(self, ids: list[int]) -> list[int]:
        """The symbols ``ids`` (consumed), merged until no pair has a rank."""
        if len(ids) > _MANY:
            return self.merge_via_heap(ids)
        ranks, none = self._ranks, len(self._results)
        found = [ranks.get(left << _SHIFT | right, none) for left, right in pairwise(ids)]
        while found:
            rank = min(found)
            if rank == none:
                break
            place = found.index(rank)
            merged = ids[place] = self._results[rank]
            del ids[place + 1], found[place]
            if place:
                found[place - 1] = ranks.get(ids[place - 1] << _SHIFT | merged, none)
            if place < len(found):
                found[place] = ranks.get(merged << _SHIFT | ids[place + 1], none)
        return ids

    def merge_via_heap(self, ids: list[int]) -> list[int]:
        """The same, for pieces of any length.

        The symbols form a linked list; a heap holds (rank, place) of every pair. An entry
        whose pair has changed since is passed over.
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
