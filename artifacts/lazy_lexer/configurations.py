"""Configurations of a lexer with lazy DFAs, which most tokens leave within one lexeme."""

from collections.abc import Iterable

from ..dfa.stacked_dfas import DEAD
from ..maximal_munch.configurations import Configurations
from ..maximal_munch.parser_heads import Heads
from ..maximal_munch.parser_transitions import ParserTransitions
from .lexer import LazyLexer

# Bytes that are read without a state for each: more than most tokens have.
_AT_ONCE = 64


class LazyConfigurations(Configurations):
    """As its base; a text within one lexeme is read at once, so that there are no states for its
    bytes."""

    def __init__(self, heads: Heads, lexer: LazyLexer, transitions: ParserTransitions) -> None:
        super().__init__(heads, lexer, transitions)
        self._lazily = lexer

    def follow(self, configuration: int, text: Iterable[int]) -> tuple[int, int]:
        """How many bytes of ``text`` can be read, and the configuration after them."""
        whole, place = bytes(text), 0
        while place < len(whole):
            state = self.lexer_state(configuration)
            if state in self._lazily.parts:
                piece = whole[place : place + _AT_ONCE]
                target = self._lazily.read(state, piece)
                if target != DEAD:
                    configuration += target - state
                    place += len(piece)
                    continue
            length, configuration = super().follow(configuration, whole[place : place + 1])
            if not length:
                break
            place += 1
        return place, configuration
