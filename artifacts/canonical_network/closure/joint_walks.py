"""Which pairs of network and pre-tokenizer states there are, and where their own edges lead.

    joint_table   the synchronous product of both automata's own edges, over pairs
    reach         which pairs can lie on which stacks, as far as contexts distinguish stacks
    walk_all      the token trie, walked from many pairs at once by their own edges, in parts of
                  bounded size; what lies below a first byte once for each pair that it leads to

``reach`` is saturation of a pushdown system (post*; Esparza, Hansel, Rossmanith and Schwoon 2000),
with the stack below a call abstracted to its context. A *call* is a frame and the context of what
is below it; the pairs that are reached in it are those of its own edges and those after the calls
that it makes, beside every pre-tokenizer state in which these can end.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...network.tables import DEAD, NetworkTables
from ...tokens.distinct import first_places
from ...tokens.memo import Numbered
from ...tokens.trie import Trie, ranges
from ...tokens.watch import Watch
from ..byte_edges import ByteEdges, reached
from ..contexts import TEXT_END, Contexts
from ..pretokenized import PretokenizedNetwork

# The call that is the text itself: no frame is 0.
TEXT = 0

# Cells of a table that are looked at in one step.
_CELLS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """``table``: int32 (planes · n, J), the pair (of ``Contexts``) after a byte of each
    class, 0 dead; row plane · n + pair where the byte is the first of a token. ``classes``: int64
    (256,), the class of each byte. ``octets``: a byte of each class. ``stops``: bool (n,),
    pairs in which a call begins or ends.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.int64]
    octets: list[int]
    stops: NDArray[np.bool_]

    @property
    def pairs(self) -> int:
        """Number of pairs, n, pair 0 included."""
        return len(self.stops)

    def successors(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs after one byte, in any plane: those of pair p, ascending, from ``offsets[p]``
        to before ``offsets[p + 1]``, and the offsets."""
        size, step = self.pairs, max(1, _CELLS // max(1, self.table.shape[1]))
        edges = [np.zeros(0, dtype=np.int64)]
        for begin in range(0, len(self.table), step):
            rows, columns = np.nonzero(self.table[begin : begin + step])
            targets = self.table[begin + rows, columns]
            edges.append(np.unique((begin + rows) % size * size + targets))
        found: NDArray[np.int64] = np.unique(np.concatenate(edges))
        offsets = np.searchsorted(found, np.arange(size + 1) * size).astype(np.int64)
        return found % size, offsets


def meet_all_pairs(network: PretokenizedNetwork, cells: int = 1) -> None:
    """Number all pairs of ``network.contexts`` that texts lead to, and those after the ones that
    were met. ``cells``: of each, which are told before they are made."""
    contexts, begun = network.contexts, dict(enumerate(network.reached))
    # Those of the reader are pairs here as well.
    for each in (network, network.reader):
        pairs = () if each is None else (each.contexts.states[1:], each.contexts.pre_states[1:])
        for state, pre_state in zip(*(array.tolist() for array in pairs), strict=True):
            begun[state] |= 1 << pre_state
    tables, edges = network.network.tables, network.byte_edges
    found = reached(tables, edges, network.sets, begun, network.watch)
    # All of it is told at once: what cannot be finished is not begun.
    cells *= 1 + sum(states.bit_count() for states in found)
    network.watch(cells, 4 * cells)
    for state, pre_states in enumerate(found):
        if pre_states:
            numbers = np.flatnonzero(network.sets.flags(pre_states))
            contexts.numbers(np.full(len(numbers), state), numbers)


def joint_table(network: PretokenizedNetwork) -> Joint:
    """All pairs of ``network.contexts``; bytes that lead nowhere are one class."""
    tables, pretokenizer = network.network.tables, network.pretokenizer
    contexts = network.contexts
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = np.where(used, tables.classes.astype(np.int64) * 256 + pretokenizer.classes, -1)
    _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
    columns, pre_columns = tables.classes[octets], pretokenizer.classes[octets]
    planes = pretokenizer.table.shape[1]
    meet_all_pairs(network, planes * len(octets))
    pairs = len(contexts.states)
    table = np.zeros((planes, pairs, len(octets)), dtype=np.int32)
    step, edges = max(1, _CELLS // len(octets)), ByteEdges.over(tables, columns)
    for begin in range(0, pairs, step):
        network.watch(0, 0)
        states = contexts.states[begin : begin + step]
        pre_states = contexts.pre_states[begin : begin + step]
        rows, read, after = edges.leaving(states)
        for plane in range(planes):
            pre_after = pretokenizer.table[pre_states[rows], plane, pre_columns[read]]
            table[plane, begin + rows, read] = contexts.numbers(after, pre_after)
    stops = ((tables.accepting != 0) | (np.diff(tables.call_offsets) > 0))[contexts.states]
    whole = table.reshape(-1, len(octets))
    return Joint(whole, classes.reshape(-1), octets.tolist(), stops)


@dataclass(slots=True, eq=False)
class Calls:
    """``calls``: (frame, context below) of each, ``TEXT`` first. ``contexts``: what a place in
    the call has as its context. ``reached``: bool (pairs,) each. ``callers``: the calls that
    each can lie on. ``order``: the pairs as they were reached."""

    calls: Numbered[tuple[int, int]] = field(default_factory=Numbered)
    contexts: list[int] = field(default_factory=list)
    reached: list[NDArray[np.bool_]] = field(default_factory=list)
    callers: list[set[int]] = field(default_factory=list)
    order: list[NDArray[np.integer]] = field(default_factory=list)

    def pairs(self) -> NDArray[np.integer]:
        """All pairs, those first that the shortest texts lead to."""
        found = np.concatenate([np.zeros(0, dtype=np.int64), *self.order])
        return found[np.sort(first_places(found))]


def reach(network: PretokenizedNetwork, joint: Joint) -> Calls:
    """All calls after a text or a prompt."""
    tables, contexts = network.network.tables, network.contexts
    search = _Search(tables, contexts, joint, network.watch)
    # A prompt may end in any pre-tokenizer state.
    begins = contexts.states == (tables.start if network.continued is None else network.continued)
    text = search.number(TEXT, TEXT_END, TEXT_END)
    start = contexts.number(tables.start, network.pretokenizer.start)
    search.add(text, np.append(np.flatnonzero(begins), start))
    search.run()
    return search.found


class _Search:
    def __init__(
        self, tables: NetworkTables, contexts: Contexts, joint: Joint, watch: Watch
    ) -> None:
        self.tables, self.contexts, self.joint, self.watch = tables, contexts, joint, watch
        self.found = Calls()
        self._todo: deque[tuple[int, NDArray[np.integer]]] = deque()
        self._calling = (np.diff(tables.call_offsets) > 0)[contexts.states]
        self._ending = (tables.accepting != 0)[contexts.states]

    def number(self, frame: int, below: int, context: int) -> int:
        number = self.found.calls.number((frame, below))
        if number == len(self.found.contexts):
            self.found.contexts.append(context)
            self.watch(0, self.joint.pairs)
            self.found.reached.append(np.zeros(self.joint.pairs, dtype=np.bool_))
            self.found.callers.append(set())
        return number

    def add(self, call: int, pairs: NDArray[np.integer]) -> None:
        """Let ``pairs`` be reached in a call."""
        reached = self.found.reached[call]
        pairs = pairs[~reached[pairs]]
        new = pairs[self.contexts.are_live(pairs, self.found.contexts[call])]
        if len(new):
            reached[new] = True
            self._todo.append((call, np.unique(new)))
            self.found.order.append(new)

    def run(self) -> None:
        self.watch(self.joint.table.size, 0)
        targets, offsets = self.joint.successors()
        planes = len(self.joint.table) // self.joint.pairs
        while self._todo:
            call, pairs = self._todo.popleft()
            self.watch(len(pairs) * planes, 0)
            ends = offsets[pairs + 1]
            counts = ends - offsets[pairs]
            places = np.repeat(ends - np.cumsum(counts), counts) + np.arange(counts.sum())
            self.add(call, targets[places])
            for pair in pairs[self._calling[pairs]].tolist():
                self._calls(call, pair)
            ending = pairs[self._ending[pairs]]
            for caller in sorted(self.found.callers[call]) if len(ending) else ():
                self._returns(call, ending, caller)

    def _calls(self, call: int, pair: int) -> None:
        contexts, context = self.contexts, self.found.contexts[call]
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        for start, frame in self.tables.calls[state]:
            inner = contexts.number(start, pre_state)
            callee = self.number(frame, context, contexts.push(frame, context))
            if call not in self.found.callers[callee]:
                self.found.callers[callee].add(call)
                ended = self.found.reached[callee] & self._ending
                self._returns(callee, np.flatnonzero(ended), call)
            self.add(callee, np.array([inner]))

    def _returns(self, callee: int, ending: NDArray[np.integer], caller: int) -> None:
        """A call ends in some pairs: its frame is read beside their pre-tokenizer states, whichever
        of them that caller began beside."""
        frame, pre_states = self.found.calls[callee][0], self.contexts.pre_states[ending]
        self.add(caller, self.contexts.numbers(np.full(len(ending), frame), pre_states))


# Walks of one part, and about so many tokens may they meet; a single walk may meet more.
_PART_WALKS, _PART_TOKENS = 1 << 12, 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Below:
    """``values`` (tokens, or trie nodes) with the pairs that they lead to, ``targets``: below block
    b those from ``bounds[b]`` on."""

    bounds: NDArray[np.int64]
    values: NDArray[np.int32]
    targets: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """``blocks`` of walk i from ``offsets[i]`` on, ascending. ``tokens`` of each block;
    ``stopped``: its inner nodes where calls may begin or end."""

    offsets: NDArray[np.int64]
    blocks: NDArray[np.int32]
    tokens: Below
    stopped: Below


def walk_all(
    trie: Trie, joint: Joint, starts: NDArray[np.int64]
) -> Iterator[tuple[int, int, Walks]]:
    """The walks of ``starts``, rows of ``joint.table``: those from the first to before the last,
    in parts. The root itself is not among the nodes.

    After their first bytes most walks are in few states. What lies below the bytes of one class
    in one state is a *block*, which is walked once for all walks of a part.
    """
    roots = np.arange(int(trie.first[0]), int(trie.first[1]))
    of_roots = joint.classes[trie.octets[roots]]
    roots = roots[np.argsort(of_roots, kind="stable")]
    used, firsts, counts = np.unique(np.sort(of_roots), return_index=True, return_counts=True)
    columns, held = joint.classes[trie.octets], _held(trie, joint)
    begin, most = 0, _PART_WALKS
    while begin < len(starts):
        after = joint.table[starts[begin : begin + most]][:, used]
        owners, places = np.nonzero(after)
        keys = places * np.int64(joint.pairs) + after[owners, places]
        keys, met_first, blocks = np.unique(keys, return_index=True, return_inverse=True)
        # The walk that meets each block first.
        owner = owners[met_first]
        weights = held[used[keys // joint.pairs]]
        met = np.cumsum(np.bincount(owner, weights, minlength=len(after)))
        count = max(1, int(np.searchsorted(met, _PART_TOKENS, side="right")))
        offsets = np.searchsorted(owners, np.arange(count + 1))
        is_met = owner < count
        numbers = np.cumsum(is_met, dtype=np.int32) - 1
        nodes, states = np.divmod(keys[is_met], joint.pairs)
        below = roots[ranges(firsts[nodes], counts[nodes])]
        numbered = np.repeat(np.arange(len(nodes), dtype=np.int32), counts[nodes])
        found = _walked(trie, joint, columns, below, states[numbered], numbered, len(nodes))
        mine = numbers[blocks.reshape(-1)[: offsets[-1]]]
        yield begin, begin + count, Walks(offsets, mine, *found)
        begin, most = begin + count, min(_PART_WALKS, 2 * count)


def _walked(
    trie: Trie,
    joint: Joint,
    columns: NDArray[np.int64],
    nodes: NDArray[np.integer],
    states: NDArray[np.integer],
    numbers: NDArray[np.int32],
    blocks: int,
) -> tuple[Below, Below]:
    """The tokens at some nodes and below, and the inner nodes where calls may begin or end, by
    ``numbers``: the block of each node, ascending."""
    flat, width = joint.table.reshape(-1), joint.table.shape[1]
    fan_outs, helds = np.diff(trie.first), np.diff(trie.held)
    tokens, stops = _Triples(), _Triples()
    while len(nodes):
        counts = helds[nodes]
        slots = ranges(trie.held[nodes], counts)
        tokens.add(np.repeat(numbers, counts), trie.ids[slots], np.repeat(states, counts))
        inner = np.flatnonzero(fan_outs[nodes])
        nodes, states, numbers = nodes[inner], states[inner], numbers[inner]
        halted = np.flatnonzero(joint.stops[states])
        stops.add(numbers[halted], nodes[halted], states[halted])
        fan_out = fan_outs[nodes]
        parents = np.repeat(np.arange(len(nodes)), fan_out)
        children = ranges(trie.first[nodes], fan_out)
        after = flat[states[parents] * np.int64(width) + columns[children]]
        live = np.flatnonzero(after)
        nodes, states, numbers = children[live], after[live], numbers[parents[live]]
    return tokens.below(blocks), stops.below(blocks)


class _Triples:
    """Three parallel arrays, in parts: blocks, values and targets."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.integer], ...]] = [(np.zeros(0, dtype=np.int32),) * 3]

    def add(self, *arrays: NDArray[np.integer]) -> None:
        self._parts.append(arrays)

    def below(self, blocks: int) -> Below:
        """By block."""
        columns = zip(*self._parts, strict=True)
        numbers, values, targets = (np.concatenate(column).astype(np.int32) for column in columns)
        order = np.argsort(numbers, kind="stable")
        counts = np.bincount(numbers, minlength=blocks)
        return Below(bounds_of(counts), values[order], targets[order])


def bounds_of(counts: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.int64]:
    """``[2, 1] -> [0, 2, 3]``"""
    found = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=found[1:])
    return found


def _held(trie: Trie, joint: Joint) -> NDArray[np.integer | np.floating]:
    """How many tokens begin with a byte of each class."""
    first = trie.first
    owner = np.zeros(len(trie.octets), dtype=np.int64)
    begin, end = int(first[0]), int(first[1])
    owner[begin:end] = joint.classes[trie.octets[begin:end]]
    while begin < end:
        below = slice(int(first[begin]), int(first[end]))
        owner[below] = np.repeat(owner[begin:end], np.diff(first[begin : end + 1]))
        begin, end = below.start, below.stop
    return np.bincount(owner, weights=np.diff(trie.held), minlength=joint.table.shape[1])
