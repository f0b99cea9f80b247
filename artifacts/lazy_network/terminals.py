"""States of lazy DFAs as states of a network, by number.

states of the network | one for each terminal, before it | states inside terminals, as met
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..lazy_dfa.reader import Reader, Threads
from ..lazy_dfa.tables import DEAD
from ..network.tables import NetworkTables

# Bytes of a state inside a terminal, and of a step, roughly.
_STATE_BYTES, _STEP_BYTES = 700, 200


def called_tables(tables: NetworkTables) -> NetworkTables:
    """A network whose terminal symbols are calls of procedures that have a state each, without
    edges, behind those of the network."""
    columns = int(tables.classes.max()) + 1
    states, terminals = tables.states, tables.terminals
    table = np.zeros((states + terminals, columns), dtype=np.int32)
    table[:states] = tables.table[:, :columns]
    sources, which = np.nonzero(tables.table[:, columns:])
    counts = np.diff(tables.call_offsets)
    callers = np.concatenate((np.arange(states).repeat(counts), sources))
    order = np.argsort(callers, kind="stable")
    starts = np.concatenate((tables.call_starts, which.astype(np.int32) + np.int32(states)))
    returns = np.concatenate((tables.call_returns, tables.table[sources, columns + which]))
    offsets = np.zeros(states + terminals + 1, dtype=np.int64)
    offsets[1:] = np.cumsum(np.bincount(callers, minlength=states + terminals))
    return replace(
        tables,
        table=table,
        accepting=np.append(tables.accepting, np.zeros(terminals, dtype=np.uint8)),
        call_offsets=offsets,
        call_starts=starts[order].astype(np.int32),
        call_returns=returns[order].astype(np.int32),
    )


class Terminals:
    """``first``: the number of the first one's state. ``ends``: whether each state may end its
    call, those of the network first."""

    def __init__(self, tables: NetworkTables, readers: Sequence[Reader]) -> None:
        self.readers = readers
        self.first = tables.states - len(readers)
        self._parts = [(i, reader.start) for i, reader in enumerate(self.readers)]
        self._numbers: dict[tuple[int, Threads], int] = {}
        self.ends = list(tables.ends)
        self._steps: dict[tuple[int, int], int] = {}

    @property
    def nbytes(self) -> int:
        """About what all states and steps take."""
        return _STATE_BYTES * len(self._parts) + _STEP_BYTES * len(self._steps)

    def step(self, state: int, octet: int) -> int:
        """The state behind a byte, ``DEAD`` if no text of the terminal begins so."""
        found = self._steps.get((state, octet))
        if found is None:
            terminal, threads = self._parts[state - self.first]
            reached = self.readers[terminal].read(threads, bytes([octet]))
            found = self._steps[state, octet] = self._number(terminal, reached)
        return found

    def _number(self, terminal: int, threads: Threads) -> int:
        if not threads:
            return DEAD
        key = terminal, threads
        number = self._numbers.setdefault(key, self.first + len(self._parts))
        if number == self.first + len(self._parts):
            self._parts.append(key)
            self.ends.append(self.readers[terminal].accepts(threads))
        return number

    def inside(self, state: int) -> tuple[int, Threads]:
        """Which terminal a state is in, and its threads."""
        return self._parts[state - self.first]
