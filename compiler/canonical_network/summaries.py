"""The precomputed rows of a network, collected and encoded as the sections ``closed.*``.

A summary says of an entry, a state and a suffix of the stacks which tokens are live there, and at
which entries the walk goes on at the frame below; ``PrecomputedRows`` looks them up while decoding.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.precomputed_rows import DEEPER
from constrain.artifacts.canonical_network.trie_walk import ROOT
from constrain.artifacts.network.configurations import BOTTOM
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words

from .pairs import TEXT
from .trie_walks import Suspended

# Rows of more tokens are encoded as bits.
LONGEST_LIST = 512


class EncodedRows:
    """Rows by number, equal ones once, even numbers for those of bits and odd ones for lists."""

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._lists: dict[bytes, int] = {}
        self._bits: dict[bytes, int] = {}
        self.nbytes = 0

    def add(self, ids: NDArray[np.int32]) -> int:
        """The number of the row of ``ids``."""
        if len(ids) <= 2 * LONGEST_LIST:
            ids = np.unique(ids)
        if len(ids) <= LONGEST_LIST:
            content, numbers = ids.astype("<i4").tobytes(), self._lists
        else:
            content, numbers = tokenset.from_ids(ids, self._vocab_size).tobytes(), self._bits
        if content not in numbers:
            self.nbytes += len(content)
            numbers[content] = len(numbers)
        return 2 * numbers[content] + (numbers is self._lists)

    def held(self, tokens: NDArray[np.int32]) -> dict[int, NDArray[np.bool_]]:
        """Which of ``tokens`` each row holds, by its number."""
        found: dict[int, NDArray[np.bool_]] = {}
        for number, content in enumerate(self._bits):
            words: Words = np.frombuffer(content, dtype="<u4")
            found[2 * number] = tokenset.to_flags(words)[tokens]
        for number, content in enumerate(self._lists):
            found[2 * number + 1] = np.isin(tokens, np.frombuffer(content, dtype="<i4"))
        return found

    def place(self, number: int) -> int:
        """The place of a row among all, those of bits first; final when all rows are there."""
        return number // 2 + len(self._bits) * (number % 2)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The sections ``closed.rows``, ``closed.ids`` and ``closed.id_offsets``."""
        width = tokenset.word_count(self._vocab_size)
        packed: Words = np.frombuffer(b"".join(self._bits), dtype="<u4").reshape(-1, width)
        ids = np.frombuffer(b"".join(self._lists), dtype="<i4")
        offsets = np.cumsum([0, *(len(content) // 4 for content in self._lists)])
        return {
            "closed.id_offsets": offsets.astype(np.int64),
            "closed.ids": ids,
            "closed.rows": packed,
        }


class Summaries:
    """``found``: by entry, state and suffix the row (of ``rows``, or ``DEEPER``) and the set of
    entries at which the walk goes on. ``suffixes``: numbered, (frame, suffix below) or
    (``UNKNOWN``, context), the empty stack first.
    """

    def __init__(self, vocab_size: int, planes: int, pre_states: int) -> None:
        """``planes``: in which tokens begin. ``pre_states``: of the pre-tokenizer DFA."""
        self.found: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.rows = EncodedRows(vocab_size)
        self.suffixes: dict[tuple[int, int], int] = {(TEXT, BOTTOM): 0}
        self._planes, self._pre_states = planes, pre_states
        # Where walks go on inside tokens; those at the root of the trie have numbers of their own.
        self._entries: dict[Suspended, int] = {}
        self._entry_sets: dict[tuple[int, ...], int] = {(): 0}

    @property
    def nbytes(self) -> int:
        """Bytes of the sections, approximately."""
        return self.rows.nbytes + 16 * len(self.found)

    def suffix(self, frame: int, below: int) -> int:
        """The number of a suffix."""
        return self.suffixes.setdefault((frame, below), len(self.suffixes))

    def entry(self, suspended: Suspended) -> int:
        """The number of an entry: plane and pre-tokenizer state at the root of the trie."""
        pre_state, nodes, plane = suspended
        if nodes == ROOT:
            return self.root_entry(pre_state, plane)
        roots = self._planes * self._pre_states
        return self._entries.setdefault(suspended, roots + len(self._entries))

    def root_entry(self, pre_state: int, plane: int) -> int:
        """The entry at the root of the trie."""
        return plane * self._pre_states + pre_state

    def entry_set(self, suspended: Sequence[Suspended]) -> int:
        """The number of a set of entries."""
        entries = tuple(sorted(map(self.entry, suspended)))
        return self._entry_sets.setdefault(entries, len(self._entry_sets))

    def arrays(self, states: int) -> dict[str, NDArray[Any]]:
        """The sections but for ``closed.all`` and ``closed.contexts``. ``states``: of the
        network."""
        listed = sorted(self.found)
        keys = np.array(listed, dtype=np.int64).reshape(-1, 3)
        placed = [
            (row if row == DEEPER else self.rows.place(row), left)
            for row, left in map(self.found.__getitem__, listed)
        ]
        suffixes = len(self.suffixes)
        return {
            "closed.answers": np.array(placed, dtype=np.int32).reshape(-1, 2),
            "closed.keys": (keys[:, 0] * states + keys[:, 1]) * suffixes + keys[:, 2],
            "closed.pending": np.array([e for s in self._entry_sets for e in s], dtype=np.int32),
            "closed.pending_offsets": np.cumsum([0, *map(len, self._entry_sets)]).astype(np.int64),
            "closed.suffixes": np.array(list(self.suffixes), dtype=np.int32),
            **self.rows.arrays(),
        }
