"""Precomputed procedure summaries of a network (``summaries``), as arrays with a look-up."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.tokenset import Words

Nodes = NDArray[np.int32]

# So many summaries become a dictionary in about two milliseconds.
_FEW = 4096


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

    @property
    def sets(self) -> int:
        """The number of sets of suspended nodes."""
        return len(self.node_offsets) - 1

    def nodes_of(self, number: int) -> Nodes:
        """The nodes of a set, int32, ascending."""
        return self.nodes[int(self.node_offsets[number]) : int(self.node_offsets[number + 1])]

    def as_dict(self) -> dict[tuple[int, int], tuple[int, int]]:
        """All summaries if they are few: a dictionary is faster than ``find``. Else none."""
        if len(self.keys) > _FEW:
            # What is searched is made now, and not in front of the first mask.
            self.find(0, 0)
            return {}
        keys, summaries = map(tuple, self.keys.tolist()), map(tuple, self.summaries.tolist())
        return dict(zip(keys, summaries, strict=True))

    def find(self, suspended: int, state: int) -> tuple[int, int] | None:
        """F(suspended, state), or None; by binary search."""
        wanted = suspended << 32 | state
        place = bisect_left(self._sought, wanted)
        if place == len(self._sought) or self._sought[place] != wanted:
            return None
        return self._found[2 * place], self._found[2 * place + 1]

    # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become;
    # and bisect has found one before numpy's search has begun.
    @cached_property
    def _sought(self) -> memoryview:
        """Set and state as one integer each."""
        wide = self.keys.astype(np.int64)
        joined: NDArray[np.int64] = wide[:, 0] << 32 | wide[:, 1]
        return joined.data

    @cached_property
    def _found(self) -> memoryview:
        return self.summaries.ravel().data
