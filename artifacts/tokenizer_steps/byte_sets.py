"""Where sets of bytes lead from sets of states of a pre-tokenizer DFA, and from which.

What strings and white space read is the same in most grammars, and they are read beside the same
few sets of states: so it is found once for all grammars of a tokenizer. A set of states is an
integer, whose bit q says whether state q is in it.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .pretokenizer import begins_character

_Flags = NDArray[np.bool_]
_Key = TypeVar("_Key")

DEAD = 0

# Sets of states of which it is kept where bytes lead.
_MOST_KEPT = 1 << 14


class ByteSets:
    """Where sets of bytes lead, given as columns of ``table``, int64; ``width``: Q, its states."""

    def __init__(self, table: NDArray[np.int32]) -> None:
        self.table = table
        self.width = len(table)
        # By column and plane where each state leads.
        self._led = np.ascontiguousarray(table.transpose(2, 1, 0))
        self._after: dict[tuple[bytes, int], int] = {}
        self._before: dict[tuple[bytes, int, bool], int] = {}
        self._between: dict[bytes, _Flags] = {}

    @property
    def all(self) -> int:
        """All states but the dead one."""
        return (1 << self.width) - 2

    def before(self, columns: bytes, states: int, *, starting: bool = False) -> int:
        """The states from which some of the bytes lead to some of ``states``. ``starting``: where
        they start a pre-token."""
        key = columns, states, starting
        found = self._before.get(key)
        if found is None:
            led = self._led[np.frombuffer(columns, np.int64)]
            led = led[:, 1::2] if starting else led
            before: _Flags = np.logical_or.reduce(self.flags(states)[led], axis=(0, 1))
            found = self._keep(self._before, key, before)
        return found

    def after(self, columns: bytes, states: int) -> int:
        """The states that some of the bytes lead to from some of ``states``."""
        key = columns, states
        found = self._after.get(key)
        if found is None:
            led = self._led[np.frombuffer(columns, np.int64)]
            after = np.zeros(self.width, dtype=np.bool_)
            after[led[:, :, self.flags(states)]] = True
            after[DEAD] = False
            found = self._keep(self._after, key, after)
        return found

    def between(self, classes: NDArray[np.uint8]) -> _Flags:
        """In which states a character may begin, bool (Q,). ``classes``: byte to column."""
        key = classes.tobytes()
        found = self._between.get(key)
        if found is None:
            found = self._between[key] = begins_character(self.table, classes)
        return found

    def flags(self, states: int) -> _Flags:
        """A set as flags, bool (Q,)."""
        packed = np.frombuffer(states.to_bytes(-(-self.width // 8), "little"), np.uint8)
        found = np.unpackbits(packed, count=self.width, bitorder="little")
        return found.view(np.bool_)

    def _keep(self, known: dict[_Key, int], key: _Key, flags: _Flags) -> int:
        if len(known) > _MOST_KEPT:
            known.clear()
        found = known[key] = of_flags(flags)
        return found


def of_flags(flags: _Flags) -> int:
    """Flags, bool (Q,), as a set."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
