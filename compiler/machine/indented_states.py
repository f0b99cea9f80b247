"""States of rules that are the same for blocks of any width, which know the width.

a set of positions, and above its bits the width     ``compiler/maximal_munch/any_width.py``
"""

from collections.abc import Container, Sequence

from constrain.artifacts.maximal_munch.tables import FIRST_LEXEME

from ..limits import Limits
from ..maximal_munch.lexemes import LexemeWidths
from ..network.tree_rules import Rules
from .grammar_states import GrammarStates


class IndentedStates(GrammarStates):
    """What states of all widths are made of. ``lines``: the rules for which the width matters."""

    # Sets of positions are below so many bits, and symbols.
    set_bits, symbol_bits = 64, 32

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

    def _parted(self, number: int) -> tuple[int, int]:
        """A set, and its width in its own bits."""
        inner = number & (1 << self.set_bits) - 1
        return inner, number - inner

    def seen(self, number: int) -> tuple[bool, bool, int]:
        """As of the set at any width; so are the next ones."""
        return super().seen(self._parted(number)[0])

    def ends(self, number: int) -> bool:
        return super().ends(self._parted(number)[0])

    def base(self, number: int) -> int:
        inner, width = self._parted(number)
        return super().base(inner) | width

    def further(self, number: int, target: int) -> int:
        inner, width = self._parted(target)
        return super().further(self._parted(number)[0], inner) | width

    def twin(self, number: int) -> int:
        inner, width = self._parted(number)
        return super().twin(inner) | width

    def callee(self, symbol: int) -> int:
        """The set that a procedure begins with, at the width of ``symbol``."""
        width = symbol >> self.symbol_bits
        return super().callee(symbol - (width << self.symbol_bits)) | width << self.set_bits

    def runs(self, number: int) -> Sequence[int]:
        """What a set reads at its width."""
        inner, bits = self._parted(number)
        width, given, found = bits >> self.set_bits, super().runs(inner), list[int]()
        same, wider = FIRST_LEXEME + self._widths.same, FIRST_LEXEME + self._widths.wider
        for low, high, target in zip(given[::3], given[1::3], given[2::3], strict=True):
            if high < self.first_call and not (low <= same <= high or low <= wider <= high):
                found += (low, high, target | bits)
                continue
            for symbol in range(low, high + 1):
                if symbol in (same, wider):
                    for other, lexeme in self._widths.each.items():
                        if other == width if symbol == same else other > width:
                            read = FIRST_LEXEME + lexeme
                            found += (read, read, target | other << self.set_bits)
                    continue
                if symbol >= self.first_call and self.called(symbol) in self._lines:
                    symbol |= width << self.symbol_bits
                found += (symbol, symbol, target | bits)
        return found
