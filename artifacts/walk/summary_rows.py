"""Mask rows as numbers, of which summaries and masks are made.

    number([a]) = 1, number([b]) = 2, union([1, 2]) = 3, the row [a, b]

The first rows are those of a file, where there is one; a row that is compressed there is decoded
when it is first needed. Numbers cannot be evicted one by one: where ``is_full`` says so, the owner
calls ``forget`` and drops all numbers beyond the file's.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES
from ..tokens.tokenset import Words

# The row without tokens.
EMPTY = 0

# Rows that are held however small the capacity is; one mask may need as many.
_FEWEST = 64

# Rows of at most so many bytes are decoded at once, in less than half a millisecond; or compared
# with new ones, for which all are read.
_MOST_BYTES_DECODED_AT_ONCE, _MOST_BYTES_COMPARED = 1 << 22, 1 << 20


class CompressedRows(Protocol):
    """Rows of a file that are not there as words."""

    def __len__(self) -> int: ...

    def row(self, number: int, vocab_size: int) -> Words:
        """A row, read-only. Raises ``ArtifactError`` where it is damaged."""

    def rows(self, numbers: slice, vocab_size: int) -> NDArray[np.uint32]:
        """Some rows, uint32 (n, W), the same way."""


StoredRows: TypeAlias = NDArray[np.uint32] | CompressedRows


class RowTable:
    """``table[n]``: uint32 (W,), read-only; row ``EMPTY`` has no token.

    ``stored``: the first rows, of which the first is ``EMPTY``. Those that are there as words are
    compared with new ones, if they are few; others are not, so that a row that is added may be
    equal to one of them. ``capacity``: bytes that all others may take, for an owner who asks
    ``is_full``.
    """

    def __init__(
        self, vocab_size: int, stored: StoredRows | None = None, capacity: int = 0
    ) -> None:
        if stored is None:
            stored = tokenset.from_ids([], vocab_size)[None]
        self._vocab_size, self._stored, self._capacity = vocab_size, stored, capacity
        # Bits at or beyond V in the last word.
        self._unused = -vocab_size % 32
        self.row_bytes = 4 * tokenset.word_count(vocab_size)
        self._begun: Sequence[Words | None] = [None] * len(stored)
        self._compared = 1
        if isinstance(stored, np.ndarray):
            if stored.nbytes <= _MOST_BYTES_COMPARED:
                self._compared = len(stored)
            stored.flags.writeable = False
        elif len(stored) * self.row_bytes <= _MOST_BYTES_DECODED_AT_ONCE:
            self._begun = list(stored.rows(slice(None), vocab_size))
        self.forget()

    def __len__(self) -> int:
        """How many rows have a number."""
        return len(self._rows)

    def __getitem__(self, number: int) -> Words:
        """The row of a number. Raises ``ArtifactError`` where the file's is damaged."""
        row = self._rows[number]
        return self._first_needed(number) if row is None else row

    @property
    def is_full(self) -> bool:
        """Whether more is held than the capacity allows."""
        return self.nbytes > self._capacity and self.in_memory > _FEWEST

    def forget(self) -> None:
        """Go back to the rows of the file; other numbers are given again."""
        self._rows = list(self._begun)
        self._numbers: dict[bytes, int] = {}
        self._unions: dict[tuple[int, ...], int] = {}
        self._constants: dict[int, int] = {}
        # Rows that were added, or decoded one by one, and about their size with keys and unions.
        self.in_memory = self.nbytes = 0

    def number(self, row: Words) -> int:
        """The number of a row, which must not be written to any more."""
        if not self._numbers:
            self._numbers = {self[i].tobytes(): i for i in range(self._compared)}
        key = row.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self.add(row)
            self.nbytes += self.row_bytes
        return number

    def add(self, row: Words) -> int:
        """A number for a row that is not compared with the others, which takes as long as to read
        it several times."""
        row.flags.writeable = False
        self._hold()
        self._rows.append(row)
        return len(self._rows) - 1

    def constant(self, key: int, row: Words) -> int:
        """The number of a row that is always the same for a key."""
        number = self._constants.get(key)
        if number is None:
            number = self._constants[key] = self.add(row)
        return number

    def union(self, numbers: Iterable[int]) -> int:
        """A row that holds all of these; it is not compared with the others."""
        key = tuple(sorted({EMPTY, *numbers}))[1:]
        if len(key) < 2:
            return key[0] if key else EMPTY
        number = self._unions.get(key)
        if number is None:
            whole = self[key[0]] | self[key[1]]
            for other in key[2:]:
                whole |= self[other]
            number = self._unions[key] = self.add(whole)
            self.nbytes += ENTRY_BYTES
        return number

    def _first_needed(self, number: int) -> Words:
        """A row of the file."""
        row: Words
        if isinstance(self._stored, np.ndarray):
            row = self._stored[number]
            if self._unused and int(row[-1]) >> 32 - self._unused:
                raise ArtifactError("section 'memo.rows' is damaged: it allows what is no token")
        else:
            row = self._stored.row(number, self._vocab_size)
            self._hold()
        self._rows[number] = row
        return row

    def _hold(self) -> None:
        self.in_memory += 1
        self.nbytes += self.row_bytes + ENTRY_BYTES
