"""Which bytes states may read first, and which may follow their calls: FIRST and FOLLOW, as bits.

A token that is inside of a call where it ends goes on above only by a byte that some frame reads,
and few tokens do: after a name mostly letters follow in tokens, which end no name. What would read
nothing need not be walked. (Aho and others, "Compilers", 2007, section 4.4.2, by bytes.)
"""

from collections.abc import Generator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..tokens.memo import memoised, solve_recursive
from ..tokens.trie import Trie, ranges
from .tables import DEAD, NetworkTables

# So few nodes are faster looked at one by one.
_FEW = 4

# More nodes are looked up in a table of all.
_MANY = 1 << 13

# So many bytes are many.
WIDE = 32

# Classes in a word.
_WORD = 64

# Networks of more states have no FOLLOW sets: to find them takes a look at all.
_MOST_STATES = 20_000


class FirstOctets:
    """Sets of byte classes of ``tables``, one bit each, found when they are first asked for."""

    def __init__(self, tables: NetworkTables) -> None:
        self._tables = tables
        self._classes = int(tables.classes.max()) + 1
        self._all = (1 << self._classes) - 1
        self._firsts: dict[int, int] = {}
        self._edges: dict[Trie, NDArray[np.uint64]] = {}

    @property
    def nbytes(self) -> int:
        """About the size of the tables of tries."""
        return sum(words.nbytes for words in self._edges.values())

    def first(self, state: int) -> int:
        """What may be read first in a state, or in what it calls."""
        found = self._firsts.get(state)
        return solve_recursive(state, self._firsts.get, self._steps) if found is None else found

    def after(self, state: int) -> int:
        """What may be read first after a call that ends in a state."""
        return self._follow[state] if self._follow else self._all

    def is_wide(self, state: int) -> bool:
        """Whether a state reads many bytes and makes no calls."""
        tables = self._tables
        return not tables.calls[state] and bool(
            np.count_nonzero(tables.table[state][tables.classes]) >= WIDE
        )

    def classes_of(self, octets: NDArray[np.uint8]) -> int:
        """The classes of some bytes."""
        return _bits(np.bincount(self._tables.classes[octets], minlength=self._classes) > 0)

    def goes_on(self, trie: Trie, nodes: NDArray[np.int32], classes: int) -> NDArray[np.int32]:
        """Those of some trie nodes that have an edge of one of ``classes``, int32."""
        if classes == self._all:
            return nodes
        flags = self.flags(classes)
        if len(nodes) > _MANY:
            edges = self._edges_of(trie)
            goes_on = np.zeros(len(nodes), dtype=np.bool_)
            for words, word in zip(edges, _words(classes, len(edges)), strict=True):
                goes_on |= words[nodes] & word > 0
            return nodes[goes_on]
        if len(nodes) <= _FEW:
            bounds = zip(trie.first[nodes].tolist(), trie.first[nodes + 1].tolist(), strict=True)
            return nodes[[bool(flags[trie.octets[low:high]].any()) for low, high in bounds]]
        first = trie.first[nodes]
        counts = trie.first[nodes + 1] - first
        flags = flags[trie.octets[ranges(first, counts)]]
        done = np.append(0, flags.cumsum())[np.append(0, counts.cumsum())]
        kept: NDArray[np.int32] = nodes[done[1:] > done[:-1]]
        return kept

    def _edges_of(self, trie: Trie) -> NDArray[np.uint64]:
        """The classes of the edges out of each node of a trie, as bits: uint64 (K, N), 64 in a
        word."""
        found = self._edges.get(trie)
        if found is None:
            classes = self._tables.classes[trie.octets]
            bits = np.uint64(1) << (classes % _WORD).astype(np.uint64)
            inner = np.flatnonzero(trie.fan_out)
            words = -(-self._classes // _WORD)
            found = self._edges[trie] = np.zeros((words, len(classes)), dtype=np.uint64)
            for number in range(words):
                own = np.where(classes // _WORD == number, bits, np.uint64(0))
                found[number, inner] = np.bitwise_or.reduceat(own, trie.first[inner])
        return found

    @memoised
    def flags(self, classes: int) -> NDArray[np.bool_]:
        """Whether each byte is of one of some classes, bool (256,)."""
        octets = np.frombuffer(classes.to_bytes(32, "little"), np.uint8)
        found: NDArray[np.bool_] = np.unpackbits(octets, bitorder="little").astype(np.bool_)
        return found[self._tables.classes]

    def _steps(self, state: int) -> Generator[int, int, int]:
        """The bytes of a state, and of all that it calls: no chain of first calls leads back to its
        beginning."""
        firsts = _bits(self._tables.table[state, : self._classes] != DEAD)
        for start, _ in self._tables.calls[state]:
            firsts |= yield start
        self._firsts[state] = firsts
        return firsts

    @cached_property
    def _follow(self) -> list[int]:
        """``after`` by state, empty where it is not found out: the least sets that hold FIRST of
        each frame, and what follows that one's own call where it may end there."""
        tables = self._tables
        if tables.counters is not None or tables.states > _MOST_STATES:
            return []
        within = self._within()
        follow, pending = [0] * tables.states, list(range(tables.states))
        for calls in tables.calls:
            for start, frame in calls:
                follow[start] |= self.first(frame)
                if tables.ends[frame]:
                    within[frame].append(start)
        while pending:
            state = pending.pop()
            own = follow[state]
            for target in within[state]:
                if own & ~follow[target]:
                    follow[target] |= own
                    pending.append(target)
        return follow

    def _within(self) -> list[list[int]]:
        """The states that each leads to inside of its call."""
        tables = self._tables
        sources, columns = np.nonzero(tables.table)
        callers = np.arange(tables.states).repeat(np.diff(tables.call_offsets))
        targets = np.concatenate((tables.table[sources, columns], tables.call_returns))
        keys = np.concatenate((sources, callers)) * tables.states + targets
        found: list[list[int]] = [[] for _ in range(tables.states)]
        for key in np.unique(keys).tolist():
            found[key // tables.states].append(key % tables.states)
        return found


def _words(bits: int, count: int) -> NDArray[np.uint64]:
    """Bits as so many words."""
    return np.frombuffer(bits.to_bytes(8 * count, "little"), "<u8")


def _bits(flags: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
