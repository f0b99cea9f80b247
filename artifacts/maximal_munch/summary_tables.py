"""Precomputed procedure summaries as arrays: the sections ``greedy.*`` of an artifact.

Results are found by bisection in sorted keys, so nothing is decoded when a file is opened. A key is
one integer; the two kinds are results of ``first`` and of ``feed`` (``summaries.py``):

    first: suspended nodes · 2⁴⁴ + head · 2²⁰ + state of the lexer (0 between lexemes)
    feed:  summary · 2³² + frame
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..container.section_tables import SectionTables
from ..tokens.block_rows import BlockRows
from ..walk.results import Results

Pairs = tuple[tuple[int, int], ...]

N = TypeVar("N", int, NDArray[np.int64])

# The two kinds of results.
FIRST, FEED = True, False

# Bits below the suspended nodes and the head of a key of ``FIRST``, and below the summary of one of
# ``FEED``.
_NODES_SHIFT, _HEAD_SHIFT, _SUMMARY_SHIFT = 44, 20, 32


@dataclass(frozen=True, eq=False)
class HeadSummaryTables(SectionTables):
    """Summaries, and the rows, heads and states of the lexer that they name by number.

    A field is the section ``greedy.`` with its name. Lists of lists are concatenated, the i-th from
    ``…_offsets[i]`` on (int64).

    ``codes``, ``blocks``, ``block_offsets``: the rows (``BlockRows``), row 0 empty. ``stacks``:
    int32 (·, 2), the (frame, rest) entries of each node. ``heads``: int32 (·, 2), the (state, node)
    threads of each head. ``lexer``: int32, the DFA states of each state of the lexer, and
    ``steps``: int32 (·, C), its transitions by byte column. ``exits``: int32, each set of suspended
    trie nodes. Summary i has row ``known[i]`` (int32) and the (head, suspended nodes) pairs
    ``pending``, int32 (·, 2). ``first_keys`` and ``feed_keys``: int64, ascending, and ``firsts``
    and ``feeds``, int32: the summaries that they lead to.
    """

    PREFIX = "greedy."

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

    @property
    def rows(self) -> BlockRows:
        """The rows."""
        return BlockRows(self.codes, self.blocks, self.block_offsets)

    @property
    def lexer_sets(self) -> list[tuple[int, ...]]:
        """The DFA states of each state of the lexer."""
        flat = tuple(self.lexer.tolist())
        return [flat[a:b] for a, b in pairwise(self.lexer_offsets.tolist())]

    def summary(self, number: int) -> tuple[int, Pairs]:
        """The row of a summary, and its pending pairs."""
        row, offsets = self._views
        first, end = offsets[number], offsets[number + 1]
        if first == end:
            return row[number], ()
        return row[number], tuple(map(tuple, self.pending[first:end].tolist()))

    @cached_property
    def finished_rows(self) -> NDArray[np.int32]:
        """int32 (M,): the row of each summary in which nothing is pending, -1 for others."""
        return np.where(np.diff(self.pending_offsets) > 0, np.int32(-1), self.known)

    def results(self, kind: bool) -> Results[int]:
        """The summary of each key, ``FIRST`` or ``FEED``."""
        keys, found = (self.first_keys, self.firsts) if kind else (self.feed_keys, self.feeds)
        return Results(keys, found.data.__getitem__)

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        """Rows and offsets of the summaries; a single number is faster to get from a view than from
        an array."""
        return self.known.data, self.pending_offsets.data


def first_key(suspended: int, head: int, state: int) -> int:
    """The key of a result of ``first``; ``state`` is 0 between lexemes."""
    return (suspended << _NODES_SHIFT - _HEAD_SHIFT | head) << _HEAD_SHIFT | state


def feed_key(summary: N, frame: N) -> N:
    """The key of a result of ``feed``, of integers or of arrays."""
    return summary << _SUMMARY_SHIFT | frame


def encoded(
    lists: Iterable[Sequence[Any]], width: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Concatenated lists, int32 (·,) or (·, width), and where each begins.

    ``[[1, 2], [], [3]] -> [1, 2, 3], [0, 2, 2, 3]``
    """
    found = list(lists)
    flat = [entry for inner in found for entry in inner]
    shape = (-1, width) if width else (-1,)
    values = np.array(flat, dtype=np.int32).reshape(shape)
    return values, np.cumsum([0, *map(len, found)]).astype(np.int64)


def decoded_pairs(values: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[Pairs]:
    """The lists of pairs that ``encoded`` concatenated."""
    flat = tuple(zip(*values.T.tolist(), strict=True))
    return [flat[a:b] for a, b in pairwise(offsets.tolist())]
