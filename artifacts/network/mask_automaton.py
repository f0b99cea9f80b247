"""Answers of a residual automaton down a stack, as a Moore machine that puts out the row so far.

The mask of a stack p, g1, g2, … is row(e0, p) | row(e1, g1) | … (``residual.py``). A *chain* is
what that has come to behind some frames: the row so far, and the exit set that is pending. It
and the next frame decide the chain that follows, so that a row which was worked out ahead is
found by one look at a table for each frame. An automaton whose output depends on its state
alone is E. F. Moore's (Gedanken-experiments on sequential machines, 1956).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tables import DEAD, NetworkTables

# The chain that stands for those that are not known.
UNKNOWN = 0

# A chain as (row, exit set).
Chain = tuple[int, int]


@dataclass(frozen=True, eq=False)
class MaskAutomaton:
    """What was worked out ahead.

    ``answers``: int32 (n, 2), the row and the exit set of each chain. ``first``: int32 (S,),
    the chain that begins in each state. ``steps``: int32 (O, F), the chain behind each frame;
    its columns are those of ``frames_of``. Chains from O on have nothing pending; chain 0 is
    ``UNKNOWN``.
    """

    answers: NDArray[np.int32]
    first: NDArray[np.int32]
    steps: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        tables: NetworkTables,
        first: Mapping[int, Chain],
        steps: Mapping[tuple[Chain, int], Chain],
    ) -> "MaskAutomaton":
        """Lay out the chain of each state, and of each chain and frame, as far as they are known.

        Where a stack ends, so does the chain: what is pending fits nothing.
        """
        found = dict.fromkeys((*first.values(), *steps.values()))
        pending = [chain for chain in found if chain[1]]
        ended = dict.fromkeys((row, 0) for row, _ in found)
        numbers = {chain: UNKNOWN + 1 + i for i, chain in enumerate((*pending, *ended))}
        frames = frames_of(tables)
        columns = {frame: column for column, frame in enumerate(frames.tolist())}
        table = np.full((UNKNOWN + 1 + len(pending), len(frames)), UNKNOWN, dtype=np.int32)
        for chain in pending:
            table[numbers[chain], columns[DEAD]] = numbers[chain[0], 0]
        for (chain, frame), following in steps.items():
            table[numbers[chain], columns[frame]] = numbers[following]
        starts = [numbers[first[p]] if p in first else UNKNOWN for p in range(tables.states)]
        return cls(
            np.array([(0, 0), *numbers], dtype=np.int32),
            np.array(starts, dtype=np.int32),
            table,
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "MaskAutomaton":
        """The sections of an artifact."""
        return cls(arrays["chains.answers"], arrays["chains.first"], arrays["chains.steps"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {
            "chains.answers": self.answers,
            "chains.first": self.first,
            "chains.steps": self.steps,
        }


def frames_of(tables: NetworkTables) -> NDArray[np.int32]:
    """The frames that can lie on a stack, ascending, ``DEAD`` for its end first; int32 (F,)."""
    return np.union1d(np.array([DEAD], dtype=np.int32), tables.frames)
