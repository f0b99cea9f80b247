"""What may be read from a state of a network to the end of its call: equal where it is the same.

    string ::= '"' char* '"'      after the first quotation mark some ten states, in each grammar

Networks number their states and bytes each in its own way. A *structure* numbers the states that
one leads to in the order of bytes; none of them makes calls.
"""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from ..tokens.distinct import first_places
from ..tokens.memo import memoised, top_down
from .first_octets import WIDE
from .tables import DEAD, NetworkTables

# A structure has at most so many states.
_MOST_STATES = 128


class CallStructures:
    """Those of a network's states, found when they are first asked for. ``targets``: of each state
    where bytes lead."""

    def __init__(
        self, tables: NetworkTables, targets: Sequence[Sequence[tuple[int, bytes]]]
    ) -> None:
        self._tables, self._targets = tables, targets
        terminals = tables.table[:, int(tables.classes.max()) + 1 :]
        calls = np.diff(tables.call_offsets) > 0
        self._is_other: NDArray[np.bool_] = np.logical_or.reduce(terminals, axis=1) | calls

    @memoised
    def of(self, state: int) -> bytes | None:
        """A digest of a state's structure. None where few bytes are read, and where there are many
        states, calls or token terminals."""
        reads = int(np.count_nonzero(self._tables.table[state][self._tables.classes]))
        return self._digest(state) if reads >= WIDE and self._is_small(state) else None

    def states(self, state: int) -> list[int]:
        """The states of the structure, that one first."""
        return list(top_down([state], self._after))

    def _after(self, state: int) -> list[int]:
        """Where a state leads, in the order of bytes."""
        row = self._tables.table[state][self._tables.classes]
        return [each for each in row[np.sort(first_places(row))].tolist() if each != DEAD]

    def _is_small(self, state: int) -> bool:
        inside = top_down([state], lambda each: (target for target, _ in self._targets[each]))
        for count, each in enumerate(inside, 1):
            if self._is_other[each] or count > _MOST_STATES:
                return False
        return True

    def _digest(self, state: int) -> bytes:
        tables, states = self._tables, self.states(state)
        numbers = np.zeros(tables.states, dtype=np.int16)
        numbers[states] = np.arange(1, len(states) + 1)
        found = sha256(numbers[tables.table[states][:, tables.classes]].tobytes())
        found.update(tables.accepting[states].tobytes())
        return found.digest()
