"""Answers of a residual automaton that were worked out ahead of time, as arrays."""

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

# So many answers are laid out anew in about two milliseconds.
_FEW = 4096


@dataclass(frozen=True, eq=False)
class SummaryTables:
    """What ``Summaries`` begins with. Row 0 is empty, exit set 0 too, exit set 1 is the root.

    ``rows``: uint32 (R, W). Exit set e is ``exit_nodes[exit_offsets[e]:exit_offsets[e + 1]]``
    (int32, int64 (X + 1,)), nodes of the token trie, ascending. ``keys``: int32 (A, 2), the
    (exit set, state) of each answer, ascending. ``answers``: int32 (A, 2), its (row, exit set).
    """

    rows: NDArray[np.uint32]
    exit_nodes: NDArray[np.int32]
    exit_offsets: NDArray[np.int64]
    keys: NDArray[np.int32]
    answers: NDArray[np.int32]

    @classmethod
    def empty(cls, vocab_size: int) -> "SummaryTables":
        """Nothing but the numbers that are given ahead."""
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
        exit_sets: list[Nodes],
        answers: Mapping[tuple[int, int], tuple[int, int]],
    ) -> "SummaryTables":
        """Lay out what a ``Summaries`` has found."""
        keys = sorted(answers)
        return cls(
            np.array(rows, dtype=np.uint32),
            np.concatenate(exit_sets).astype(np.int32),
            np.cumsum([0, *map(len, exit_sets)]).astype(np.int64),
            np.array(keys, dtype=np.int32).reshape(-1, 2),
            np.array([answers[key] for key in keys], dtype=np.int32).reshape(-1, 2),
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
            "memo.exit_nodes": self.exit_nodes,
            "memo.exit_offsets": self.exit_offsets,
            "memo.keys": self.keys,
            "memo.answers": self.answers,
        }

    @property
    def exits(self) -> int:
        """The number of exit sets."""
        return len(self.exit_offsets) - 1

    def exit_set(self, number: int) -> Nodes:
        """The nodes of an exit set."""
        return self.exit_nodes[int(self.exit_offsets[number]) : int(self.exit_offsets[number + 1])]

    def at_hand(self) -> dict[tuple[int, int], tuple[int, int]]:
        """All answers if they are few: looked up faster than found. Else none."""
        if len(self.keys) > _FEW:
            # What is searched is laid out now, and not in front of the first mask.
            self.find(0, 0)
            return {}
        keys, answers = map(tuple, self.keys.tolist()), map(tuple, self.answers.tolist())
        return dict(zip(keys, answers, strict=True))

    def find(self, exits: int, state: int) -> tuple[int, int] | None:
        """The answer, if it is here; by halving."""
        wanted = exits << 32 | state
        place = bisect_left(self._sought, wanted)
        if place == len(self._sought) or self._sought[place] != wanted:
            return None
        return self._found[2 * place], self._found[2 * place + 1]

    # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become;
    # and bisect has found one before numpy's search has begun.
    @cached_property
    def _sought(self) -> memoryview:
        """Exit set and state as one integer each."""
        wide = self.keys.astype(np.int64)
        joined: NDArray[np.int64] = wide[:, 0] << 32 | wide[:, 1]
        return joined.data

    @cached_property
    def _found(self) -> memoryview:
        return self.answers.ravel().data
