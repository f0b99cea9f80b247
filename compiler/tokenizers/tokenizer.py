"""A loaded tokenizer: its definition with the methods that encode and decode, and its tokens.

``TokenTable`` stores the bytes of all tokens as two arrays, so that a tokenizer of 150,000 tokens
is read from the cache without building as many objects.
"""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.vocabulary import Vocabulary

from .definition import ByteLevel, Definition, Metaspace, Normalizer, Replace
from .encoding.added_tokens import searched_tokens
from .encoding.encode import Encoder
from .encoding.stream import stream_parts


@dataclass(frozen=True)
class Tokenizer(Definition):
    """A tokenizer; ``Definition`` has its fields."""

    @property
    def kind(self) -> str:
        """The name of its model."""
        return "bpe" if self.unigram is None else "unigram"

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, which caches the ids of pre-tokens."""
        return Encoder(self)

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.name}, {len(self.tokens):,} tokens>"

    def encode(self, text: str) -> list[int]:
        """The token ids that the tokenizer gives, without special tokens added around them."""
        return self.encoder.encode(text)

    @cached_property
    def added_by_merging(self) -> frozenset[str]:
        """The names of added tokens that merging makes of the same text (Gemma's runs of line
        breaks): to find such a name is to split the text around it.

        None where a step before merging sees what stands around the name.
        """
        searched = searched_tokens(self)[0].tokens
        flags = [token.single_word for token in searched.values()]
        spaced = [isinstance(step, Metaspace | ByteLevel) for step in self.pre_tokenizers]
        if any(flags) or any(spaced) or not all(map(_is_of_characters, self.normalizers)):
            return frozenset()
        plain = replace(self, added_tokens=())
        return frozenset(
            name
            for name, token in searched.items()
            if not (token.special or token.lstrip or token.rstrip)
            and len(name) <= _LONGEST_SPLIT
            and plain.encode(name) == [token.id]
        )

    def encode_stream(self, chunks: Iterable[str]) -> Iterator[list[int]]:
        """The ids of a text that comes in chunks of any length, some with each chunk."""
        for part in stream_parts(self.encoder, chunks):
            pieces = map(self.encoder.ids_of, part) if isinstance(part, list) else [[part.id]]
            yield list(chain.from_iterable(pieces))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of some tokens, special ones as their names. Raises ``KeyError`` for others."""
        tokens = self.tokens
        return b"".join(
            tokens[i] if i in tokens or i not in self.added else self.added[i].encode("utf-8")
            for i in ids
        )

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The tokens as an artifact stores them, padded with unused ids to ``size``."""
        if size is None or size == self.vocab_size:
            return self._vocabulary
        return self._vocabulary_of(size)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return self._vocabulary_of(self.vocab_size)

    def _vocabulary_of(self, size: int) -> Vocabulary:
        # A name such as "Ġa" may be an entry of the vocabulary, which stands for " a".
        tokens = {i: name.encode("utf-8") for i, name in self.added.items()}
        tokens |= self.tokens.items()
        return Vocabulary.from_tokens(tokens, self.special, size)


# Names of added tokens that are longer are not split around.
_LONGEST_SPLIT = 100


def _is_of_characters(step: Normalizer) -> bool:
    """Whether a step replaces characters one by one."""
    return isinstance(step, Replace) and not step.is_regex and len(step.pattern) == 1


class TokenTable(Mapping[int, bytes]):
    """A mapping from token id to bytes over two arrays, ids ascending.

    ``data``: uint8, the bytes one after another. ``offsets``: int64 (V + 1,), token i is
    ``data[offsets[i]:offsets[i + 1]]``. ``present``: uint8 (V,), 1 where there is such a token.
    """

    def __init__(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], present: NDArray[np.uint8]
    ) -> None:
        self.data, self.offsets, self.present = data, offsets, present

    @classmethod
    def of(cls, tokens: Mapping[int, bytes]) -> "TokenTable":
        """The table of a mapping."""
        size = max(tokens, default=-1) + 1
        parts = [tokens.get(i, b"") for i in range(size)]
        present = np.zeros(size, dtype=np.uint8)
        present[list(tokens)] = 1
        offsets = np.zeros(size + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), offsets, present)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The table's arrays by name, the arguments of the constructor."""
        return {"data": self.data, "offsets": self.offsets, "present": self.present}

    @cached_property
    def _bytes(self) -> bytes:
        return self.data.tobytes()

    def __contains__(self, token_id: object) -> bool:
        if not isinstance(token_id, int) or not 0 <= token_id < len(self.present):
            return False
        return bool(self.present[token_id])

    def __getitem__(self, token_id: int) -> bytes:
        if token_id not in self:
            raise KeyError(token_id)
        return self._bytes[self.offsets[token_id] : self.offsets[token_id + 1]]

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.present).tolist())

    def items(self) -> ItemsView[int, bytes]:
        """All ids with their bytes, read in one pass."""
        data, bounds = self._bytes, self.offsets.tolist()
        return {i: data[bounds[i] : bounds[i + 1]] for i in self}.items()

    def values(self) -> ValuesView[bytes]:
        """The bytes of all tokens, read in one pass."""
        return dict(self.items()).values()

    def __len__(self) -> int:
        return int(np.count_nonzero(self.present))
