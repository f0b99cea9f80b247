"""What a lexer reads where it has no rows to walk by: nothing, if all its lexemes have DFAs.

``artifacts/lazy_lexer`` has the lexemes that are too large for that.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..tokens.tokenset import Words
from ..walk.node_sets import Nodes


class LexerRead(NamedTuple):
    """The tokens that end within a lexeme, ``row`` (None: none) and ``ids``; and by accept set the
    nodes at which lexemes end."""

    row: Words | None
    ids: Sequence[int]
    ends: Sequence[tuple[int, Nodes]]


class LexerReads:
    """Of a lexer without large lexemes. ``nbytes``: about the size of what is kept."""

    nbytes = 0

    def forget(self) -> None:
        """Forget what is kept."""

    def reads(self, _state: int) -> bool:
        """Whether a state is one of those that have no rows."""
        return False

    def read(self, _nodes: Nodes, _state: int) -> LexerRead:
        """What is read from nodes in such a state, their own bytes first."""
        return LexerRead(None, (), ())
