"""The mask row of a DFA's state: stored in the file, or computed when a matcher first needs it.

    StoredRows    rows of the file, equal ones once: one look-up, or a list of ids to pack
    FamilyRows    token DFA without rows: unpacked from one bit for each edge of the state's family

Both give the same rows; the computed ones are cached.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..container.sections import require
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, BoundedCache
from ..tokens.tokenset import Words
from .token_dfa import TokenDfa


class Rows(Protocol):
    """Anything that gives the packed set of tokens allowed at a state."""

    def row(self, state: int) -> Words:
        """Read-only uint32 (ceil(V / 32),); the EOS bits are set where the match may end."""

    def allows(self, state: int, token_id: int) -> bool:
        """Whether the row has a token; it has none beyond the vocabulary."""


class StoredRows:
    """Rows of the file: packed ones, and lists of ids where those are shorter.

    ``row_of``: int32 (S,), the row of each state: below R one of ``rows``, uint32 (R, W), from R on
    the list ``ids[offsets[i]:offsets[i + 1]]``, i = ``row_of[s]`` - R.
    """

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], vocab_size: int, cache: BoundedCache[int, Words]
    ) -> None:
        """``arrays``: the sections ``row*`` of an artifact."""
        self._rows, self._vocab_size, self._cache = arrays["rows"], vocab_size, cache
        self._count, self._width = self._rows.shape
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        self._words = np.ascontiguousarray(self._rows).reshape(-1).data
        # Views of the packed rows, made once each.
        self._views: list[Words | None] = [None] * self._count
        self._row_of = np.ascontiguousarray(arrays["row_of"]).data
        self._ids = np.ascontiguousarray(arrays["row_ids"]).data
        self._offsets = np.ascontiguousarray(arrays["row_offsets"]).data

    def row(self, state: int) -> Words:
        """A view of the file's row, or a list that is packed on a cache miss. Raises
        ``ArtifactError`` for a row with a token that there is not."""
        number = self._row_of[state]
        if number < self._count:
            packed = self._views[number]
            if packed is None:
                packed = self._rows[number]
                # Not when the file is opened: it would read a page of it for each row.
                require(tokenset.is_within(packed, self._vocab_size), "rows")
                self._views[number] = packed
            return packed
        found = self._cache.get(number)
        if found is not None:
            return found
        low, high = self._list(number)
        row = tokenset.from_ids(self._ids[low:high].tolist(), self._vocab_size)
        return cached(self._cache, number, row)

    def allows(self, state: int, token_id: int) -> bool:
        """By the bit, or by binary search in the list."""
        number = self._row_of[state]
        if number < self._count:
            if not 0 <= token_id < self._vocab_size:
                return False
            place = number * self._width + (token_id >> 5)
            return bool(self._words[place] >> (token_id & 31) & 1)
        low, high = self._list(number)
        place = bisect_left(self._ids, token_id, low, high)
        return place < high and self._ids[place] == token_id

    def _list(self, number: int) -> tuple[int, int]:
        place = number - self._count
        return self._offsets[place], self._offsets[place + 1]


@dataclass(slots=True, eq=False)
class FamilyRows:
    """Rows of a token DFA, unpacked from one bit for each edge of the state's family.

    ``bits``: uint8, bit i (little-endian within a byte) of the bytes from ``bit_offsets[s]`` on
    says whether state s allows edge i of its family. ``bit_offsets``: int64 (S + 1,).
    """

    dfa: TokenDfa
    bits: NDArray[np.uint8]
    bit_offsets: NDArray[np.int64]
    eos: Sequence[int]
    vocab_size: int
    cache: BoundedCache[int, Words]

    def row(self, state: int) -> Words:
        """Unpacked on a cache miss, in time linear in the family's edges."""
        found = self.cache.get(state)
        if found is not None:
            return found
        tokens, _ = self.dfa.edges_of(state)
        octets = self.bits[int(self.bit_offsets[state]) : int(self.bit_offsets[state + 1])]
        allowed = np.unpackbits(octets, count=len(tokens), bitorder="little").view(np.bool_)
        ids = [*tokens[allowed], *(self.eos if self.dfa.is_accepting(state) else ())]
        return cached(self.cache, state, tokenset.from_ids(ids, self.vocab_size))

    def allows(self, state: int, token_id: int) -> bool:
        """By the row."""
        return tokenset.contains(self.row(state), token_id)


def cached(cache: BoundedCache[int, Words], key: int, row: Words) -> Words:
    """Keep a row, which is written no more."""
    row.flags.writeable = False
    return cache.keep(key, row, row.nbytes + ENTRY_BYTES)
