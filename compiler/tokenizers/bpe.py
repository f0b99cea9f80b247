"""Byte-pair encoding of one piece of text: lowest rank first, leftmost first."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# Pieces that are kept with their ids; most of a text is words that come again.
_KEPT_PIECES = 65_536


class Bpe:
    """Applies a merge list to pieces of bytes.

    ``merges``: int32 (n, 3), left, right and result id in rank order. ``base``: the token id
    of each byte, -1 where the vocabulary lacks it (such bytes are dropped, as the reference
    implementation drops them).
    """

    def __init__(self, merges: NDArray[np.int32], base: Sequence[int]) -> None:
        self._ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (left, right, result) in enumerate(merges.tolist()):
            self._ranks[left, right] = (rank, result)
        self._base = tuple(base)
        self._kept: dict[bytes, list[int]] = {}

    def encode(self, piece: bytes) -> list[int]:
        """Token ids of one piece, in O(n log n) for n bytes."""
        known = self._kept.get(piece)
        if known is None:
            known = self._merge([i for octet in piece if (i := self._base[octet]) >= 0])
            if len(self._kept) >= _KEPT_PIECES:
                self._kept.clear()
            self._kept[piece] = known
        return known

    def _merge(self, ids: list[int]) -> list[int]:
        """Merge the pair of lowest rank until no pair has a rank.

        The symbols form a linked list; a heap holds (rank, place, result) of every pair. An
        entry whose pair has changed since is passed over.
        """
        ranks = self._ranks
        following = [*range(1, len(ids)), -1]
        before = list(range(-1, len(ids) - 1))
        heap = [
            (found[0], place, found[1])
            for place, pair in enumerate(pairwise(ids))
            if (found := ranks.get(pair)) is not None
        ]
        heapify(heap)
        while heap:
            rank, place, result = heappop(heap)
            after = following[place]
            if ids[place] < 0 or after < 0 or ranks.get((ids[place], ids[after])) != (rank, result):
                continue
            ids[place], ids[after] = result, -1
            following[place] = after = following[after]
            if after >= 0:
                before[after] = place
                self._push(heap, ids, place, after)
            if before[place] >= 0:
                self._push(heap, ids, before[place], place)
        return [i for i in ids if i >= 0]

    def _push(
        self, heap: list[tuple[int, int, int]], ids: list[int], place: int, after: int
    ) -> None:
        found = self._ranks.get((ids[place], ids[after]))
        if found is not None:
            heappush(heap, (found[0], place, found[1]))
