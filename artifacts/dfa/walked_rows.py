"""Mask rows of a byte DFA whose file has none: walks of the token trie, as by a network.

row(q)            one walk from the root in state q; subtrees that q reads are taken whole
precompute(...)   the same for all states, those first that texts have met
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from ..machine.table_states import TableStates
from ..network.configurations import BOTTOM, Stacks
from ..network.tables import network_without_calls
from ..tokens import tokenset
from ..tokens.allowance import Allowance, Ended, Precomputed
from ..tokens.interning import Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, walk
from ..walk.rows_by_frames import RowsByFrames
from .byte_dfa import DEAD, ByteDfa
from .mask_rows import cached


class WalkedRows:
    """Rows of a byte DFA by a walk of the token trie, computed when they are first needed.

    Threads may share them: walks are made one at a time.
    """

    def __init__(
        self,
        dfa: ByteDfa,
        trie: Callable[[], Trie],
        live: NDArray[np.bool_],
        eos: Sequence[int],
        vocab_size: int,
        cache: BoundedCache[int, Words],
        lock: Lock | None = None,
    ) -> None:
        """``trie``: called when the first row is needed. ``live``: bool (S,), states from which
        some token sequence reaches an accepting state; only tokens that lead to one are
        allowed. ``lock``: held during a walk."""
        self._dfa, self._trie, self._live = dfa, trie, live
        self._eos, self._vocab_size, self._cache = eos, vocab_size, cache
        self._lock = lock or RLock()
        self._rows: RowsByFrames | None = None
        # Where all states but the dead one are live, a token fits if it can be read.
        self._leaves_none = bool(live[1:].all())
        # Rows by the hash of their content: what is precomputed is kept once.
        self._distinct: dict[bytes, Words] = {}

    def row(self, state: int) -> Words:
        """Walked on a cache miss, in time linear in the part of the trie that is not taken
        whole."""
        found = self._cache.get(state)
        if found is None:
            with self._lock:
                found = cached(self._cache, state, self._walked(state))
        return found

    def allows(self, state: int, token_id: int) -> bool:
        """By the row."""
        return tokenset.contains(self.row(state), token_id)

    def row_via_levels(self, state: int) -> Words:
        """The same, uncached, from a walk that follows the trie level by level."""
        ids: list[int] = []
        for hits in walk(self._trie(), self._dfa.table, self._dfa.classes, np.array([state])):
            ids.extend(hits.tokens[self._live[hits.states]])
        return tokenset.from_ids([*ids, *self._others(state)], self._vocab_size)

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """The rows of all states: of those that texts have met come first, and then of what they
        lead to. As many as there is room for are kept."""
        allowance, found = Allowance(seconds, answers), 0
        size = 4 * tokenset.word_count(self._vocab_size) + ENTRY_BYTES
        for state in self._nearest_first():
            if self._cache.get(state) is not None:
                continue
            ended = allowance.spent(found)
            if self._cache.total + size > self._cache.capacity:
                ended = Ended.MEMORY
            if ended is not None:
                return Precomputed(found, ended)
            with self._lock:
                row = self._walked(state)
            digest = blake2b(row.tobytes(), digest_size=16).digest()
            cached(self._cache, state, self._distinct.setdefault(digest, row))
            found += 1
        return Precomputed(found, Ended.COMPLETE)

    def _nearest_first(self) -> Iterator[int]:
        """All states but the dead one, breadth first from those whose rows are there."""
        table = self._dfa.table
        seen = np.zeros(len(table), dtype=np.bool_)
        seen[DEAD] = True
        for begun in (self._cache.keys(), [self._dfa.start], range(len(table))):
            reached: NDArray[np.integer] = np.array(sorted(begun), dtype=np.int32)
            while len(reached := np.unique(reached[~seen[reached]])):
                seen[reached] = True
                yield from reached.tolist()
                reached = table[reached].ravel()

    def _walked(self, state: int) -> Words:
        if not self._leaves_none or state == DEAD:
            return self.row_via_levels(state)
        if self._rows is None:
            tables = network_without_calls(self._dfa.table, self._dfa.classes, self._dfa.start)
            states, rest = TableStates(tables), (self._trie, self._vocab_size, CacheBudget(0))
            self._rows = RowsByFrames(states, Stacks(), *rest)
        row = self._rows.row(state, BOTTOM).copy()
        self._rows.forget()
        for token in self._others(state):
            row[token >> 5] |= np.uint32(1 << (token & 31))
        return row

    def _others(self, state: int) -> list[int]:
        """The tokens that are read by what they are, and those that end the text."""
        targets = self._dfa.token_targets(state)
        found: list[int] = self._dfa.terminals.select(self._live[targets])[0].tolist()
        return [*found, *(self._eos if self._dfa.accepting[state] else ())]
