"""The mask row of a DFA's state: stored in the file, or computed when a matcher first needs it.

    StoredRows    rows of the file, equal ones once: one look-up, or a list of ids to pack
    FamilyRows    token DFA without rows: unpacked from one bit for each edge of the state's family
    WalkedRows    byte DFA without rows: a walk of the token trie

All three give the same rows; the computed ones are cached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, BoundedCache
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, walk
from .byte_dfa import ByteDfa
from .token_dfa import TokenDfa


class Rows(Protocol):
    """Anything that gives the packed set of tokens allowed at a state."""

    def row(self, state: int) -> Words:
        """Read-only uint32 (ceil(V / 32),); the EOS bits are set where the match may end."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """Rows of the file: packed ones, and lists of ids where those are shorter.

    ``row_of``: int32 (S,), the row of each state: below R one of ``rows``, uint32 (R, W), from R on
    the list ``ids[offsets[i]:offsets[i + 1]]``, i = ``row_of[s]`` - R.
    """

    rows: NDArray[np.uint32]
    row_of: NDArray[np.int32]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocab_size: int
    cache: BoundedCache[int, Words]

    @classmethod
    def from_sections(
        cls, arrays: Mapping[str, NDArray[Any]], vocab_size: int, cache: BoundedCache[int, Words]
    ) -> "StoredRows":
        """The rows in the sections ``row*`` of an artifact."""
        ids, offsets = arrays["row_ids"], arrays["row_offsets"]
        return cls(arrays["rows"], arrays["row_of"], ids, offsets, vocab_size, cache)

    def row(self, state: int) -> Words:
        """A view of the file's row, or a list that is packed on a cache miss."""
        number = int(self.row_of[state])
        if number < len(self.rows):
            packed: Words = self.rows[number]
            return packed
        found = self.cache.get(number)
        if found is not None:
            return found
        place = number - len(self.rows)
        ids = self.ids[int(self.offsets[place]) : int(self.offsets[place + 1])]
        return _cached(self.cache, number, tokenset.from_ids(ids, self.vocab_size))


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
        return _cached(self.cache, state, tokenset.from_ids(ids, self.vocab_size))


@dataclass(slots=True, eq=False)
class WalkedRows:
    """Rows of a byte DFA by a walk of the token trie.

    ``live``: bool (S,), states from which some token sequence reaches an accepting state; only
    tokens that lead to one are allowed.
    """

    dfa: ByteDfa
    trie: Trie
    live: NDArray[np.bool_]
    eos: Sequence[int]
    vocab_size: int
    cache: BoundedCache[int, Words]

    def row(self, state: int) -> Words:
        """Walked on a cache miss, in time linear in the live part of the trie."""
        found = self.cache.get(state)
        if found is not None:
            return found
        ids: list[int] = []
        for hits in walk(self.trie, self.dfa.table, self.dfa.classes, np.array([state])):
            ids.extend(hits.tokens[self.live[hits.states]])
        ids.extend(self.dfa.terminals.select(self.live[self.dfa.token_targets(state)])[0])
        ids.extend(self.eos if self.dfa.accepting[state] else ())
        return _cached(self.cache, state, tokenset.from_ids(ids, self.vocab_size))


def _cached(cache: BoundedCache[int, Words], key: int, row: Words) -> Words:
    row.flags.writeable = False
    return cache.keep(key, row, row.nbytes + ENTRY_BYTES)
