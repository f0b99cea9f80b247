"""Mask rows and sets of suspended trie nodes as integers: equal ones are one number.

Summaries hold such numbers, so that they can be compared. A trie node is *suspended* in the middle
of a token: its own byte is to be read next, by a lexeme that has not begun. Set ``ROOT`` stands for
the first bytes of all tokens.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.block_rows import BlockRows
from ..tokens.interned_rows import InternedRows
from ..tokens.memo import ENTRY_BYTES
from ..tokens.tokenset import Words
from .summary_tables import HeadSummaryTables

# The row without tokens.
EMPTY = 0

# The sets of suspended nodes that hold nothing, and the root of the token trie.
NOTHING, ROOT = 0, 1

Nodes = NDArray[np.int32]


class MaskRows:
    """Rows, uint32 (W,), read-only; row ``EMPTY`` has no token.

    ``stored``: the first rows, as a file has them. One of them is decoded when it is first needed,
    and none is hashed, so that a row that is added may be equal to one of them.
    """

    def __init__(self, vocab_size: int, stored: BlockRows | None = None) -> None:
        self._vocab_size, self._stored = vocab_size, stored
        self._first = 0 if stored is None else len(stored)
        self._decoded: dict[int, Words] = {}
        self._added = InternedRows(vocab_size)

    def __len__(self) -> int:
        """How many rows have a number."""
        return self._first + len(self._added)

    @property
    def in_memory(self) -> int:
        """How many rows are in memory: those that were added or decoded."""
        return len(self._added) + len(self._decoded)

    @property
    def nbytes(self) -> int:
        """About the size of the rows in memory."""
        size = 4 * tokenset.word_count(self._vocab_size) + ENTRY_BYTES
        return self._added.nbytes + size * len(self._decoded)

    def row(self, number: int) -> Words:
        """A row. Raises ``ArtifactError`` where its blocks are damaged."""
        if number >= self._first:
            return self._added[number - self._first]
        row = self._decoded.get(number)
        if row is None:
            assert self._stored is not None
            row = self._decoded[number] = self._stored.row(number, self._vocab_size)
        return row

    def number(self, row: Words) -> int:
        """The number of a row, which must not be written to any more."""
        return self._first + self._added.number(row)


class SuspendedNodes:
    """Sets of suspended trie nodes. ``sets``: int32, ascending nodes, by number."""

    def __init__(self, stored: HeadSummaryTables | None = None) -> None:
        self.sets: list[Nodes] = [np.zeros(0, np.int32), np.zeros(1, np.int32)]
        if stored is not None:
            offsets = stored.exits_offsets.tolist()
            self.sets = [stored.exits[a:b] for a, b in pairwise(offsets)]
        self._stored = self.sets[ROOT] if stored is None else stored.exits
        # By content; filled when the first new set is numbered.
        self._numbers: dict[bytes, int] = {}
        self._added_bytes = 0

    @property
    def nbytes(self) -> int:
        """About the size of the sets that were added, with their keys."""
        return self._added_bytes

    @property
    def highest(self) -> int:
        """The highest node of the stored sets, which a trie need not have if a file is damaged."""
        return int(self._stored.max())

    def number(self, nodes: Nodes) -> int:
        """The number of a set; its nodes ascend."""
        if not self._numbers:
            self._numbers = {stored.tobytes(): i for i, stored in enumerate(self.sets)}
        key = nodes.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.sets)
            self.sets.append(nodes)
            self._added_bytes += 2 * nodes.nbytes + ENTRY_BYTES
        return number
