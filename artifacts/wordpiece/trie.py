"""The trie of a WordPiece vocabulary over bytes, with failure links and pops, as tables.

Matching is LinMaxMatch (Song et al. 2021): the tokens of a word are each the longest that fits.
Node 0 is the root for the start of a word, node 1 the root for its rest.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..tokens.memo import BoundedCache, CacheBudget

ROOT, SUFFIX_ROOT = 0, 1
NONE = -1

# What the unknown token is in canonical text: no byte of UTF-8, and so no part of any word.
OTHER_BYTE = 0xFF

Pops = tuple[int, ...]

# The sections of an artifact that hold it, after ``pieces.``, in the order of the fields below.
SECTIONS = ("octets", "first", "tokens", "links", "pops", "pop_offsets", "order", "spans")

# What the tokens of nodes may take where nothing else is said.
_FLUSHED_BYTES = 1 << 24


@dataclass(frozen=True, eq=False)
class WordTrie:
    """Nodes level by level, the children of a node side by side, ascending by byte.

    ``octets``: uint8 (N,), the byte into a node. ``first``: int32 (N + 1,), the children of u
    are ``first[u]`` to ``first[u + 1] - 1``. ``tokens``: int32 (N,), the token that ends at a
    node, or -1. ``links``: int32 (N,), f(u) or -1. ``pops``: int32, F(u) is
    ``pops[pop_offsets[u]:pop_offsets[u + 1]]``, int64 (N + 1,). ``order``: int32, the tokens
    that continue words, by their text; ``spans``: int32 (N, 2), those of a node's subtree.
    ``flushed``: a cache of the tokens of nodes, False where a node has none.
    """

    octets: NDArray[np.uint8]
    first: NDArray[np.int32]
    tokens: NDArray[np.int32]
    links: NDArray[np.int32]
    pops: NDArray[np.int32]
    pop_offsets: NDArray[np.int64]
    order: NDArray[np.int32]
    spans: NDArray[np.int32]
    flushed: BoundedCache[int, Pops | Literal[False]] = field(
        default_factory=lambda: CacheBudget(_FLUSHED_BYTES).cache(), kw_only=True
    )

    @classmethod
    def from_sections(cls, arrays: Mapping[str, NDArray[Any]], caches: CacheBudget) -> "WordTrie":
        """The trie in the sections ``pieces.*`` of an artifact."""
        return cls(*(arrays[f"pieces.{name}"] for name in SECTIONS), flushed=caches.cache())

    @cached_property
    def children(self) -> NDArray[np.int32]:
        """Number of children of each node."""
        return np.diff(self.first)

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """The node above each node; the roots are their own."""
        above = np.repeat(np.arange(len(self.octets), dtype=np.int32), self.children)
        return np.concatenate((np.array([ROOT, SUFFIX_ROOT], dtype=np.int32), above))

    @cached_property
    def bytes_read(self) -> NDArray[np.int32]:
        """At most so many bytes are read at a node or on its failure links before the roots."""
        counts = self.children.astype(np.int32)
        counts[[ROOT, SUFFIX_ROOT]] = 0
        total, links = counts.copy(), self.links.copy()
        while (places := np.flatnonzero(links > SUFFIX_ROOT)).size:
            total[places] += counts[links[places]]
            links[places] = self.links[links[places]]
        return total

    def children_by(
        self, nodes: NDArray[np.integer], octets: NDArray[np.uint8]
    ) -> NDArray[np.int64]:
        """The nodes below each of ``nodes`` by the byte beside it, or -1."""
        wanted = nodes.astype(np.int64) * 256 + octets
        places = np.searchsorted(self._edges, wanted)
        places[places == len(self._edges)] = 0
        found: NDArray[np.int64] = np.where(self._edges[places] == wanted, places + 2, NONE)
        return found

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
        flushed = self.flushed.get(node)
        if flushed is None:
            found: Pops = ()
            place, links = node, self._views[2]
            while links[place] != NONE:
                found += self.popped(place)
                place = links[place]
            flushed = self.flushed.keep(node, found if place <= SUFFIX_ROOT else False)
        return None if flushed is False else flushed

    def tokenize(self, word: bytes, longest: int = 0) -> Pops | None:
        """The tokens of a word, in UTF-8; None if it has none or more than ``longest``
        characters (0 for no bound)."""
        node = ROOT
        found: Pops = ()
        for octet in word:
            node, pops = self.step(node, octet)
            if node == NONE:
                return None
            found += pops
        rest = self.flush(node)
        is_long = 0 < longest < sum(octet & 0xC0 != 0x80 for octet in word)
        return None if rest is None or is_long else found + rest

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        """The edges into the nodes from 2 on, ascending: 256 times the parent, and the byte."""
        below = slice(SUFFIX_ROOT + 1, None)
        return self.parents[below].astype(np.int64) * 256 + self.octets[below]

    @cached_property
    def _views(self) -> tuple[memoryview, ...]:
        # An integer index into a memoryview is several times faster than into an array.
        arrays = (
            self.first,
            self.octets,
            self.links,
            self.pop_offsets,
            self.pops,
        )
        return tuple(np.ascontiguousarray(array).data for array in arrays)
