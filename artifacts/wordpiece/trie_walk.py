"""The tokens that canonical text can go on with at a place, and where each leads.

``trie.walk`` for one start. As long as few nodes of the trie are live, they alone are
stepped; where a level is mostly live, it and all below are stepped as whole arrays.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..dfa.byte_dfa import ByteDfa
from ..tokens.trie import expand
from .trie import NONE, ROOT, SUFFIX_ROOT, WordTrie

# A level is stepped as a whole if so many times its live nodes are more than it has.
_DENSE = 4


@dataclass(frozen=True, eq=False)
class WordWalk:
    """Reads the tokens of ``trie`` with ``dfa``. ``vocab_size``: V."""

    trie: WordTrie
    dfa: ByteDfa
    vocab_size: int

    def read(self, root: int, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The tokens below ``root``, ascending, and the states after them; both int32."""
        trie = self.trie
        by_token = np.zeros(self.vocab_size, dtype=np.int32)
        nodes, states = np.array([root]), np.array([state], dtype=np.int32)
        for place, (low, high) in enumerate(self._levels[root]):
            fan_out = trie.children[nodes]
            if _DENSE * int(fan_out.sum()) > high - low:
                self._read_dense(root, place, nodes, states, by_token)
                break
            rows, nodes = expand(np.arange(len(nodes), dtype=np.int32), trie.first[nodes], fan_out)
            states = self._flat[states[rows] * self._width + self._columns[nodes]]
            live = np.flatnonzero(states)
            nodes, states = nodes[live], states[live]
            ending = np.flatnonzero(trie.tokens[nodes] != NONE)
            by_token[trie.tokens[nodes[ending]]] = states[ending]
        tokens = np.flatnonzero(by_token).astype(np.int32)
        return tokens, by_token[tokens]

    def _read_dense(
        self,
        root: int,
        place: int,
        nodes: NDArray[np.integer],
        states: NDArray[np.int32],
        by_token: NDArray[np.int32],
    ) -> None:
        """All levels from ``place`` on, whose parents are ``nodes`` at ``states``."""
        reached = np.zeros(len(self.trie.octets), dtype=np.int32)
        reached[nodes] = states
        for low, high in self._levels[root][place:]:
            before = reached[self.trie.parents[low:high]]
            reached[low:high] = self._flat[before * self._width + self._columns[low:high]]
        found = reached[self._held[root]]
        live = np.flatnonzero(found)
        by_token[self.trie.tokens[self._held[root][live]]] = found[live]

    @cached_property
    def _levels(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The nodes of each level below each root, first and last + 1: on every level those
        below the first root come first."""
        levels: list[list[tuple[int, int]]] = []
        for root in (ROOT, SUFFIX_ROOT):
            low, high = root, root + 1
            levels.append([])
            while low < high:
                low, high = int(self.trie.first[low]), int(self.trie.first[high])
                levels[root].append((low, high))
        return levels[ROOT], levels[SUFFIX_ROOT]

    @cached_property
    def _held(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The nodes below each root where a token ends."""
        found = []
        for root in (ROOT, SUFFIX_ROOT):
            below = [np.arange(low, high) for low, high in self._levels[root]]
            nodes = np.concatenate(below)
            found.append(nodes[self.trie.tokens[nodes] != NONE])
        return found[0], found[1]

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        """The column of the byte into each node."""
        return self.dfa.classes[self.trie.octets].astype(np.int64)

    @cached_property
    def _flat(self) -> NDArray[np.int32]:
        return np.ascontiguousarray(self.dfa.table).reshape(-1)

    @property
    def _width(self) -> int:
        return int(self.dfa.table.shape[1])
