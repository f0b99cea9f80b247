"""Where the mask row of a state comes from: stored, or computed when it is asked for.

All three give the same rows; a test compares them state by state.
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

# Rows kept by the computing sources: at 150,000 tokens a row has 19 kB.
_KEPT_ROWS = 512


class Rows(Protocol):
    """Anything that answers the packed set of tokens allowed at a state."""

    def row(self, state: int) -> Words:
        """Read-only uint32 (ceil(V / 32),); the EOS bits are set where the match may end."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredRows:
    """Rows from the file: ``rows`` uint32 (R, W), ``row_of`` int32 (S,)."""

    rows: NDArray[np.uint32]
    row_of: NDArray[np.int32]

    def row(self, state: int) -> Words:
        """A view; free."""
        row: Words = self.rows[self.row_of[state]]
        return row


@dataclass(slots=True, eq=False)
class _Memo:
    """The last few hundred computed rows; the oldest goes first."""

    rows: dict[int, Words] = field(default_factory=dict)

    def keep(self, state: int, row: Words) -> Words:
        row.flags.writeable = False
        if len(self.rows) >= _KEPT_ROWS:
            self.rows.pop(next(iter(self.rows)))
        self.rows[state] = row
        return row


@dataclass(slots=True, eq=False)
class FamilyRows:
    """Rows of a token DFA unpacked from one bit per edge of the family.

    ``bits``: uint8, bit i (little-endian within a byte) of the octets from
    ``bit_offsets[s]`` on says whether state s allows edge i of its family.
    """

    dfa: TokenDfa
    bits: NDArray[np.uint8]
    bit_offsets: NDArray[np.int64]
    eos: Sequence[int]
    vocab_size: int
    _memo: _Memo = field(default_factory=_Memo)

    def row(self, state: int) -> Words:
        """Unpacked on a miss, in time linear in the family's edges."""
        if state in self._memo.rows:
            return self._memo.rows[state]
        tokens, _ = self.dfa.edges_of(state)
        octets = self.bits[int(self.bit_offsets[state]) : int(self.bit_offsets[state + 1])]
        allowed = np.unpackbits(octets, count=len(tokens), bitorder="little").view(np.bool_)
        ids = [*tokens[allowed], *(self.eos if self.dfa.is_accepting(state) else ())]
        return self._memo.keep(state, tokenset.from_ids(ids, self.vocab_size))


@dataclass(slots=True, eq=False)
class WalkedRows:
    """Rows of a byte DFA by walking the token trie.

    ``live``: bool (S,), states from which tokens reach the end; only tokens that lead to
    one are allowed.
    """

    dfa: ByteDfa
    trie: Trie
    live: NDArray[np.bool_]
    eos: Sequence[int]
    vocab_size: int
    _memo: _Memo = field(default_factory=_Memo)

    def row(self, state: int) -> Words:
        """Walked on a miss, in time linear in the live part of the trie."""
        if state in self._memo.rows:
            return self._memo.rows[state]
        ids: list[int] = []
        for hits in walk(self.trie, self.dfa.table, self.dfa.classes, np.array([state])):
            ids.extend(hits.tokens[self.live[hits.states]])
        ids.extend(self.dfa.terminals.select(self.live[self.dfa.token_targets(state)])[0])
        ids.extend(self.eos if self.dfa.accepting[state] else ())
        return self._memo.keep(state, tokenset.from_ids(ids, self.vocab_size))
