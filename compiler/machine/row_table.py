"""Mask rows, each once: packed words, or a list of ids where that is shorter.

row_of[q] < R    ->   rows[row_of[q]]                      uint32 (W,), one bit a token
row_of[q] >= R   ->   ids[offsets[i] : offsets[i + 1]]     i = row_of[q] - R
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens import tokenset

from ..limits import Limits

_STAGE = "the mask table"


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """``rows``: uint32 (R, ceil(V / 32)). ``ids``: int32, the lists one after another, each
    ascending. ``offsets``: int64 (L + 1,). ``row_of``: int32 (S,), below R + L. No two rows are
    equal."""

    rows: NDArray[np.uint32]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    row_of: NDArray[np.int32]

    @property
    def count(self) -> int:
        """R + L."""
        return len(self.rows) + len(self.offsets) - 1


class DistinctRows:
    """Collects rows and numbers the distinct ones.

    ``words``: of a packed row. ``bytes``: of all rows so far; ``LimitError`` is raised where they
    are more than the limit of memory.
    """

    def __init__(self, vocab_size: int, limits: Limits) -> None:
        self.words = tokenset.word_count(vocab_size)
        self._limits = limits
        self._packed: dict[bytes, int] = {}
        self._lists: dict[bytes, int] = {}
        self.bytes = 0

    def of_ids(self, ids: NDArray[np.int32]) -> int:
        """The number of a row that is short enough for a list: ``ids`` ascend, fewer than
        ``words`` of them."""
        return self._number(self._lists, ids.tobytes(), len(self._lists) << 1 | 1)

    def of_flags(self, flags: NDArray[np.bool_]) -> int:
        """The number of a row of flags, shape (32 * words,)."""
        if np.count_nonzero(flags) < self.words:
            return self.of_ids(np.flatnonzero(flags).astype(np.int32))
        packed = tokenset.from_flags(flags).tobytes()
        return self._number(self._packed, packed, len(self._packed) << 1)

    def _number(self, known: dict[bytes, int], row: bytes, new: int) -> int:
        found = known.setdefault(row, new)
        if found == new:
            self.bytes += len(row)
            self._limits.check_memory(self.bytes, _STAGE)
        return found

    def table(self, numbers: NDArray[np.int64]) -> RowTable:
        """The rows, and which of them each state has whose number is in ``numbers``, (S,)."""
        rows = np.frombuffer(b"".join(self._packed), dtype="<u4").reshape(-1, self.words)
        ids = np.frombuffer(b"".join(self._lists), dtype="<i4")
        offsets = np.cumsum([0, *(len(row) // 4 for row in self._lists)], dtype=np.int64)
        row_of = (numbers >> 1) + np.where(numbers & 1, len(rows), 0)
        return RowTable(rows, ids, offsets, row_of.astype(np.int32))
