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
        self._found: dict[int, bytes | None] = {}
        terminals = tables.table[:, int(tables.classes.max()) + 1 :]
        calls = np.diff(tables.call_offsets) > 0
        self._is_other: NDArray[np.bool_] = np.logical_or.reduce(terminals, axis=1) | calls

    def of(self, state: int) -> bytes | None:
        """A digest of a state's structure. None where few bytes are read, and where there are many
        states, calls or token terminals."""
        if state not in self._found:
            tables = self._tables
            reads = int(np.count_nonzero(tables.table[state][tables.classes]))
            is_one = reads >= WIDE and self._is_small(state)
            self._found[state] = self._digest(state) if is_one else None
        return self._found[state]

    def states(self, state: int) -> list[int]:
        """The states of the structure, that one first."""
        tables, found = self._tables, {state: None}
        pending = [state]
        while pending:
            each = pending.pop()
            row = tables.table[each][tables.classes]
            after = row[np.sort(first_places(row))].tolist()
            for target in after:
                if target != DEAD and target not in found:
                    found[target] = None
                    pending.append(target)
        return list(found)

    def _is_small(self, state: int) -> bool:
        seen, pending = {state}, [state]
        while pending:
            each = pending.pop()
            if self._is_other[each]:
                return False
            for target, _ in self._targets[each]:
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
            if len(seen) > _MOST_STATES:
                return False
        return True

    def _digest(self, state: int) -> bytes:
        tables, states = self._tables, self.states(state)
        numbers = np.zeros(tables.states, dtype=np.int16)
        numbers[states] = np.arange(1, len(states) + 1)
        found = sha256(numbers[tables.table[states][:, tables.classes]].tobytes())
        found.update(tables.accepting[states].tobytes())
        return found.digest()
