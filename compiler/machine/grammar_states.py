"""The positions of a grammar's rules, each rule written when a text first stands in front of it.

All of it is that of the network that is built beforehand: the same rules are called, and the same
places are states of the same automata (``compiler/network/tree_layout.py``).
"""

from collections.abc import Container

from constrain.artifacts.machine.position_states import PositionStates

from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from ..network.tree_layout import Layout
from ..network.tree_rules import Rules


class GrammarStates(PositionStates):
    """What states (``artifacts/machine/states.py``) are made of, by numbered rules, of which
    ``called`` are called, and so many ``growing`` terminals. Raises ``LimitError``."""

    def __init__(
        self, rules: Rules, called: Container[int], limits: Limits, growing: int = 0
    ) -> None:
        layout = Layout(rules, called, limits, when_met=True)
        self._called = layout.called
        first_call = FIRST_TERMINAL + rules.terminals
        is_nullable = bool(rules.is_nullable(rules.start))
        given = layout.components, layout.start_of, first_call, is_nullable, growing
        super().__init__(
            *given, repetitions=layout.repetitions, begin_turn=layout.permutations.begin_turn
        )

    def called(self, symbol: int) -> object:
        """What is called by a symbol: a rule's number, or a part of one."""
        return self._called(symbol - self.first_procedure)
