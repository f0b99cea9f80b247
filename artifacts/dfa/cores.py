"""The states of one conjunction but for the number of characters: made when a walk meets them.

    5 -> (state 3 of the DFA, the sets {0, 4} and {2})       cell (5, column) -> 9, or not yet made

Without operands these are the states of the DFA, and all cells are there.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..tokens.memo import Numbered
from .conjunctions import DEAD, Conjunction
from .emptiness import Sets, derived
from .sets import Derivatives

# Of a cell that is not made yet.
_UNMADE = -1

# Bytes of a state besides its cells and its bits.
_STATE_BYTES = 400


class Cores:
    """State 0 is dead. ``parts``: of each state that of the DFA and the sets."""

    def __init__(self, conjunction: Conjunction, operands: Sequence[Derivatives]) -> None:
        self._conjunction, self._operands = conjunction, operands
        self.parts = Numbered[tuple[int, Sets]]([(DEAD, ())])
        self._cells = np.full((64, conjunction.table.shape[1]), _UNMADE, dtype=np.int32)
        self._cells[DEAD] = DEAD
        bits = sum(each.every.bit_length() for each in operands)
        self._state_bytes: int = _STATE_BYTES + 4 * len(conjunction.begins) + bits // 8

    @property
    def nbytes(self) -> int:
        """About what all states take."""
        return len(self.parts) * self._state_bytes

    def number(self, state: int, sets: Sets) -> int:
        """The number of a state, which is added if it is new."""
        found = self.parts.number((state, sets))
        if found >= len(self._cells):
            more = np.full_like(self._cells, _UNMADE)
            self._cells = np.concatenate([self._cells, more])
        return found

    def targets(
        self, cores: NDArray[np.integer], columns: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        """Where each of ``cores`` leads by its column, int32 (n,)."""
        width = self._cells.shape[1]
        codes = cores.astype(np.int64) * width + columns
        found: NDArray[np.int32] = self._cells.ravel()[codes]
        missing = found == _UNMADE
        if missing.any():
            for code in np.unique(codes[missing]).tolist():
                core, column = divmod(code, width)
                # subtle: a new state may move the cells.
                target = self._target(core, column)
                self._cells[core, column] = target
            found = self._cells.ravel()[codes]
        return found

    def _target(self, core: int, column: int) -> int:
        state, sets = self.parts[core]
        target: int = self._conjunction.rows[state][column]
        if target == DEAD:
            return DEAD
        reached = derived(self._operands, sets, column)
        return DEAD if reached is None else self.number(target, reached)
