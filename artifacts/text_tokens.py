"""What tokens do at states of the stable texts: which are not read, and behind which an end of
the character that has begun must be looked for."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .memo import Memo
from .stable_texts import StableTexts
from .token_runs import TokenRuns
from .tokenset import Words
from .vocabulary import Vocabulary

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


class TextTokens:
    """``texts.tokens``, and what they do."""

    def __init__(self, texts: StableTexts, vocabulary: Vocabulary, vocab_size: int) -> None:
        self._texts, self._vocabulary, self._vocab_size = texts, vocabulary, vocab_size
        self._by_text: Memo[int, Found] = Memo(_KEPT_BYTES)
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
