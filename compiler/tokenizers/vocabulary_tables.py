"""What belongs to the tokens of a tokenizer alone: their bytes, their trie, and look-ups into that.

    VocabularyTables(tokenizer, cache).trie     made once for all grammars, cached between runs

Of a vocabulary of 150,000 tokens these take 0.1 s to make and some milliseconds to read.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constrain.artifacts.tokens.lengths import begin_lengths, lengths_arrays
from constrain.artifacts.tokens.subtrees import from_arrays, to_arrays
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import HOLE, Vocabulary
from constrain.artifacts.walk.layout import begin_order, order_of

from ..files.cache import Cache
from ..files.packed import Tables
from ..limits import making_tables
from .cached_arrays import fingerprint
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from ..wordpiece.tokenizer import WordPieceTokenizer

# Goes up with every change of what the tables hold or how they are computed.
_VERSION = 6


class VocabularyTables:
    """The tables of one tokenizer's tokens; pass the same object to several compilations.

    ``cache``: where they are looked up and stored, None for nowhere.
    """

    def __init__(
        self, tokenizer: "Tokenizer | WordPieceTokenizer", cache: Cache | None = None
    ) -> None:
        self._tokenizer, self._cache = tokenizer, cache
        self._padded: dict[int, Vocabulary] = {}

    def vocabulary(self, size: int) -> Vocabulary:
        """The bytes of each token, padded with unused ids to ``size``."""
        if size not in self._padded:
            found = self._vocabulary
            more = size - found.size
            offsets = np.append(found.offsets, np.full(more, found.offsets[-1]))
            kinds = np.append(found.kinds, np.full(more, HOLE, dtype=np.uint8))
            self._padded[size] = Vocabulary(found.data, offsets, kinds) if more else found
        return self._padded[size]

    @property
    def trie(self) -> Trie:
        """The trie of all text tokens, with its subtrees."""
        return self._tables[1]

    @property
    def made_trie(self) -> Trie | None:
        """The trie, if something needed it."""
        return self._tables[1] if "_tables" in self.__dict__ else None

    @property
    def _vocabulary(self) -> Vocabulary:
        return self._tables[0]

    @cached_property
    @making_tables()
    def _tables(self) -> tuple[Vocabulary, Trie]:
        if self._cache is None:
            vocabulary = self._tokenizer.vocabulary()
            return vocabulary, Trie.from_vocabulary(vocabulary)
        key = f"vocabulary {_VERSION}, {fingerprint(self._tokenizer)}"
        return _read(self._cache.made("vocabulary", key, self._arrays))

    def _arrays(self) -> Tables:
        vocabulary = self._tokenizer.vocabulary()
        trie = Trie.from_vocabulary(vocabulary)
        more = lengths_arrays(trie) | {"layout.order": order_of(trie)}
        return vocabulary.arrays("tokens.") | to_arrays(trie) | more


def _read(arrays: Tables) -> tuple[Vocabulary, Trie]:
    """The inverse of ``_arrays``."""
    vocabulary, trie = Vocabulary.from_arrays(arrays, "tokens."), from_arrays(arrays)
    begin_lengths(trie, arrays)
    begin_order(trie, arrays["layout.order"])
    return vocabulary, trie
