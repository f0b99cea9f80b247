"""Masks down a stack as a Moore machine over its frames, precomputed, as arrays.

The mask of a stack p, g1, g2, … is row(e0, p) | row(e1, g1) | … (``summaries``). What that has come
to behind some frames is a state of the *mask automaton*: the row so far, and the set of trie nodes
that are still suspended. State and next frame decide the state that follows; the row is the state's
output. So the mask of a stack is one look at a table for each frame, until nothing is suspended.
(Moore, Gedanken-experiments on sequential machines, 1956.)

    s ::= '[' s? ']' | 'x';    tokens [, ], x, [[, x]]; one frame, 4 (``tables``)

    state 2 of the network begins in      {[, ], x, [[}, suspended: the node of "x]"
    from there the frame 4 leads to       {[, ], x, [[, x]]}, nothing suspended
    from there the end of the stack       {[, ], x, [[}, nothing suspended
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tokens.distinct import distinct
from .tables import DEAD, NetworkTables

# The state that stands for all that were not precomputed.
UNKNOWN = 0

# A state as (row, set of suspended nodes).
MaskState = tuple[int, int]


@dataclass(frozen=True, eq=False)
class MaskAutomaton:
    """n states, of which those from O on have nothing suspended; state 0 is ``UNKNOWN``.

    ``outputs``: int32 (n, 2), the row and the set of suspended nodes of each state, numbered as in
    ``SummaryTables``. ``initial``: int32 (S,), the state that each of the network's states begins
    in. ``transitions``: int32 (O, F), the state behind each frame; columns are those of
    ``frames_of``.
    """

    outputs: NDArray[np.int32]
    initial: NDArray[np.int32]
    transitions: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        tables: NetworkTables,
        initial: Mapping[int, MaskState],
        transitions: Mapping[tuple[MaskState, int], MaskState],
    ) -> "MaskAutomaton":
        """Encode where each state of the network begins, and where each state and frame lead, as
        far as they were computed.

        Where a stack ends, what is suspended fits nothing.
        """
        found = dict.fromkeys((*initial.values(), *transitions.values()))
        suspended = [state for state in found if state[1]]
        ended = dict.fromkeys((row, 0) for row, _ in found)
        numbers = {state: UNKNOWN + 1 + i for i, state in enumerate((*suspended, *ended))}
        frames = frames_of(tables)
        columns = {frame: column for column, frame in enumerate(frames.tolist())}
        table = np.full((UNKNOWN + 1 + len(suspended), len(frames)), UNKNOWN, dtype=np.int32)
        for state in suspended:
            table[numbers[state], columns[DEAD]] = numbers[state[0], 0]
        for (state, frame), following in transitions.items():
            table[numbers[state], columns[frame]] = numbers[following]
        starts = [numbers[initial[p]] if p in initial else UNKNOWN for p in range(tables.states)]
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
            "chains.answers": self.outputs,
            "chains.first": self.initial,
            "chains.steps": self.transitions,
        }


def frames_of(tables: NetworkTables) -> NDArray[np.int32]:
    """The frames that can lie on a stack, ascending, ``DEAD`` for its end first; int32 (F,)."""
    return distinct(np.append(np.int32(DEAD), tables.frames))
