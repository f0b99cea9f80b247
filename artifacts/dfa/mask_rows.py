"""The mask row of a DFA's state: stored in the file, or computed when a matcher first needs it.

    StoredRows    rows of the file, equal ones once: one look-up
    FamilyRows    token DFA without rows: unpacked from one bit for each edge of the state's family
    WalkedRows    byte DFA without rows: a walk of the token trie

All three give the same rows; the computed ones are cached.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, walk
from .byte_dfa import ByteDfa
from .token_dfa import TokenDfa

# Computed rows that a cache holds: at 150,000 tokens a row has 19 kB.
_MAX_CACHED_ROWS = 512


class Rows(Protocol):
    """Anything that gives the packed set of tokens allowed at a state."""

    def row(self, state: int) -> Words:
        """Read-only uint32 (ceil(V / 32),); the EOS bits are set where the match may end."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """Rows of the file: ``rows``, uint32 (R, W); ``row_of``, int32 (S,), the row of each state."""

    rows: NDArray[np.uint32]
    row_of: NDArray[np.int32]

    def row(self, state: int) -> Words:
        """A view of the file's row."""
        row: Words = self.rows[self.row_of[state]]
        return row


@dataclass(slots=True, eq=False)
class _RowCache:
    """The last few hundred computed rows; the oldest is evicted first."""

    rows: dict[int, Words] = field(default_factory=dict)

    def add(self, state: int, row: Words) -> Words:
        row.flags.writeable = False
        if len(self.rows) >= _MAX_CACHED_ROWS:
            self.rows.pop(next(iter(self.rows)))
        self.rows[state] = row
        return row


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
    _cache: _RowCache = field(default_factory=_RowCache)

    def row(self, state: int) -> Words:
        """Unpacked on a cache miss, in time linear in the family's edges."""
        if state in self._cache.rows:
            return self._cache.rows[state]
        tokens, _ = self.dfa.edges_of(state)
        octets = self.bits[int(self.bit_offsets[state]) : int(self.bit_offsets[state + 1])]
        allowed = np.unpackbits(octets, count=len(tokens), bitorder="little").view(np.bool_)
        ids = [*tokens[allowed], *(self.eos if self.dfa.is_accepting(state) else ())]
        return self._cache.add(state, tokenset.from_ids(ids, self.vocab_size))


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
    _cache: _RowCache = field(default_factory=_RowCache)

    def row(self, state: int) -> Words:
        """Walked on a cache miss, in time linear in the live part of the trie."""
        if state in self._cache.rows:
            return self._cache.rows[state]
        ids: list[int] = []
        for hits in walk(self.trie, self.dfa.table, self.dfa.classes, np.array([state])):
            ids.extend(hits.tokens[self.live[hits.states]])
        ids.extend(self.dfa.terminals.select(self.live[self.dfa.token_targets(state)])[0])
        ids.extend(self.eos if self.dfa.accepting[state] else ())
        return self._cache.add(state, tokenset.from_ids(ids, self.vocab_size))
