"""Walks of the token trie node by node, where so few are met that arrays would take longer.

Most masks that are met first need a few dozen nodes: those below a digit, a quote, a run of spaces.
And where a state goes on as its successor does (``read_through``) but for some bytes, as inside a
name that may not be one of these, what it allows is what the successor allows, *patched*:

    in "na" of a name that is not "name", from the root    ->    a string, but for what begins
                                                                 with "m", of which "me" is met
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from ..summaries.node_sets import Nodes
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.subtrees import Subtrees
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from .read_through import ReadThrough
from .tables import DEAD
from .trie_index import TrieIndex

# Frontiers of so few nodes are walked node by node, where states have so few edges or nodes so few
# children.
FEW, _FEW_EDGES = 24, 16

# The nodes that a patch may meet, the children that are looked for, and the tokens that it may
# change.
_MOST_PATCHED, _MOST_COMPARED, _MOST_CHANGED = 400, 1200, 1 << 12

# Pairs of states whose differences are kept, and sets whose children by some byte are.
_MOST_DIFFERENCES, _MOST_CHILDREN = 1 << 12, 1 << 12

# What is met without a call beginning or ending: so many nodes, from sets of so many, by so few
# first bytes; and the tokens below one of them.
_MOST_INSIDE, _MOST_BEGUN, _FEW_FIRST, _MOST_WHOLE = 64, 1 << 10, 4, 256

_OCTETS = 256

Pairs: TypeAlias = list[tuple[int, int]]


class FewMet(NamedTuple):
    """``single``: nodes that were met, without what is below them; ``whole``: with it;
    ``stopped``: nodes and states where calls begin or end."""

    single: list[int]
    whole: list[int]
    stopped: Pairs


@dataclass(frozen=True, slots=True)
class Patch:
    """How what one state allows differs from what another does: ``met``, which it allows besides;
    ``cut``, nodes that it does not allow with all below them; ``passed``, nodes and states where
    calls begin or end, not so here."""

    met: FewMet
    cut: list[int]
    passed: Pairs


class FewNodes:
    """Reads the trie by the own edges of a network's states, node by node."""

    def __init__(
        self,
        rows: Mapping[int, Sequence[int]],
        trie: Trie,
        subtrees: Subtrees,
        stops: Sequence[bool] | memoryview,
        states: int,
    ) -> None:
        self._rows, self._size = rows, states
        self._octets, self._first = trie.octet_bytes, trie.first.data
        self._below = subtrees.below.data
        self._ids, self._begin, self._own, self._end = (
            getattr(subtrees, name).data for name in ("ids", "begin", "own", "end")
        )
        self._bounds = self._begin, self._end
        self._stops = stops
        self._leaving: memoryview | None = None
        self._heights: memoryview | None = None
        # A state's edges, None where they are many; and where two states differ.
        self._edges: dict[int, Pairs | None] = {}
        self._differences: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        # By the number of a set and a byte, None where they are many.
        self._children: dict[tuple[int, int], list[int] | None] = {}

    def forget(self) -> None:
        """Drop what is cached by the numbers of sets."""
        self._children.clear()

    def read_through(self, through: ReadThrough, stops: memoryview) -> None:
        """From now on subtrees are taken whole."""
        self._stops, self._leaving = stops, through.leaving.data
        self._heights = None if through.heights is None else through.heights.below.data

    def follow(self, frontier: Pairs, met: FewMet) -> Pairs:
        """The walk from nodes and states as long as they are few; gives what is left of them,
        ``frontier`` itself where it begins with many."""
        first, rows, stops, octets = self._first, self._rows, self._stops, self._octets
        edges_of = self._edges
        below, leaving, heights, size = self._below, self._leaving, self._heights, self._size
        single, whole, stopped = met
        while 0 < len(frontier) <= FEW:
            reached: Pairs = []
            for node, state in frontier:
                low, high = first[node], first[node + 1]
                if high - low <= _FEW_EDGES:
                    row = rows[state]
                    for child in range(low, high):
                        target = row[octets[child]]
                        if target != DEAD:
                            reached.append((child, target))
                    continue
                edges = edges_of[state] if state in edges_of else self.few_edges(state)
                if edges is None:
                    return frontier
                for octet, target in edges:
                    child = octets.find(octet, low, high)
                    if child >= 0:
                        reached.append((child, target))
            frontier = []
            for child, target in reached:
                classes: int = below[child]
                if classes and leaving is not None:
                    step = 0 if heights is None else heights[child]
                    classes &= leaving[step * size + target]
                if not classes:
                    whole.append(child)
                    continue
                single.append(child)
                frontier.append((child, target))
                if stops[target]:
                    stopped.append((child, target))
        return frontier

    def inside(self, number: int, suspended: Nodes, state: int) -> tuple[int, ...] | None:
        """The nodes that are met from set ``number``, those without what is below them as they are
        and others inverted, if no call begins or ends there; None where one may, or where they
        are many.

        States inside words, as those that parts of a set begin with, read a byte or two each: which
        nodes of a set have such children is looked for once.
        """
        stops, edges = self._stops, self.few_edges(state)
        if stops[state] or edges is None or len(edges) > _FEW_FIRST:
            return None
        pending: Pairs = []
        for octet, target in edges:
            key = number, octet
            children = self._children[key] if key in self._children else self._by(key, suspended)
            if children is None:
                return None
            pending += [(child, target) for child in children]
        if not pending:
            return ()
        first, rows, octets, begin, end = self._first, self._rows, self._octets, *self._bounds
        met: list[int] = []
        for node, reached in pending:
            if self._is_whole(node, reached):
                if end[node] - begin[node] > _MOST_WHOLE:
                    return None
                met.append(~node)
                continue
            if stops[reached] or len(pending) > _MOST_INSIDE:
                return None
            met.append(node)
            low, high = first[node], first[node + 1]
            if high - low <= _FEW_EDGES:
                row = rows[reached]
                for child in range(low, high):
                    target = row[octets[child]]
                    if target != DEAD:
                        pending.append((child, target))
                continue
            edges = self.few_edges(reached)
            if edges is None:
                return None
            for octet, target in edges:
                child = octets.find(octet, low, high)
                if child >= 0:
                    pending.append((child, target))
        return tuple(met)

    def _by(self, key: tuple[int, int], suspended: Nodes) -> list[int] | None:
        """The children of a set's nodes by a byte."""
        if len(self._children) >= _MOST_CHILDREN:
            self._children.clear()
        found: list[int] | None = None
        if len(suspended) <= _MOST_BEGUN and not (suspended >= len(self._octets)).any():
            first, octets, octet = self._first, self._octets, key[1]
            nodes = suspended.tolist()
            children = (octets.find(octet, first[node], first[node + 1]) for node in nodes)
            found = [child for child in children if child >= 0]
            if len(found) > _MOST_INSIDE:
                found = None
        self._children[key] = found
        return found

    def patch(self, node: int, one: int, other: int) -> Patch | None:
        """How ``other`` differs from ``one`` below a node; None if that is much."""
        first, rows, octets, stops = self._first, self._rows, self._octets, self._stops
        met, cut, passed = FewMet([], [], []), list[int](), list[tuple[int, int]]()
        if stops[one]:
            passed.append((node, one))
        if stops[other]:
            met.stopped.append((node, other))
        pending = [(node, one, other)]
        compared = 0
        for upper, before, after in pending:
            low, high = first[upper], first[upper + 1]
            differing: Iterable[tuple[int, int, int]]
            if high - low <= _FEW_EDGES:
                left, right = rows[before], rows[after]
                children = range(low, high)
                differing = [(c, left[octets[c]], right[octets[c]]) for c in children]
                compared += high - low
            else:
                compared += len(self._differing(before, after))
                found = (
                    (octets.find(octet, low, high), then, now)
                    for octet, then, now in self._differing(before, after)
                )
                differing = (entry for entry in found if entry[0] >= 0)
            for child, then, now in differing:
                if then == now:
                    continue
                if now == DEAD:
                    cut.append(child)
                    continue
                is_whole = self._is_whole(child, now)
                if then == DEAD:
                    (met.whole if is_whole else met.single).append(child)
                    if is_whole:
                        continue
                elif first[child] == first[child + 1] or (is_whole and self._is_whole(child, then)):
                    continue
                elif stops[then]:
                    passed.append((child, then))
                if stops[now]:
                    met.stopped.append((child, now))
                pending.append((child, then, now))
            if len(pending) > _MOST_PATCHED or compared > _MOST_COMPARED:
                return None
        changed = sum(self._end[node] - self._begin[node] for node in (*cut, *met.whole))
        return None if changed > _MOST_CHANGED else Patch(met, cut, passed)

    def row_of(self, met: tuple[int, ...], words: int) -> Words:
        """The tokens of what ``inside`` gave, uint32 (``words``,)."""
        bits = bytearray(4 * words)
        whole = [~node for node in met if node < 0]
        self.mark(bits, FewMet([node for node in met if node >= 0], whole, []))
        return np.frombuffer(bits, dtype="<u4")

    def mark(self, bits: bytearray, met: FewMet) -> None:
        """Set the tokens that were met."""
        ids, begin, own = self._ids, self._begin, self._own
        for node in met.single:
            for token in ids[begin[node] : begin[node] + own[node]]:
                bits[token >> 3] |= 1 << (token & 7)
        for node in met.whole:
            for token in ids[begin[node] : self._end[node]]:
                bits[token >> 3] |= 1 << (token & 7)

    def clear(self, bits: bytearray, cut: Iterable[int]) -> None:
        """Clear the tokens at and below nodes."""
        for node in cut:
            for token in self._ids[self._begin[node] : self._end[node]]:
                bits[token >> 3] &= ~(1 << (token & 7))

    def patched(
        self, stopped: list[tuple[int, Nodes]], patch: Patch, index: TrieIndex
    ) -> list[tuple[int, Nodes]]:
        """The nodes by state where calls begin or end, patched; both ascending, and compact as
        ``index`` has it."""
        first = self._first
        # Where nothing is below, nothing stops.
        cut = [node for node in patch.cut if first[node] < first[node + 1]]
        dropped: dict[int, set[int]] = {}
        for node, state in patch.passed:
            dropped.setdefault(state, set()).add(node)
        groups = dict(stopped)
        for state, nodes in stopped:
            left = index.without(nodes, dropped.get(state, ()))
            for upper in cut:
                left = index.without_subtree(left, upper)
            groups[state] = left
        added: dict[int, set[int]] = {}
        for node, state in patch.met.stopped:
            added.setdefault(state, set()).add(node)
        for state, more in added.items():
            both = np.array(sorted(more), dtype=np.int32)
            if state in groups:
                both = np.concatenate((groups[state], both))
                both.sort(kind="stable")
                both = both[np.diff(both, prepend=-1) > 0]
            groups[state] = both
        return [(state, nodes) for state, nodes in sorted(groups.items()) if len(nodes)]

    def _is_whole(self, node: int, state: int) -> bool:
        classes: int = self._below[node]
        if classes and self._leaving is not None:
            step = 0 if self._heights is None else self._heights[node]
            classes &= self._leaving[step * self._size + state]
        return not classes

    def few_edges(self, state: int) -> Pairs | None:
        """The bytes that a state reads, and where they lead; None if they are many."""
        if state in self._edges:
            return self._edges[state]
        row = self._rows[state][:_OCTETS]
        few = _OCTETS - row.count(DEAD) <= _FEW_EDGES
        pairs = [(octet, target) for octet, target in enumerate(row) if target] if few else None
        self._edges[state] = pairs
        return pairs

    def _differing(self, one: int, other: int) -> list[tuple[int, int, int]]:
        """The bytes by which two states go to different ones, and both."""
        found = self._differences.get((one, other))
        if found is None:
            if len(self._differences) >= _MOST_DIFFERENCES:
                self._differences.clear()
            both = zip(self._rows[one][:_OCTETS], self._rows[other], strict=False)
            found = [(b, left, right) for b, (left, right) in enumerate(both) if left != right]
            self._differences[one, other] = found
        return found


class Walked(NamedTuple):
    """``row``: uint32 (W,), the tokens that were met. ``stopped``: by state, ascending, the nodes
    with children (int32, ascending) where calls begin or end. ``met``: how many nodes were."""

    row: Words
    stopped: list[tuple[int, Nodes]]
    met: int


class _Base(NamedTuple):
    """What a walk gave, to be patched."""

    bits: bytes
    stopped: list[tuple[int, Nodes]]


class PatchedWalks:
    """Walks in states that go on as another one does, but for some bytes. ``walk``: by number and
    nodes of a set, and the other state; what it gave is kept."""

    def __init__(
        self,
        few: FewNodes,
        index: Callable[[], TrieIndex],
        walk: Callable[[int, Nodes, int], Walked],
        budget: CacheBudget,
    ) -> None:
        self._few, self._index, self._walk_of = few, index, walk
        self._bases: BoundedCache[tuple[int, int], _Base] = budget.cache()

    def walk(self, number: int, suspended: Nodes, state: int, other: int) -> Walked | None:
        """The walk of ``state`` from a set of one node; None where it differs in much from that of
        ``other``."""
        patch = self._few.patch(int(suspended[0]), other, state)
        if patch is None:
            return None
        base = self._bases.get((number, other))
        if base is None:
            row, stopped, _ = self._walk_of(number, suspended, other)
            size = row.nbytes + ENTRY_BYTES + sum(nodes.nbytes for _, nodes in stopped)
            base = self._bases.keep((number, other), _Base(row.tobytes(), stopped), size)
        bits = bytearray(base.bits)
        self._few.clear(bits, patch.cut)
        self._few.mark(bits, patch.met)
        stopped = self._few.patched(base.stopped, patch, self._index())
        return Walked(np.frombuffer(bits, dtype="<u4"), stopped, len(patch.met.single))
