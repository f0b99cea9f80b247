"""Interning of packed token sets: equal rows are one number, and unions of numbers are memoised.

    number([a]) = 1, number([b]) = 2, union(1, 2) = number([a, b]) = 3

Numbers cannot be evicted one by one: where ``is_full`` says so, the owner calls ``clear`` and
forgets every number that it holds.
"""

from . import tokenset
from .memo import ENTRY_BYTES
from .tokenset import Words

NOTHING = 0

# Rows that are held however small the capacity is; one mask may need as many.
_FEWEST = 64


class InternedRows:
    """``rows[n]``: uint32 (W,), read-only; row 0 is empty. ``capacity``: bytes that rows, the
    keys by which they are found, and unions may take, for an owner who asks."""

    def __init__(self, vocab_size: int, capacity: int = 0) -> None:
        self._capacity = capacity
        self._empty = tokenset.from_ids([], vocab_size)
        self._rows: list[Words] = []
        self._numbers: dict[bytes, int] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self.clear()

    def __len__(self) -> int:
        """How many rows have a number."""
        return len(self._rows)

    def __getitem__(self, number: int) -> Words:
        """The row of a number."""
        return self._rows[number]

    @property
    def is_full(self) -> bool:
        """Whether more is held than the capacity allows."""
        return len(self._rows) > _FEWEST and self.nbytes > self._capacity

    @property
    def nbytes(self) -> int:
        """The size of rows, keys and unions; a key is as long as its row."""
        return 2 * self._empty.nbytes * len(self._rows) + ENTRY_BYTES * len(self._unions)

    def clear(self) -> None:
        """Forget all rows and their numbers."""
        self._rows.clear()
        self._numbers.clear()
        self._unions.clear()
        self.number(self._empty)

    def number(self, row: Words) -> int:
        """The number of a row."""
        key = row.tobytes()
        found = self._numbers.get(key)
        if found is None:
            row.flags.writeable = False
            found = self._numbers[key] = len(self._rows)
            self._rows.append(row)
        return found

    def union(self, left: int, right: int) -> int:
        """The number of the row that holds the tokens of both."""
        if left == right or right == NOTHING:
            return left
        if left == NOTHING:
            return right
        key = (left, right) if left < right else (right, left)
        found = self._unions.get(key)
        if found is None:
            found = self._unions[key] = self.number(self._rows[left] | self._rows[right])
        return found
