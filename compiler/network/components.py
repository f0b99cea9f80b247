"""From automata that call one another to the tables of a network, without a normal form.

    a state of the network is a set of states of the automata      artifacts/machine/state_lists.py

All automata stand in one and end in one state, so that a tail call is an ε edge to what it calls,
and states behind it are made once. Nothing is minimised here: ``minimal_network`` does that.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from constrain.artifacts.machine.positions import Positions, Runs
from constrain.artifacts.machine.state_lists import EMPTY, StateLists
from constrain.artifacts.network.tables import NetworkTables

from ..automata.dfa import Dfa
from ..automata.nfa import Origins
from ..limits import Limits
from ..lnf.components import reverse_postorder
from ..lnf.form import ENOUGH
from .component_tables import tables_of
from .tree_layout import Procedure

_STAGE = "the grammar's network"

# So many sets are made between two looks at the clock.
_CHECKED = 4

# What a list takes with what it reads, roughly.
_LIST_BYTES = 450


class TooManySetsError(Exception):
    """More sets of states than were allowed for."""


def network_of(
    components: Positions,
    procedures: Sequence[Procedure],
    limits: Limits,
    terminals: int = 0,
    *,
    nullable_start: bool = False,
    most_sets: int | None = None,
    most_of_one: int | None = None,
) -> NetworkTables:
    """The network of ``procedures``, the first of which is the start.

    A procedure is called for L∖{ε}: where ε is a member too, its callers have ε edges beside the
    calls, and ``nullable_start`` says so of the start. ``terminals``: T, the number of token
    terminals. No chain of first calls may lead back to its beginning. Raises ``LimitError``, also
    for more than ``most_of_one`` states of one procedure, and ``TooManySetsError`` for more than
    ``most_sets``, the ends of sets included.
    """
    found = _Sets(components, procedures, limits, most_sets, most_of_one)
    return found.tables(limits, terminals, nullable_start)


def dfa_of(
    components: Positions,
    start: Procedure,
    origins: Sequence[int] | None,
    limits: Limits,
    terminals: int = 0,
    *,
    nullable_start: bool = False,
) -> Dfa:
    """The DFA of an automaton that calls nothing and has no state in vain, and so has none itself.

    ``origins``: of each state that of its arcs; a state of the DFA has at most ``ENOUGH`` of those
    of its set. Raises ``LimitError``.
    """
    found = _Sets(components, [start], limits, None, None)
    tables = found.tables(limits, terminals, nullable_start)
    accepting = tables.accepting.astype(np.bool_)
    accepting[tables.start] = nullable_start
    behind = tuple(found.origins(origins)) if origins else (frozenset[int](),) * len(accepting)
    return Dfa(tables.table, tables.classes, accepting, tables.start, behind)


class _Sets:
    """The sets of states that ``procedures`` reach, and what they read: the subset construction.

    State s of the result is the list ``cells[s]``, reads ``rows[s]`` and ends if ``accepting[s]``;
    0 is dead. ``entries``: where each procedure starts.
    """

    def __init__(
        self,
        components: Positions,
        procedures: Sequence[Procedure],
        limits: Limits,
        most_sets: int | None,
        most_of_one: int | None,
    ) -> None:
        self.procedures = procedures
        named = [procedures[0].name]
        order = _ordered(components, [p.start for p in procedures])
        self._lists = StateLists(components, order, lambda: limits.check_resources(_STAGE, named))
        self._numbers: dict[int, int] = {}
        self.rows: list[Runs] = [[]]
        self.accepting = [False]
        self.entries: list[int] = []
        self.cells = [EMPTY]
        for procedure in procedures:
            named[:] = [procedure.name]
            self._begin(procedure)
            begun = len(self.rows)
            while len(self.rows) < len(self.cells):
                self._add_row()
                count = len(self.rows)
                if not count % _CHECKED:
                    limits.check_resources(_STAGE, named)
                if most_of_one is not None and count - begun > most_of_one:
                    limits.within(most_of_one).check_states(count - begun, _STAGE, named)
                if most_sets is not None and self._lists.count > most_sets:
                    raise TooManySetsError
                if count > limits.states:
                    limits.check_states(count, _STAGE, named)
                size = self._lists.count * _LIST_BYTES
                if size > limits.memory:
                    limits.check_memory(size, _STAGE, named)

    def _begin(self, procedure: Procedure) -> None:
        cell = self._lists.closure(procedure.start)
        if cell in self._numbers and not self._lists.ended[cell]:
            self.entries.append(self._numbers[cell])
            return
        # ε is the callers' matter; what leads back to the start may end there.
        self.entries.append(len(self.cells))
        if not self._lists.ended[cell]:
            self._numbers[cell] = len(self.cells)
        self.cells.append(cell)
        self.accepting.append(False)

    def _add_row(self) -> None:
        numbers, cells = self._numbers, self.cells
        row = self._lists.runs(cells[len(self.rows)])[:]
        for i in range(2, len(row), 3):
            cell = row[i]
            target = numbers.get(cell)
            if target is None:
                target = numbers[cell] = len(cells)
                cells.append(cell)
                self.accepting.append(self._lists.ended[cell])
            row[i] = target
        self.rows.append(row)

    def tables(self, limits: Limits, terminals: int, nullable_start: bool) -> NetworkTables:
        """The same as a network."""
        names = [procedure.name for procedure in self.procedures]
        called = [procedure.part or procedure.times for procedure in self.procedures]
        given = self.rows, self.accepting, names, self.entries, called
        return tables_of(*given, limits, terminals, nullable_start)

    def origins(self, of_states: Sequence[int]) -> Iterator[Origins]:
        """Some of the origins of each state, from those of the automata's states."""
        found: list[Origins] = [frozenset(), frozenset()]
        for head, rest in self._lists.pairs():
            origin, behind = of_states[head], found[rest]
            full = len(behind) >= ENOUGH or origin in behind
            found.append(behind if full else behind | {origin})
        return (found[cell] for cell in self.cells)


def _ordered(components: Positions, starts: Sequence[int]) -> list[int]:
    """The states that are reached, each before those that it leads to as far as there are no
    cycles: the reverse of the order in which a depth-first search leaves them.

    So what may be left out stands before what follows it, and sets without it are ends of lists
    with it. Of what a state leads to without reading, the last is searched first.
    """
    arcs, epsilon = components.arcs, components.epsilon
    return reverse_postorder(components.states, starts, lambda s: [*arcs[s][2::3], *epsilon[s]])
