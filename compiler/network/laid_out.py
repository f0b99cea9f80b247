"""All positions of a grammar, as its file has them: numbered breadth-first from its start.

What leads on to one other position alone, without reading, is that one. A long repetition, or a
permutation, is the position in front of it, and what is repeated has positions of its own.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.machine.positions import END, Positions, Runs
from constrain.artifacts.machine.repetitions import Item, Times
from constrain.artifacts.machine.stored_fronts import StoredFronts
from constrain.artifacts.machine.stored_positions import StoredPositions
from constrain.artifacts.network.sets import NO_SEPARATOR, SetRule
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens.memo import memoised

from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from .components import network_of
from .counter_tables import Called, PartOf, Permuted, Procedure
from .tree_layout import Layout
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
        """The network of all states that the positions make: repetitions are counters, and
        permutations sets. Raises ``LimitError``."""
        stored = self.stored
        calling = _Calling(self)
        return network_of(
            calling.positions,
            calling.procedures,
            limits,
            stored.first_call - FIRST_TERMINAL,
            nullable_start=stored.nullable_start,
        )


class _Calling:
    """Positions in which repetitions and permutations are calls of their items and parts, with what
    these are in ``procedures``, after the rules."""

    def __init__(self, laid: LaidOut) -> None:
        stored = laid.stored
        self.positions, self._first_call = stored.positions(), stored.first_call
        self.procedures = [*map(Procedure, laid.called, stored.starts.tolist())]
        self._numbers: dict[tuple[int, Called], int] = {}
        begins = stored.fronts.items[:, 0].tolist()
        for front, (item, least, most, behind) in stored.fronts.times.items():
            if not least:
                self.positions.add_epsilon(front, behind)
            called = self._number(begins[item], (max(least, 1), most), laid.called[0])
            self.positions.arcs[front] += (called, called, behind)
        for front, rule in stored.fronts.rules.items():
            between = None if rule.separator == NO_SEPARATOR else rule.separator
            whole = Permuted(
                tuple(zip(rule.parts, rule.flags, strict=True)),
                between,
                rule.is_adjoining,
                rule.least,
                rule.most,
            )
            if between is not None:
                self._part(PartOf(whole, None), between)
            for part in dict.fromkeys(rule.parts):
                called = self._part(PartOf(whole, rule.parts.index(part)), part)
                self.positions.arcs[front] += (called, called, rule.back)

    def _part(self, part: PartOf, symbol: int) -> int:
        called = self.procedures[symbol - self._first_call]
        return self._number(called.start, part, called.name)

    def _number(self, start: int, what: Called, name: str) -> int:
        """The symbol of a call."""
        if (start, what) not in self._numbers:
            self._numbers[start, what] = len(self.procedures)
            self.procedures.append(Procedure(name, start, what))
        return self._first_call + self._numbers[start, what]


def laid_out(rules: Rules, called: Container[int], limits: Limits) -> LaidOut:
    """The positions of numbered rules, of which ``called`` are called. Raises ``LimitError``."""
    layout = Layout(rules, called, limits, when_met=True)
    is_nullable, first_call = bool(rules.is_nullable(rules.start)), FIRST_TERMINAL + rules.terminals
    numbering = _Numbering(layout, first_call)
    for place, position in enumerate(numbering.order):
        if not place % _CHECKED:
            limits.check_resources(_STAGE, numbering.names[:1])
        if numbering.found.states > limits.states + 1:
            limits.check_states(numbering.found.states - 1, _STAGE, numbering.names[:1])
        numbering.add(position)
    found = numbering.found, numbering.starts, numbering.fronts, first_call
    stored = StoredPositions.of(*found, nullable_start=is_nullable)
    return LaidOut(stored, tuple(numbering.names))


class _Numbering:
    """``order``: the positions that have a number, in the order of these, but for those of items;
    ``found``: what leads from those that were added to others. ``starts``: where
    each procedure starts, and ``names`` of which rule."""

    def __init__(self, layout: Layout, first_call: int) -> None:
        self._layout, self._first_call = layout, first_call
        self._positions = layout.components
        self._numbers = {END: END}
        # By identity: what is repeated is written alike for equal items.
        self._items: dict[int, int] = {}
        self._item_places: list[tuple[int, int]] = []
        self._repeated: list[tuple[int, int, int, Times]] = []
        self._permuted: list[tuple[int, SetRule]] = []
        self.order, self.found = [END], Positions()
        self.starts: list[int] = []
        self.names: list[str] = []
        self._procedure(0)

    @property
    def fronts(self) -> StoredFronts:
        """The repetitions and permutations among them."""
        return StoredFronts.of(self._repeated, self._item_places, self._permuted)

    def add(self, position: int) -> None:
        """Number what a position leads to."""
        number = self._numbers[position]
        if position not in self._positions.unlaid:
            skips = dict.fromkeys(map(self._number, self._positions.epsilon[position]))
            self.found.epsilon[number] = [target for target in skips if target != number]
            self.found.arcs[number] = self._runs(self._positions.arcs[position], self._number)
        elif (times := self._layout.repetitions.times_at(position)) is not None:
            behind = self._number(times.end)
            self._repeated.append((number, self._item(times.item), behind, times))
        elif (rule := self._layout.permutations.rule_at(position)) is not None:
            self._permuted.append((number, self._renumbered(rule)))

    def _runs(self, runs: Runs, numbered: Callable[[int], int]) -> Runs:
        """What a position reads and calls, over numbers."""
        found = Runs()
        for low, high, target in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
            if low >= self._first_call:
                for symbol in range(low, high + 1):
                    called = self._procedure(symbol - self._first_call)
                    found += (called, called, numbered(target))
            else:
                found += (low, high, numbered(target))
        return found

    def _item(self, item: Item) -> int:
        """The number of an item, whose positions stand side by side."""
        if id(item) not in self._items:
            self._items[id(item)] = len(self._items)
            first, *_ = places = [self.found.new_state() for _ in item.arcs[1:]]
            self._item_places.append((first, len(places)))
            moved = [END, *places]
            for place, state in enumerate(places, 1):
                self.found.epsilon[state] = [moved[target] for target in item.epsilon[place]]
                self.found.arcs[state] = self._runs(item.arcs[place], moved.__getitem__)
        return self._items[id(item)]

    def _renumbered(self, rule: SetRule) -> SetRule:
        def symbol(old: int) -> int:
            return self._procedure(old - self._first_call)

        between = rule.separator and symbol(rule.separator)
        bounds = rule.is_adjoining, rule.least, rule.most
        back = self._number(rule.back)
        return SetRule([*map(symbol, rule.parts)], rule.flags, between, *bounds, back)

    @memoised
    def _procedure(self, number: int) -> int:
        """The symbol of a call."""
        symbol, procedure = self._first_call + len(self.names), self._layout.procedure(number)
        self.names.append(procedure.name)
        self.starts.append(self._number(procedure.start))
        return symbol

    @memoised
    def _number(self, position: int) -> int:
        """The number of a position, which is written."""
        behind = self._behind(position)
        if behind not in self._numbers:
            self._numbers[behind] = self.found.new_state()
            self.order.append(behind)
        return self._numbers[behind]

    def _behind(self, position: int) -> int:
        """The position itself, or the one that alone follows it; only fronts stay unlaid."""
        positions, seen = self._positions, set[int]()
        while not self._is_front(position):
            if position in positions.unlaid:
                positions.unlaid.pop(position).lay(position)
            if positions.arcs[position]:
                break
            following = {*positions.epsilon[position]}
            if len(following) != 1 or position in seen:
                break
            seen.add(position)
            position = following.pop()
        return position

    def _is_front(self, position: int) -> bool:
        if position not in self._positions.unlaid:
            return False
        layout = self._layout
        return bool(layout.repetitions.times_at(position) or layout.permutations.rule_at(position))
