"""The automaton of texts that a tokenizer's normalizer leaves alone, over bytes.

What tokens do at states of the stable texts: which are not read, and behind which an end of
the character that has begun must be looked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.byte_dfa import TokenRuns
from ..tokens import tokenset
from ..tokens.memo import BoundedCache
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary

DEAD = 0

_CONTINUATION = slice(0x80, 0xC0)


@dataclass(frozen=True, eq=False)
class NormalFormDfa:
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


# What the tokens do at states of the texts, in bytes, that is kept.
_KEPT_BYTES = 1 << 25


class Found(NamedTuple):
    """What the tokens do at a state of the texts. ``kept``: uint32, the words of a mask that
    hold any of them, without those that lead to the dead state. ``tokens``, ``states``: the
    others, and where they lead. ``unsure``: those for which an end must be looked for."""

    kept: Words
    tokens: NDArray[np.int32]
    states: NDArray[np.int64]
    unsure: list[tuple[int, int]]


class BoundaryTokens:
    """``texts.tokens``, and what they do."""

    def __init__(self, texts: NormalFormDfa, vocabulary: Vocabulary, vocab_size: int) -> None:
        self._texts, self._vocabulary, self._vocab_size = texts, vocabulary, vocab_size
        self._by_text: BoundedCache[int, Found] = BoundedCache(_KEPT_BYTES)
        # So that the first mask need not lay the tokens out.
        self.at(texts.start)

    def at(self, text: int) -> Found:
        """What they do at a state."""
        known = self._by_text.get(text)
        if known is not None:
            return known
        tokens, states = self._runs.run(text)
        kept = self._others.copy()
        np.bitwise_or.at(kept, self._place[tokens >> 5], self.bits[tokens & 31])
        some = np.flatnonzero(self._is_unsure[tokens])
        some = some[~self._texts.are_free(states[some])]
        unsure = sorted(zip(tokens[some].tolist(), states[some].tolist(), strict=True))
        found = Found(kept, tokens, states, unsure)
        return self._by_text.keep(text, found, kept.nbytes + tokens.nbytes + states.nbytes)

    def held(self, found: Found, row: Words) -> NDArray[np.int64]:
        """The places of the tokens found that a mask holds."""
        return np.flatnonzero(row[found.tokens >> 5] & self.bits[found.tokens & 31])

    @cached_property
    def bits(self) -> Words:
        """The words of one bit."""
        return np.uint32(1) << np.arange(32, dtype=np.uint32)

    @cached_property
    def words(self) -> NDArray[np.int32]:
        """The words of a mask that hold tokens of the texts' own."""
        return np.unique(self._texts.tokens >> 5)

    @cached_property
    def _place(self) -> NDArray[np.int32]:
        """The place of each word of a mask among those."""
        found = np.zeros(tokenset.word_count(self._vocab_size), dtype=np.int32)
        found[self.words] = np.arange(len(self.words))
        return found

    @cached_property
    def _others(self) -> Words:
        """Those words with the bits of all other tokens."""
        found = ~tokenset.from_ids(self._texts.tokens, self._vocab_size)
        return found[self.words]

    @cached_property
    def _is_unsure(self) -> NDArray[np.bool_]:
        found = np.zeros(self._vocab_size, dtype=np.bool_)
        found[self._texts.unsure] = True
        return found

    @cached_property
    def _runs(self) -> TokenRuns:
        ids, texts = self._texts.tokens, self._texts
        octets = [self._vocabulary.token(token) for token in ids.tolist()]
        return TokenRuns(ids, octets, texts.table, texts.classes)
