"""The byte DFA of a grammar, as tables, and the machine that reads it token by token."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .errors import ArtifactError
from .token_classes import TokenClasses
from .vocabulary import Vocabulary

DEAD = 0


@dataclass(frozen=True, eq=False)
class ByteDfa:
    """A deterministic automaton over byte classes and token terminals.

    ``table``: int32 (S, C + T), next state by column, state 0 dead. ``classes``: uint8
    (256,), byte to one of C columns. ``terminals``: the T classes of tokens that the last T
    columns stand for; such a column says where each of the tokens leads, also where its bytes
    could be read as well. ``accepting``: uint8 (S,). ``start``: a state.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    terminals: TokenClasses
    accepting: NDArray[np.uint8]
    start: int

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)

    def token_targets(self, state: int) -> NDArray[np.int32]:
        """Where the token terminals lead from a state, ``DEAD`` for nowhere; shape (T,)."""
        return self.table[state, self.table.shape[1] - len(self.terminals) :]

    @cached_property
    def _columns(self) -> list[int]:
        return [int(c) for c in self.classes]

    @cached_property
    def _cells(self) -> memoryview:
        # A memoryview answers an integer index several times faster than an array.
        return np.ascontiguousarray(self.table).reshape(-1).data

    def run(self, state: int, text: bytes) -> int:
        """The state after ``text``; ``DEAD`` if it leaves the language's prefixes."""
        cells, columns, width = self._cells, self._columns, self.table.shape[1]
        for octet in text:
            state = cells[state * width + columns[octet]]
        return state

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member: ``len(text)`` if all of it can."""
        cells, columns, width = self._cells, self._columns, self.table.shape[1]
        state = self.start
        for i, octet in enumerate(text):
            state = cells[state * width + columns[octet]]
            if state == DEAD:
                return i
        return len(text)


@dataclass(frozen=True, eq=False)
class ByteMachine:
    """Steps a byte DFA by whole tokens: every tokenization of a member is accepted."""

    dfa: ByteDfa
    vocabulary: Vocabulary

    @property
    def start(self) -> int:
        """The state before any token."""
        return self.dfa.start

    @cached_property
    def _classes(self) -> memoryview:
        return self.dfa.terminals.class_of(self.vocabulary.size).data

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return bool(self.dfa.accepting[state])

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if a mask row allowed what has no way (an unverified file).
        """
        target = DEAD
        if 0 <= token_id < self.vocabulary.size and (number := self._classes[token_id]) >= 0:
            target = int(self.dfa.token_targets(state)[number])
        if target == DEAD and self.vocabulary.is_text(token_id):
            target = self.dfa.run(state, self.vocabulary.token(token_id))
        if target == DEAD:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target
