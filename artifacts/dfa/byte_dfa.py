"""A grammar's DFA over bytes as tables, and two ways to run it.

    ByteDfa.run      one text, byte by byte
    TokenRuns        many tokens from one state at once, vectorised over the tokens

Besides byte classes the table has columns for token terminals, which are read as single tokens
whatever their bytes are (``<think>``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tokens.vocabulary import TokenClasses

DEAD = 0

# A file has the states of a table as uint16 where there are at most so many.
NARROW_STATES = 1 << 16


@dataclass(frozen=True, eq=False)
class ByteDfa:
    """A deterministic automaton over byte classes and token terminals.

    ``table``: int32 (S, C + T), next state by column, state 0 dead. ``classes``: uint8
    (256,), byte to one of C columns. ``terminals``: the T classes of tokens that the last T
    columns stand for; such a column says where each token of the class leads as a token, and
    its bytes may lead elsewhere. ``accepting``: uint8 (S,). ``start``: a state.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    terminals: TokenClasses
    accepting: NDArray[np.uint8]
    start: int

    @classmethod
    def from_sections(cls, arrays: Mapping[str, NDArray[Any]], start: int) -> "ByteDfa":
        """The automaton in the sections ``dfa.*`` of an artifact."""
        terminals = TokenClasses.of()
        if "dfa.token_ids" in arrays:
            terminals = TokenClasses(arrays["dfa.token_ids"], arrays["dfa.token_offsets"])
        # Computed with as states are everywhere, of which 16 bits would be too few.
        table = arrays["dfa.table"].astype(np.int32, copy=False)
        classes = arrays["dfa.classes"]
        return cls(table, classes, terminals, arrays["dfa.accepting"], start)

    def stored_table(self) -> NDArray[np.uint16] | NDArray[np.int32]:
        """The table as the section ``dfa.table`` has it."""
        return self.table.astype(np.uint16) if self.states <= NARROW_STATES else self.table

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)

    def token_targets(self, state: int) -> NDArray[np.int32]:
        """Where the token terminals lead from a state, ``DEAD`` for nowhere; shape (T,)."""
        return self.table[state, self.table.shape[1] - len(self.terminals) :]

    @cached_property
    def _flat(self) -> tuple[memoryview, list[int], int]:
        """The cells of the table, the column of each byte, and the number of columns."""
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        cells = np.ascontiguousarray(self.table).reshape(-1).data
        return cells, self.classes.tolist(), self.table.shape[1]

    def run(self, state: int, text: bytes | memoryview) -> int:
        """The state after ``text``; ``DEAD`` if no member has it as a prefix."""
        cells, columns, width = self._flat
        for octet in text:
            state = cells[state * width + columns[octet]]
        return state

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` are a prefix of some member: ``len(text)`` if all are."""
        cells, columns, width = self._flat
        state = self.start
        for i, octet in enumerate(text):
            state = cells[state * width + columns[octet]]
            if state == DEAD:
                return i
        return len(text)


class TokenRuns:
    """Runs a set of tokens from any one state, all of them one byte further in each step.

    The tokens are sorted by falling length, so that step d works on a prefix of the array. For a
    few thousand tokens this is fewer numpy calls than a walk of their trie: one for each byte of
    the longest token, on those that have so many bytes and are live after their first.
    """

    def __init__(
        self,
        ids: NDArray[np.int32],
        texts: Sequence[bytes],
        table: NDArray[np.integer],
        classes: NDArray[np.uint8],
    ) -> None:
        """``ids``: int32 (n,). ``texts``: the bytes of each; empty ones are never read. ``table``:
        (S, J), next state by column, state 0 dead. ``classes``: (256,), byte to column."""
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        self.ids, self._lengths = ids[order], lengths[order]
        self._width = table.shape[1]
        self._flat = np.ascontiguousarray(table).reshape(-1)
        data = classes[np.frombuffer(b"".join(texts), dtype=np.uint8)]
        starts = (np.cumsum(lengths) - lengths)[order]
        # For each depth the columns of the tokens that have a byte there.
        counts = np.searchsorted(np.sort(-lengths), -np.arange(lengths.max(initial=0)))
        self._columns = [data[starts[:n] + depth] for depth, n in enumerate(counts.tolist())]

    def run(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens that ``state`` reads, int32 (m,), in no particular order, and their target
        states, int64 (m,)."""
        if not self._columns:
            return self.ids[:0], np.zeros(0, dtype=np.int64)
        after = self._flat[state * self._width + self._columns[0].astype(np.int64)]
        live = np.flatnonzero(after != DEAD)
        states, lengths = after[live].astype(np.int64), self._lengths[live]
        depths = np.arange(1, lengths.max(initial=1))
        counts = np.searchsorted(-lengths, -depths)
        for depth, count in enumerate(counts.tolist(), start=1):
            column = self._columns[depth][live[:count]]
            states[:count] = self._flat[states[:count] * self._width + column]
        read = states != DEAD
        return self.ids[live[read]], states[read]
