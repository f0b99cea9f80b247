"""Walks of the token trie by the lexer alone: tokens that end in a lexeme, and suspended nodes.

From a set e of suspended trie nodes (``artifacts/summaries/node_sets.py``) and a state s of the
lexer

    W(e, s) = (row, ends)

``row``: the tokens that end inside the lexeme that s is in. ``ends``: for each accept set with
which that lexeme can end in the middle of tokens, the nodes at which the next lexeme begins. The
parser takes no part, so W is computed once for all texts. Many walks are made at a time, side by
side in one frontier that is read byte by byte:

    walks [0, 0, 1]   nodes [12, 13, 57]   states [8, 8, 3]

Subtrees of tokens are taken whole where the lexer stays in a state
(``artifacts/tokens/subtrees.py``).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dfa.stacked_dfas import DEAD
from ...summaries.node_sets import ROOT, Nodes, NodeSets
from ...tokens.subtrees import Subtrees
from ...tokens.trie import Trie, expand
from ..lexer import NO_ACCEPT, Lexer
from ..lexer_trie import Stays
from .row_unions import RowUnions

# Nodes with which a frontier begins at most, and bits of a node and of an accept set in a key.
_MOST_AT_ONCE = 1 << 14
_NODE_BITS, _ACCEPT_BITS = 26, 20

_Ints = NDArray[np.int32]


class LexerWalk(NamedTuple):
    """A row's number, and (accept set, set of suspended nodes) pairs of numbers."""

    row: int
    ends: Sequence[tuple[int, int]]


class LexerWalks:
    """W over one token trie, as ``walked`` so far, by (suspended nodes, state). ``rows`` and
    ``suspended`` number what it gives. ``check``: called between levels, may raise."""

    def __init__(
        self, lexer: Lexer, trie: Trie, tokens: Subtrees, vocab_size: int, check: Callable[[], None]
    ) -> None:
        self._lexer, self._trie, self._tokens, self._check = lexer, trie, tokens, check
        self._stays = Stays(lexer)
        self.rows = RowUnions(tokens, vocab_size)
        self.suspended = NodeSets()
        self.walked: dict[tuple[int, int], LexerWalk] = {}

    @cached_property
    def _columns(self) -> NDArray[np.integer]:
        """Of the byte of each node."""
        return self._lexer.columns[self._trie.octets]

    def nodes(self, suspended: int) -> Nodes:
        """int32: the nodes of a set, for ``ROOT`` the first bytes of all tokens."""
        first = self._trie.first
        if suspended == ROOT:
            return np.arange(first[0], first[1], dtype=np.int32)
        return self.suspended[suspended]

    def walk(self, keys: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Add W of different (suspended nodes, state) pairs; yields behind each part of them."""
        begun: list[Nodes] = []
        first = size = 0
        for i, (suspended, _) in enumerate(keys):
            begun.append(self.nodes(suspended))
            size += len(begun[-1])
            if size >= _MOST_AT_ONCE or i + 1 == len(keys):
                self._walk(keys[first : i + 1], begun)
                begun, first, size = [], i + 1, 0
                yield

    def _walk(self, keys: Sequence[tuple[int, int]], begun: Sequence[Nodes]) -> None:
        trie, tokens, left = self._trie, self._tokens, self._stays.leaving()
        table, accepted = self._lexer.table, self._lexer.accept_numbers
        sizes = [len(nodes) for nodes in begun]
        nodes = np.concatenate(begun)
        walks = np.arange(len(keys), dtype=np.int32).repeat(sizes)
        states = np.array([state for _, state in keys], dtype=np.int32).repeat(sizes)
        found: list[tuple[_Ints, _Ints, _Ints]] = []
        ended: list[NDArray[np.int64]] = []
        while len(nodes):
            self._check()
            whole = (tokens.within[nodes] & left[states]) == 0
            which = np.flatnonzero(whole)
            taken = nodes[which]
            found.append((walks[which], tokens.begin[taken], tokens.end[taken]))
            which = np.flatnonzero(~whole)
            nodes, walks, states = nodes[which], walks[which], states[which]
            targets = table[states, self._columns[nodes]]
            dead = targets == DEAD
            which = np.flatnonzero(dead)
            accept_sets = accepted[states[which]]
            which, accept_sets = which[stops := accept_sets != NO_ACCEPT], accept_sets[stops]
            keyed = walks[which].astype(np.int64) << _ACCEPT_BITS | accept_sets
            ended.append(keyed << _NODE_BITS | nodes[which])
            which = np.flatnonzero(~dead)
            nodes, walks, states = nodes[which], walks[which], targets[which]
            whole = (tokens.below[nodes] & left[states]) == 0
            begins = tokens.begin[nodes]
            found.append(
                (walks, begins, np.where(whole, tokens.end[nodes], begins + tokens.own[nodes]))
            )
            which = np.flatnonzero(~whole)
            inner = nodes[which]
            starts = trie.first[inner]
            parents, nodes = expand(which.astype(np.int32), starts, trie.first[inner + 1] - starts)
            walks, states = walks[parents], states[parents]
        for key, row, ends in zip(
            keys, self._rows(found, len(keys)), self._ends(ended, len(keys)), strict=True
        ):
            self.walked[key] = LexerWalk(row, ends)

    def _rows(self, found: Sequence[tuple[_Ints, _Ints, _Ints]], count: int) -> list[int]:
        """The rows of intervals by walk."""
        if not found:
            return [0] * count
        walks, begins, ends = (np.concatenate(parts) for parts in zip(*found, strict=True))
        which = np.flatnonzero(ends > begins)
        order = which[np.argsort(walks[which], kind="stable")]
        offsets = np.searchsorted(walks[order], np.arange(count + 1))
        return self.rows.of_intervals(begins[order], ends[order], offsets)

    def _ends(self, ended: Sequence[NDArray[np.int64]], count: int) -> list[list[tuple[int, int]]]:
        """Sets of suspended nodes by walk and accept set."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        keys = np.sort(np.concatenate(ended)) if ended else np.zeros(0, dtype=np.int64)
        if len(keys):
            nodes = (keys & (1 << _NODE_BITS) - 1).astype(np.int32)
            owners = keys >> _NODE_BITS
            bounds = np.append(0, np.flatnonzero(np.diff(owners)) + 1)
            ends = [*bounds[1:].tolist(), len(keys)]
            for owner, first, end in zip(
                owners[bounds].tolist(), bounds.tolist(), ends, strict=True
            ):
                number = self.suspended.number(nodes[first:end])
                found[owner >> _ACCEPT_BITS].append((owner & (1 << _ACCEPT_BITS) - 1, number))
        return found
