"""Whether a word that has begun can end, and how soon: the search that finds dead ends.

Tokens constrain the text that follows them: with ``abc`` in the vocabulary ``c`` may not follow
``a ##b``, because the word would be ``abc``. So a state is live only if some text leads on from it
to a word's end whose own tokens begin with those taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.byte_dfa import ByteDfa
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from .trie import NONE, SUFFIX_ROOT, Pops, WordTrie

SPACE = 0x20

# The most bytes of text that alike states agree on, and the largest table in which they are
# searched.
_ALIKE, _ALIKE_CELLS = 16, 1 << 22

# Before all other entries of the same cost.
_FOUND = -(1 << 30)


@dataclass(frozen=True, eq=False)
class WordDfa:
    """The automaton over canonical text: normalised words between single spaces.

    ``dfa``: over bytes. ``ends``: uint8 (S,), 1 where a word may end and the text too, or
    another word can follow. ``fewest``: int32 (S,), the fewest characters to such a state,
    whatever the tokens, or -1. ``plain``: the same for text of plain characters, which have a
    token at both places in a word, so that it always has tokens. ``first_bytes``: int32 (S, 2),
    by how many first bytes plain text leads on to an end, and to a nearest one. ``plain_nodes``:
    uint8 (N,), 1 for nodes of the trie whose text is plain.
    """

    dfa: ByteDfa
    ends: NDArray[np.uint8]
    fewest: NDArray[np.int32]
    plain: NDArray[np.int32]
    first_bytes: NDArray[np.int32]
    plain_nodes: NDArray[np.uint8]

    def after_space(self, state: int) -> int:
        """The state where the next word begins, 0 if none can."""
        return int(self.dfa.table[state, self.dfa.classes[SPACE]])

    @cached_property
    def alike(self) -> list[memoryview]:
        """Entry k has equal numbers for states that agree on the next k bytes of a word: on what
        can be read, where words may end, and from where they can.

        Moore's rounds of refinement, as far as ``_ALIKE``. Empty for large tables.
        """
        table = self.dfa.table.copy()
        table[:, self.dfa.classes[SPACE]] = 0
        if table.size > _ALIKE_CELLS:
            return []
        labels = 4 * self.ends.astype(np.int64) + 2 * (self.fewest >= 0) + (self.plain >= 0)
        rounds: list[NDArray[np.int64]] = [np.unique(labels, return_inverse=True)[1].reshape(-1)]
        while len(rounds) <= _ALIKE:
            rows = np.column_stack((rounds[-1], rounds[-1][table]))
            finer = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
            if int(finer.max()) == int(rounds[-1].max()):
                return [classes.data for classes in rounds + [finer] * (_ALIKE - len(rounds))]
            rounds.append(finer)
        return [classes.data for classes in rounds]

    @cached_property
    def views(self) -> tuple[memoryview, memoryview, memoryview, memoryview]:
        """``ends``, ``fewest``, ``plain`` and ``plain_nodes``, quick to index."""
        arrays = (self.ends, self.fewest, self.plain, self.plain_nodes)
        ends, fewest, plain, plain_nodes = (np.ascontiguousarray(array).data for array in arrays)
        return ends, fewest, plain, plain_nodes


class _Found(NamedTuple):
    """``cost``: characters to the end, None for a dead end. ``first``: byte of the way there.
    ``depth``: bytes that the search has looked ahead."""

    cost: int | None
    first: int
    depth: int


class Completions:
    """The shortest ways from a state of canonical text and a node of the trie to a word's end.

    ``caches``: what the caches of the search may hold.
    """

    def __init__(self, words: WordDfa, trie: WordTrie, caches: CacheBudget) -> None:
        self.words, self.trie = words, trie
        shortest, firsts, edges = caches.divide(1, 1, 1)
        self._shortest: BoundedCache[tuple[int, int], int] = shortest.cache()
        self._firsts: BoundedCache[tuple[int, int, int], int] = firsts.cache()
        self._edges: BoundedCache[int, dict[int, int]] = edges.cache()

    def shortest(self, state: int, node: int) -> int | None:
        """The fewest characters from (``state``, ``node``) to a word's end; None: a dead end."""
        if self.words.views[0][state]:
            return 0
        cost = self._shortest.get((state, node))
        if cost is None:
            found = self._search(state, node).cost
            cost = self._shortest.keep((state, node), NONE if found is None else found)
        return None if cost == NONE else cost

    def is_live(self, state: int, node: int) -> bool:
        """Whether there is a completion. Places that are alike as far as the search has looked
        ahead share the result."""
        return self._first(state, node)[0] != NONE

    def _first(self, state: int, node: int) -> tuple[int, int]:
        """The first byte of a completion, -1 if there is none, and how far ahead was looked.

        A byte that ``node`` cannot read goes on as from its link: what is cached there serves all
        nodes that share it.
        """
        waiting, found = list[int](), self._known_first(state, node)
        while found is None:
            waiting.append(node)
            node = int(self.trie.links[node])
            if node <= SUFFIX_ROOT:
                break
            found = self._known_first(state, node)
        for place in reversed(waiting):
            found = self._first_beside(state, place, found)
        assert found is not None
        return found

    def _known_first(self, state: int, node: int) -> tuple[int, int] | None:
        for depth, classes in enumerate(self.words.alike):
            octet = self._firsts.get((node, depth, classes[state]))
            if octet is not None:
                return octet, depth
        return None

    def _first_beside(
        self, state: int, node: int, linked: tuple[int, int] | None
    ) -> tuple[int, int]:
        """The first byte, given that of the node's link, if it has one."""
        octet, reach = linked or (0, 0)
        own_only = linked is not None and octet == NONE
        if linked is not None and not own_only and self.trie.child(node, octet) == NONE:
            return octet, reach
        found = self._search(state, node, own_only=own_only)
        octet, depth = NONE if found.cost is None else found.first, max(reach, found.depth)
        if depth < len(self.words.alike):
            self._firsts.keep((node, depth, self.words.alike[depth][state]), octet)
        return octet, depth

    def fewest(
        self, states: NDArray[np.int32], nodes: NDArray[np.int32], *, exact: bool
    ) -> NDArray[np.int32]:
        """``shortest`` for each pair, int32; -1 for a dead end.

        Unless ``exact`` every other number may be too small. If more first bytes of plain text
        lead on than are read at the node and on its failure links, one of them leaves the node's
        tokens as they are, so that nothing needs to be searched for.
        """
        words = self.words
        least = np.where(words.ends[states] != 0, 0, words.fewest[states]).astype(np.int32)
        more = words.first_bytes[states] > self.trie.bytes_read[nodes][:, None]
        decided = more[:, 1] & (words.plain[states] == least) if exact else more[:, 0]
        for at in np.flatnonzero((least > 0) & ~decided).tolist():
            if exact:
                found = self.shortest(int(states[at]), int(nodes[at]))
                least[at] = NONE if found is None else found
            elif not self.is_live(int(states[at]), int(nodes[at])):
                least[at] = NONE
        return least

    def _search(self, state: int, node: int, *, own_only: bool = False) -> _Found:
        """A* over (state, node, tokens confirmed); ``fewest`` never overestimates. Among equals
        nodes that read few bytes come first: they are left soon, which confirms tokens.

        ``own_only``: begin with a byte that ``node`` can read itself.
        """
        ends, fewest, plain, plain_nodes = self.words.views
        bytes_read = self.trie.bytes_read.data
        expected = self.trie.flush(node)
        if expected is None or fewest[state] < 0:
            return _Found(None, NONE, 0)
        least, deepest = fewest[state], 0
        # An entry of state 0 is an end that has been found. The last two: depth and first byte.
        heap = [(least, 0, 0, 0, state, node, 0, 0, NONE)]
        edges_left: dict[tuple[int, int, int], Iterator[tuple[int, int]]] = {}
        if own_only:
            below = self.trie.octets_below(node)
            own = ((o, t) for o, t in self._edges_of(state, node, ()) if o in below)
            edges_left[state, node, 0] = own
        while heap:
            entry = heappop(heap)
            bound, _, _, cost, state, node, matched, depth, first = entry
            if state == 0:
                return _Found(cost, first, deepest)
            deepest = max(deepest, depth + 1)
            if (state, node, matched) not in edges_left:
                edges_left[state, node, matched] = self._edges_of(state, node, expected[matched:])
                if matched == len(expected) and plain_nodes[node] and plain[state] >= 0:
                    end = cost + plain[state]
                    heappush(heap, (end, _FOUND, 0, end, 0, 0, 0, depth, first))
                rest = self.trie.flush(node) if ends[state] else None
                if rest is not None and rest[: len(expected) - matched] == expected[matched:]:
                    heappush(heap, (cost, _FOUND, 0, cost, 0, 0, 0, depth, first))
            for octet, after in edges_left[state, node, matched]:
                target, pops = self.trie.step(node, octet)
                if target == NONE:
                    continue
                upto = min(matched + len(pops), len(expected))
                if pops[: upto - matched] != expected[matched:upto]:
                    continue
                farther = cost + (octet & 0xC0 != 0x80)
                begun = octet if depth == 0 else first
                near = plain[after] >= 0 and farther + plain[after] == least
                if near and upto == len(expected) and plain_nodes[target]:
                    return _Found(least, begun, deepest)  # No end is nearer.
                nearest, few = farther + fewest[after], bytes_read[target]
                ahead = (nearest, -upto, few, farther, after, target, upto, depth + 1, begun)
                heappush(heap, ahead)
                if upto > matched and nearest == bound:
                    heappush(heap, entry)  # The other edges may not be needed.
                    break
        return _Found(None, NONE, deepest)

    def _edges_of(self, state: int, node: int, rest: Pops) -> Iterator[tuple[int, int]]:
        """The bytes that go on within a word towards an end, with where they lead.

        Where popping at ``node`` contradicts ``rest``, the tokens still to be confirmed, only
        its own edges are left.
        """
        edges = self._edges.get(state)
        if edges is None:
            dfa, fewest = self.words.dfa, self.words.views[1]
            row = dfa.table[state][dfa.classes].tolist()
            edges = {
                octet: after
                for octet, after in enumerate(row)
                if after and octet != SPACE and fewest[after] >= 0
            }
            self._edges.keep(state, edges, ENTRY_BYTES * (1 + len(edges) // 2))
        pops = self.trie.popped(node)
        if pops[: len(rest)] == rest[: len(pops)]:
            return iter(edges.items())
        below = self.trie.octets_below(node)
        return ((octet, edges[octet]) for octet in below if octet in edges)
