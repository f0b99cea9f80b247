"""Whether, and how soon, a word can end well: the search that keeps dead ends out of masks.

Tokens bind the text that follows them: with ``abc`` in the vocabulary nothing may follow
``a ##b`` but what keeps ``abc`` from being read. So a state is alive only if some text leads
on from it whose own tokens begin with those taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from .byte_dfa import ByteDfa
from .word_trie import NONE, Pops, WordTrie

SPACE = 0x20

# Before all other entries of the same cost.
_FOUND = -(1 << 30)


@dataclass(frozen=True, eq=False)
class WordDfa:
    """The automaton over canonical text: normalised words between single spaces.

    ``dfa``: over bytes. ``ends``: uint8 (S,), 1 where a word may end and the text too, or
    another word can follow. ``fewest``: int32 (S,), the fewest characters to such a state,
    whatever the tokens, or -1. ``plain``: the same for text of plain characters, which have a
    token at both places in a word, so that it can always be cut. ``ways``: int32 (S, 2), with
    how many first bytes plain text leads on to an end, and so that it is nearest.
    ``letters``: uint8 (N,), 1 for nodes of the trie whose text is plain.
    """

    dfa: ByteDfa
    ends: NDArray[np.uint8]
    fewest: NDArray[np.int32]
    plain: NDArray[np.int32]
    ways: NDArray[np.int32]
    letters: NDArray[np.uint8]

    def after_space(self, state: int) -> int:
        """The state where the next word begins, 0 if none can."""
        return int(self.dfa.table[state, self.dfa.classes[SPACE]])

    @cached_property
    def views(self) -> tuple[memoryview, memoryview, memoryview, memoryview]:
        """``ends``, ``fewest``, ``plain`` and ``letters``, quick to index."""
        arrays = (self.ends, self.fewest, self.plain, self.letters)
        ends, fewest, plain, letters = (np.ascontiguousarray(array).data for array in arrays)
        return ends, fewest, plain, letters


@dataclass(frozen=True, slots=True, eq=False)
class WordPaths:
    """Shortest completions, remembered for each pair of states."""

    words: WordDfa
    trie: WordTrie
    _known: dict[tuple[int, int], int | None] = field(default_factory=dict, init=False)
    _edges: dict[int, dict[int, int]] = field(default_factory=dict, init=False)

    def shortest(self, state: int, node: int) -> int | None:
        """The fewest characters from (``state``, ``node``) to a word's end; None: a dead end."""
        if self.words.views[0][state]:
            return 0
        key = state, node
        if key not in self._known:
            self._known[key] = self._search(state, node)
        return self._known[key]

    def _search(self, state: int, node: int) -> int | None:
        """A* over (state, node, tokens confirmed); ``fewest`` never overestimates."""
        ends, fewest, plain, letters = self.words.views
        expected = self.trie.flush(node)
        if expected is None or fewest[state] < 0:
            return None
        least = fewest[state]
        # An entry of state 0 is an end that has been found.
        heap = [(least, 0, 0, state, node, 0)]
        edges_left: dict[tuple[int, int, int], Iterator[tuple[int, int]]] = {}
        while heap:
            entry = heappop(heap)
            bound, _, cost, state, node, matched = entry
            if state == 0:
                return cost
            if (state, node, matched) not in edges_left:
                edges_left[state, node, matched] = self._edges_of(state, node, expected[matched:])
                if matched == len(expected) and letters[node] and plain[state] >= 0:
                    heappush(heap, (cost + plain[state], _FOUND, cost + plain[state], 0, 0, 0))
                rest = self.trie.flush(node) if ends[state] else None
                if rest is not None and rest[: len(expected) - matched] == expected[matched:]:
                    heappush(heap, (cost, _FOUND, cost, 0, 0, 0))
            for octet, after in edges_left[state, node, matched]:
                target, pops = self.trie.step(node, octet)
                if target == NONE:
                    continue
                upto = min(matched + len(pops), len(expected))
                if pops[: upto - matched] != expected[matched:upto]:
                    continue
                farther = cost + (octet & 0xC0 != 0x80)
                near = plain[after] >= 0 and farther + plain[after] == least
                if near and upto == len(expected) and letters[target]:
                    return least  # No end is nearer.
                heappush(heap, (farther + fewest[after], -upto, farther, after, target, upto))
                if upto > matched and farther + fewest[after] == bound:
                    heappush(heap, entry)  # The other edges may not be needed.
                    break
        return None

    def _edges_of(self, state: int, node: int, rest: Pops) -> Iterator[tuple[int, int]]:
        """The bytes that go on within a word towards an end, with where they lead.

        Where popping at ``node`` contradicts ``rest``, the tokens still to be confirmed, only
        its own edges are left.
        """
        if state not in self._edges:
            dfa, fewest = self.words.dfa, self.words.views[1]
            row = dfa.table[state][dfa.classes].tolist()
            self._edges[state] = {
                octet: after
                for octet, after in enumerate(row)
                if after and octet != SPACE and fewest[after] >= 0
            }
        edges = self._edges[state]
        pops = self.trie.popped(node)
        if pops[: len(rest)] == rest[: len(pops)]:
            return iter(edges.items())
        below = self.trie.octets_below(node)
        return ((octet, edges[octet]) for octet in below if octet in edges)
