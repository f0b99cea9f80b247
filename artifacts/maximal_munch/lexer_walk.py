"""Walks of the token trie by the lexer alone: tokens that end in a lexeme, and suspended nodes.

From a set e of suspended trie nodes (``interned.py``) and a state s of the lexer

    W(e, s) = (row, ends)

``row``: the tokens that end inside the lexeme that s is in. ``ends``: for each accept set with
which that lexeme can end in the middle of tokens, the nodes at which the next lexeme begins. The
parser takes no part, so W is computed once for all texts. A walk reads a frontier of nodes byte by
byte, one numpy look-up a level, and takes subtrees and slices of tokens whole
(``artifacts/tokens/subtrees.py``, ``slices.py``).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..errors import ArtifactError
from ..tokens.memo import ENTRY_BYTES
from ..tokens.subtrees import OTHER, Subtrees, leaving
from ..tokens.trie import Trie, expand, grouped
from .interned import ROOT, MaskRows, Nodes, SuspendedNodes
from .lexer import NO_ACCEPT, Lexer
from .slices import Covered, Slices
from .summary_tables import HeadSummaryTables

# From so many nodes read on, subtrees are made, in the time that reading some ten times as many
# takes. A first mask mostly reads a few thousand.
LARGE = 1 << 14

_NO_NODES: Nodes = np.zeros(0, dtype=np.int32)


class Stays:
    """On which classes of characters the states of a lexer do not loop, as there are states."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer
        self._leaving = np.zeros(64, dtype=np.uint64)
        self._computed = 0

    def leaving(self) -> NDArray[np.uint64]:
        """uint64 (states,), as ``subtrees.leaving`` gives them."""
        lexer, computed = self._lexer, self._computed
        if computed < lexer.states:
            while lexer.states > len(self._leaving):
                self._leaving = np.concatenate((self._leaving, np.zeros_like(self._leaving)))
            states = np.arange(computed, lexer.states)
            self._leaving[computed : lexer.states] = leaving(lexer.table, lexer.columns, states)
            self._computed = lexer.states
        return self._leaving[: self._computed]


class LexerWalked(NamedTuple):
    """A row's number, and (accept set, set of suspended nodes) pairs of numbers."""

    row: int
    ends: Sequence[tuple[int, int]]


# Frontiers of so few nodes are walked one node after the other.
_FEW = 16


class LexerWalks:
    """W, memoised, over one token trie. ``rows`` and ``suspended`` number what it gives.

    ``trie`` and ``slices`` are called for the first walk. ``visited`` and ``parsed`` count the trie
    nodes that walks have read, and those of them at which a lexeme ended.
    """

    def __init__(
        self,
        lexer: Lexer,
        trie: Callable[[], Trie],
        vocab_size: int,
        slices: Callable[[], Slices] | None = None,
        stored: HeadSummaryTables | None = None,
    ) -> None:
        self._lexer, self._vocab_size = lexer, vocab_size
        self._make_trie, self._make_slices = trie, slices
        self.rows = MaskRows(vocab_size, None if stored is None else stored.rows)
        self.suspended = SuspendedNodes(stored)
        self.stays = Stays(lexer)
        self._trie: Trie | None = None
        self._slices: Slices | None = None
        self._leaves: Subtrees | None = None
        self._walked: dict[tuple[int, int], LexerWalked] = {}
        self._ends = 0
        self.visited = self.parsed = 0

    def walk(self, suspended: int, state: int) -> LexerWalked:
        """W(suspended, state)."""
        cached = self._walked.get((suspended, state))
        if cached is None:
            cached = self._walked[suspended, state] = self._walk(suspended, state)
            self._ends += len(cached.ends)
        return cached

    @property
    def nbytes(self) -> int:
        """About the size of all walks and of the sets that were added, without rows."""
        return ENTRY_BYTES * (len(self._walked) + self._ends // 2) + self.suspended.nbytes

    def trie(self) -> Trie:
        """The trie. Raises ``ArtifactError`` if stored sets name nodes that it does not have."""
        if self._trie is None:
            trie = self._make_trie()
            if self.suspended.highest >= len(trie.octets):
                raise ArtifactError("section 'greedy.exits' is damaged: there are no such nodes")
            if self._make_slices is not None:
                self._slices = self._make_slices()
            self._trie = trie
        return self._trie

    def tokens(self, reading: int | None = None) -> Subtrees:
        """The tokens of the trie, in subtrees that can be taken whole if there are slices.

        With ``reading`` so many nodes next, these are made only if walks have become large.
        """
        trie, slices = self.trie(), self._slices
        if slices is not None:
            return slices.subtrees(make=reading is None or self.visited + reading >= LARGE)
        if self._leaves is None:
            self._leaves = Subtrees.leaves(trie)
        return self._leaves

    def nodes(self, suspended: int) -> Nodes:
        """int32: the nodes of a set, for ``ROOT`` the first bytes of all tokens."""
        first = self.trie().first
        if suspended == ROOT:
            return np.arange(first[0], first[1], dtype=np.int32)
        return self.suspended.sets[suspended]

    def skipped(self, suspended: int, state: int) -> Covered | None:
        """The slices that fit, where subtrees do not do the same."""
        if (
            self._slices is None
            or suspended != ROOT
            or not int(self.stays.leaving()[state]) >> OTHER & 1
        ):
            return None
        return self._slices.covered(self._lexer, state)

    def _walk(self, suspended: int, state: int) -> LexerWalked:
        trie, tokens, left = self.trie(), self.tokens(), self.stays.leaving()
        table, columns = self._lexer.table, self._lexer.columns
        accepted = self._lexer.accept_numbers
        nodes, skip = self.nodes(suspended), self.skipped(suspended, state)
        states = np.full(len(nodes), state, dtype=np.int32)
        begins, ends = [_NO_NODES], [_NO_NODES]
        ended: list[tuple[Nodes, NDArray[np.int32]]] = []
        if len(nodes) <= _FEW and skip is None:
            nodes, states = self._walk_few(nodes.tolist(), state, begins, ends, ended)
        while len(nodes):
            if skip is not None:
                nodes, states = nodes[skip.needed[nodes]], states[skip.needed[nodes]]
            self.visited += len(nodes)
            whole = (tokens.within[nodes] & left[states]) == 0
            begins.append(tokens.begin[nodes[whole]])
            ends.append(tokens.end[nodes[whole]])
            nodes, states = nodes[~whole], states[~whole]
            targets = table[states, columns[trie.octets[nodes]]]
            dead = targets == DEAD
            accept_sets = accepted[states[dead]]
            stops = accept_sets != NO_ACCEPT
            if stops.any():
                ended.append((nodes[dead][stops], accept_sets[stops]))
                self.parsed += len(ended[-1][0])
            nodes, states = nodes[~dead], targets[~dead]
            whole = (tokens.below[nodes] & left[states]) == 0
            begins.append(tokens.begin[nodes])
            ends.append(np.where(whole, tokens.end[nodes], begins[-1] + tokens.own[nodes]))
            nodes, states = nodes[~whole], states[~whole]
            fan_out = trie.first[nodes + 1] - trie.first[nodes]
            states, nodes = expand(states, trie.first[nodes], fan_out)
        row = tokens.row(np.concatenate(begins), np.concatenate(ends), self._vocab_size)
        number = self.rows.number(row if skip is None else row | skip.row)
        return LexerWalked(number, [(a, self.suspended.number(n)) for a, n in grouped(ended)])

    def _walk_few(
        self,
        nodes: list[int],
        state: int,
        begins: list[Nodes],
        ends: list[Nodes],
        ended: list[tuple[Nodes, NDArray[np.int32]]],
    ) -> tuple[Nodes, NDArray[np.int32]]:
        """The walk as long as its frontier is so small that arrays take longer; gives what is left
        of it. Adds the intervals of tokens, and the nodes at which lexemes end."""
        trie, tokens, lexer = self.trie(), self.tokens(), self._lexer
        octets, first = trie.octets.data, trie.first.data
        begin, end, own = tokens.begin.data, tokens.end.data, tokens.own.data
        within, below = tokens.within.data, tokens.below.data
        left = self.stays.leaving().tolist()
        intervals: list[tuple[int, int]] = []
        stops: list[tuple[int, int]] = []
        frontier = [(node, state) for node in nodes]
        while 0 < len(frontier) <= _FEW:
            self.visited += len(frontier)
            following: list[tuple[int, int]] = []
            for node, inner in frontier:
                if not within[node] & left[inner]:
                    intervals.append((begin[node], end[node]))
                    continue
                target = lexer.rows[inner][octets[node]]
                if target == DEAD:
                    if lexer.accept_of[inner] != NO_ACCEPT:
                        stops.append((node, lexer.accept_of[inner]))
                elif not below[node] & left[target]:
                    intervals.append((begin[node], end[node]))
                else:
                    intervals.append((begin[node], begin[node] + own[node]))
                    following += [(child, target) for child in range(first[node], first[node + 1])]
            frontier = following
        if intervals:
            pairs = np.array(intervals, dtype=np.int32)
            begins.append(pairs[:, 0])
            ends.append(pairs[:, 1])
        if stops:
            self.parsed += len(stops)
            pairs = np.array(stops, dtype=np.int32)
            ended.append((pairs[:, 0], pairs[:, 1]))
        rest = np.array(frontier, dtype=np.int32).reshape(-1, 2)
        return rest[:, 0], rest[:, 1]
