"""States of a network that calls terminals too large to be built, and those inside terminals.

states of the network | before a terminal: its threads before any text | inside: threads, as met

A terminal is called as a rule is. Its states are the threads of its conjunctions
(``artifacts/lazy_dfa``), and what a byte makes of them is found when it is first read.
"""

from collections.abc import Sequence
from typing import cast

from ..lazy_dfa.reader import Reader, Threads
from .states import DEAD, ROW_BYTES, StateMaker, States

# In place of the set of a state inside a terminal.
_NO_SET = -1

# What a state inside a terminal takes, and a step, roughly, in bytes.
_INSIDE_BYTES, _STEP_BYTES = 800, 300


class TerminalStates(States):
    """``readers``: of the terminals, whose symbols are the first calls of the maker. ``inside``: by
    state inside a terminal which one that is, and the threads.

    The row of such a state is looked up byte by byte alone. Raises ``UndecidedError``, too; what
    was made so far stays.
    """

    def __init__(self, maker: StateMaker, readers: Sequence[Reader]) -> None:
        self._readers, self._numbers_inside = readers, dict[tuple[int, Threads], int]()
        self.inside: dict[int, tuple[int, Threads]] = {}
        self._steps = 0
        super().__init__(maker)

    @property
    def nbytes(self) -> int:
        """About the size of all that was made."""
        less = (ROW_BYTES - _INSIDE_BYTES) * len(self.inside)
        return super().nbytes - less + _STEP_BYTES * self._steps

    def behind(self, state: int, octet: int) -> int:
        """The state inside a terminal behind a byte, ``DEAD`` if none of its texts begins so."""
        terminal, threads = self.inside[state]
        self._steps += 1
        reached = self._readers[terminal].read(threads, bytes([octet]))
        return self._inside(terminal, reached) if reached else DEAD

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
            self[number] = cast("list[int]", _Row(self, number))
        return number


class _Row(dict[int, int]):
    """By byte where a state inside a terminal leads, as far as it was looked up."""

    def __init__(self, states: TerminalStates, state: int) -> None:
        super().__init__()
        self._states, self._state = states, state

    def __missing__(self, octet: int) -> int:
        target = self[octet] = self._states.behind(self._state, octet)
        return target
