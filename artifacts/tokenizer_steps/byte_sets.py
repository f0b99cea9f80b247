"""Where sets of bytes lead from sets of states of a pre-tokenizer DFA, and from which.

What strings and white space read is the same in most grammars, and they are read beside the same
few sets of states: so it is found once for all grammars of a tokenizer. A set of states is an
integer, whose bit q says whether state q is in it.
"""

import numpy as np
from numpy.typing import NDArray

from ..tokens.memo import Made
from ..tokens.sharing import weakly
from .pretokenizer import begins_character

_Flags = NDArray[np.bool_]

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
        self._after = Made[tuple[bytes, int], int](weakly(self._led_to), _MOST_KEPT)
        self._before = Made[tuple[bytes, int, bool], int](weakly(self._leading), _MOST_KEPT)
        self._between: dict[bytes, _Flags] = {}

    @property
    def all(self) -> int:
        """All states but the dead one."""
        return (1 << self.width) - 2

    def before(self, columns: bytes, states: int, *, starting: bool = False) -> int:
        """The states from which some of the bytes lead to some of ``states``. ``starting``: where
        they start a pre-token."""
        return self._before[columns, states, starting]

    def _leading(self, asked: tuple[bytes, int, bool]) -> int:
        columns, states, starting = asked
        led = self._led[np.frombuffer(columns, np.int64)]
        led = led[:, 1::2] if starting else led
        before: _Flags = np.logical_or.reduce(self.flags(states)[led], axis=(0, 1))
        return of_flags(before)

    def after(self, columns: bytes, states: int) -> int:
        """The states that some of the bytes lead to from some of ``states``."""
        return self._after[columns, states]

    def _led_to(self, asked: tuple[bytes, int]) -> int:
        columns, states = asked
        led = self._led[np.frombuffer(columns, np.int64)]
        after = np.zeros(self.width, dtype=np.bool_)
        after[led[:, :, self.flags(states)]] = True
        after[DEAD] = False
        return of_flags(after)

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


def of_flags(flags: _Flags) -> int:
    """Flags, bool (Q,), as a set."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
