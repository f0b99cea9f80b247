"""Mask rows of a byte DFA whose file has none: walks of the token trie, as by a network."""

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from ..machine.table_states import TableStates
from ..network.configurations import BOTTOM, Stacks
from ..network.tables import network_without_calls
from ..tokens import tokenset
from ..tokens.interning import Lock
from ..tokens.memo import BoundedCache
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..walk.forms import kernel
from ..walk.layout import layout_of
from .byte_dfa import DEAD, ByteDfa
from .mask_rows import cached

if TYPE_CHECKING:
    from ..walk.kernel import Kernel


class WalkedRows:
    """Rows of a byte DFA, computed when they are first needed: what a state reads. From each state
    but the dead one tokens reach the end.

    Threads may share them: walks are made one at a time.
    """

    def __init__(
        self,
        dfa: ByteDfa,
        trie: Callable[[], Trie],
        eos: Sequence[int],
        vocab_size: int,
        cache: BoundedCache[int, Words],
        lock: Lock | None = None,
    ) -> None:
        """``trie``: called when the first row is needed. ``lock``: held during a walk."""
        self._dfa, self._trie, self._cache = dfa, trie, cache
        self._eos, self._vocab_size = eos, vocab_size
        self._lock = lock or RLock()

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

    @cached_property
    def _kernel(self) -> "Kernel":
        tables = network_without_calls(self._dfa.table, self._dfa.classes, self._dfa.start)
        found = kernel()(TableStates(tables), Stacks())
        found.lay_out(layout_of(self._trie(), self._vocab_size))
        return found

    def _walked(self, state: int) -> Words:
        """What is read by what it is, what ends the text, and what is read as bytes."""
        targets = self._dfa.token_targets(state)
        named: list[int] = self._dfa.terminals.select(targets != DEAD)[0].tolist()
        ends = self._eos if self._dfa.accepting[state] else ()
        row = tokenset.from_ids([*named, *ends], self._vocab_size)
        if state != DEAD:
            self._kernel.mask(state, BOTTOM, row)
        return row
