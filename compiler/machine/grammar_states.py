"""The sets of places that are the states of a grammar's network, each found when first needed.

    a rule is written when a set first has its beginning    compiler/network/tree_layout.py
    what a set reads is merged when its row is made         compiler/network/components.py

All of it is that of the network that is built beforehand: the same rules are called, and the same
places are states of the same automata.
"""

from collections.abc import Container, Sequence

from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from ..network.components import EMPTY, ENDED, StateLists
from ..network.tree_layout import END, Layout
from ..network.tree_rules import Rules


class GrammarStates:
    """A ``StateMaker`` (``artifacts/machine/states.py``) of numbered rules, of which ``called`` are
    called. Raises ``LimitError``."""

    def __init__(self, rules: Rules, called: Container[int], limits: Limits) -> None:
        self._layout = Layout(rules, called, limits, when_met=True)
        self._arcs = self._layout.components.arcs
        self._lists = StateLists(self._layout.components, None, _unchecked, self._layout)
        self.first_call = FIRST_TERMINAL + rules.terminals
        self._callees: list[int] = []
        self._calls = {EMPTY: False, ENDED: False}
        self.nullable_start = bool(rules.is_nullable(rules.start))
        self.start = self.callee(self.first_call)

    def ends(self, number: int) -> bool:
        """Whether a call, or the text, may end in a set."""
        return self._lists.ended[number]

    def calls(self, number: int) -> bool:
        """Whether a set calls something."""
        found, pending = self._calls.get(number), []
        while found is None:
            state, rest = self._lists.head_and_rest(number)
            pending.append((number, state))
            number, found = rest, self._calls.get(rest)
        for number, state in reversed(pending):
            found = self._calls[number] = found or self._calls_from(state)
        return found

    def runs(self, number: int) -> Sequence[int]:
        """What a set reads: low, high, target, low, high, target, … in ascending order."""
        return self._lists.runs(number)

    def callee(self, symbol: int) -> int:
        """The set that a call of a symbol starts in; it does not match ε."""
        place = symbol - self.first_call
        while len(self._callees) <= place:
            begun = self._lists.closure(self._layout.start_of(len(self._callees)))
            self._callees.append(self._lists.not_ended(begun))
        return self._callees[place]

    def _calls_from(self, state: int) -> bool:
        return state != END and any(low >= self.first_call for low in self._arcs[state][::3])


def _unchecked() -> None:
    """What a text meets is little; nothing is looked at on the way."""
