"""Rows as disjoint unions, equal ones one number, which are made only for a file that needs them.

What a summary adds to another one is disjoint from it: maximal munch reads a token in one way. So a
row is one that a walk gave, or two rows beside each other, and its identity is a sum:

    identity(row) = sum of word · random number, twice, modulo 2⁶⁴      union(a, b): one addition

Thousands of rows of 19 kB are neither made nor hashed to find their numbers. Two of 65,536 rows
have one identity with a chance of less than 1 in 10⁹.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.block_rows import BlockRows, shared_blocks_of
from constrain.artifacts.tokens.memo import Numbered
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.walk.summary_rows import EMPTY

from ..automata.graphs import reached

_SUM = (1 << 64) - 1


class RowUnions:
    """Rows by number; row ``EMPTY`` has no token."""

    def __init__(self, vocab_size: int) -> None:
        self._words = tokenset.word_count(vocab_size)
        shape = 2, self._words
        self._factors = np.random.default_rng(0).integers(0, 1 << 64, shape, np.uint64)
        self._identities = Numbered([(0, 0)])
        # Rows that walks gave, and the two of lower numbers that any other row is made of.
        self._walked = {EMPTY: tokenset.from_ids([], vocab_size)}
        self._parts: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._identities)

    def number(self, row: Words) -> int:
        """The number of a row, which must not be written to any more."""
        high, low = (self._factors @ row.astype(np.uint64)).tolist()
        number = self._identities.number((high, low))
        if number not in self._parts:
            self._walked[number] = row
        return number

    def union(self, left: int, right: int) -> int:
        """The row of two that are disjoint."""
        if EMPTY in (left, right):
            return max(left, right)
        (high, low), (more_high, more_low) = self._identities[left], self._identities[right]
        both = high + more_high & _SUM, low + more_low & _SUM
        number = self._identities.number(both)
        if number not in self._walked:
            self._parts.setdefault(number, (left, right))
        return number

    def blocks(self, numbers: Sequence[int]) -> BlockRows:
        """These rows, renumbered from 0, as blocks that they share."""
        walked, levels = list[int](), list[list[int]]()
        level_of = dict[int, int]()
        # These, and all that they are made of.
        for number in sorted(reached(numbers, lambda number: self._parts.get(number, ()))):
            parts = self._parts.get(number)
            level = level_of[number] = 0 if parts is None else 1 + max(level_of[i] for i in parts)
            if level == 0:
                walked.append(number)
            elif level > len(levels):
                levels.append([number])
            else:
                levels[level - 1].append(number)
        parts_of = [np.array([self._parts[number] for number in level]).T for level in levels]
        wanted = np.array(numbers)

        def columns(first: int, end: int) -> NDArray[np.uint32]:
            rows = np.zeros((len(self), end - first), dtype=np.uint32)
            rows[walked] = [self._walked[number][first:end] for number in walked]
            for level, (left, right) in zip(levels, parts_of, strict=True):
                rows[level] = rows[left] | rows[right]
            found: NDArray[np.uint32] = rows[wanted]
            return found

        return shared_blocks_of(len(numbers), self._words, columns)
