"""Residuals of longest matches that were worked out ahead of time, as arrays.

Answers are looked up in sorted keys as they are asked for: nothing is unpacked when a file is
opened. A key is one number, so that a look halves the keys without unpacking any:

    first: exits · 2⁴⁴ + head · 2²⁰ + state of the lexer (0 between lexemes)
    feed:  residual · 2³² + frame
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .block_rows import BlockRows

_PREFIX = "greedy."

Pairs = tuple[tuple[int, int], ...]

N = TypeVar("N", int, NDArray[np.int64])

# Keys of answers to (exits, head, state of the lexer), and to (residual, frame).
FIRST, FEED = True, False
_EXITS, _HEADS, _RESIDUALS = 44, 20, 32

# Keys that do not fit their section are left out.
_HIGHEST = 1 << 63


@dataclass(frozen=True, eq=False)
class HeadSummaryTables:
    """What ``MaximalMunchMasks`` begins with; numbers mean what they mean there.

    ``codes``, ``blocks``, ``block_offsets``: the rows (``BlockRows``), row 0 empty. Lists of
    lists are laid end to end, the i-th from ``…_offsets[i]`` on (int64). ``stacks``: int32
    (·, 2), (frame, rest) of each node. ``heads``: int32 (·, 2), (state, node) of each head.
    ``lexer``: int32, the automata's states in each state of the lexer, and ``steps``: int32
    (·, C), where each byte column leads from it. ``exits``: int32, trie nodes of each set of
    exits. Residual i has row ``known[i]`` (int32) and the (head, exits) ``pending``, int32
    (·, 2). ``first_keys`` and ``feed_keys``: int64, ascending, and ``firsts`` and ``feeds``,
    int32: the residual of each.
    """

    codes: NDArray[np.uint16]
    blocks: NDArray[np.uint32]
    block_offsets: NDArray[np.int64]
    stacks: NDArray[np.int32]
    stacks_offsets: NDArray[np.int64]
    heads: NDArray[np.int32]
    heads_offsets: NDArray[np.int64]
    lexer: NDArray[np.int32]
    lexer_offsets: NDArray[np.int64]
    steps: NDArray[np.int32]
    exits: NDArray[np.int32]
    exits_offsets: NDArray[np.int64]
    known: NDArray[np.int32]
    pending: NDArray[np.int32]
    pending_offsets: NDArray[np.int64]
    first_keys: NDArray[np.int64]
    firsts: NDArray[np.int32]
    feed_keys: NDArray[np.int64]
    feeds: NDArray[np.int32]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "HeadSummaryTables":
        """The sections of an artifact."""
        return cls(**{field.name: arrays[_PREFIX + field.name] for field in fields(cls)})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {_PREFIX + field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def rows(self) -> BlockRows:
        """The rows."""
        return BlockRows(self.codes, self.blocks, self.block_offsets)

    @property
    def lexer_sets(self) -> list[tuple[int, ...]]:
        """The automata's states in each state of the lexer."""
        return [tuple(self.lexer[a:b].tolist()) for a, b in pairwise(self.lexer_offsets.tolist())]

    def residual(self, number: int) -> tuple[int, Pairs]:
        """The row of a residual, and what is pending in it."""
        row, offsets, _ = self._views
        first, end = offsets[number], offsets[number + 1]
        if first == end:
            return row[number], ()
        return row[number], tuple(map(tuple, self.pending[first:end].tolist()))

    @cached_property
    def finished(self) -> NDArray[np.int32]:
        """int32: the row of each residual in which nothing is pending, -1 for others."""
        return np.where(np.diff(self.pending_offsets) > 0, np.int32(-1), self.known)

    def find(self, kind: bool, key: int) -> int | None:
        """The answer to a key, ``FIRST`` or ``FEED``, if it is here."""
        keys, answers = self._views[2][kind]
        place = bisect_left(keys, key)
        if place == len(keys) or keys[place] != key:
            return None
        answer: int = answers[place]
        return answer

    def answers(self, kind: bool, most: int | None = None) -> dict[int, int]:
        """All of them, by key; none if there are more than ``most``."""
        keys, answers = self._tables[kind]
        if most is not None and len(keys) > most:
            return {}
        return dict(zip(keys.tolist(), answers.tolist(), strict=True))

    @property
    def _tables(self) -> Sequence[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        return (self.feed_keys, self.feeds), (self.first_keys, self.firsts)

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview, list[tuple[memoryview, memoryview]]]:
        """Rows and offsets of the residuals, and feeds and firsts; single numbers are faster to
        get from these."""
        views = [(keys.data, answers.data) for keys, answers in self._tables]
        return self.known.data, self.pending_offsets.data, views


def first_key(exits: int, head: int, inside: int) -> int:
    """The key of what follows ``exits``; ``inside`` is 0 between lexemes."""
    return (exits << _EXITS - _HEADS | head) << _HEADS | inside


def feed_key(residual: N, frame: N) -> N:
    """The key of a residual that is fed a frame; of arrays, too."""
    return residual << _RESIDUALS | frame


def exits_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The exits in keys of first answers."""
    return keys >> _EXITS


def split_feeds(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The residuals and frames in keys of feeds."""
    return keys >> _RESIDUALS, keys & (1 << _RESIDUALS) - 1


def laid_out_answers(answers: Mapping[int, int]) -> tuple[Any, Any]:
    """Keys, int64, ascending, and int32 residuals."""
    kept = sorted(item for item in answers.items() if item[0] < _HIGHEST)
    keys = np.array([key for key, _ in kept], dtype=np.int64)
    return keys, np.array([answer for _, answer in kept], dtype=np.int32)


def laid_out(lists: Iterable[Sequence[Any]], width: int = 0) -> tuple[Any, NDArray[np.int64]]:
    """Lists end to end, int32 (·,) or (·, width), and where each begins.

    ``[[1, 2], [], [3]] -> [1, 2, 3], [0, 2, 2, 3]``
    """
    found = list(lists)
    flat = [entry for inner in found for entry in inner]
    shape = (-1, width) if width else (-1,)
    values = np.array(flat, dtype=np.int32).reshape(shape)
    return values, np.cumsum([0, *map(len, found)]).astype(np.int64)


def pairs_of(values: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[Pairs]:
    """The lists of pairs that were laid out."""
    flat = list(map(tuple, values.tolist()))
    return [tuple(flat[a:b]) for a, b in pairwise(offsets.tolist())]
