"""What kinds share that have tables of tokens or words beside the grammar's own byte DFA."""

from typing import TYPE_CHECKING

from .contents import Contents

if TYPE_CHECKING:
    from ..dfa.byte_dfa import ByteDfa


class RegularGrammar:
    """The byte DFA of an artifact that has one, and what it says of texts."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    @property
    def byte_dfa(self) -> "ByteDfa":
        """The grammar's own automaton, minimal."""
        return self.contents.byte_dfa

    def byte_state_of(self, state: int) -> int:
        """The state of the byte DFA that a state of the machine stands for (of several, one)."""
        return state

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self.byte_dfa.viable_bytes(text)

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        return bool(len(self.byte_dfa.terminals))
