"""What all grammars of a tokenizer share, made when a grammar first needs it."""

from functools import cached_property
from typing import TYPE_CHECKING

from ..files.cache import Cache

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer
    from ..tokenizers.vocabulary_tables import VocabularyTables
    from ..wordpiece.tokenizer import WordPieceTokenizer
    from .tokenizer_tables import TokenizerTables


class SharedTables:
    """The tables of a tokenizer, made when a grammar first needs them: of its tokens, and those
    that canonical masks depend on, which only BPE tokenizers have here."""

    def __init__(
        self,
        tokenizer: "Tokenizer | WordPieceTokenizer",
        cache: Cache | None,
        tables: "TokenizerTables | None" = None,
    ) -> None:
        self.tokenizer, self._cache, self._given = tokenizer, cache, tables

    @cached_property
    def tokens(self) -> "VocabularyTables":
        """The vocabulary, its trie, and subtrees of that."""
        from ..tokenizers.vocabulary_tables import VocabularyTables

        return self._given.tokens if self._given else VocabularyTables(self.tokenizer, self._cache)

    @cached_property
    def canonical(self) -> "TokenizerTables | None":
        """Pre-tokenizer DFA, forbidden pairs and normal forms."""
        from ..tokenizers import Tokenizer

        if self._given or not isinstance(self.tokenizer, Tokenizer):
            return self._given
        from .tokenizer_tables import TokenizerTables

        return TokenizerTables(self.tokenizer, self._cache, self.tokens)
