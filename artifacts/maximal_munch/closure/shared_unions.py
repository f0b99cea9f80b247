"""Rows that are unions of two others, as blocks that they share, many at a time.

A row is the numbers of its blocks (``artifacts/tokens/block_rows.py``), one for each place. In most
places one of two rows is empty, and their union has the block of the other:

    [0, 5, 0, 7] and [3, 0, 0, 9]  ->  [3, 5, 0, number of 7 | 9]
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...tokens.block_rows import BLOCK, BlockRows


class SharedUnions:
    """``begun``: the blocks of the rows ``numbers`` out of ``count``; row 0, the first of them, is
    empty."""

    def __init__(self, begun: BlockRows, numbers: Sequence[int], count: int) -> None:
        # Blocks are numbered over all places, from 1 on; 0 is the empty one, at each of them.
        bases = begun.offsets[:-1]
        numbered = np.arange(1, 1 + len(begun.blocks), dtype=np.int32)
        numbered[begun.codes[0] + bases] = 0
        self._codes = np.zeros((count, len(bases)), dtype=np.int32)
        self._codes[numbers] = numbered[begun.codes + bases]
        places = np.repeat(np.arange(len(bases)), np.diff(begun.offsets))
        self._blocks = np.concatenate((np.zeros((1, BLOCK), dtype=np.uint32), begun.blocks))
        self._places = np.append(0, places)
        self._by_content: dict[bytes, int] = {}
        for number, key in enumerate(_keys(self._blocks, self._places)):
            self._by_content[key] = number

    def unite(self, rows: Sequence[int], parts: NDArray[np.int64]) -> None:
        """Make rows, each of two that are there, int64 (n, 2)."""
        left, right = self._codes[parts[:, 0]], self._codes[parts[:, 1]]
        codes = np.maximum(left, right)
        both = np.flatnonzero((left != 0) & (right != 0))
        if len(both):
            pairs = left.ravel()[both].astype(np.int64) << 32 | right.ravel()[both]
            different, which = np.unique(pairs, return_inverse=True)
            codes.ravel()[both] = self._united(different >> 32, different & 0xFFFFFFFF)[which]
        self._codes[rows] = codes

    def _united(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int32]:
        """The unions of blocks of one place each."""
        made, places = self._blocks[left] | self._blocks[right], self._places[left]
        known, count = self._by_content, len(self._blocks)
        found: list[int] = []
        new: list[int] = []
        for i, key in enumerate(_keys(made, places)):
            number = known.setdefault(key, count + len(new))
            if number == count + len(new):
                new.append(i)
            found.append(number)
        self._blocks = np.concatenate((self._blocks, made[new]))
        self._places = np.concatenate((self._places, places[new]))
        return np.array(found, dtype=np.int32)

    def rows(self, numbers: Sequence[int]) -> BlockRows:
        """These rows, renumbered from 0, with the blocks that they use."""
        codes = self._codes[numbers]
        used = np.zeros(len(self._blocks), dtype=np.bool_)
        used[codes] = True
        used[0] = False
        kept = np.flatnonzero(used)
        kept = kept[np.argsort(self._places[kept], kind="stable")]
        places = self._places[kept]
        # The empty block is the first of its place.
        has_empty = (codes == 0).any(axis=0)
        counts = np.bincount(places, minlength=len(has_empty))
        offsets = np.append(0, np.cumsum(counts + has_empty)).astype(np.int64)
        before = np.append(0, np.cumsum(counts))[:-1]
        ranks = np.arange(len(kept)) - before[places] + has_empty[places]
        codes_of = np.zeros(len(self._blocks), dtype=np.uint16)
        codes_of[kept] = ranks
        blocks = np.zeros((int(offsets[-1]), BLOCK), dtype=np.uint32)
        blocks[offsets[places] + ranks] = self._blocks[kept]
        return BlockRows(codes_of[codes], blocks, offsets)


def _keys(blocks: NDArray[np.uint32], places: NDArray[np.int64]) -> list[bytes]:
    """Each block beside its place, as bytes."""
    wide = np.concatenate((places.astype(np.uint32)[:, None], blocks), axis=1)
    data, size = wide.tobytes(), wide.itemsize * wide.shape[1]
    return [data[first : first + size] for first in range(0, len(data), size)]
