"""The tokens that canonical text can go on with at a place, and where each leads."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..dfa.byte_dfa import ByteDfa
from ..tokens.level_walk import LevelWalk
from .trie import NONE, ROOT, SUFFIX_ROOT, WordTrie


@dataclass(frozen=True, eq=False)
class WordWalk:
    """Reads the tokens of ``trie`` with ``dfa``. ``vocab_size``: V."""

    trie: WordTrie
    dfa: ByteDfa
    vocab_size: int

    def read(self, root: int, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The tokens below ``root``, ascending, and the states after them; both int32."""
        nodes, states = self._walks[root].reached(state)
        tokens = self.trie.tokens[nodes]
        ending = np.flatnonzero(tokens != NONE)
        by_token = np.zeros(self.vocab_size, dtype=np.int32)
        by_token[tokens[ending]] = states[ending]
        found = np.flatnonzero(by_token).astype(np.int32)
        return found, by_token[found]

    @cached_property
    def _walks(self) -> list[LevelWalk]:
        """Below each root, whose nodes are neighbours on every level."""
        found, trie = [], self.trie
        for root in (ROOT, SUFFIX_ROOT):
            levels = [(root, root + 1)]
            while levels[-1][0] < levels[-1][1]:
                low, high = levels[-1]
                levels.append((int(trie.first[low]), int(trie.first[high])))
            nodes = trie.octets, trie.first, trie.children, trie.parents
            found.append(LevelWalk(*nodes, levels, self.dfa.table, self.dfa.classes))
        return found
