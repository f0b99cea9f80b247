"""The states of complete tables as positions, each read when a text first comes there."""

from ..network.tables import DEAD, NetworkTables
from .position_states import PositionStates
from .positions import END, NOWHERE, Positions, Writer

_OCTETS = 256


def states_of(tables: NetworkTables, growing: int = 0) -> PositionStates:
    """A ``StateMaker`` of a network without counters. ``growing``: as there."""
    reader = _Reader(tables)
    starts = reader.starts
    first_call = _OCTETS + tables.terminals
    return PositionStates(
        reader.positions, starts.__getitem__, first_call, tables.nullable_start, growing
    )


class _Reader:
    """State s is position s; ``DEAD``, which nothing leads to, is ``END``."""

    def __init__(self, tables: NetworkTables) -> None:
        self._tables = tables
        self.starts = [tables.start, *dict.fromkeys(tables.call_starts.tolist())]
        self._symbols = {start: place for place, start in enumerate(self.starts[1:], 1)}
        count = tables.states
        unlaid: dict[int, Writer] = dict.fromkeys(range(END + 1, count), self)
        self.positions = Positions([[] for _ in range(count)], [NOWHERE] * count, unlaid)

    def lay(self, state: int) -> None:
        """Write what a state reads and calls, and whether it may end."""
        t, arcs = self._tables, self.positions.arcs[state]
        low, row = 0, t.rows[state]
        for symbol, target in enumerate(row):
            if symbol >= _OCTETS - 1 or row[symbol + 1] != target:
                if target != DEAD:
                    arcs += (low, symbol, target)
                low = symbol + 1
        first_call = _OCTETS + t.terminals
        for start, frame in t.calls[state]:
            symbol = first_call + self._symbols[start]
            arcs += (symbol, symbol, frame)
        if t.ends[state]:
            self.positions.epsilon[state] = (END,)
