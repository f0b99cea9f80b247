"""Rows of integers of any length in one contiguous buffer, with a stack's way to grow."""

from array import array
from collections.abc import Sequence

# Unsigned items of 4 or 8 bytes; the first is used as long as all values fit.
_NARROW, _WIDE = "I", "Q"
_NARROW_END = 1 << 32


class Jagged:
    """Rows are appended and taken back at the end only.

    Values are integers from 0 below 2^64. They take 4 bytes each until one needs 8.
    """

    def __init__(self) -> None:
        self._data = array(_NARROW)
        self._ends = array(_WIDE)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._ends)

    def append(self, row: Sequence[int]) -> None:
        """Add a row. Raises ``OverflowError`` for a value that does not fit 8 bytes."""
        if self._data.typecode == _NARROW and row and max(row) >= _NARROW_END:
            self._data = array(_WIDE, self._data)
        self._data.extend(row)
        self._ends.append(len(self._data))

    def row(self, number: int) -> Sequence[int]:
        """A copy of one row."""
        return self._data[self._ends[number - 1] if number else 0 : self._ends[number]]

    def truncate(self, rows: int) -> None:
        """Keep the first ``rows`` rows."""
        if rows < len(self._ends):
            del self._data[self._ends[rows - 1] if rows else 0 :]
            del self._ends[rows:]

    @property
    def values(self) -> int:
        """The number of values in all rows."""
        return len(self._data)

    @property
    def nbytes(self) -> int:
        """The size of both buffers."""
        return len(self._data) * self._data.itemsize + len(self._ends) * self._ends.itemsize
