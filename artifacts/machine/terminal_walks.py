"""What tokens make of states inside growing terminals: summaries, from their ends and exits.

from the root       any state inside: rows and exits by cached walks
from other nodes    the state before a terminal, which is called there: one walk for each set
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..dfa.conjunctions import DEAD, Conjunction
from ..dfa.lazy_reader import Reader, Threads
from ..dfa.node_walks import decided, from_nodes
from ..dfa.token_rows import TokenRows
from ..dfa.token_walks import TrieParts, tries_of
from ..tokens import tokenset
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from ..walk.node_sets import Nodes
from .exits import Exits

# How a budget is divided: rows and exits.
_ROWS, _EXITS = 3, 2


class TerminalWalks:
    """Of the ``terminals``, each some conjunctions. ``readers``: of each. ``following``: of what
    each begins with what may follow each, as ``PositionStates.following``. ``may_leave``: as that
    of ``Exits``. Nothing is interned."""

    def __init__(
        self,
        terminals: Sequence[Sequence[Conjunction]],
        trie: Callable[[], Trie],
        vocab_size: int,
        caches: CacheBudget,
        following: Callable[[Sequence[NDArray[np.bool_]]], Sequence[NDArray[np.bool_]]],
    ) -> None:
        rows, exits = caches.divide(_ROWS, _EXITS)
        self.readers = [Reader(each) for each in terminals]
        self._trie, self._vocab_size = trie, vocab_size
        walked = [reader.walked for reader in self.readers]
        self._rows = TokenRows([each for some in walked for each in some], trie, vocab_size, rows)
        self._firsts = np.cumsum([0, *map(len, walked)]).tolist()
        begins = [_begins(reader) for reader in self.readers]
        self._exits = Exits(walked, lambda: following(begins), exits)
        self.may_leave = self._exits.may_leave

    @cached_property
    def _parts(self) -> TrieParts:
        return tries_of(self._trie()).whole

    def from_root(self, terminal: int, threads: Threads, ends_now: bool) -> tuple[Words, Nodes]:
        """The tokens that end inside the terminal, uint32 (W,), and the exits to which tokens lead
        from ``threads``, ascending. ``ends_now``: whether the terminal may end before."""
        first = self._firsts[terminal]
        row, *others = [
            self._rows.row(first + number, state, sets, characters)
            for number, state, sets, characters in threads
        ]
        for other in others:
            row = row | other
        return row, self._exits.from_root(terminal, threads, ends_now, self._parts)

    def from_nodes(self, suspended: Nodes, terminal: int, threads: Threads) -> tuple[Words, Nodes]:
        """The same for tokens that come to a terminal's beginning at some nodes."""
        trie = self._parts.trie
        inside: list[Nodes] = []
        ending: list[Nodes] = []
        for thread in threads:
            walked = self.readers[terminal].walked[thread.conjunction]
            met = from_nodes(suspended, thread, walked, self._parts, own=False)
            live, accepts = decided(walked, met, thread.characters)
            inside.append(met.nodes[live[met.ends]])
            ending.append(met.nodes[accepts[met.ends]])
        nodes = np.concatenate(inside)
        held = trie.held.take(nodes)
        ids = trie.ids[ranges(held, trie.held.take(nodes + 1) - held)]
        left = np.unique(np.concatenate(ending))
        left = left[self._exits.is_one(terminal, self._parts)[left]]
        return tokenset.from_ids(ids, self._vocab_size), left


def _begins(reader: Reader) -> NDArray[np.bool_]:
    """The bytes that a terminal begins with, bool (256,), or some more."""
    found = np.zeros(256, dtype=np.bool_)
    for walked in reader.walked:
        c = walked.conjunction
        found |= c.table[c.start, c.classes] != DEAD
    return found
