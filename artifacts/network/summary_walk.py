"""Walks of the token trie from sets of suspended nodes, by the own edges of a network's state.

A walk reads a frontier of nodes byte by byte, one numpy look-up a level; a frontier of few nodes
node by node, as runs of spaces leave one for a hundred levels. Once walks have met many nodes,
subtrees in which no call begins or ends are taken whole (``read_through``). Tokens are kept as
intervals in the order of their texts (``tokens.subtrees``); where nearly all fit, those that do not
are counted off instead.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..summaries.node_sets import Nodes, merged
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.subtrees import BROKEN, CLASS_BITS, subtrees_of
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from .few_nodes import FEW, FewMet, FewNodes, PatchedWalks, Walked
from .loops import StateLoops, loop_walks_of
from .read_through import ReadThrough, inside_calls
from .tables import DEAD, NetworkTables
from .trie_index import index_of
from .walk_parts import Found, States, WalkRows, joined

# Sets of so many nodes have their children grouped by column.
_LARGE = 256

# So often a large set is read from by states of few edges before its children are grouped: most
# are by one state or two.
_BEGUN = 6

# The bytes of a child that is grouped.
_CHILD_BYTES = 4

# So few nodes are made a row and sets without arrays.
_FEW_MET, _FEW_TOKENS = 64, 256

# Below a node of so many tokens it is tried to patch another walk. What walks are patched, and
# children of sets, have these parts of the budget; and sets whose nodes stand for themselves.
_WORTH_PATCHING = 1 << 12
_CHILDREN, _BASES, _FLATS = 3, 1, 1

# Below nodes of so many tokens what a state reads by looping is kept with the trie.
_WORTH_LOOPING = 1 << 8

# When walks have met so many nodes, and for each state so many more, it is found out which subtrees
# can be taken whole, in about the time that reading as many takes.
_MANY, _FOR_EACH_STATE = 1 << 12, 2


class _Children(NamedTuple):
    """The children of a set of nodes by column, those of column c from ``starts[c]`` on."""

    nodes: Nodes
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]


class SummaryWalk:
    """Walks one trie from sets of nodes, by one network's own edges.

    The same large set is walked from in many states, of which most go on by few bytes: its
    children are grouped by the column of their byte, once, and a walk begins with those whose
    column its state reads. A set may hold a node and another below it: what a walk has met in the
    same state before it does not follow again.

    ``compact``: sets have roots of subtrees in place of all nodes below (``TrieIndex.whole``), as
    most states behind a name need not look at these; equal sets may differ so.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Trie,
        vocab_size: int,
        caches: CacheBudget | None = None,
        *,
        compact: bool = False,
    ) -> None:
        self._compact = compact
        self._tables, self._trie, self._vocab_size = tables, trie, vocab_size
        self._caches = caches or CacheBudget()
        self._table = np.ascontiguousarray(tables.table)
        self._flat = self._table.ravel()
        self._narrow = np.uint16 if len(self._table) <= 1 << 16 else np.int32
        self._byte_columns = int(tables.classes.max()) + 1
        self.returns = tables.accepting != 0
        self._calling = np.diff(tables.call_offsets) > 0
        self._stops = self.returns | self._calling
        self._subtrees = subtrees_of(trie)
        self._words = tokenset.word_count(vocab_size)
        self._rows = WalkRows(trie, vocab_size)
        self._through: ReadThrough | None = None
        self._most_before = _MANY + _FOR_EACH_STATE * len(self._table)
        self._visited = 0
        # For each node the walk and the state that it was met in last.
        self._met = np.zeros(len(trie.octets), dtype=np.int64)
        self._walks = 0
        # The classes of characters that a state reads the first bytes of.
        self._reads: dict[int, np.uint64] = {}
        self._few = FewNodes(tables.rows, trie, self._subtrees, self._stops.data, tables.states)
        self._loops, self._loop_walks = StateLoops(tables, self._stops), loop_walks_of(trie)
        self.forget()

    @property
    def _fan_out(self) -> NDArray[np.int32]:
        """How many children each node has."""
        return self._trie.fan_out

    def _columns_of(self, nodes: Nodes) -> NDArray[np.uint8]:
        return self._tables.classes.take(self._trie.octets.take(nodes))

    def forget(self) -> None:
        """Drop what is cached by the numbers of sets, which are given again."""
        self._begun: dict[int, int] = {}
        children, bases, flats = self._caches.divide(_CHILDREN, _BASES, _FLATS)
        self._flats: BoundedCache[int, Nodes] = flats.cache()
        self._children: BoundedCache[int, _Children] = children.cache()
        self._patches = PatchedWalks(self._few, lambda: index_of(self._trie), self.walk, bases)
        self._few.forget()

    def inside(self, number: int, suspended: Nodes, state: int) -> tuple[int, ...] | None:
        """``FewNodes.inside``: names the row of such a walk, which leaves nothing suspended."""
        met = self._few.inside(number, suspended, state)
        self._visited += len(met or ())
        return met

    def row_of(self, met: tuple[int, ...]) -> Words:
        """The tokens of what ``inside`` gave."""
        return self._few.row_of(met, self._words)

    def walk(self, number: int, suspended: Nodes, state: int) -> Walked:
        """What tokens come to from set ``number``, whose nodes are ``suspended``."""
        self._walks += 1
        begun = suspended
        if self._compact and len(suspended) and suspended[-1] >= len(self._fan_out):
            number, suspended = self._read_from(number, suspended, state)
        alone = len(suspended) == 1
        if alone and (patched := self._patched(number, suspended, state)):
            return patched
        found = Found(is_known=alone)
        # Runs of what is repeated are long, and are not read node by node.
        begins = alone and self._begins_loop(suspended, state)
        if len(suspended) <= FEW and not begins:
            frontier = [(node, state) for node in suspended.tolist()]
            met = FewMet([], [], [])
            rest = self._few.follow(frontier, met)
            if not rest and len(met.single) + len(met.whole) <= _FEW_MET:
                return self._of_few(begun, state, met)
            if rest is not frontier:
                found.add(suspended, met, is_complete=not rest)
            pairs = np.array(rest, dtype=np.int32).reshape(-1, 2)
            nodes, states = pairs[:, 0], pairs[:, 1]
        elif len(suspended) < _LARGE:
            nodes, states = suspended, np.full(len(suspended), state, dtype=np.int32)
        else:
            nodes, states = self._met_now(*self._first(number, suspended, state), alone, found)
        # Nodes that a walk comes to in so many bytes have different nodes above them, and each
        # has one state. So only what was met in fewer bytes can be met again.
        while len(nodes):
            nodes, states, *behind = self._read_loops(nodes, states, found)
            if 0 < len(nodes) <= FEW and not begins:
                nodes, states = self._node_by_node(nodes, states, found)
            begins = False
            if len(nodes):
                nodes, states = self._level(nodes, states, found)
            if len(behind[0]):
                nodes, states = joined([nodes, behind[0]]), joined([states, behind[1]])
            if len(nodes):
                nodes, states = self._met_now(nodes, states, alone, found)
        self._visited += found.count
        row = self._rows.of(found, suspended)
        inside = self._inside(found.stopped_whole)
        for looping, walk in found.loops:
            if self._stops[looping]:
                index = index_of(self._trie)
                nodes = walk.compact(index) if self._compact else walk.inner(index)
                inside.setdefault(looping, []).append(nodes)
        stopped = self._by_state(begun, state, found.stopped, inside)
        return Walked(row, stopped, found.count)

    def _read_from(self, number: int, suspended: Nodes, state: int) -> tuple[int, Nodes]:
        """The nodes of a set that a state may read from, each by itself, and their number."""
        index = index_of(self._trie)
        single, roots = index.parts(suspended)
        if state not in self._reads:
            read = self._table[state].take(self._tables.classes) != DEAD
            broken = np.uint64(1 << BROKEN if read[128:].any() else 0)
            self._reads[state] = np.bitwise_or.reduce(CLASS_BITS[read], initial=broken)
        if not (self._subtrees.below.take(roots) & self._reads[state]).any():
            return number, single
        flat = self._flats.get(number)
        if flat is None:
            flat = index.flat(suspended)
            self._flats.keep(number, flat, flat.nbytes + ENTRY_BYTES)
        return ~number, flat

    def flat(self, nodes: Nodes) -> Nodes:
        """A set with all nodes, each by itself."""
        return index_of(self._trie).flat(nodes) if self._compact else nodes

    def _begins_loop(self, suspended: Nodes, state: int) -> bool:
        """Whether a state loops from a node, or behind its first byte, and much is below it."""
        node = int(suspended[0])
        if self._subtrees.end[node] - self._subtrees.begin[node] < _WORTH_PATCHING:
            return False
        edges = self._few.few_edges(state)
        return edges is None or any(map(self._loops.loop, {state, *dict(edges).values()}))

    def _read_loops(
        self, nodes: Nodes, states: States, found: Found
    ) -> tuple[Nodes, States, Nodes, States]:
        """Read what states loop on; the nodes and states that are left, and those behind loops."""
        behind: list[Nodes] = []
        targets: list[States] = []
        looping = self._loops.looping(states)
        if looping.any():
            sizes = self._subtrees.end.take(nodes) - self._subtrees.begin.take(nodes)
            for state in distinct(states[looping]).tolist():
                which, loop = states == state, self._loops.loop(state)
                if loop is None or int(sizes[which].sum()) < _WORTH_LOOPING:
                    looping &= ~which
                    continue
                walk = self._loop_walks.walk(distinct(nodes[which]), loop, self._vocab_size)
                found.loops.append((state, walk))
                found.count += walk.met
                after, reached = walk.following(self._loops.targets(state), loop)
                behind.append(after)
                targets.append(reached)
            nodes, states = nodes[~looping], states[~looping]
        return nodes, states, joined(behind), joined(targets)

    def _patched(self, number: int, suspended: Nodes, state: int) -> Walked | None:
        """The walk of a state's successor, patched, where the two differ in little; else None."""
        node = int(suspended[0])
        size = int(self._subtrees.end[node] - self._subtrees.begin[node])
        if self._through is None or size < _WORTH_PATCHING:
            return None
        base_state = int(self._through.successors[state])
        if base_state in (DEAD, state) or self._through.successors[base_state] != base_state:
            return None
        return self._patches.walk(number, suspended, state, base_state)

    def _of_few(self, suspended: Nodes, state: int, met: FewMet) -> Walked:
        """The same as a row and sets."""
        begin, end = self._subtrees.begin, self._subtrees.end
        count = len(met.single) + len(met.whole)
        self._visited += count
        whole = np.array(met.whole, dtype=np.int32)
        if len(whole) and int((end.take(whole) - begin.take(whole)).sum()) > _FEW_TOKENS:
            found = Found(is_known=False)
            found.add(suspended, met, is_complete=False)
            row = self._rows.of(found, suspended)
        else:
            bits = bytearray(4 * self._words)
            self._few.mark(bits, met)
            row = np.frombuffer(bits, dtype="<u4")
        groups: dict[int, set[int]] = {}
        for node, target in met.stopped:
            groups.setdefault(target, set()).add(node)
        if not self._stops[state]:
            stopped = [(q, np.array(sorted(groups[q]), dtype=np.int32)) for q in sorted(groups)]
            return Walked(row, stopped, count)
        others = groups.pop(state, set())
        begun = suspended
        if others:
            begun = np.array(sorted(others.union(suspended.tolist())), dtype=np.int32)
        sets = {q: np.array(sorted(nodes), dtype=np.int32) for q, nodes in groups.items()}
        sets[state] = begun
        return Walked(row, sorted(sets.items()), count)

    def walk_via_levels(self, suspended: Nodes, state: int) -> Walked:
        """The same, node by node, whatever fits below it."""
        trie, width = self._trie, self._table.shape[1]
        nodes, states = suspended, np.full(len(suspended), state, dtype=np.int32)
        met: list[Nodes] = []
        stopped: list[tuple[Nodes, States]] = []
        while len(nodes):
            fan_out = self._fan_out[nodes]
            children = ranges(trie.first[nodes], fan_out)
            targets = self._flat[states.repeat(fan_out) * width + self._columns_of(children)]
            nodes, states = children[targets != DEAD], targets[targets != DEAD]
            met.append(nodes)
            stops = self._stops[states] & (self._fan_out[nodes] > 0)
            if stops.any():
                stopped.append((nodes[stops], states[stops]))
        whole = np.concatenate([np.zeros(0, dtype=np.int32), *met])
        ids = trie.ids[ranges(trie.held[whole], trie.held[whole + 1] - trie.held[whole])]
        row = tokenset.from_ids(ids, self._vocab_size)
        return Walked(row, self._by_state(suspended, state, stopped), len(whole))

    def rest(self, nodes: Nodes, others: Nodes) -> Nodes:
        """``TrieIndex.rest``."""
        return index_of(self._trie).rest(nodes, others)

    def merged(self, parts: Sequence[Nodes]) -> Nodes:
        """The nodes of all parts, int32, ascending, each once."""
        return merged(parts, len(self._fan_out) << self._compact)

    def _first(self, number: int, suspended: Nodes, state: int) -> tuple[Nodes, States]:
        """The children of a large set that a state leads to, and the states there."""
        row = self._table[state]
        edges = self._few.few_edges(state)
        begun = self._begun[number] = self._begun.get(number, 0) + 1
        if edges is not None and begun < _BEGUN:
            index, flags = index_of(self._trie), np.zeros(len(self._fan_out), dtype=np.bool_)
            flags[suspended] = True
            parts = [index.children_by(flags, octet) for octet, _ in edges]
            targets = np.array([target for _, target in edges], dtype=np.int32)
            return joined(parts), targets.repeat([len(part) for part in parts])
        grouped = self._children.get(number) or self._grouped(number, suspended)
        row = row[: len(grouped.counts)]
        read = (row != DEAD) & (grouped.counts > 0)
        counts = grouped.counts[read]
        nodes = grouped.nodes[ranges(grouped.starts[read], counts)]
        return nodes, np.repeat(row[read], counts)

    def _grouped(self, number: int, suspended: Nodes) -> _Children:
        trie = self._trie
        children = ranges(trie.first[suspended], self._fan_out[suspended])
        columns = self._columns_of(children)
        counts = np.bincount(columns, minlength=self._byte_columns)
        order = np.argsort(columns, kind="stable")
        grouped = _Children(children[order], np.cumsum(counts) - counts, counts)
        size = ENTRY_BYTES + _CHILD_BYTES * len(children)
        return self._children.keep(number, grouped, size)

    def _level(self, nodes: Nodes, states: States, found: Found) -> tuple[Nodes, States]:
        """The children that a frontier leads to, and the states there."""
        fan_out = self._fan_out.take(nodes)
        children = ranges(self._trie.first.take(nodes), fan_out)
        states = states.repeat(fan_out)
        if self._through is not None:
            # A character of several bytes is read before its bytes are.
            fits = self._through.fits(self._subtrees.within, children, states, within=True)
            self._add_stopping(self._subtrees.within, children, states, fits, found)
            if fits.any():
                found.whole.append(children[fits])
                children, states = children[~fits], states[~fits]
        places = states * np.int32(self._table.shape[1])
        places += self._columns_of(children)
        targets = self._flat.take(places)
        live = targets != DEAD
        if found.is_known:
            found.read.append((children, live))
        return children[live], targets[live]

    def _add_stopping(
        self,
        classes: NDArray[np.uint64],
        nodes: Nodes,
        states: States,
        fits: NDArray[np.bool_],
        found: Found,
    ) -> None:
        """Add to ``fits`` what fits, but that calls begin or end at each node below."""
        assert self._through is not None
        stopping = self._through.stops_all_through(classes, nodes, states)
        if stopping is not None:
            stopping &= ~fits
            found.stopped_whole.append((nodes[stopping], states[stopping]))
            fits |= stopping

    def _make_through(self) -> None:
        tables = self._tables
        # Below the start lies nothing that could go on where it ends.
        self.returns &= inside_calls(tables)
        self._stops = self.returns | self._calling
        self._through = ReadThrough.of(tables, self._stops, self._trie)
        self._few.read_through(self._through, self._stops.data)

    def _met_now(
        self, nodes: Nodes, states: States, alone: bool, found: Found
    ) -> tuple[Nodes, States]:
        """Those that have to be read on from. What a walk has met before in the same state, as it
        may from several nodes, is not."""
        if not alone:
            meeting = states + self._walks * len(self._table)
            new = self._met.take(nodes) != meeting
            nodes, states = nodes[new], states[new]
            self._met[nodes] = meeting[new]
        found.count += len(nodes)
        fan_out = self._fan_out.take(nodes)
        reading = self._visited + found.count
        if self._through is None and reading + int(fan_out.sum()) > self._most_before:
            self._make_through()
        if self._through is None:
            fits = fan_out == 0
        else:
            fits = self._through.fits(self._subtrees.below, nodes, states)
            self._add_stopping(self._subtrees.below, nodes, states, fits, found)
        found.whole.append(nodes[fits])
        rest = ~fits
        nodes, states = nodes[rest], states[rest]
        found.single.append(nodes)
        stops = self._stops.take(states)
        if stops.any():
            found.stopped.append((nodes[stops], states[stops]))
        return nodes, states

    def _node_by_node(self, nodes: Nodes, states: States, found: Found) -> tuple[Nodes, States]:
        """The walk as long as its frontier is so small that arrays take longer; gives what is left
        of it."""
        met = FewMet([], [], [])
        frontier = list(zip(nodes.tolist(), states.tolist(), strict=True))
        left = self._few.follow(frontier, met)
        if left is not frontier:
            found.add(nodes, met, is_complete=not left)
        rest = np.array(left, dtype=np.int32).reshape(-1, 2)
        return rest[:, 0], rest[:, 1]

    def _inside(self, stopped: list[tuple[Nodes, States]]) -> dict[int, list[Nodes]]:
        """By state all nodes with children at and below some."""
        if not stopped:
            return {}
        nodes, states = (np.concatenate(parts) for parts in zip(*stopped, strict=True))
        index = index_of(self._trie)
        below = index.whole if self._compact else index.inner_nodes
        return {state: [below(nodes[states == state])] for state in distinct(states).tolist()}

    def _by_state(
        self,
        suspended: Nodes,
        state: int,
        stopped: list[tuple[Nodes, States]],
        inside: dict[int, list[Nodes]] | None = None,
    ) -> list[tuple[int, Nodes]]:
        groups = inside or {}
        if self._stops[state]:
            groups.setdefault(state, []).append(suspended)
        if stopped:
            nodes = np.concatenate([nodes for nodes, _ in stopped])
            states = np.concatenate([states for _, states in stopped])
            # Numpy sorts 16 bits in time linear in their number.
            order = np.argsort(states.astype(self._narrow), kind="stable")
            nodes, states = nodes[order], states[order]
            bounds = (states[1:] != states[:-1]).nonzero()[0] + 1
            heads = states[np.append(0, bounds)].tolist()
            for head, part in zip(heads, np.split(nodes, bounds), strict=True):
                groups.setdefault(head, []).append(part)
        return [
            (head, suspended if parts[0] is suspended and len(parts) == 1 else self.merged(parts))
            for head, parts in sorted(groups.items())
            # Nothing ends any more at the start if it was found out during this walk.
            if self._stops[head]
        ]
