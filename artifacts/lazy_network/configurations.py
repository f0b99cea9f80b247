"""A network with terminals that are lazy DFAs, as it reads texts."""

from collections.abc import Mapping

from ..network.configurations import Configurations, Network
from ..network.tables import DEAD, FirstTransition, FirstTransitions, NetworkTables
from .terminals import Terminals

# More states than are ever made.
_STATES = 1 << 40


class CallingNetwork(Network):
    """``tables``: as ``called_tables`` gives them. Grows with what it reads, and so do its
    ``terminals``."""

    def __init__(self, tables: NetworkTables, terminals: Terminals) -> None:
        super().__init__(tables)
        self.terminals, self._ends = terminals, terminals.ends
        self._transitions = _Transitions(tables, terminals)
        self.threads = Configurations(_STATES, self.stacks)
        empty = {DEAD: 0} if tables.nullable_start else {}
        self.start = self.configuration({tables.start: 0, **empty})

    @property
    def nbytes(self) -> int:
        """About the size of all that was interned."""
        return super().nbytes + self.terminals.nbytes

    def _read(self, threads: Mapping[int, int], symbol: int) -> dict[int, int]:
        found: dict[int, int] = {}
        for state, node in self._returned(threads):
            if state >= self.terminals.first:
                target = self.terminals.step(state, symbol)
                if target != DEAD:
                    self.add(found, target, node)
                continue
            for target, frames in self._transitions.of(state, symbol):
                reached = node
                for frame in frames:
                    reached = self.stacks.push(frame, reached)
                self.add(found, target, reached)
        return found


class _Transitions(FirstTransitions):
    """The first transitions of the states of a network, also by the terminals that they call."""

    def __init__(self, tables: NetworkTables, terminals: Terminals) -> None:
        super().__init__(tables)
        self._terminals = terminals

    def of(self, state: int, symbol: int) -> tuple[FirstTransition, ...]:
        """The transitions by a byte."""
        key = state * self._symbols + symbol
        transitions = self._cached.get(key)
        if transitions is None:
            found = []
            pending: list[FirstTransition] = [(state, ())]
            for reached, frames in pending:
                if reached >= self._terminals.first:
                    target = self._terminals.step(reached, symbol)
                else:
                    target = self._rows[reached][symbol]
                if target != DEAD:
                    found.append((target, frames))
                pending.extend((start, (*frames, frame)) for start, frame in self._calls[reached])
            transitions = self._cached[key] = tuple(found)
        return transitions
