"""Packed sets that are numbered, equal ones once, with remembered unions."""

from . import tokenset
from .tokenset import Words

NOTHING = 0


class InternedRows:
    """``rows[n]``: uint32 (W,), read-only; row 0 is empty."""

    def __init__(self, vocab_size: int, kept_bytes: int) -> None:
        self._most = max(1024, kept_bytes // (4 * tokenset.word_count(vocab_size)))
        self._empty = tokenset.from_ids([], vocab_size)
        self._rows: list[Words] = []
        self._numbers: dict[bytes, int] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self.clear()

    def __getitem__(self, number: int) -> Words:
        """The row of a number."""
        return self._rows[number]

    @property
    def is_full(self) -> bool:
        """Whether so many rows are held that they should be forgotten."""
        return len(self._rows) > self._most

    def clear(self) -> None:
        """Forget all rows; numbers begin anew."""
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
        """The row that holds both."""
        if left == right or right == NOTHING:
            return left
        if left == NOTHING:
            return right
        key = (left, right) if left < right else (right, left)
        known = self._unions.get(key)
        if known is None:
            known = self._unions[key] = self.number(self._rows[left] | self._rows[right])
        return known
