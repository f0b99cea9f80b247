"""States of a network that calls terminals too large to be built, and those inside terminals.

states of the network | before a terminal: its threads before any text | inside: threads, as met

A terminal is called as a rule is. Its states are the threads of its conjunctions
(``artifacts/dfa``), and what a byte makes of them is found when it is first read.
"""

from collections.abc import Sequence
from functools import partial
from typing import cast

from ..dfa.lazy_reader import Reader, Threads
from ..tokens.memo import Made
from ..tokens.sharing import weakly
from .position_states import PositionStates
from .states import DEAD, States

# In place of the set of a state inside a terminal.
_NO_SET = -1

# What a state inside a terminal takes, roughly, in bytes, besides its row.
_INSIDE_BYTES = 500


class TerminalStates(States):
    """``readers``: of the terminals, whose symbols are the first calls of the maker. ``inside``: by
    state inside a terminal which one that is, and the threads.

    The row of such a state is looked up byte by byte alone. Raises ``UndecidedError``, too; what
    was made so far stays.
    """

    def __init__(self, maker: PositionStates, readers: Sequence[Reader]) -> None:
        self._readers, self._numbers_inside = readers, dict[tuple[int, Threads], int]()
        self.inside: dict[int, tuple[int, Threads]] = {}
        super().__init__(maker)
        runs = maker.runs(maker.start)
        if len(runs) == 3 and runs[0] == self._width and not maker.runs(runs[2]):
            # The grammar is a terminal, and nothing after it.
            self.start = self._callee(runs[0])

    @property
    def nbytes(self) -> int:
        """About the size of all that was made."""
        return super().nbytes + _INSIDE_BYTES * len(self.inside)

    def behind(self, state: int, text: bytes | memoryview) -> int:
        """The state inside a terminal after a text, ``DEAD`` if none of its texts begins so."""
        terminal, threads = self.inside[state]
        reached = self._readers[terminal].read(threads, text)
        return self._inside(terminal, reached) if reached else DEAD

    def __missing__(self, state: int) -> Sequence[int]:
        if state not in self.inside:
            return super().__missing__(state)
        row = cast("Sequence[int]", Made(partial(weakly(self._read), state)))
        self[state] = row
        return row

    def _read(self, state: int, octet: int) -> int:
        return self.behind(state, bytes((octet,)))

    def _callee(self, symbol: int) -> int:
        terminal = symbol - self._width
        if terminal >= len(self._readers):
            return super()._callee(symbol)
        return self._inside(terminal, self._readers[terminal].start)

    def _inside(self, terminal: int, threads: Threads) -> int:
        key = terminal, threads
        number = self._numbers_inside.get(key)
        if number is None:
            ends = self._readers[terminal].accepts(threads)
            number = self._numbers_inside[key] = self._added(_NO_SET, ends, ends)
            self.inside[number] = key
        return number
