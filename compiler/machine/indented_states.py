"""States of rules that are the same for blocks of any width, which know the width.

a set of positions, and above its bits the width     ``compiler/maximal_munch/any_width.py``
"""

from collections.abc import Container, Sequence

from constrain.artifacts.maximal_munch.tables import FIRST_LEXEME

from ..limits import Limits
from ..maximal_munch.lexemes import LexemeWidths
from ..network.tree_rules import Rules
from .grammar_states import GrammarStates

# Sets of positions are below so many bits, and symbols.
_SET_BITS, _SYMBOL_BITS = 64, 32
_SET, _SYMBOL = (1 << _SET_BITS) - 1, (1 << _SYMBOL_BITS) - 1


class IndentedStates(GrammarStates):
    """What states of all widths are made of. ``lines``: the rules for which the width matters."""

    def __init__(
        self,
        rules: Rules,
        called: Container[int],
        limits: Limits,
        widths: LexemeWidths,
        lines: Container[int],
    ) -> None:
        self._widths, self._lines = widths, lines
        super().__init__(rules, called, limits)

    def seen(self, number: int) -> tuple[bool, bool, int]:
        """As of the set at any width; so are the next ones."""
        return super().seen(number & _SET)

    def ends(self, number: int) -> bool:
        return super().ends(number & _SET)

    def base(self, number: int) -> int:
        return super().base(number & _SET) | number & ~_SET

    def further(self, number: int, target: int) -> int:
        return super().further(number & _SET, target & _SET) | target & ~_SET

    def twin(self, number: int) -> int:
        return super().twin(number & _SET) | number & ~_SET

    def callee(self, symbol: int) -> int:
        """The set that a procedure begins with, at the width of ``symbol``."""
        return super().callee(symbol & _SYMBOL) | symbol >> _SYMBOL_BITS << _SET_BITS

    def runs(self, number: int) -> Sequence[int]:
        """What a set reads at its width."""
        width, given, found = number >> _SET_BITS, super().runs(number & _SET), list[int]()
        same, wider = FIRST_LEXEME + self._widths.same, FIRST_LEXEME + self._widths.wider
        for low, high, target in zip(given[::3], given[1::3], given[2::3], strict=True):
            for symbol in range(low, high + 1):
                if symbol in (same, wider):
                    for other, lexeme in self._widths.each.items():
                        if other == width if symbol == same else other > width:
                            read = FIRST_LEXEME + lexeme
                            found += (read, read, target | other << _SET_BITS)
                    continue
                if symbol >= self.first_call and self.called(symbol) in self._lines:
                    symbol |= width << _SYMBOL_BITS
                found += (symbol, symbol, target | width << _SET_BITS)
        return found
