"""The DFAs of several terminals in one table over shared byte classes.

    terminal 0: states 1 to 4     terminal 1: states 5 to 9     …     state 0: dead, for all

Lexers and Earley recognisers run one terminal at a time; ``start`` gives its first state.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..container.section_tables import SectionTables

# No transition leads out of this state.
DEAD = 0


@dataclass(frozen=True, eq=False)
class StackedDfas(SectionTables):
    """Complete DFAs in one table.

    ``table``: int32 (S, C), next state by column, ``DEAD`` for none. ``columns``: uint16
    (256 + T,), the column of each symbol: 256 bytes, then T token terminals. ``accepting``: uint8
    (S,). ``starts``: int32, the start state of each terminal.
    """

    PREFIX = "lexer."

    table: NDArray[np.int32]
    columns: NDArray[np.uint16]
    accepting: NDArray[np.uint8]
    starts: NDArray[np.int32]

    # By state, as texts come to them: of all states together these take many times the table.
    @cached_property
    def _rows(self) -> list[list[int] | None]:
        return [None] * len(self.table)

    @cached_property
    def _outgoing(self) -> list[int | None]:
        return [None] * len(self.table)

    @cached_property
    def _begins(self) -> list[int]:
        begins: list[int] = self.starts.tolist()
        return begins

    @cached_property
    def _ends(self) -> list[bool]:
        ends: list[bool] = (self.accepting != 0).tolist()
        return ends

    def start(self, terminal: int) -> int:
        """The start state of a terminal."""
        return self._begins[terminal]

    def step(self, state: int, symbol: int) -> int:
        """The state after a symbol."""
        row = self._rows[state]
        if row is None:
            row = self._rows[state] = self.table[state, self.columns].tolist()
        return row[symbol]

    def accepts(self, state: int) -> bool:
        """Whether the terminal may end here."""
        return self._ends[state]

    def next_symbols(self, state: int) -> int:
        """The symbols with a transition to a live state, as bits of an integer."""
        found = self._outgoing[state]
        if found is None:
            flags = self.table[state, self.columns] != DEAD
            packed = np.packbits(flags, bitorder="little")
            found = self._outgoing[state] = int.from_bytes(packed.tobytes(), "little")
        return found
