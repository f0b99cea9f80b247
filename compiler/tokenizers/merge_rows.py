"""Byte-pair encoding of many pieces at once, a row of a table for each.

The rows are independent, so one step applies to each of them its own best merge: the pair of
lowest rank, of several the leftmost, as ``Bpe.merge`` does with one piece. The steps are those
of the longest chain of merges, whatever the number of rows.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .pair_ranks import PairRanks

# Symbols that a row may have. Longer pieces are rare, and would make every row wide.
WIDEST = 32

# Rows that are left from which on a step costs more than to merge each for itself.
_FEW = 24


class RowMerges:
    """Applies a merge list, int32 (n, 3), to many pieces; ``merge`` is ``Bpe.merge``."""

    def __init__(self, merges: NDArray[np.int32], merge: Callable[[list[int]], list[int]]) -> None:
        self._pairs = PairRanks(merges)
        self._none = self._pairs.none
        self._results = merges[:, 2].astype(np.int64)
        self._merge = merge

    def merged(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[list[int]]:
        """The symbols of each piece, merged until no pair has a rank.

        ``ids``: int64, the symbols of all pieces, none negative, one piece after another.
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
        kept = rows >= 0
        symbols = rows[kept].tolist()
        ends = np.cumsum(kept.sum(axis=1)).tolist()
        return [symbols[start:end] for start, end in pairwise([0, *ends])]

    def _steps(self, rows: NDArray[np.int64], ranks: NDArray[np.int32]) -> NDArray[np.int64]:
        """Merge in ``rows`` (-1: no symbol) until few rows have a pair; those rows' numbers.

        ``ranks``: of each symbol with the next one. The symbols of a row form a linked list
        over its columns, whose two ends meet in the last one: it never has a symbol.
        """
        count, width = rows.shape
        columns = np.arange(width)
        following, before = (np.tile(columns + step, (count, 1)) for step in (1, -1))
        before[:, 0] = width - 1
        # From here on, places in all rows together. Each row begins at its ``start``.
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
