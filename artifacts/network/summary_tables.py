"""Precomputed procedure summaries of a network (``summaries``), as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..summaries.node_sets import Nodes
from ..summaries.results import Results, pair_at
from ..tokens import tokenset
from ..tokens.tokenset import Words


@dataclass(frozen=True, eq=False)
class SummaryTables:
    """What ``Summaries`` begins with: R rows, X sets of suspended trie nodes, A summaries.

    ``rows``: uint32 (R, W); row 0 is empty. Set e is ``nodes[node_offsets[e]:node_offsets[e + 1]]``
    (int32, int64 (X + 1,)), nodes of the token trie, ascending; set 0 is empty, set 1 the root.
    ``keys``: int32 (A, 2), the (set, state) of each summary, ascending. ``summaries``: int32
    (A, 2), its (row, set).
    """

    rows: NDArray[np.uint32]
    nodes: NDArray[np.int32]
    node_offsets: NDArray[np.int64]
    keys: NDArray[np.int32]
    summaries: NDArray[np.int32]

    @classmethod
    @lru_cache(maxsize=4)
    def empty(cls, vocab_size: int) -> "SummaryTables":
        """No summary: the empty row, the empty set and the root."""
        rows = np.zeros((1, tokenset.word_count(vocab_size)), dtype=np.uint32)
        rows.flags.writeable = False
        return cls(
            rows,
            np.zeros(1, dtype=np.int32),
            np.array([0, 0, 1], dtype=np.int64),
            np.zeros((0, 2), dtype=np.int32),
            np.zeros((0, 2), dtype=np.int32),
        )

    @classmethod
    def of(
        cls,
        rows: list[Words],
        sets: list[Nodes],
        summaries: Mapping[tuple[int, int], tuple[int, int]],
    ) -> "SummaryTables":
        """Encode what a ``Summaries`` has found."""
        keys = sorted(summaries)
        return cls(
            np.array(rows, dtype=np.uint32),
            np.concatenate(sets).astype(np.int32),
            np.cumsum([0, *map(len, sets)]).astype(np.int64),
            np.array(keys, dtype=np.int32).reshape(-1, 2),
            np.array([summaries[key] for key in keys], dtype=np.int32).reshape(-1, 2),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "SummaryTables":
        """The sections of an artifact."""
        return cls(
            arrays["memo.rows"],
            arrays["memo.exit_nodes"],
            arrays["memo.exit_offsets"],
            arrays["memo.keys"],
            arrays["memo.answers"],
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {
            "memo.rows": self.rows,
            "memo.exit_nodes": self.nodes,
            "memo.exit_offsets": self.node_offsets,
            "memo.keys": self.keys,
            "memo.answers": self.summaries,
        }

    def results(self) -> Results[tuple[int, int]]:
        """The (row, set) of each summary by its key (``key_of``)."""
        if not len(self.keys):
            return Results()
        sets, states = self.keys.astype(np.int64).T
        return Results(key_of(sets, states), pair_at(self.summaries))


# Bits below the set of a key: frames of counters are many more than states.
_SET_SHIFT = 40

N = TypeVar("N", int, NDArray[np.int64])


def key_of(suspended: N, state: N) -> N:
    """The key of F(suspended, state), of integers or of arrays."""
    return suspended << _SET_SHIFT | state


def parts_of(key: int) -> tuple[int, int]:
    """The set and the state of a key."""
    return key >> _SET_SHIFT, key & (1 << _SET_SHIFT) - 1
