"""The tokens of an artifact: their bytes, which of them are text, and classes of token terminals.

A *token terminal* is a symbol of a grammar that stands for some tokens, whatever their bytes are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sharing import shared


@dataclass(frozen=True, slots=True, eq=False)
class TokenClasses:
    """T disjoint sets of token ids, one for each symbol of a byte DFA after its bytes.

    ``ids``: int32 (n,), ascending within a class. ``offsets``: int64 (T + 1,), class k is
    ``ids[offsets[k]:offsets[k + 1]]``.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, classes: Sequence[Sequence[int] | NDArray[np.integer]] = ()) -> "TokenClasses":
        """The classes in one array, each given by its ids, ascending."""
        parts = [np.asarray(ids, dtype=np.int32) for ids in classes]
        ends = np.cumsum([0, *map(len, parts)])
        ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        return cls(ids, ends.astype(np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many ids each class has, shape (T,)."""
        return np.diff(self.offsets)

    def members(self, number: int) -> NDArray[np.int32]:
        """The ids of one class."""
        return self.ids[int(self.offsets[number]) : int(self.offsets[number + 1])]

    def select(self, values: NDArray[np.generic]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of the classes with a ``values`` (T,) that is not 0, and that value of each."""
        each = np.repeat(values.astype(np.int64), self.sizes)
        return self.ids[each != 0], each[each != 0]

    def class_of(self, vocab_size: int) -> NDArray[np.int32]:
        """The class of each token, shape (V,); -1 for none."""
        found = np.full(vocab_size, -1, dtype=np.int32)
        found[self.ids] = np.repeat(np.arange(len(self), dtype=np.int32), self.sizes)
        return found


TEXT, SPECIAL, HOLE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Token bytes, one after another, in the order of the ids.

    ``data``: uint8 (total bytes,). ``offsets``: int64 (V + 1,), token i is
    ``data[offsets[i]:offsets[i + 1]]``. ``kinds``: uint8 (V,), ``TEXT``, ``SPECIAL``
    (its bytes are its name, it stands for no text) or ``HOLE`` (no such id).
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]

    @classmethod
    def from_tokens(
        cls, tokens: Mapping[int, bytes], special: Iterable[int], size: int
    ) -> "Vocabulary":
        """The vocabulary of ``tokens`` (id to bytes); ids below ``size`` without one are holes."""
        kinds = np.full(size, HOLE, dtype=np.uint8)
        kinds[list(tokens)] = TEXT
        kinds[list(special)] = SPECIAL
        parts = [tokens.get(i, b"") for i in range(size)]
        offsets = np.zeros(size + 1, dtype=np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), offsets, kinds)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> "Vocabulary":
        """That of named arrays; of the same ones the same vocabulary."""
        return shared(cls, *(arrays[prefix + field.name] for field in fields(cls)))

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {prefix + field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def size(self) -> int:
        """Highest id + 1, padding included."""
        return len(self.kinds)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Bytes of each token, shape (V,)."""
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest token."""
        return int(self.lengths.max(initial=0))

    def token(self, token_id: int) -> bytes:
        """The bytes of a token; for a special one, of its name."""
        data, offsets = self._views
        return data[offsets[token_id] : offsets[token_id + 1]].tobytes()

    def tokens(self, ids: Sequence[int] | NDArray[np.integer]) -> list[bytes]:
        """The bytes of many tokens, in their order."""
        data, places = self.data.tobytes(), np.asarray(ids, dtype=np.int64)
        begins, ends = self.offsets[places].tolist(), self.offsets[places + 1].tolist()
        return [data[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def begin_apart(self, one: int, other: int) -> bool:
        """Whether the texts of two tokens begin with different bytes."""
        first, second = (self.token(i)[:1] if self.kinds[i] == TEXT else b"" for i in (one, other))
        return first != second

    def common_prefix(self, ids: NDArray[np.integer]) -> bytes:
        """What the texts of all these tokens begin with: nothing if one of them has no text."""
        if not len(ids) or not bool((self.kinds[ids] == TEXT).all()):
            return b""
        begins, most = self.offsets[ids], int(self.lengths[ids].min())
        found = bytearray()
        for place in range(most):
            octets = self.data[begins + place]
            if not bool((octets == octets[0]).all()):
                break
            found.append(int(octets[0]))
        return bytes(found)

    @cached_property
    def spelled_bytes(self) -> NDArray[np.bool_]:
        """Which bytes are a token's whole text, bool (256,)."""
        alone = (self.lengths == 1) & (self.kinds == TEXT)
        spelled = np.zeros(256, dtype=np.bool_)
        spelled[self.data[self.offsets[:-1][alone]]] = True
        return spelled

    @cached_property
    def _kinds(self) -> memoryview:
        return self.kinds.data

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        """``data`` and ``offsets``; a token is faster to get from these."""
        return self.data.data, self.offsets.data

    def text_ids(self) -> NDArray[np.int64]:
        """Ids that spell at least one byte of text, ascending."""
        return np.flatnonzero((self.kinds == TEXT) & (self.lengths > 0))

    def is_text(self, token_id: int) -> bool:
        """Whether the id stands for text (and not for a special token or a hole)."""
        kinds = self._kinds
        return 0 <= token_id < len(kinds) and kinds[token_id] == TEXT

    def find(self, name: str) -> int | None:
        """The id of the token that is spelled ``name``, special tokens first."""
        wanted = name.encode("utf-8")
        hits = [int(i) for i in np.flatnonzero(self.lengths == len(wanted))]
        hits = [i for i in hits if self.token(i) == wanted and self.kinds[i] != HOLE]
        return min(hits, key=lambda i: (self.kinds[i] != SPECIAL, i), default=None)
