"""All positions of a grammar, as its file has them: numbered breadth-first from its start.

What leads on to one other position alone, without reading, is that one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.machine.positions import END, Positions
from constrain.artifacts.machine.stored_positions import StoredPositions
from constrain.artifacts.network.tables import NetworkTables

from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from .components import network_of
from .tree_layout import Layout, Procedure
from .tree_plan import procedures_of
from .tree_rules import Rules

_STAGE = "the grammar's positions"

# So many positions are numbered between two looks at the clock.
_CHECKED = 64


@dataclass(frozen=True, slots=True, eq=False)
class LaidOut:
    """The positions of a grammar, and the rules that are called, the start first."""

    stored: StoredPositions
    called: tuple[str, ...]

    @property
    def octets(self) -> NDArray[np.uint8]:
        """1 for the bytes that some position reads, (1, 256)."""
        used = np.zeros((1, FIRST_TERMINAL), dtype=np.uint8)
        for low, high in {*zip(*self.stored.arcs[:, :2].T.tolist(), strict=True)}:
            used[0, low : high + 1] = 1
        return used

    def tables(self, limits: Limits) -> NetworkTables:
        """The network of all states that the positions make. Raises ``LimitError``."""
        stored = self.stored
        procedures = map(Procedure, self.called, stored.starts.tolist())
        return network_of(
            stored.written(),
            [*procedures],
            limits,
            stored.first_call - FIRST_TERMINAL,
            nullable_start=stored.nullable_start,
        )


def laid_out(layout: Layout, first_call: int, limits: Limits, *, nullable_start: bool) -> LaidOut:
    """The positions of a layout whose rules are written when they are met, and of which none was.
    Raises ``LimitError``."""
    numbering = _Numbering(layout, first_call)
    for place, position in enumerate(numbering.order):
        if not place % _CHECKED:
            limits.check_resources(_STAGE, numbering.names[:1])
        if place > limits.states:
            limits.check_states(place, _STAGE, numbering.names[:1])
        numbering.add(position)
    found = numbering.found, numbering.starts, first_call
    stored = StoredPositions.of(*found, nullable_start=nullable_start)
    return LaidOut(stored, tuple(numbering.names))


def laid_out_whole(rules: Rules, limits: Limits) -> LaidOut:
    """The positions of numbered rules, of which all copies are written. Raises ``LimitError``."""
    layout = Layout(rules, procedures_of(rules), limits)
    is_nullable = bool(rules.is_nullable(rules.start))
    first_call = FIRST_TERMINAL + rules.terminals
    return laid_out(layout, first_call, limits, nullable_start=is_nullable)


class _Numbering:
    """``order``: the positions that have a number, by it; ``found``: what leads from those that
    were added to others. ``starts``: where each procedure starts, and ``names`` of which rule."""

    def __init__(self, layout: Layout, first_call: int) -> None:
        self._layout, self._first_call = layout, first_call
        self._positions = layout.components
        self._numbers = {END: END}
        self._procedures: dict[int, int] = {}
        self.order, self.found = [END], Positions()
        self.starts: list[int] = []
        self.names: list[str] = []
        self._procedure(0)

    def add(self, position: int) -> None:
        """Number what a position leads to."""
        number = self._numbers[position]
        skips = dict.fromkeys(map(self._number, self._positions.epsilon[position]))
        self.found.epsilon[number] = [target for target in skips if target != number]
        runs = self._positions.arcs[position]
        arcs = self.found.arcs[number]
        for low, high, target in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
            if low >= self._first_call:
                called = (self._procedure(p - self._first_call) for p in range(low, high + 1))
                arcs += (n for p in called for n in (p, p, self._number(target)))
            else:
                arcs += (low, high, self._number(target))

    def _procedure(self, number: int) -> int:
        """The symbol of a call."""
        if number not in self._procedures:
            self._procedures[number] = len(self._procedures)
            procedure = self._layout.procedure(number)
            self.names.append(procedure.name)
            self.starts.append(self._number(procedure.start))
        return self._first_call + self._procedures[number]

    def _number(self, position: int) -> int:
        """The number of a position, which is written."""
        position = self._behind(position)
        if position not in self._numbers:
            self._numbers[position] = self.found.new_state()
            self.order.append(position)
        return self._numbers[position]

    def _behind(self, position: int) -> int:
        """The position itself, or the one that alone follows it."""
        positions, seen = self._positions, set[int]()
        while position not in seen:
            seen.add(position)
            if position in positions.unlaid:
                positions.unlaid.pop(position).lay(position)
            following = {*positions.epsilon[position]}
            if positions.arcs[position] or len(following) != 1:
                break
            position = following.pop()
        return position
