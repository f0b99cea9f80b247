"""The automaton of texts that a tokenizer's normalizer leaves alone, over bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .vocabulary import Vocabulary

DEAD = 0

_CONTINUATION = slice(0x80, 0xC0)


@dataclass(frozen=True, eq=False)
class StableTexts:
    """``table``: uint16 (S, J), next state by byte class, state 0 dead. ``classes``: uint8
    (256,), class of each byte. ``start``: the state before any text, and where all that went
    before makes no difference. ``tokens``: int32, the tokens that begin inside a character, or
    lead some state between two characters to the dead state or to one that is not free.
    ``unsure``: int32, of those the ones behind which the grammar may leave no end of the
    character that they end in.
    """

    table: NDArray[np.uint16]
    classes: NDArray[np.uint8]
    start: int
    tokens: NDArray[np.int32]
    unsure: NDArray[np.int32]

    def step(self, state: int, octets: bytes) -> int:
        """The state after some bytes."""
        flat, classes, width = self._flat, self._classes, self.table.shape[1]
        for octet in octets:
            state = flat[state * width + classes[octet]]
        return state

    def behind(self, ids: Iterable[int], vocabulary: Vocabulary) -> int:
        """The state that a prompt ends in.

        Text begins anew behind a special token, and where the prompt is not stable.
        """
        found = self.start
        for token in ids:
            found = self.step(found, vocabulary.token(token)) if vocabulary.is_text(token) else DEAD
            found = found or self.start
        return found

    def are_inside(self, states: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of some states lie inside a character."""
        found: NDArray[np.bool_] = (self.table[states[:, None], self._tails] != DEAD).any(axis=1)
        return found

    def are_free(self, states: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of some states let all that is stable by itself follow: all between two
        characters, and those inside one that the start leads to."""
        found: NDArray[np.bool_] = self._begun[states]
        rest = np.flatnonzero(~found)
        found[rest] = ~self.are_inside(states[rest])
        return found

    @cached_property
    def _flat(self) -> memoryview:
        # Memoryviews answer integer indices several times faster than arrays.
        return np.ascontiguousarray(self.table).reshape(-1).data

    @cached_property
    def _classes(self) -> memoryview:
        return np.ascontiguousarray(self.classes).data

    @cached_property
    def _begun(self) -> NDArray[np.bool_]:
        """The states inside a character that the start leads to."""
        found = np.zeros(len(self.table), dtype=np.bool_)
        fresh = np.array([self.start])
        while len(fresh):
            found[fresh] = True
            inner = np.unique(self.table[fresh])
            fresh = inner[~found[inner] & self.are_inside(inner)]
        found[self.start] = False
        return found

    @cached_property
    def _tails(self) -> NDArray[np.uint8]:
        """The columns of continuation bytes."""
        return np.unique(self.classes[_CONTINUATION])
