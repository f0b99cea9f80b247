"""Rows of a token DFA and of a byte DFA, computed in bulk.

The same rows one by one come from ``constrain.artifacts.dfa.mask_rows``; a test compares them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie, walk

from ..limits import Limits
from ..merge.direct_merge import CanonicalDfa

_STAGE = "the mask table"

# Booleans that one block of unpacked rows may hold.
_BLOCK = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """``rows``: uint32 (R, ceil(V / 32)), all different. ``row_of``: int32 (S,)."""

    rows: NDArray[np.uint32]
    row_of: NDArray[np.int32]


class _Distinct:
    """Collects rows, each once."""

    def __init__(self, words: int, limits: Limits) -> None:
        self._known: dict[bytes, int] = {}
        self._row_of: list[int] = []
        self._words = words
        self._limits = limits

    def add(self, flags: NDArray[np.bool_]) -> None:
        for row in tokenset.from_flags(flags):
            self._row_of.append(self._known.setdefault(row.tobytes(), len(self._known)))
        self._limits.check_memory(len(self._known) * self._words * 4, _STAGE)
        self._limits.check_time(_STAGE)

    def table(self) -> RowTable:
        rows = np.frombuffer(b"".join(self._known), dtype="<u4").reshape(-1, self._words)
        return RowTable(rows, np.array(self._row_of, dtype=np.int32))


def token_rows(
    canonical: CanonicalDfa, eos: Sequence[int], vocab_size: int, limits: Limits | None = None
) -> RowTable:
    """The row of every state of a token DFA. Raises ``LimitError``."""
    dfa = canonical.dfa
    width = tokenset.word_count(vocab_size) * 32
    distinct = _Distinct(width // 32, (limits or Limits()).started())
    step = max(1, _BLOCK // width)
    for first in range(0, dfa.states, step):
        states = range(first, min(first + step, dfa.states))
        flags = np.zeros((len(states), width), dtype=np.bool_)
        for i, state in enumerate(states):
            flags[i, dfa.edges_of(state)[0]] = canonical.flags(state)
            if dfa.accepting[state]:
                flags[i, list(eos)] = True
        distinct.add(flags)
    return distinct.table()


def byte_rows(
    dfa: ByteDfa,
    trie: Trie,
    live: NDArray[np.bool_],
    eos: Sequence[int],
    vocab_size: int,
    limits: Limits | None = None,
) -> RowTable:
    """The row of every state of a byte DFA: all tokens whose bytes lead to a live state.

    Raises ``LimitError``.
    """
    width = tokenset.word_count(vocab_size) * 32
    distinct = _Distinct(width // 32, (limits or Limits()).started())
    first_terminal = dfa.table.shape[1] - len(dfa.terminals)
    step = max(1, _BLOCK // width)
    for first in range(0, dfa.states, step):
        states = np.arange(first, min(first + step, dfa.states))
        flags = np.zeros((len(states), width), dtype=np.bool_)
        for hits in walk(trie, dfa.table, dfa.classes, states):
            kept = live[hits.states]
            flags[hits.rows[kept], hits.tokens[kept]] = True
        targets = live[dfa.table[states, first_terminal:]]
        flags[:, dfa.terminals.ids] |= np.repeat(targets, dfa.terminals.sizes, axis=1)
        flags[np.ix_(dfa.accepting[states] != 0, eos)] = True
        distinct.add(flags)
    return distinct.table()


def live_states(dfa: ByteDfa, trie: Trie) -> NDArray[np.bool_]:
    """States from which whole tokens reach an accepting state, shape (S,).

    All states but the dead one wherever every byte has a token of its own; a vocabulary
    that lacks bytes can leave a state that no token leads out of.
    """
    singles = trie.octets[trie.first[0] : trie.first[1]]
    has_token = np.diff(trie.held)[trie.first[0] : trie.first[1]] > 0
    spelled = np.zeros(256, dtype=np.bool_)
    spelled[singles[has_token]] = True
    used = (dfa.table != DEAD).any(axis=0)[dfa.classes]
    if not (used & ~spelled).any():
        every: NDArray[np.bool_] = np.arange(dfa.states) != DEAD
        return every
    live: NDArray[np.bool_] = dfa.accepting != 0
    edges = [(h.rows, h.states) for h in walk(trie, dfa.table, dfa.classes, np.arange(dfa.states))]
    terminals = dfa.table[:, dfa.table.shape[1] - len(dfa.terminals) :]
    while True:
        before = int(live.sum())
        for rows, targets in edges:
            live[rows[live[targets]]] = True
        live |= live[terminals].any(axis=1)
        live[DEAD] = False
        if int(live.sum()) == before:
            return live
