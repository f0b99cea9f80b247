"""Which pairs of network and pre-tokenizer states there are, and where tokens lead from them.

    joint_table   the synchronous product of both automata's own edges, over pairs
    reach         which pairs can lie on which stacks, as far as contexts distinguish stacks
    walk_all      the token trie, walked from many pairs at once by their own edges, in parts of
                  bounded size; what lies below a trie node once for each pair that it is met with
    PairWalks     with what calls and returns add, as ``trie_walk.TokenWalks`` has it

``reach`` is saturation of a pushdown system (post*; Esparza, Hansel, Rossmanith and Schwoon 2000),
with the stack below a call abstracted to its context. A *call* is a frame and the context of what
is below it; the pairs that are reached in it are those of its own edges and those behind the calls
that it makes, beside every pre-tokenizer state in which these can end.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.contexts import TEXT_END, ReturnContexts
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.canonical_network.trie_walk import Frames, TokenWalks, Walk, united
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.tokens.trie import Trie, ranges
from constrain.artifacts.tokens.watch import Watch

# The call that is the text itself: no frame is 0.
TEXT = 0

# Cells of a table that are looked at in one step.
_CELLS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """``table``: int32 (planes · n, J), the pair (of ``ReturnContexts``) after a byte of each
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


def joint_table(network: PretokenizedNetwork) -> Joint:
    """All pairs of ``network.contexts``; bytes that lead nowhere are one class."""
    tables, pretokenizer = network.network.tables, network.pretokenizer
    contexts = network.contexts
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = np.where(used, tables.classes.astype(np.int64) * 256 + pretokenizer.classes, -1)
    _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
    columns, pre_columns = tables.classes[octets], pretokenizer.classes[octets]
    pairs, planes = len(contexts.states), pretokenizer.table.shape[1]
    network.watch(0, 4 * planes * pairs * len(octets))
    table = np.zeros((planes, pairs, len(octets)), dtype=np.int32)
    step = max(1, _CELLS // len(octets))
    for begin in range(0, pairs, step):
        network.watch(step * len(octets), 0)
        states = contexts.states[begin : begin + step]
        pre_states = contexts.pre_states[begin : begin + step]
        after = tables.table[states[:, None], columns]
        for plane in range(planes):
            pre_after = pretokenizer.table[pre_states[:, None], plane, pre_columns]
            table[plane, begin : begin + step] = contexts.pair[after, pre_after]
    stops = ((tables.accepting != 0) | (np.diff(tables.call_offsets) > 0))[contexts.states]
    whole = table.reshape(-1, len(octets))
    return Joint(whole, classes.reshape(-1), octets.tolist(), stops)


@dataclass(slots=True, eq=False)
class Calls:
    """``calls``: (frame, context below) of each, ``TEXT`` first. ``contexts``: what a place in
    the call has as its context. ``reached``: bool (pairs,) each. ``callers``: the calls that
    each can lie on."""

    calls: list[tuple[int, int]] = field(default_factory=list)
    contexts: list[int] = field(default_factory=list)
    reached: list[NDArray[np.bool_]] = field(default_factory=list)
    callers: list[set[int]] = field(default_factory=list)


def reach(network: PretokenizedNetwork, joint: Joint) -> Calls:
    """All calls behind a text or a prompt."""
    tables, contexts = network.network.tables, network.contexts
    search = _Search(tables, contexts, joint, network.watch)
    # A prompt may end in any pre-tokenizer state.
    begins = contexts.pair[tables.start if network.continued is None else network.continued]
    text = search.number(TEXT, TEXT_END, TEXT_END)
    search.add(text, np.append(begins, contexts.pair[tables.start, network.pretokenizer.start]))
    search.run()
    return search.found


class _Search:
    def __init__(
        self, tables: NetworkTables, contexts: ReturnContexts, joint: Joint, watch: Watch
    ) -> None:
        self.tables, self.contexts, self.joint, self.watch = tables, contexts, joint, watch
        self.found = Calls()
        self._numbers: dict[tuple[int, int], int] = {}
        self._todo: deque[tuple[int, NDArray[np.integer]]] = deque()
        self._calling = (np.diff(tables.call_offsets) > 0)[contexts.states]

    def number(self, frame: int, below: int, context: int) -> int:
        key = frame, below
        if key not in self._numbers:
            self._numbers[key] = len(self.found.calls)
            self.found.calls.append(key)
            self.found.contexts.append(context)
            self.watch(0, self.joint.pairs)
            self.found.reached.append(np.zeros(self.joint.pairs, dtype=np.bool_))
            self.found.callers.append(set())
        return self._numbers[key]

    def add(self, call: int, pairs: NDArray[np.integer]) -> None:
        """Let ``pairs`` be reached in a call."""
        reached = self.found.reached[call]
        new = pairs[~reached[pairs] & self.contexts.live(self.found.contexts[call])[pairs]]
        if len(new):
            reached[new] = True
            self._todo.append((call, np.unique(new)))

    def run(self) -> None:
        planes = self.joint.table.reshape(-1, self.joint.pairs, self.joint.table.shape[1])
        while self._todo:
            call, pairs = self._todo.popleft()
            self.watch(len(pairs) * len(planes), 0)
            self.add(call, planes[:, pairs].reshape(-1))
            for pair in pairs[self._calling[pairs]].tolist():
                self._calls(call, pair)

    def _calls(self, call: int, pair: int) -> None:
        contexts, context = self.contexts, self.found.contexts[call]
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        for start, frame in self.tables.calls[state]:
            inner = contexts.number(start, pre_state)
            callee = self.number(frame, context, contexts.push(frame, context))
            self.found.callers[callee].add(call)
            self.add(callee, np.array([inner]))
            returns = contexts.return_states[contexts.returns[inner]]
            self.add(call, contexts.pair[frame, returns])


# About so many tokens may the walks of one part meet; a single walk may meet more. Parts that are
# walked together.
_PART_TOKENS, _SHARED = 1 << 20, 8


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Parallel arrays, by the index of the walk: ``tokens`` with the pairs that they lead to,
    and inner ``nodes`` where calls may begin or end, with their pairs."""

    walks: NDArray[np.int32]
    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    stopped: NDArray[np.int32]
    nodes: NDArray[np.int32]
    stops: NDArray[np.int32]


def walk_all(
    trie: Trie, joint: Joint, starts: NDArray[np.int64]
) -> Iterator[tuple[int, int, Walks]]:
    """The walks of ``starts``, rows of ``joint.table``: those from the first to before the last,
    in parts. The root itself is not among the nodes.

    Behind their first bytes most walks are in few states: what is below a node is walked once for
    each of them, for several parts together.
    """
    roots = np.arange(int(trie.first[0]), int(trie.first[1]))
    columns = joint.classes[trie.octets]
    ends = _blocks(trie, joint, starts)
    begin = 0
    for group in range(0, len(ends), _SHARED):
        bounds = [begin, *ends[group : group + _SHARED]]
        after = joint.table[starts[begin : bounds[-1]]][:, columns[roots]]
        owners, places = np.nonzero(after)
        keys = places * np.int64(joint.pairs) + after[owners, places]
        distinct, below = np.unique(keys, return_inverse=True)
        nodes, states = np.divmod(distinct, joint.pairs)
        tokens, stops = _walked(trie, joint, columns, roots[nodes], states)
        ends_of = np.searchsorted(owners, np.array(bounds) - begin)
        for place, (low, high) in enumerate(pairwise(ends_of.tolist())):
            mine, at = owners[low:high] + begin, below.reshape(-1)[low:high]
            found = Walks(*tokens.of(mine, at), *stops.of(mine, at))
            yield bounds[place], bounds[place + 1], found
        begin = bounds[-1]


def _walked(
    trie: Trie,
    joint: Joint,
    columns: NDArray[np.int64],
    nodes: NDArray[np.integer],
    states: NDArray[np.integer],
) -> tuple["_Found", "_Found"]:
    """The tokens at some nodes and below, and the inner nodes where calls may begin or end."""
    flat, width = joint.table.reshape(-1), joint.table.shape[1]
    fan_outs, helds = np.diff(trie.first), np.diff(trie.held)
    count = len(nodes)
    numbers = np.arange(count, dtype=np.int32)
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
    return _Found(count, *tokens.joined()), _Found(count, *stops.joined())


class _Found:
    """What was found below each of ``count`` nodes, by their numbers."""

    def __init__(
        self,
        count: int,
        numbers: NDArray[np.int32],
        values: NDArray[np.int32],
        states: NDArray[np.int32],
    ) -> None:
        order = np.argsort(numbers, kind="stable")
        self._values, self._states = values[order], states[order]
        self._counts = np.bincount(numbers, minlength=count)
        self._starts = np.cumsum(self._counts) - self._counts

    def of(
        self, owners: NDArray[np.integer], numbers: NDArray[np.integer]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """All below some nodes, each with its owner: owners, values and states."""
        counts = self._counts[numbers]
        places = ranges(self._starts[numbers], counts)
        found = np.repeat(owners.astype(np.int32), counts)
        return found, self._values[places], self._states[places]


class _Triples:
    """Three parallel arrays, in parts."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.integer], ...]] = [(np.zeros(0, dtype=np.int32),) * 3]

    def add(self, *arrays: NDArray[np.integer]) -> None:
        self._parts.append(arrays)

    def joined(self) -> list[NDArray[np.int32]]:
        columns = zip(*self._parts, strict=True)
        return [np.concatenate(column).astype(np.int32) for column in columns]


def _blocks(trie: Trie, joint: Joint, starts: NDArray[np.int64]) -> list[int]:
    """Where to part the walks, so that each part meets few tokens, going by first bytes."""
    first = trie.first
    owner = np.zeros(len(trie.octets), dtype=np.int64)
    begin, end = int(first[0]), int(first[1])
    owner[begin:end] = joint.classes[trie.octets[begin:end]]
    while begin < end:
        below = slice(int(first[begin]), int(first[end]))
        owner[below] = np.repeat(owner[begin:end], np.diff(first[begin : end + 1]))
        begin, end = below.start, below.stop
    held = np.bincount(owner, weights=np.diff(trie.held), minlength=joint.table.shape[1])
    step = max(1, _CELLS // joint.table.shape[1])
    rows = range(0, len(starts), step)
    counts = [(joint.table[starts[row : row + step]] != DEAD) @ held for row in rows]
    met = np.cumsum(np.concatenate([held[:0], *counts]))
    blocks, done = [], 0
    while done < len(starts):
        before = float(met[done - 1]) if done else 0.0
        done = max(done + 1, int(np.searchsorted(met, before + _PART_TOKENS, side="right")))
        blocks.append(done)
    return blocks


# Pre-tokenizer state, set of trie nodes, plane: where a walk goes on at the frame below.
Suspended = tuple[int, int, int]


# Where tokens lead: a pair, with frames pushed, the lowest first. And the tokens of each target.
Target: TypeAlias = tuple[int, Frames]
ByTarget: TypeAlias = dict[Target, NDArray[np.int32]]


@dataclass(frozen=True, eq=False)
class Part:
    """Some walks. Parallel arrays: ``ids`` of tokens that lead to ``pairs`` with
    ``frames[pushed]`` pushed, those of walk i from ``bounds[i]`` on. ``suspended`` of each walk."""

    ids: NDArray[np.int32]
    pairs: NDArray[np.int32]
    pushed: NDArray[np.int32]
    bounds: list[int]
    frames: Sequence[Frames]
    suspended: Sequence[tuple[Suspended, ...]]

    @cached_property
    def by_frames(self) -> Sequence[tuple[Frames, NDArray[np.int64]]]:
        """The places of the tokens with the same frames pushed, ascending."""
        order = np.argsort(self.pushed, kind="stable")
        bounds = np.searchsorted(self.pushed[order], np.arange(1, len(self.frames)))
        return list(zip(self.frames, np.split(order, bounds), strict=True))

    def by_target(self, places: NDArray[np.int64]) -> ByTarget:
        """The tokens at some places, each once, by their targets."""
        if not len(places):
            return {}
        places = places[np.lexsort((self.pairs[places], self.pushed[places]))]
        pairs, pushed = self.pairs[places], self.pushed[places]
        bounds = np.flatnonzero((np.diff(pairs) != 0) | (np.diff(pushed) != 0)) + 1
        return {
            (int(self.pairs[mine[0]]), self.frames[self.pushed[mine[0]]]): np.unique(self.ids[mine])
            for mine in np.split(places, bounds)
        }


@dataclass(slots=True, eq=False)
class _Crossings:
    """What calls and returns add to the walks of a part."""

    owners: list[int] = field(default_factory=list)
    ids: list[NDArray[np.int32]] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    pushed: list[int] = field(default_factory=list)
    numbers: dict[Frames, int] = field(default_factory=lambda: {(): 0})

    def add(self, owner: int, walk: Walk, frames: Frames) -> None:
        for group in walk.groups:
            self.owners.append(owner)
            self.ids.append(group.ids)
            self.pairs.append(group.pair)
            whole = (*frames, *group.frames)
            self.pushed.append(self.numbers.setdefault(whole, len(self.numbers)))


@dataclass(frozen=True, eq=False)
class PairWalks:
    """``inner``: walks from sets of trie nodes, and of calls."""

    tables: NetworkTables
    contexts: ReturnContexts
    joint: Joint
    inner: TokenWalks

    def walk(self, keys: Sequence[tuple[int, int]]) -> Iterator[tuple[range, Part]]:
        """The walks of (pair, plane), planes ascending; each part with the places of its keys."""
        done = 0
        for number, trie in enumerate(self.inner.tries):
            mine = [key for key in keys if key[1] // 2 == number]
            starts = np.array([plane * self.joint.pairs + pair for pair, plane in mine], np.int64)
            for first, last, walks in walk_all(trie, self.joint, starts):
                span = range(done + first, done + last)
                yield span, self._part([keys[i] for i in span], walks, first)
            done += len(mine)

    def below(self, suspended: Suspended, frame: int) -> Part:
        """The walk that goes on at a frame."""
        pre_state, nodes, plane = suspended
        walk = self.inner.walk(nodes, frame, pre_state, plane)
        found = _Crossings()
        found.add(0, walk, ())
        none = np.zeros(0, dtype=np.int32)
        return _joined(found, none, none, none, [walk.suspended])

    def _part(self, keys: Sequence[tuple[int, int]], walks: Walks, first: int) -> Part:
        found = _Crossings()
        suspended: list[dict[tuple[int, int], list[NDArray[np.int32]]]] = [{} for _ in keys]
        root = np.zeros(1, dtype=np.int32)
        for owner, (pair, plane) in enumerate(keys):
            if self.joint.stops[pair]:
                self._stopped(owner, pair, root, plane, found, suspended[owner])
        order = np.lexsort((walks.nodes, walks.stops, walks.stopped))
        stopped, stops, nodes = walks.stopped[order], walks.stops[order], walks.nodes[order]
        bounds = np.flatnonzero((np.diff(stopped) != 0) | (np.diff(stops) != 0)) + 1
        for low, high in zip([0, *bounds.tolist()], [*bounds.tolist(), len(order)], strict=True):
            if low < high:
                owner = int(stopped[low]) - first
                at = nodes[low:high]
                self._stopped(owner, int(stops[low]), at, 0, found, suspended[owner])
        left = [
            tuple(
                (pre_state, self.inner.node_set_number(united(parts)), plane)
                for (pre_state, plane), parts in sorted(mine.items())
            )
            for mine in suspended
        ]
        return _joined(found, walks.walks - first, walks.tokens, walks.targets, left)

    def _stopped(
        self,
        owner: int,
        pair: int,
        nodes: NDArray[np.int32],
        plane: int,
        found: _Crossings,
        suspended: dict[tuple[int, int], list[NDArray[np.int32]]],
    ) -> None:
        """The calls that begin or end at ``nodes``, as ``TokenWalks`` has them."""
        state, pre_state = int(self.contexts.states[pair]), int(self.contexts.pre_states[pair])
        if self.tables.accepting[state]:
            suspended.setdefault((pre_state, plane), []).append(nodes)
        for start, frame in self.tables.calls[state]:
            node_set = self.inner.node_set_number(nodes)
            inside = self.inner.walk(node_set, start, pre_state, plane)
            found.add(owner, inside, (frame,))
            for left_q, left, left_plane in inside.suspended:
                after = self.inner.walk(left, frame, left_q, left_plane)
                found.add(owner, after, ())
                for still_q, still, still_plane in after.suspended:
                    parts = suspended.setdefault((still_q, still_plane), [])
                    parts.append(self.inner.node_set(still))


def _joined(
    found: _Crossings,
    owners: NDArray[np.int32],
    ids: NDArray[np.int32],
    pairs: NDArray[np.int32],
    suspended: Sequence[tuple[Suspended, ...]],
) -> Part:
    """Both kinds of tokens by owner."""
    counts = [len(group) for group in found.ids]
    all_owners = np.concatenate([owners, np.repeat(np.array(found.owners, np.int32), counts)])
    order = np.argsort(all_owners, kind="stable")
    more_pairs = np.repeat(np.array(found.pairs, dtype=np.int32), counts)
    more_pushed = np.repeat(np.array(found.pushed, dtype=np.int32), counts)
    pushed = np.concatenate([np.zeros(len(ids), dtype=np.int32), more_pushed])
    return Part(
        np.concatenate([ids, *found.ids])[order],
        np.concatenate([pairs, more_pairs])[order],
        pushed[order],
        np.searchsorted(all_owners[order], np.arange(len(suspended) + 1)).tolist(),
        list(found.numbers),
        suspended,
    )
