"""The trie that words are cut with, over bytes, with failure links and pops, as tables.

The matching is LinMaxMatch's (Song et al. 2021): the tokens of a text are each the longest
that fits. Node 0 is the root for the start of a word, node 1 that for its rest.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .trie import Trie

ROOT, SUFFIX_ROOT = 0, 1
NONE = -1

Pops = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kills:
    """Which tokens cannot follow at a node.

    ``killed``: int32, tokens that would be cut otherwise behind the node's text. ``special``:
    the tokens that may follow and lead to another node than their own.
    """

    killed: NDArray[np.int32]
    special: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class WordTrie:
    """Nodes level by level, the children of a node side by side, ascending by byte.

    ``octets``: uint8 (N,), the byte into a node. ``first``: int32 (N + 1,), the children of u
    are ``first[u]`` to ``first[u + 1] - 1``. ``tokens``: int32 (N,), the token that ends at a
    node, or -1. ``links``: int32 (N,), f(u) or -1. ``pops``: int32, F(u) is
    ``pops[pop_offsets[u]:pop_offsets[u + 1]]``, int64 (N + 1,). ``order``: int32, the tokens
    that continue words, by their text; ``spans``: int32 (N, 2), those of a node's subtree.
    """

    octets: NDArray[np.uint8]
    first: NDArray[np.int32]
    tokens: NDArray[np.int32]
    links: NDArray[np.int32]
    pops: NDArray[np.int32]
    pop_offsets: NDArray[np.int64]
    order: NDArray[np.int32]
    spans: NDArray[np.int32]
    _flushed: dict[int, Pops | None] = field(default_factory=dict, init=False)
    _kills: dict[int, Kills] = field(default_factory=dict, init=False)

    @cached_property
    def level_order(self) -> Trie:
        """The same nodes for ``trie.walk``."""
        ends = self.tokens >= 0
        held = np.concatenate(([0], np.cumsum(ends))).astype(np.int32)
        return Trie(self.octets, self.first, self.tokens[ends], held)

    @cached_property
    def children(self) -> NDArray[np.int32]:
        """Number of children of each node."""
        return np.diff(self.first)

    def child(self, node: int, octet: int) -> int:
        """The node below, or -1."""
        views = self._views
        low, high = views[0][node], views[0][node + 1]
        place = bisect_left(views[1], octet, low, high)
        return place if place < high and views[1][place] == octet else NONE

    def octets_below(self, node: int) -> bytes:
        """The bytes of the edges out of a node, ascending."""
        return bytes(self._views[1][self._views[0][node] : self._views[0][node + 1]])

    def popped(self, node: int) -> Pops:
        """F(node)."""
        offsets = self._views[3]
        return tuple(self._views[4][offsets[node] : offsets[node + 1]])

    def step(self, node: int, octet: int) -> tuple[int, Pops]:
        """One byte of Algorithm 1: the node after it, -1 if it cannot be read, and the pops."""
        links = self._views[2]
        found: Pops = ()
        while (below := self.child(node, octet)) == NONE:
            if links[node] == NONE:
                return NONE, found
            found += self.popped(node)
            node = links[node]
        return below, found

    def read(self, node: int, text: bytes) -> int:
        """The node after ``text``, or -1."""
        for octet in text:
            node, _ = self.step(node, octet)
            if node == NONE:
                return NONE
        return node

    def flush(self, node: int) -> Pops | None:
        """The tokens of a node's text; None if it has none."""
        if node not in self._flushed:
            found: Pops = ()
            place, links = node, self._views[2]
            while links[place] != NONE:
                found += self.popped(place)
                place = links[place]
            self._flushed[node] = found if place <= SUFFIX_ROOT else None
        return self._flushed[node]

    def kills(self, node: int) -> Kills:
        """What cannot follow the tokens of ``node``'s text.

        A token t may follow if the text of both is cut into ``flush(node)`` and t. The walk
        reads every such t below the suffix root and from ``node`` at once, and ends where
        all of ``flush(node)`` is popped: from there on both read the same nodes.
        """
        if node not in self._kills:
            self._kills[node] = self._walk_kills(node)
        return self._kills[node]

    def _walk_kills(self, node: int) -> Kills:
        expected = self.flush(node) or ()
        killed: list[int] = []
        special: list[tuple[int, int]] = []
        octets, tokens, spans, order = self._views[1], self._views[5], self._views[6], self._order
        pending = [(SUFFIX_ROOT, node, 0)]
        while pending:
            x, v, matched = pending.pop()
            for below in self._candidates(x, v, expected[matched:]):
                target, pops = self.step(v, octets[below])
                after = matched + len(pops)
                if target == NONE or pops[: len(expected) - matched] != expected[matched:after]:
                    killed += order[spans[below, 0] : spans[below, 1]]
                elif after < len(expected):
                    if tokens[below] != NONE:
                        if self.flush(target) == (*expected[after:], tokens[below]):
                            special.append((tokens[below], target))
                        else:
                            killed.append(tokens[below])
                    pending.append((below, target, after))
        return Kills(np.array(killed, dtype=np.int32), tuple(special))

    def _candidates(self, x: int, v: int, expected: Pops) -> Iterable[int]:
        """The children of ``x`` by whose byte ``v`` does not just pop all that is expected."""
        first, octets = self._views[0], self._views[1]
        pops = self.popped(v)
        if pops[: len(expected)] != expected:
            return range(first[x], first[x + 1])
        joint = (self.child(x, octets[below]) for below in range(first[v], first[v + 1]))
        return (below for below in joint if below != NONE)

    @cached_property
    def _order(self) -> list[int]:
        ordered: list[int] = self.order.tolist()
        return ordered

    @cached_property
    def _views(self) -> tuple[memoryview, ...]:
        # A memoryview answers an integer index several times faster than an array.
        arrays = (
            self.first,
            self.octets,
            self.links,
            self.pop_offsets,
            self.pops,
            self.tokens,
            self.spans,
        )
        return tuple(np.ascontiguousarray(array).data for array in arrays)
