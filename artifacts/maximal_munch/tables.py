"""The tables of a grammar read by maximal munch: a network over lexemes, and the lexemes' DFAs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..network.tables import NetworkTables
from .lexer import LexerTables

if TYPE_CHECKING:
    from ..machine.states import States

# The network's symbol for lexeme 0; those below are bytes, which it does not read.
FIRST_LEXEME = 256


@dataclass(frozen=True, eq=False)
class ReadTables:
    """``network``: reads symbol ``FIRST_LEXEME + i`` for lexeme i; of all states, or of those that
    are met. ``lexer``: splits bytes into lexemes."""

    network: "NetworkTables | States"
    lexer: LexerTables


@dataclass(frozen=True, eq=False)
class MaximalMunchTables(ReadTables):
    """The same with all states, as a file has them."""

    network: NetworkTables
