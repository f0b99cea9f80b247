"""Look-ups into a token trie that walks by a network need: what is below, and what is above."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..summaries.node_sets import Nodes, merged
from ..tokens.subtrees import characters, levels_of, subtrees_of
from ..tokens.trie import Trie, ranges
from .read_through import Heights, heights_of, keep_heights

# Begins of nodes are above so many bits of a key, their numbers below.
_NODE_BITS = 32
_NODE_MASK = (1 << _NODE_BITS) - 1


class TrieIndex:
    """Of one trie; each part is made when it is first needed. Nodes are int32 (n,)."""

    def __init__(self, trie: Trie) -> None:
        # subtle: not the trie, by which the index is found, and which would so live as long.
        self._subtrees = subtrees_of(trie)
        self._first, self._fan_out = trie.first, trie.fan_out
        self._octets = trie.octets

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What takes longest to make, as named arrays."""
        return {"index.in_order": self._in_order, "index.by_octet": self._by_octet}

    def begin_with(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what ``to_arrays`` gave."""
        # What a cached property has is an attribute.
        vars(self)["_in_order"] = arrays["index.in_order"]
        vars(self)["_by_octet"] = arrays["index.by_octet"]

    def inner_nodes(self, nodes: Nodes) -> Nodes:
        """The nodes with children at and below some, each as often as it is; those where a
        character is not finished are left out."""
        tokens = self._subtrees
        begins = tokens.begin.take(nodes).astype(np.int64) << _NODE_BITS | nodes
        # Numpy searches for ascending keys several times faster.
        begins.sort()
        ends = tokens.end.take(begins & _NODE_MASK).astype(np.int64) << _NODE_BITS
        low, high = (np.searchsorted(self._in_order, keys) for keys in (begins, ends))
        found: Nodes = self._in_order_nodes.take(ranges(low, high - low))
        return found

    def whole(self, roots: Nodes) -> Nodes:
        """What stands in a set of nodes for all inner nodes at and below ``roots``, ascending:
        numbers beyond those of nodes, each once."""
        found = merged([roots[self._fan_out.take(roots) > 0]], len(self._fan_out))
        found += np.int32(len(self._fan_out))
        return found

    def parts(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """The nodes of an ascending set that stand for themselves, and the roots of those that
        stand for all inner nodes at and below them."""
        size = len(self._fan_out)
        first = int(np.searchsorted(nodes, size))
        return nodes[:first], nodes[first:] - np.int32(size)

    def flat(self, nodes: Nodes) -> Nodes:
        """A set in which each node stands for itself."""
        single, roots = self.parts(nodes)
        both = single, self.inner_nodes(roots)
        return merged(both, len(self._fan_out)) if len(roots) else nodes

    def shortest(self, nodes: Nodes) -> Nodes:
        """A set without nodes that roots of it stand for, and without roots below others."""
        single, roots = self.parts(nodes)
        if not len(roots):
            return nodes
        roots, begun, depths = self._standing_for(roots)
        places = self._low.take(roots)
        roots = roots[depths.take(places) == begun.take(places)]
        single = single[~self._is_stood_for(single, depths)]
        return np.concatenate((single, roots + np.int32(len(self._fan_out))))

    def rest(self, nodes: Nodes, others: Nodes) -> Nodes:
        """A set without what is in another, or what single roots of that stand for."""
        size = len(self._fan_out)
        flags = np.zeros(2 * size, dtype=np.bool_)
        flags[nodes] = True
        flags[others] = False
        found = np.flatnonzero(flags).astype(np.int32)
        _, _, depths = self._standing_for(self.parts(others)[1])
        left: Nodes = found[~self._is_stood_for(found % size, depths)]
        return left

    def _standing_for(self, roots: Nodes) -> tuple[Nodes, NDArray[np.int64], NDArray[np.int64]]:
        """The roots below which there are inner nodes; how many begin with each of these in the
        order of texts, and how many stand for it."""
        low, high = self._low.take(roots), self._high.take(roots)
        some, size = low < high, len(self._in_order) + 1
        begun = np.bincount(low[some], minlength=size)
        ended = np.bincount(high[some], minlength=size)
        return roots[some], begun, (begun - ended).cumsum()

    def _is_stood_for(self, nodes: Nodes, depths: NDArray[np.int64]) -> NDArray[np.bool_]:
        places = self._low.take(nodes)
        return self._is_in_order.take(nodes) & (depths.take(places) > 0)

    def without(self, nodes: Nodes, dropped: Collection[int]) -> Nodes:
        """A set without some of its nodes."""
        if not dropped:
            return nodes
        flat = nodes
        if any(self._is_below(nodes, node) for node in dropped):
            flat = self.flat(nodes)
        places = np.searchsorted(flat, sorted(dropped))
        return np.delete(flat, places)

    def without_subtree(self, nodes: Nodes, upper: int) -> Nodes:
        """A set without the nodes at and below one."""
        if self._is_below(nodes, upper, strictly=True):
            nodes = self.flat(nodes)
        tokens = self._subtrees
        low, high = tokens.begin[upper], tokens.end[upper]
        size = np.int32(len(self._fan_out))
        own = np.where(nodes < size, nodes, nodes - size)
        starts = tokens.begin.take(own)
        # subtle: those above begin where a node does, and have lower numbers.
        left: Nodes = nodes[(own < upper) | (starts < low) | (starts >= high)]
        return left

    def _is_below(self, nodes: Nodes, node: int, *, strictly: bool = False) -> bool:
        """Whether a node is among those that the root of a subtree stands for, or below such a
        root."""
        _, roots = self.parts(nodes)
        tokens = self._subtrees
        above = (tokens.begin.take(roots) <= tokens.begin[node]) & (roots <= node - strictly)
        above &= tokens.end.take(roots) >= tokens.end[node]
        return bool(above.any())

    def children_by(self, flags: NDArray[np.bool_], octet: int) -> Nodes:
        """The children by one byte of the nodes that are flagged, bool (N,)."""
        order, starts = self._by_octet, self._octet_starts
        nodes = order[starts[octet] : starts[octet + 1]]
        found: Nodes = nodes[flags.take(self._parents.take(nodes))]
        return found

    @cached_property
    def _in_order(self) -> NDArray[np.int64]:
        nothing = np.zeros(0, dtype=np.int32)
        trie = Trie(self._octets, self._first, nothing, nothing)
        unfinished, _, _ = characters(trie, levels_of(trie))
        nodes = np.flatnonzero((self._fan_out > 0) & ~unfinished)
        begins = self._subtrees.begin.take(nodes)
        # Those of one level ascend, which a stable sort makes use of.
        order = np.argsort(begins, kind="stable")
        return begins.take(order).astype(np.int64) << _NODE_BITS | nodes.take(order)

    @cached_property
    def _in_order_nodes(self) -> Nodes:
        return (self._in_order & _NODE_MASK).astype(np.int32)

    @cached_property
    def _low(self) -> NDArray[np.int64]:
        """Of each node how many inner nodes stand before it in the order of texts."""
        begins = self._subtrees.begin.astype(np.int64) << _NODE_BITS
        return np.searchsorted(self._in_order, begins | np.arange(len(begins)))

    @cached_property
    def _high(self) -> NDArray[np.int64]:
        """Of each node how many inner nodes stand before what follows all that is below it."""
        ends = self._subtrees.end.astype(np.int64) << _NODE_BITS
        return np.searchsorted(self._in_order, ends)

    @cached_property
    def _is_in_order(self) -> NDArray[np.bool_]:
        found = np.zeros(len(self._fan_out), dtype=np.bool_)
        found[self._in_order_nodes] = True
        return found

    @cached_property
    def _parents(self) -> Nodes:
        # The root is below none, and is read by no byte.
        nodes = np.arange(len(self._fan_out), dtype=np.int32)
        return np.concatenate((np.zeros(1, np.int32), nodes.repeat(self._fan_out)))

    @cached_property
    def _by_octet(self) -> Nodes:
        """The nodes but the root by the byte that leads to them."""
        return np.argsort(self._octets[1:], kind="stable").astype(np.int32) + np.int32(1)

    @cached_property
    def _octet_starts(self) -> list[int]:
        """Where each byte begins in ``_by_octet``."""
        starts: list[int] = np.searchsorted(self._octets[self._by_octet], np.arange(257)).tolist()
        return starts


_MADE: WeakKeyDictionary[Trie, TrieIndex] = WeakKeyDictionary()


def index_of(trie: Trie) -> TrieIndex:
    """The index of a trie, made when it is first needed."""
    found = _MADE.get(trie)
    if found is None:
        found = _MADE[trie] = TrieIndex(trie)
    return found


def walk_arrays(trie: Trie) -> dict[str, NDArray[Any]]:
    """What walks of networks need of a trie, whatever the network is, as named arrays."""
    return index_of(trie).to_arrays() | heights_of(trie).to_arrays()


def begin_walks(trie: Trie, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Walks of a trie begin with what ``walk_arrays`` gave for it."""
    index_of(trie).begin_with(arrays)
    keep_heights(trie, Heights.from_arrays(arrays))
