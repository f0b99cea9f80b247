"""Walks of the token trie from sets of nodes, by states that are made on the way.

    from node "co" in a name      below it "unt", "unter", "nt_rol"      all fit, none is walked

The nodes that wait in one state are read together: few of them node by node, many by arrays. What a
state reads by looping is kept with the trie (``artifacts/network/loops.py``), and subtrees that it
reads through are taken whole (``artifacts/tokens/subtrees.py``).
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..network.few_nodes import FewNodes, PatchedWalks, Walked
from ..network.loops import loop_walks_of
from ..network.trie_index import index_of
from ..summaries.node_sets import Nodes, merged
from ..tokens import tokenset
from ..tokens.lengths import ENDLESS, Lengths, lengths_of
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.subtrees import BROKEN, CLASS_BITS, subtrees_of
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from .states import DEAD, States

# Nodes that are fewer than this are read one by one, if their children are fewer than that.
_FEW_NODES, _FEW_CHILDREN = 40, 120

# After so many nodes those of one state are read together, and so are nodes of more children.
_MOST_FOLLOWED, _FEW_OF_ONE = 64, 16

# Where a state reads so many bytes less often than a node has children, these are looked for.
_SPARSE = 4

# Below nodes of so many tokens what a state reads by looping is kept with the trie.
_WORTH_LOOPING = 1 << 6

# Below a node of so many tokens it is tried to patch another walk.
_WORTH_PATCHING = 1 << 12

# How a budget is divided: children of large sets, and walks that are patched.
_CHILDREN, _BASES = 3, 1

# So few intervals of so few tokens are marked one by one.
_FEW_INTERVALS, _FEW_TOKENS = 48, 400

_OCTETS = 256

# States of so many bits.
_NARROW = 1 << 16

# Larger sets have their children sorted by byte, once.
_LARGE = 256

Some: TypeAlias = list[int] | Nodes


class _Trie(NamedTuple):
    """What walks look up one by one, as views whose items are Python's own integers."""

    first: memoryview
    octets: bytes
    below: memoryview
    begin: memoryview
    end: memoryview
    own: memoryview
    ids: memoryview


_VIEWS: WeakKeyDictionary[Trie, _Trie] = WeakKeyDictionary()


def _views_of(trie: Trie) -> _Trie:
    found = _VIEWS.get(trie)
    if found is None:
        s = subtrees_of(trie)
        parts = (s.below, s.begin, s.end, s.own, s.ids)
        found = _VIEWS[trie] = _Trie(
            trie.first.data, trie.octet_bytes, *(part.data for part in parts)
        )
    return found


class _Children(NamedTuple):
    """The children of a set by their bytes, those of byte b from ``starts[b]`` on."""

    nodes: Nodes
    octets: NDArray[np.uint8]
    starts: list[int]


class _Met:
    """What a walk has met: intervals of tokens, rows of loops; ``waiting``, by state the nodes to
    be read from; ``stopped``, by state the nodes where calls begin or end."""

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.arrays: list[tuple[Nodes, Nodes]] = []
        self.rows: list[Words] = []
        self.waiting: dict[int, list[Some]] = {}
        self.stopped: dict[int, list[Some]] = {}
        self.count = 0
        # Intervals of tokens, each with the most characters of those that fit.
        self.counted: list[tuple[Nodes, Nodes, Nodes]] = []
        # Texts through a node are followed if they are longer.
        self.length = 0


class _FewNodes(FewNodes):
    """Node by node, by states that are made on the way."""

    def __init__(self, states: States, trie: Trie) -> None:
        super().__init__(states, trie, subtrees_of(trie), states.stops, states.states)
        self._states = states

    def _is_whole(self, node: int, state: int) -> bool:
        classes: int = self._below[node]
        return not classes or not classes & self._states.leaving(state)


class StateWalk:
    """Walks one trie by one grammar's states. Sets may have roots of subtrees in place of all nodes
    below (``TrieIndex.whole``)."""

    def __init__(
        self, states: States, trie: Trie, vocab_size: int, caches: CacheBudget | None = None
    ) -> None:
        self._states, self._trie, self._vocab_size = states, trie, vocab_size
        self.returns = states.ends
        self._subtrees, self._views = subtrees_of(trie), _views_of(trie)
        self._size = len(trie.octets)
        self._words = tokenset.word_count(vocab_size)
        self._loop_walks = loop_walks_of(trie)
        self._caches = caches or CacheBudget()
        self._targets: dict[int, NDArray[np.int32]] = {}
        self._few = _FewNodes(states, trie)
        self.forget()

    def forget(self) -> None:
        """Drop what is cached by the numbers of sets, which are given again."""
        self._longer: dict[int, Words] = {}
        children, bases = self._caches.divide(_CHILDREN, _BASES)
        self._children: BoundedCache[int, _Children] = children.cache()
        self._few.forget()
        index = partial(index_of, self._trie)
        self._patches = PatchedWalks(self._few, index, self._walked, bases)

    def flat(self, nodes: Nodes) -> Nodes:
        """A set with all nodes, each by itself."""
        return index_of(self._trie).flat(nodes)

    @cached_property
    def _lengths(self) -> Lengths:
        return lengths_of(self._trie)

    def within(self, nodes: Nodes, length: int) -> NDArray[np.bool_]:
        """Which nodes have no longer texts below them than so many characters."""
        found: NDArray[np.bool_] = self._lengths.below.take(nodes % self._size) <= length
        return found

    def up_to(self, nodes: Nodes, length: int) -> Nodes:
        """The nodes of a set, each by itself, that are at most so many characters from the root."""
        flat = self.flat(nodes)
        found: Nodes = flat[self._lengths.read.take(flat) <= length]
        return found

    def longer(self, length: int) -> Words:
        """The tokens of more characters, as a mask."""
        found = self._longer.get(length)
        if found is None:
            ids = self._subtrees.ids[self._lengths.tokens > length]
            found = self._longer[length] = tokenset.from_ids(ids, self._vocab_size)
        return found

    def walk_longer(self, root: Nodes, state: int, length: int) -> Walked:
        """What tokens of more characters come to, and perhaps others."""
        met = _Met()
        met.length = length
        self._read(state, root, met)
        if self._states.stops[state]:
            met.stopped[state] = [root]
        return self._ended(met, root)

    def rest(self, nodes: Nodes, others: Nodes) -> Nodes:
        """``TrieIndex.rest``."""
        return index_of(self._trie).rest(nodes, others)

    def merged(self, parts: Sequence[Some]) -> Nodes:
        """The nodes of all parts, int32, ascending, each once."""
        if len(parts) == 1 and isinstance(nodes := parts[0], list):
            return np.array(sorted(set(nodes)), dtype=np.int32)
        nodes = merged(parts, 2 * self._size)
        if len(nodes) < _LARGE or int(nodes[-1]) < self._size:
            return nodes
        return index_of(self._trie).shortest(nodes)

    def inside(self, number: int, suspended: Nodes, state: int) -> tuple[int, ...] | None:
        """``FewNodes.inside``."""
        return self._few.inside(number, suspended, state)

    def row_of(self, met: tuple[int, ...]) -> Words:
        """The tokens of what ``inside`` gave."""
        return self._few.row_of(met, self._words)

    def walk(self, number: int, suspended: Nodes, state: int) -> Walked:
        """What tokens come to from set ``number``, whose nodes are ``suspended``."""
        if len(suspended) == 1 and suspended[0] < self._size:
            node, base = int(suspended[0]), self._states.successor(state)
            tokens = self._views.end[node] - self._views.begin[node]
            if base != DEAD and tokens >= _WORTH_PATCHING:
                patched = self._patches.walk(number, suspended, state, base)
                if patched is not None:
                    return patched
        return self._walked(number, suspended, state)

    def _walked(self, number: int, suspended: Nodes, state: int) -> Walked:
        met = _Met()
        self._begin(number, suspended, state, met)
        return self._ended(met, suspended)

    def _ended(self, met: _Met, suspended: Nodes) -> Walked:
        """What was met, when nothing waits any more."""
        while met.waiting:
            reached = next(iter(met.waiting))
            parts = met.waiting.pop(reached)
            nodes = parts[0] if len(parts) == 1 else self.merged(parts)
            met.count += len(nodes)
            if self._read_loop(reached, nodes, met):
                continue
            if self._states.stops[reached]:
                met.stopped.setdefault(reached, []).append(nodes)
            self._read(reached, nodes, met)
        groups = [
            (reached, parts[0] if parts[0] is suspended and len(parts) == 1 else self.merged(parts))
            for reached, parts in sorted(met.stopped.items())
        ]
        return Walked(self._row(met), groups, met.count)

    def _begin(self, number: int, suspended: Nodes, state: int, met: _Met) -> None:
        """Read the first byte from a set that is large or has roots of subtrees; others wait."""
        is_compact = len(suspended) > 0 and int(suspended[-1]) >= self._size
        if not is_compact and len(suspended) < _LARGE:
            met.waiting[state] = [suspended]
            return
        if self._states.stops[state]:
            met.stopped[state] = [suspended]
        if is_compact:
            opened = self._opened(suspended, self._states[state])
            if len(opened):
                self._read(state, opened, met)
            return
        children = self._children.get(number)
        if children is None:
            children = self._by_octet(suspended)
            self._children.keep(number, children, 5 * len(children.nodes) + ENTRY_BYTES)
        edges = self._states.edges_of(state)
        if edges is None:
            self._split(state, children.nodes, children.octets, met)
            return
        for octet, target in edges:
            nodes = children.nodes[children.starts[octet] : children.starts[octet + 1]]
            if len(nodes):
                self._reached(target, nodes, met)

    def _by_octet(self, nodes: Nodes) -> _Children:
        below = ranges(self._trie.first.take(nodes), self._trie.fan_out.take(nodes))
        octets = self._trie.octets.take(below)
        order = np.argsort(octets, kind="stable")
        octets = octets[order]
        return _Children(below[order], octets, np.searchsorted(octets, np.arange(257)).tolist())

    def _opened(self, nodes: Nodes, row: Sequence[int]) -> Nodes:
        """The nodes that a row may read from, roots of subtrees opened as far as it reads."""
        read = np.array(row[:_OCTETS]) != DEAD
        broken = np.uint64(1 << BROKEN if read[128:].any() else 0)
        reads = np.bitwise_or.reduce(CLASS_BITS[read], initial=broken)
        single, roots = index_of(self._trie).parts(nodes)
        found = [single]
        while len(roots):
            roots = roots[(self._subtrees.below.take(roots) & reads) != 0]
            found.append(roots)
            roots = ranges(self._trie.first.take(roots), self._trie.fan_out.take(roots))
        return np.concatenate(found)

    def _read_loop(self, state: int, nodes: Some, met: _Met) -> bool:
        """Read what a state loops on from nodes, if it does and much is below them."""
        loop = self._states.loop(state)
        if loop is None:
            return False
        if isinstance(nodes, list):
            begin, end = self._views.begin, self._views.end
            below = sum(end[node] - begin[node] for node in nodes)
        else:
            below = int((self._subtrees.end.take(nodes) - self._subtrees.begin.take(nodes)).sum())
        if below < _WORTH_LOOPING:
            return False
        array = self.merged([nodes]) if isinstance(nodes, list) else nodes
        walk = self._loop_walks.walk(array, loop, self._vocab_size)
        met.rows.append(walk.row)
        met.count += walk.met
        if self._states.stops[state]:
            inner = walk.compact(index_of(self._trie))
            met.stopped.setdefault(state, []).append(inner)
        behind, targets = walk.following(self._targets_of(state), loop)
        self._group(behind, targets, met)
        return True

    def _read(self, state: int, nodes: Some, met: _Met) -> None:
        """Read a byte from nodes in a state; few nodes are read on."""
        if len(nodes) <= _FEW_NODES:
            each = nodes if isinstance(nodes, list) else nodes.tolist()
            first = self._views.first
            fan_out = sum([first[node + 1] - first[node] for node in each])
            if fan_out <= _FEW_CHILDREN or self._states.edges_of(state) is not None:
                self._follow(state, each, met)
                return
        array = np.asarray(nodes, dtype=np.int32)
        children = ranges(self._trie.first.take(array), self._trie.fan_out.take(array))
        self._split(state, children, self._trie.octets.take(children), met)

    def _follow(self, state: int, nodes: list[int], met: _Met) -> None:
        """Read on node by node, up to states that loop and nodes of many children, which wait."""
        first, octets, below, begin, end, own, _ = self._views
        states, begins, ends = self._states, met.begins, met.ends
        stops, known, few_edges = states.stops, states.known_leaving, states.few_edges
        rooms, length = states.rooms, met.length
        if bounded := states.is_bounded:
            lengths = self._lengths
            longest, through, read = lengths.below.data, lengths.through.data, lengths.read.data
        pending = [(node, state) for node in nodes]
        begun = len(pending)
        for place, (node, current) in enumerate(pending):
            row = states[current]
            low, high = first[node], first[node + 1]
            edges = few_edges[current]
            is_sparse = edges is not None and high - low > _SPARSE * len(edges)
            if place >= begun:
                if (
                    place >= _MOST_FOLLOWED
                    or (high - low > _FEW_OF_ONE and not is_sparse)
                    or states.loop(current)
                ):
                    _wait(met.waiting, current, node)
                    continue
                if stops[current]:
                    _wait(met.stopped, current, node)
            reached: Iterable[tuple[int, int]]
            if is_sparse:
                found = [(octets.find(octet, low, high), target) for octet, target in edges or ()]
                reached = [(child, target) for child, target in found if child >= 0]
            else:
                targets = [row[octet] for octet in octets[low:high]]
                reached = [(low + i, target) for i, target in enumerate(targets) if target]
            for child, target in reached:
                if bounded and rooms[target] < ENDLESS:
                    if through[child] <= length:
                        continue
                    if longest[child] <= rooms[target]:
                        target = states.twin(target)
                    else:
                        classes, items = states.counting(target)
                        if classes and lengths.unbroken(classes, length).of(child) > items:
                            one = np.array([begin[child], end[child], read[child] + items])
                            met.counted.append((one[:1], one[1:2], one[2:]))
                            continue
                begins.append(begin[child])
                if inner := below[child]:
                    leaving = known.get(target) or states.leaving(target)
                    if inner & leaving:
                        ends.append(begin[child] + own[child])
                        pending.append((child, target))
                        continue
                ends.append(end[child])

    def _split(self, state: int, nodes: Nodes, octets: NDArray[np.uint8], met: _Met) -> None:
        """Children with their bytes come to where a state reads these."""
        targets = self._targets_of(state).take(octets)
        live = targets != DEAD
        self._group(nodes[live], targets[live], met)

    def _group(self, nodes: Nodes, targets: NDArray[np.int32], met: _Met) -> None:
        """Nodes come to their states."""
        if not len(nodes):
            return
        head = int(targets[0])
        if (targets == head).all():
            self._reached(head, nodes, met)
            return
        # subtle: numpy orders numbers of 16 bits by counting, which takes a tenth of the time.
        narrow = targets.astype(np.uint16) if self._states.named < _NARROW else targets
        order = np.argsort(narrow, kind="stable")
        nodes, targets = nodes[order], targets[order]
        bounds = [0, *((targets[1:] != targets[:-1]).nonzero()[0] + 1).tolist(), len(nodes)]
        for low, high in pairwise(bounds):
            self._reached(int(targets[low]), nodes[low:high], met)

    def _reached(self, target: int, nodes: Nodes, met: _Met) -> None:
        """Nodes come to a state: their tokens fit, and what is below waits, or fits as a whole."""
        tokens, states = self._subtrees, self._states
        if states.rooms[target] < ENDLESS:
            nodes = self._counted(target, nodes, met)
        begins = tokens.begin.take(nodes)
        below = tokens.below.take(nodes)
        if below.any():
            waits = (below & np.uint64(states.leaving(target))) != 0
            ends = np.where(waits, begins + tokens.own.take(nodes), tokens.end.take(nodes))
            if waits.any():
                met.waiting.setdefault(target, []).append(nodes[waits])
        else:
            ends = tokens.end.take(nodes)
        met.arrays.append((begins, ends))

    def _counted(self, target: int, nodes: Nodes, met: _Met) -> Nodes:
        """Nodes come to a state with bounds: those whose texts its bounds say nothing of go on in
        its twin, and where all that is below is counted, it is known what fits. The others."""
        tokens, states = self._subtrees, self._states
        room = states.rooms[target]
        nodes = nodes[self._lengths.through.take(nodes) > met.length]
        low = self._lengths.below.take(nodes) <= room
        if low.any():
            self._reached(states.twin(target), nodes[low], met)
            nodes = nodes[~low]
        classes, most = states.counting(target)
        if not classes or not len(nodes):
            return nodes
        known = self._lengths.unbroken(classes, met.length).take(nodes) > most
        if known.any():
            some = nodes[known]
            limits = self._lengths.read.take(some) + most
            met.counted.append((tokens.begin.take(some), tokens.end.take(some), limits))
            nodes = nodes[~known]
        return nodes

    def _counted_row(self, met: _Met) -> Words:
        begins, ends, limits = (np.concatenate(parts) for parts in zip(*met.counted, strict=True))
        tokens = ranges(begins, ends - begins)
        lengths = self._lengths.tokens.take(tokens)
        fits = (lengths > met.length) & (lengths <= np.repeat(limits, ends - begins))
        return tokenset.from_ids(self._subtrees.ids.take(tokens[fits]), self._vocab_size)

    def _targets_of(self, state: int) -> NDArray[np.int32]:
        targets = self._targets.get(state)
        if targets is None:
            row = self._states[state][:_OCTETS]
            targets = self._targets[state] = np.array(row, dtype=np.int32)
        return targets

    def _row(self, met: _Met) -> Words:
        """The row of what a walk has met; not shared with others."""
        rows = met.rows + ([self._counted_row(met)] if met.counted else [])
        if not met.arrays and len(met.begins) <= _FEW_INTERVALS:
            total = sum(met.ends) - sum(met.begins)
            if total <= _FEW_TOKENS:
                bits, ids = bytearray(4 * self._words), self._views.ids
                for low, high in zip(met.begins, met.ends, strict=True):
                    for token in ids[low:high]:
                        bits[token >> 3] |= 1 << (token & 7)
                row: Words = np.frombuffer(bits, dtype="<u4")
                for other in rows:
                    row |= other
                return row
        both = [(np.array(met.begins, np.int32), np.array(met.ends, np.int32)), *met.arrays]
        begins, ends = (np.concatenate(parts) for parts in zip(*both, strict=True))
        row = self._subtrees.row(begins, ends, self._vocab_size)
        for other in rows:
            row |= other
        return row


def _wait(waiting: dict[int, list[Some]], state: int, node: int) -> None:
    parts = waiting.setdefault(state, [])
    if parts and isinstance(last := parts[-1], list):
        last.append(node)
    else:
        parts.append([node])
