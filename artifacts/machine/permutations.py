"""Permutations whose sets of parts are written one by one, as texts come to them.

    permute(a, b, c?)    0 -call a-> {a} -call b-> {a, b} ⇒ end, or -call c-> {a, b, c} ⇒ end

A position is after a part and says which parts have begun. Each part is called, so that what
tokens read in it is found once for all sets.
"""

from weakref import proxy

from ..network.sets import MOST_BELOW, NONE, AmbiguousPartsError, SetRule, Value
from ..tokens.memo import memoised
from .positions import Positions


class Permutations:
    """Writes the sets of permutations among ``positions``: what follows at most ``MOST_BELOW`` for
    one mask or one token, counted from ``begin_turn`` on. Raises ``AmbiguousPartsError`` beyond."""

    def __init__(self, positions: Positions) -> None:
        self._positions: Positions = proxy(positions)
        self._values: dict[int, tuple[SetRule, Value]] = {}
        self._written = 0

    def begin_turn(self) -> None:
        """What follows as many sets as ever may be written from now on."""
        self._written = 0

    def begin(self, rule: SetRule) -> int:
        """The position in front of a permutation. ``rule``: over the symbols that call parts and
        what separates them, back to a position."""
        return self._position(rule, NONE)

    def rule_at(self, position: int) -> SetRule | None:
        """The permutation in front of which a position stands, if there is one."""
        rule, value = self._values.get(position, (None, NONE))
        return rule if value == NONE else None

    def lay(self, state: int) -> None:
        """Write what begins with a first part, or what may follow a part or a separator."""
        rule, value = self._values[state]
        if value == NONE:
            for part, begun in rule.begins(0):
                self._call(state, rule.parts[part], rule, rule.value(begun))
            return
        self._written += 1
        if self._written > MOST_BELOW:
            raise AmbiguousPartsError(MOST_BELOW)
        for target, following in rule.pops(value):
            if following == NONE:
                self._positions.add_epsilon(state, target)
            else:
                self._call(state, target, rule, following)

    def _call(self, state: int, symbol: int, rule: SetRule, value: Value) -> None:
        self._positions.arcs[state] += (symbol, symbol, self._position(rule, value))

    @memoised
    def _position(self, rule: SetRule, value: Value) -> int:
        found = self._positions.new_state()
        self._values[found] = rule, value
        self._positions.unlaid[found] = self
        return found
