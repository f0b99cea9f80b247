"""A loaded tokenizer: what its files say, and what it does to texts."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from constrain.artifacts.tokens.vocabulary import Vocabulary

from .definition import Definition
from .encoding.encode import Encoder


@dataclass(frozen=True)
class Tokenizer(Definition):
    """A BPE tokenizer; ``Definition`` has its fields."""

    @cached_property
    def encoder(self) -> Encoder:
        """What encodes; it keeps the pieces that it has seen."""
        return Encoder(self)

    def encode(self, text: str) -> list[int]:
        """Token ids, as the tokenizer itself gives them without adding special tokens."""
        return self.encoder.encode(text)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The text that ids stand for; special tokens as their names. Raises ``KeyError``."""
        return b"".join(
            self.added[i].encode("utf-8") if i in self.added else self.tokens[i] for i in ids
        )

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The tokens as an artifact stores them, padded with holes to ``size``."""
        if size is None or size == self.vocab_size:
            return self._vocabulary
        return self._vocabulary_of(size)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return self._vocabulary_of(self.vocab_size)

    def _vocabulary_of(self, size: int) -> Vocabulary:
        tokens = dict(self.tokens.items())
        tokens |= {i: name.encode("utf-8") for i, name in self.added.items()}
        return Vocabulary.from_tokens(tokens, self.special, size)
