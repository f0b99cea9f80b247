"""Where a tokenizer cuts text into pieces: followed through a prompt, token by token."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..container.requirements import Arrays
from ..tokens.vocabulary import Vocabulary

DEAD = 0


@dataclass(frozen=True, eq=False)
class PretokenizerDfa:
    """The automaton of the places where pieces start.

    ``table``: int32 (S, P, J), next state by plane and byte class, state 0 dead. Plane 0: the
    byte lies inside a token, or begins one that continues a piece; 1: it begins a token that
    starts one; 2 and 3: the same of a byte token. ``classes``: uint8 (256,), class of each
    byte. ``fallback``: int32 (256,), the byte token of each byte or -1. ``start``: the state
    before any text. ``whole``: tokens of whole pieces, which are read in the planes of byte
    tokens by tokenizers that have none.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    fallback: NDArray[np.int32]
    start: int
    whole: frozenset[int] = frozenset()

    @property
    def apart(self) -> NDArray[np.int32]:
        """The tokens that are read in planes 2 and 3, ascending."""
        bytewise = self.fallback[self.fallback >= 0]
        return np.union1d(bytewise, sorted(self.whole)).astype(np.int32)

    def step(self, state: int, plane: int, token: int, octets: bytes) -> int:
        """The state after a token that begins in plane 0 or 1; 0 if it cannot."""
        if not octets:
            return DEAD
        first = octets[0]
        if len(octets) == 1 and self.fallback[first] == token:
            return int(self.table[state, plane + 2, self.classes[first]])
        if token in self.whole:
            plane += 2
        state = int(self.table[state, plane, self.classes[first]])
        for octet in octets[1:]:
            state = int(self.table[state, 0, self.classes[octet]])
        return state

    def after(
        self, ids: Iterable[int], vocabulary: Vocabulary, pairs: ForbiddenPairs
    ) -> tuple[list[int], int | None]:
        """The states that a prompt may end in, and its last text token.

        Text begins anew behind a special token; and where the ids are no encoding of their
        text, as at the seam of two parts that were encoded apart.
        """
        states, last = [self.start], None
        for token in ids:
            if not vocabulary.is_text(token):
                states, last = [self.start], None
                continue
            octets = vocabulary.token(token)
            follows = last is not None and not pairs.forbids(last, token)
            found = self._stepped(states, token, octets, follows)
            if not found:
                found = self._stepped([self.start], token, octets, False)
            if not found:
                found = self._stepped(range(1, len(self.table)), token, octets, True)
            states, last = found, token
        return states, last

    def _stepped(
        self, states: Iterable[int], token: int, octets: bytes, follows: bool
    ) -> list[int]:
        planes = (0, 1) if follows else (1,)
        found = {self.step(state, plane, token, octets) for state in states for plane in planes}
        return sorted(found - {DEAD})


def begins_character(table: NDArray[np.int32], classes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """In which states of ``PretokenizerDfa`` a character may begin, whether or not a piece starts
    with it."""
    beginning = classes[np.r_[:0x80, 0xC0:0x100]]
    found: NDArray[np.bool_] = (table[:, :, beginning] != DEAD).any(axis=(1, 2))
    return found


def whole_pieces(arrays: Arrays) -> frozenset[int]:
    """The tokens of whole pieces, of the sections of an artifact."""
    return frozenset(arrays["cuts.whole"].tolist()) if "cuts.whole" in arrays else frozenset()
