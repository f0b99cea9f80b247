"""A byte DFA as what runs it: a network without calls, the rows of its states, and its machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dfa.byte_dfa import DEAD, ByteDfa
from ..dfa.mask_rows import StoredRows
from ..machine.masks import MetMasks, StoredMasks
from ..machine.table_states import TableStates
from ..network.configurations import REFUSED, Entries
from ..network.tables import NetworkTables
from ..tokens.interning import Lock
from ..tokens.memo import BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary


def network_without_calls(dfa: ByteDfa, name: str = "") -> NetworkTables:
    """A DFA as a network, whose states keep their numbers. As nothing calls the start, it may
    accept, which says that ε is a member. ``name``: of the start's rule."""
    none, offsets = np.zeros(0, dtype=np.int32), np.zeros(dfa.states + 1, dtype=np.int64)
    entries, start = np.array([dfa.start], dtype=np.int32), dfa.start
    calls = offsets, none, none
    return NetworkTables(
        dfa.table, dfa.classes, dfa.accepting, *calls, start, False, (name,), entries
    )


def with_rejecting_start(tables: NetworkTables) -> NetworkTables:
    """The same network, whose start does not accept: where it does, a copy of it that does not is
    after all states, and ``nullable_start`` says that ε is a member."""
    start = tables.start
    if not tables.accepting[start]:
        return tables
    return replace(
        tables,
        table=np.concatenate((tables.table, tables.table[start : start + 1])),
        accepting=np.append(tables.accepting, np.uint8(0)),
        call_offsets=np.append(tables.call_offsets, tables.call_offsets[-1]),
        start=tables.states,
        nullable_start=True,
        entries=np.array([tables.states], dtype=np.int32),
    )


class RowsOfStates:
    """Stored rows as ``machine.masks.StoredMasks`` of a network without calls, whose states are
    those of a byte DFA. They depend on no stack, and have EOS and token terminals with them."""

    has_named = True

    def __init__(self, arrays: Mapping[str, NDArray[Any]], vocab_size: int, capacity: int) -> None:
        """``capacity``: bytes of lists that are packed."""
        self._packed: BoundedCache[int, Words] = BoundedCache(capacity)
        self._rows = StoredRows(arrays, vocab_size, self._packed)
        counts = np.append(np.ones(len(arrays["rows"])), np.diff(arrays["row_offsets"]))
        self.dead = frozenset(np.flatnonzero(counts[arrays["row_of"]] == 0).tolist()) - {DEAD}

    @property
    def is_full(self) -> bool:
        """Whether as much is packed as masks may hold."""
        return 2 * self._packed.total > self._packed.capacity

    def forget(self) -> None:
        """Drop what was packed."""
        self._packed.clear()

    def of_stack(self, state: int, node: int, entries: Sequence[Entries]) -> Words:
        """The row of a state."""
        return self._rows.row(state)

    def row(self, state: int, node: int, entries: Sequence[Entries]) -> tuple[Words, set[int]]:
        """The same, which depends on no set of stacks."""
        return self._rows.row(state), set()


class DfaMasks(MetMasks):
    """The machine of such a network where tokens are read by their bytes alone: its states are
    those of ``dfa``, which runs a token in less time than the rows of its states are made in."""

    def __init__(
        self,
        dfa: ByteDfa,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget,
        lock: Lock,
        stored: StoredMasks | None,
    ) -> None:
        tokens = trie, vocabulary, eos, vocab_size, caches, lock
        super().__init__(TableStates(network_without_calls(dfa)), *tokens, stored=stored)
        self._dfa = dfa
        # So that the first step of a text takes no longer than others.
        dfa.run(dfa.start, b"")

    def _stepped(self, state: int, token_id: int) -> int:
        target, v = DEAD, self.vocabulary
        if 0 <= token_id < self._vocab_size and v.is_text(token_id) and (text := v.token(token_id)):
            target = self._dfa.run(state, text)
        return REFUSED if target == DEAD or target in self._dead else target
