"""What the kinds of regular grammars share: the grammar's own byte DFA reads texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .contents import Contents

if TYPE_CHECKING:
    from ..dfa.byte_dfa import ByteDfa


# How the budget of a DFA's machine is divided: packed or computed rows, and steps.
ROWS_AND_STEPS = 7, 1


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


def joined_to_prompt(prompt: Sequence[int]) -> str:
    """The message where a prompt leaves no member: each would be merged with its last token."""
    return (
        f"no member of the grammar continues token {prompt[-1]}: the tokenizer would join "
        f"each first token to it"
    )
