"""Rows as disjoint unions, equal ones one number, which are packed only if a mask needs them.

What a summary composes is disjoint: maximal munch reads a token in one way, so each trie node is
in the lexeme that a walk begins with or behind one end of it, and is pending or decided. So a row
is a set of intervals of tokens, or two rows beside each other, and its identity is a sum:

    identity(row) = sum of 128 random bits for each of its tokens      union(a, b): one addition

A row of 19 kB is neither made nor hashed to find its number. Those that masks need are made at the
end, as blocks that they share (``shared_unions.py``). Two of 65,536 rows have one identity with a
chance of 1 in 10²⁹.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...summaries.rows import EMPTY
from ...tokens import tokenset
from ...tokens.block_rows import BLOCK, BlockRows, shared_blocks
from ...tokens.memo import ENTRY_BYTES
from ...tokens.subtrees import Subtrees
from ...tokens.tokenset import Words
from ...tokens.trie import ranges
from .shared_unions import SharedUnions

_Ints = NDArray[np.int32]
_NONE: _Ints = np.zeros(0, dtype=np.int32)

# Identities are two sums modulo 2⁶⁴; the bit between them takes the carry of the lower one.
_UPPER = 65
_SUMS = (1 << 64) - 1 << _UPPER | (1 << 64) - 1


class RowUnions:
    """Rows by number; row ``EMPTY`` has no token. ``tokens``: what intervals are of."""

    def __init__(self, tokens: Subtrees, vocab_size: int) -> None:
        self._tokens, self._vocab_size = tokens, vocab_size
        self._sums: list[int] = [0]
        self._numbers: dict[int, int] = {0: EMPTY}
        self._unions: dict[int, int] = {}
        # The two rows that a row is made of, with lower numbers; others are in ``_intervals``.
        self._parts: list[tuple[int, int]] = [(EMPTY, EMPTY)]
        self._intervals: dict[int, tuple[_Ints, _Ints]] = {EMPTY: (_NONE, _NONE)}

    @cached_property
    def _before(self) -> NDArray[np.uint64]:
        """Sums of the bits of all tokens before each place."""
        count = len(self._tokens.ids)
        bits = np.random.default_rng(0).integers(0, 1 << 64, (2, count), np.uint64)
        sums = np.zeros((2, count + 1), dtype=np.uint64)
        np.cumsum(bits, axis=1, out=sums[:, 1:])
        return sums

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._sums)

    @property
    def nbytes(self) -> int:
        """About the size of all rows, when they are blocks."""
        blocks = -(-tokenset.word_count(self._vocab_size) // BLOCK)
        return (ENTRY_BYTES + 6 * blocks) * len(self)

    def of_intervals(self, begins: _Ints, ends: _Ints, offsets: NDArray[np.int64]) -> list[int]:
        """The numbers of rows, the i-th of the disjoint intervals ``offsets[i]`` to
        ``offsets[i + 1]`` of ``tokens.ids``."""
        sums = []
        for before in self._before:
            total = np.zeros(len(begins) + 1, dtype=np.uint64)
            np.cumsum(before[ends] - before[begins], out=total[1:])
            sums.append(np.diff(total[offsets]).tolist())
        found, bounds = [], offsets.tolist()
        for i, (high, low) in enumerate(zip(*sums, strict=True)):
            identity = high << _UPPER | low
            number = self._numbers.get(identity)
            if number is None:
                first, end = bounds[i], bounds[i + 1]
                number = self._add(identity, (EMPTY, EMPTY))
                self._intervals[number] = begins[first:end], ends[first:end]
            found.append(number)
        return found

    def union(self, left: int, right: int) -> int:
        """The row of two that are disjoint."""
        if right == EMPTY:
            return left
        if left == EMPTY:
            return right
        key = left << 32 | right
        number = self._unions.get(key)
        if number is None:
            identity = self._sums[left] + self._sums[right] & _SUMS
            number = self._numbers.get(identity)
            if number is None:
                number = self._add(identity, (left, right))
            self._unions[key] = number
        return number

    def unions(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
        """``union`` of many pairs."""
        pairs, which = np.unique(left << 32 | right, return_inverse=True)
        union = self.union
        found = [union(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
        return np.array(found, dtype=np.int64)[which]

    def _add(self, identity: int, parts: tuple[int, int]) -> int:
        number = self._numbers[identity] = len(self._sums)
        self._sums.append(identity)
        self._parts.append(parts)
        return number

    def block_rows(self, numbers: Sequence[int]) -> BlockRows:
        """These rows, renumbered from 0, as blocks that they share."""
        needed = {EMPTY, *numbers}
        for number in range(len(self) - 1, 0, -1):
            if number in needed:
                needed.update(self._parts[number])
        levels = [0] * len(self)
        by_level: list[list[int]] = [[]]
        for number in sorted(needed):
            left, right = self._parts[number]
            if left != EMPTY:
                levels[number] = 1 + max(levels[left], levels[right])
            if levels[number] == len(by_level):
                by_level.append([])
            by_level[levels[number]].append(number)
        of_walks, *composed = by_level
        begun = shared_blocks(np.array([self._row(number) for number in of_walks]))
        found = SharedUnions(begun, of_walks, len(self))
        for together in composed:
            found.unite(together, np.array([self._parts[n] for n in together], dtype=np.int64))
        return found.rows(numbers)

    def _row(self, number: int) -> Words:
        begins, ends = self._intervals[number]
        ids = self._tokens.ids[ranges(begins, ends - begins)]
        return tokenset.from_ids(ids, self._vocab_size)
