"""A loaded tokenizer: its definition with the methods that encode and decode, and its tokens.

``TokenTable`` stores the bytes of all tokens as two arrays, so that a tokenizer of 150,000 tokens
is read from the cache without building as many objects.
"""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.vocabulary import HOLE, SPECIAL, TEXT, Vocabulary

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
        table = TokenTable.of(self.tokens)
        # A name such as "Ġa" may be an entry of the vocabulary, which stands for " a".
        names = {
            i: name.encode("utf-8") for i, name in sorted(self.added.items()) if i not in table
        }
        kinds = np.full(size, HOLE, dtype=np.uint8)
        kinds[: len(table.present)][table.present != 0] = TEXT
        is_name, lengths = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.int64)
        lengths[: len(table.present)] = np.diff(table.offsets)
        places = [*names]
        kinds[places], is_name[places] = TEXT, True
        lengths[places] = [*map(len, names.values())]
        kinds[[*self.special]] = SPECIAL
        is_name, offsets = is_name.repeat(lengths), np.append(0, np.cumsum(lengths))
        data = np.empty(len(is_name), dtype=np.uint8)
        data[~is_name] = table.data
        data[is_name] = np.frombuffer(b"".join(names.values()), dtype=np.uint8)
        return Vocabulary(data, offsets, kinds)


# Names of added tokens that are longer are not split around.
_LONGEST_SPLIT = 100


def _is_of_characters(step: Normalizer) -> bool:
    """Whether a step replaces characters one by one."""
    return isinstance(step, Replace) and not step.is_regex and len(step.pattern) == 1


@dataclass(frozen=True, eq=False)
class TokenTable(Mapping[int, bytes]):
    """A mapping from token id to bytes over two arrays, ids ascending.

    ``data``: uint8, the bytes one after another. ``offsets``: int64 (V + 1,), token i is
    ``data[offsets[i]:offsets[i + 1]]``. ``present``: uint8 (V,), 1 where there is such a token.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    present: NDArray[np.uint8]

    @classmethod
    def of(cls, tokens: Mapping[int, bytes]) -> "TokenTable":
        """The table of a mapping, which may be one."""
        if isinstance(tokens, cls):
            return tokens
        found = Vocabulary.from_tokens(tokens, (), max(tokens, default=-1) + 1)
        return cls(found.data, found.offsets, (found.kinds == TEXT).astype(np.uint8))

    @classmethod
    def of_each(
        cls, ids: NDArray[np.int64], data: NDArray[np.uint8], lengths: NDArray[np.int64]
    ) -> "TokenTable":
        """The table of the tokens ``ids``, ascending, with so many of ``data`` each."""
        size = int(ids.max(initial=-1)) + 1
        present, offsets = np.zeros(size, dtype=np.uint8), np.zeros(size + 1, dtype=np.int64)
        present[ids], offsets[ids + 1] = 1, lengths
        return cls(data, np.cumsum(offsets), present)

    def characters(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The code points of all tokens, n in a row, and the bytes of ``data`` where each begins
        and the last ends, (n + 1,). Bytes outside characters have those of surrogates, as Python's
        ``surrogateescape`` gives them."""
        text = self._bytes.decode("utf-8", "surrogateescape")
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        widths = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
        widths[(codes >= 0xDC80) & (codes < 0xDD00)] = 1
        return codes, np.append(0, np.cumsum(widths))

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
        return self._read().items()

    def values(self) -> ValuesView[bytes]:
        """The bytes of all tokens, read in one pass."""
        return self._read().values()

    def _read(self) -> dict[int, bytes]:
        data, bounds = self._bytes, self.offsets.tolist()
        return {i: data[bounds[i] : bounds[i + 1]] for i in self}

    def __len__(self) -> int:
        return int(np.count_nonzero(self.present))
