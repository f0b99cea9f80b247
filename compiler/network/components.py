"""From automata that call one another to the tables of a network, without a normal form.

    a state of the network is a set of states of the automata      artifacts/machine/state_lists.py
    its runs are a row over classes of bytes, token terminals, and calls:
    1: [a-z] → 2, call of procedure 0 → 3      table[1, class of a–z] = 2, a call (start, 3)

All automata stand in one and end in one state, so that a tail call is an ε edge to what it calls,
and states after it are made once. Nothing is minimised here: ``minimal_network`` does that.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.machine.positions import Positions, Runs
from constrain.artifacts.machine.state_lists import EMPTY, StateLists
from constrain.artifacts.network.tables import NetworkTables

from .. import thresholds
from ..automata.dfa import Dfa
from ..automata.graphs import reverse_postorder
from ..automata.nfa import FIRST_TERMINAL, Origins
from ..limits import Limits
from ..lnf.form import ENOUGH
from .counter_tables import Procedure, counted

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
    bounds_sets: bool = False,
    most_of_one: int | None = None,
) -> NetworkTables:
    """The network of ``procedures``, the first of which is the start.

    A procedure is called for L∖{ε}: where ε is a member too, its callers have ε edges beside the
    calls, and ``nullable_start`` says so of the start. ``terminals``: T, the number of token
    terminals. No chain of first calls may lead back to its beginning. Raises ``LimitError``, also
    for more than ``most_of_one`` states of one procedure, and, if ``bounds_sets``,
    ``TooManySetsError`` where there are many more sets than states that were met, the ends of sets
    included.
    """
    found = _Sets(components, procedures, limits, most_of_one, bounds_sets=bounds_sets)
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
    found = _Sets(components, [start], limits, None, bounds_sets=False)
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
        most_of_one: int | None,
        *,
        bounds_sets: bool,
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
                if bounds_sets and self._lists.count > _most_sets(self._lists.met):
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
        """The same as a network. A row is flat: low, high, target, low, … over bytes, token
        terminals and calls. Raises ``LimitError``."""
        names = [procedure.name for procedure in self.procedures]
        called_as = [procedure.called for procedure in self.procedures]
        rows, entries = self.rows, self.entries
        rules = names[:1]
        states = len(rows)
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=states) // 3
        runs = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 3)
        low, high, targets = np.ascontiguousarray(runs.T)
        sources = np.repeat(np.arange(states), lengths)
        first_call = FIRST_TERMINAL + terminals
        is_byte, is_call = low < FIRST_TERMINAL, low >= first_call
        begins = np.zeros(FIRST_TERMINAL + 1, dtype=np.bool_)
        begins[low[is_byte]] = begins[high[is_byte] + 1] = True
        begins[0] = False
        columns = np.cumsum(begins[:FIRST_TERMINAL], dtype=np.int64)
        width = int(columns[-1]) + 1
        limits.check_allocation(3 * 4 * states * (width + terminals), _STAGE, rules)
        table = np.zeros((states, width), dtype=np.int32)
        _fill(
            table, sources[is_byte], columns[low[is_byte]], columns[high[is_byte]], targets[is_byte]
        )
        classes, table = _joined(columns, table)
        if terminals:
            is_token = ~is_byte & ~is_call
            behind = np.zeros((states, terminals), dtype=np.int32)
            symbols = low[is_token] - FIRST_TERMINAL, high[is_token] - FIRST_TERMINAL
            _fill(behind, sources[is_token], *symbols, targets[is_token])
            table = np.concatenate((table, behind), axis=1)
        begun = np.array(entries, dtype=np.int32)
        called = low[is_call] - first_call
        returns, counters = counted(states, begun, called_as, called, targets[is_call])
        rules_called = [i for i, bounds in enumerate(called_as) if bounds is None]
        return NetworkTables(
            table=table,
            classes=classes,
            accepting=np.array(self.accepting, dtype=np.uint8),
            call_offsets=np.searchsorted(sources[is_call], np.arange(states + 1)).astype(np.int64),
            call_starts=begun[called],
            call_returns=returns,
            start=entries[0],
            nullable_start=nullable_start,
            names=tuple(names[i] for i in rules_called),
            entries=begun[rules_called],
            counters=counters,
        )

    def origins(self, of_states: Sequence[int]) -> Iterator[Origins]:
        """Some of the origins of each state, from those of the automata's states."""
        found: list[Origins] = [frozenset(), frozenset()]
        for head, rest in self._lists.pairs():
            origin, behind = of_states[head], found[rest]
            full = len(behind) >= ENOUGH or origin in behind
            found.append(behind if full else behind | {origin})
        return (found[cell] for cell in self.cells)


def _most_sets(states: int) -> int:
    """The most sets of so many states that are no reason to call copied rules."""
    return thresholds.SETS_OF_A_STATE * states + thresholds.LARGE_STATES


def _ordered(components: Positions, starts: Sequence[int]) -> list[int]:
    """The states that are reached, each before those that it leads to as far as there are no
    cycles: the reverse of the order in which a depth-first search leaves them.

    So what may be left out stands before what follows it, and sets without it are ends of lists
    with it. Of what a state leads to without reading, the last is searched first.
    """
    arcs, epsilon = components.arcs, components.epsilon
    return reverse_postorder(components.states, starts, lambda s: [*arcs[s][2::3], *epsilon[s]])


def _fill(
    table: NDArray[np.int32],
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> None:
    """Write targets to the columns ``first`` to ``last`` of ``rows``."""
    lengths = last - first + 1
    ends = np.cumsum(lengths)
    places = np.repeat(rows * table.shape[1] + first - ends + lengths, lengths)
    places += np.arange(len(places))
    table.ravel()[places] = np.repeat(targets, lengths)


def _joined(
    columns: NDArray[np.int64], table: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The class of each byte, equal columns being one, and the table of the classes."""
    numbers: dict[bytes, int] = {}
    distinct: list[int] = []
    found = np.zeros(table.shape[1], dtype=np.uint8)
    for i, column in enumerate(np.ascontiguousarray(table.T)):
        number = numbers.setdefault(column.tobytes(), len(numbers))
        if number == len(distinct):
            distinct.append(i)
        found[i] = number
    return found[columns], np.ascontiguousarray(table[:, distinct])
