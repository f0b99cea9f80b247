"""The states of a network whose tables a file has, for walks of tokens: all have numbers before."""

from collections.abc import Sequence

from ..network.tables import NetworkTables
from ..tokens.lengths import ENDLESS
from .states import ROW_BYTES, States


class TableStates(States):
    """``States`` with the numbers that ``tables`` have; none has a bound. A row is made when it is
    first looked up."""

    def __init__(self, tables: NetworkTables) -> None:
        dict.__init__(self)
        self._tables, self.terminals = tables, tables.terminals
        self.ends, self.calls, self.plain = tables.ends, tables.calls, tables.plain
        self.stops = [not plain for plain in tables.plain]
        self.rooms, self.is_bounded = [ENDLESS] * tables.states, False
        self.start, self.nullable_start = tables.start, tables.nullable_start

    @property
    def states(self) -> int:
        """How many there are, the dead one included."""
        return self._tables.states

    @property
    def named(self) -> int:
        """The same: all have a number."""
        return self._tables.states

    @property
    def nbytes(self) -> int:
        """About the size of what was looked up."""
        return ROW_BYTES * len(self)

    def begin_turn(self) -> None:
        """Nothing is made that would be half made."""

    def __missing__(self, state: int) -> Sequence[int]:
        row = self[state] = self._tables.rows[state]
        return row

    def includes(self, state: int, part: int) -> bool:
        """Of tables nothing is known but that they are equal."""
        return state == part
