"""Walks of the token trie through a network beside a pre-tokenizer DFA: where each token leads.

A memoised recursion over (trie nodes, state, pre-tokenizer state), a *procedure summary* (Reps,
Horwitz and Sagiv 1995): a walk follows a state's own edges, calls are walks of their own, and the
trie nodes where a call ends inside a token are *suspended*, to go on at the frame below. The result
is tokens in groups by where they lead: state, pre-tokenizer state and frames pushed.

The plane of a walk says how the token begins (``PretokenizerDfa``); it matters at the root alone.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..summaries.node_sets import Nodes, NodeSets
from ..tokens.memo import ENTRY_BYTES, solve_recursive
from ..tokens.trie import Trie, grouped, ranges
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary
from ..tokens.watch import Watch, unwatched
from .contexts import ReturnContexts

if TYPE_CHECKING:
    from .first_octets import FirstOctets

Frames = tuple[int, ...]
# Set of trie nodes, state, pre-tokenizer state, plane.
WalkKey = tuple[int, int, int, int]

# Tokens or trie nodes, each with the states that it leads to or was met in, as one number.
_Found = list[tuple[NDArray[np.int32], NDArray[np.int64]]]
# Trie nodes, each with a state and a pre-tokenizer state.
_Frontier = list[tuple[int, int, int]]

# Frontiers of so few nodes with so few children are walked node by node.
_FEW, _FEW_CHILDREN = 16, 48


# What a walk, and a group of its tokens, cost in trie nodes that are met.
_WALK_WORK, _GROUP_WORK = 10_000, 200


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Tokens ``ids`` (int32, ascending) that lead to one place: ``pair`` (of ``ReturnContexts``) of
    ``state`` and ``pre_state``, with ``frames`` pushed, the lowest first. ``number``: its own."""

    number: int
    pair: int
    state: int
    pre_state: int
    frames: Frames
    ids: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """``groups``; ``suspended``: (pre-tokenizer state, set of trie nodes, plane) at which the call
    ends inside a token, or before it; ``counted``: walks that go on in the item of a counter, each
    with the frames pushed."""

    groups: tuple[Group, ...]
    suspended: tuple[tuple[int, int, int], ...]
    counted: tuple[tuple[WalkKey, Frames], ...]


class TokenWalks:
    """Walks by key, each made once; ``sets`` of trie nodes. ``tries``: see ``token_tries``; inside
    them the nodes of one are numbered behind those of the one before."""

    def __init__(
        self,
        tables: NetworkTables,
        pretokenizer: PretokenizerDfa,
        contexts: ReturnContexts,
        tries: Sequence[Trie],
        watch: Watch = unwatched,
    ) -> None:
        self._tables, self._pretokenizer, self._contexts = tables, pretokenizer, contexts
        self.tries, self._watch = tries, watch
        self._columns = [
            (tables.classes[trie.octets], pretokenizer.classes[trie.octets]) for trie in self.tries
        ]
        self._fan_outs = [np.diff(trie.first) for trie in tries]
        self._helds = [np.diff(trie.held) for trie in tries]
        self._flat = [
            np.ascontiguousarray(table).reshape(-1)
            for table in (tables.table, pretokenizer.table, contexts.pair)
        ]
        self._classes = tables.classes.tolist(), pretokenizer.classes.tolist()
        self._stops = (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        self.sets = NodeSets()
        # The number of each trie's root, which stands for itself in no set.
        self.roots = [0, *(len(trie.octets) for trie in tries[:-1])]
        self._walks: dict[WalkKey, Walk] = {}
        self._groups = 0
        # For each node of each trie the walk, and the pair of states, that it was met in last.
        self._met = [np.zeros(len(trie.octets), dtype=np.int64) for trie in tries]
        self._walked_before = 0
        self._array_bytes = 0

    @property
    def planes(self) -> int:
        """In how many planes a token may begin: 2, or 4 with tokens of bytes or of whole
        pre-tokens."""
        return 2 * len(self.tries)

    @property
    def nbytes(self) -> int:
        """About the size of all walks and sets of trie nodes."""
        entries = 2 * len(self._walks) + self._groups
        firsts = self.first_octets.nbytes if self.first_octets else 0
        return ENTRY_BYTES * entries + self._array_bytes + self.sets.nbytes + firsts

    @property
    def trie(self) -> Trie:
        """The trie of the tokens that merging gives."""
        return self.tries[0]

    def walk(self, nodes: int, state: int, pre_state: int, plane: int) -> Walk:
        """Where the tokens below a set of trie nodes lead. Calls nest as deep as tokens are
        long."""
        key = nodes, state, pre_state, plane
        cached = self._walks.get(key)
        return solve_recursive(key, self._walks.get, self._steps) if cached is None else cached

    @cached_property
    def first_octets(self) -> "FirstOctets | None":
        """Which walks may read something, if the network has sets of parts."""
        if not self._tables.has_sets:
            return None
        from .first_octets import FirstOctets

        return FirstOctets(self._tables, self._following)

    def _following(self, nodes: int) -> NDArray[np.uint8]:
        """The bytes behind a set of trie nodes, none of which is a root."""
        held = self.sets[nodes]
        number = int(held[0] >= self.roots[-1] > 0)
        return self.tries[number].octets_below(held - np.int32(self.roots[number]))

    def _steps(self, key: WalkKey) -> Generator[WalkKey, Walk, Walk]:
        node_set, state, pre_state, plane = key
        count = self._tables.states
        tokens, stopped = self._walked(self.sets[node_set], state, pre_state, plane)
        found: dict[tuple[int, int, Frames], list[NDArray[np.int32]]] = {}
        for (p, q), ids in tokens:
            found.setdefault((p, q, ()), []).append(ids)
        suspended: dict[tuple[int, int], list[Nodes]] = {}
        counted: list[tuple[WalkKey, Frames]] = []
        for (p, q), nodes in _without_root(stopped):
            at_root = plane if not nodes[0] else 0
            if self._tables.accepting[p]:
                suspended.setdefault((q, at_root), []).append(nodes)
            for start, frame in self._tables.calls[p]:
                begun = self.sets.number(nodes), start, q, at_root
                if frame >= count:
                    # Each item is begun by whoever knows the frames, and not here by all of them.
                    counted.append((begun, (frame,)))
                    continue
                inner = yield begun
                counted += [(key, (frame, *frames)) for key, frames in inner.counted]
                for group in inner.groups:
                    place = group.state, group.pre_state, (frame, *group.frames)
                    found.setdefault(place, []).append(group.ids)
                for left_q, left, left_plane in inner.suspended:
                    outer = yield left, frame, left_q, left_plane
                    counted += outer.counted
                    for group in outer.groups:
                        place = group.state, group.pre_state, group.frames
                        found.setdefault(place, []).append(group.ids)
                    for still_q, still, still_plane in outer.suspended:
                        left_nodes = suspended.setdefault((still_q, still_plane), [])
                        left_nodes.append(self.sets[still])
        groups = []
        self._watch(_WALK_WORK + _GROUP_WORK * len(found), 0)
        for (p, q, frames), parts in sorted(found.items()):
            pair = self._contexts.number(p, q)
            groups.append(Group(self._groups, pair, p, q, frames, united(parts)))
            self._groups += 1
            self._array_bytes += groups[-1].ids.nbytes
        walk = Walk(
            tuple(groups),
            tuple(
                (q, self.sets.number(united(parts)), at_root)
                for (q, at_root), parts in sorted(suspended.items())
            ),
            tuple(dict.fromkeys(counted)),
        )
        self._walks[key] = walk
        return walk

    def _walked(
        self, nodes: Nodes, state: int, pre_state: int, plane: int
    ) -> tuple[
        list[tuple[tuple[int, int], NDArray[np.int32]]], list[tuple[tuple[int, int], Nodes]]
    ]:
        """Walk the trie from ``nodes`` by the automaton's own edges.

        The tokens by the states reached, and the nodes where calls begin or end. A set may hold a
        node and another below it: what the walk has met in the same states before it does not
        follow again, since where tokens can be read in many ways that would be most of it.
        """
        begins = not nodes[0]
        number = plane // 2 if begins else int(nodes[0] >= self.roots[-1] > 0)
        base = self.roots[number]
        nodes = nodes if begins else nodes - np.int32(base)
        trie, met = self.tries[number], self._met[number]
        fan_outs, helds = self._fan_outs[number], self._helds[number]
        columns, pre_columns = self._columns[number]
        table, pre_table, pair = self._flat
        width, (count, planes, pre_width) = (
            self._tables.table.shape[1],
            self._pretokenizer.table.shape,
        )
        states = np.full(len(nodes), state, dtype=np.int64)
        pre_states = np.full(len(nodes), pre_state, dtype=np.int64)
        tokens: _Found = []
        stopped: _Found = []
        self._walked_before += 1
        first_meeting = self._walked_before * len(pair)
        several = len(nodes) > 1
        while len(nodes):
            self._watch(len(nodes), 0)
            if len(nodes) <= _FEW:
                frontier = list(
                    zip(nodes.tolist(), states.tolist(), pre_states.tolist(), strict=True)
                )
                meeting = first_meeting if several else 0
                left = self._follow(frontier, number, plane, meeting, tokens, stopped)
                if left is not frontier:
                    plane = 0
                    if not left:
                        break
                    columns_of = np.array(left, dtype=np.int64).T
                    nodes, states, pre_states = columns_of[0].astype(np.int32), *columns_of[1:]
            fan_out = fan_outs[nodes]
            stops = np.flatnonzero(self._stops[states] & (fan_out > 0))
            if len(stops):
                stopped.append((nodes[stops], states[stops] * count + pre_states[stops]))
            children = ranges(trie.first[nodes], fan_out)
            targets = table[np.repeat(states * width, fan_out) + columns[children]]
            live = np.flatnonzero(targets)
            nodes, states = children[live], targets[live].astype(np.int64)
            rows = np.repeat((pre_states * planes + plane) * pre_width, fan_out)
            after = pre_table[rows[live] + pre_columns[nodes]]
            reached = states * count + after
            # Nothing follows a pair without a number.
            live = np.flatnonzero(pair[reached])
            nodes, states, reached = nodes[live], states[live], reached[live]
            pre_states = after[live].astype(np.int64)
            if several:
                meetings = first_meeting + reached
                new = met[nodes] != meetings
                nodes, states, pre_states = nodes[new], states[new], pre_states[new]
                reached, met[nodes] = reached[new], meetings[new]
            counts = helds[nodes]
            if counts.any():
                ids = trie.ids[ranges(trie.held[nodes], counts)]
                tokens.append((ids, np.repeat(reached, counts)))
            plane = 0
        if base:
            stopped = [(np.where(nodes, nodes + base, 0), places) for nodes, places in stopped]
        return _grouped(tokens, count), _grouped(stopped, count)

    def _follow(
        self,
        frontier: _Frontier,
        trie: int,
        plane: int,
        first_meeting: int,
        tokens: _Found,
        stopped: _Found,
    ) -> _Frontier:
        """The walk of a trie node by node, as long as few are met; gives what is left of it,
        ``frontier`` itself where it begins with many. ``plane``: of the first bytes.
        ``first_meeting``: 0 for one node."""
        octets, first, held, ids, met = self._views[trie]
        columns, pre_columns = self._classes
        table, pre_table, pair = self._flat_views
        width, (count, planes, pre_width) = (
            self._tables.table.shape[1],
            self._pretokenizer.table.shape,
        )
        read: list[tuple[int, int]] = []
        halted: list[tuple[int, int]] = []
        while frontier and len(frontier) <= _FEW:
            if sum([first[node + 1] - first[node] for node, _, _ in frontier]) > _FEW_CHILDREN:
                break
            reached: _Frontier = []
            for node, state, pre_state in frontier:
                low, high = first[node], first[node + 1]
                if low < high and self._stops[state]:
                    halted.append((node, state * count + pre_state))
                place, pre_place = state * width, (pre_state * planes + plane) * pre_width
                for child in range(low, high):
                    octet = octets[child]
                    target = table[place + columns[octet]]
                    if target == DEAD:
                        continue
                    after = pre_table[pre_place + pre_columns[octet]]
                    both = target * count + after
                    if pair[both] == DEAD:
                        continue
                    if first_meeting:
                        if met[child] == first_meeting + both:
                            continue
                        met[child] = first_meeting + both
                    reached.append((child, target, after))
                    for place_of_id in range(held[child], held[child + 1]):
                        read.append((ids[place_of_id], both))
            frontier, plane = reached, 0
        for found, pairs in ((tokens, read), (stopped, halted)):
            if pairs:
                values = np.array(pairs, dtype=np.int64)
                found.append((values[:, 0].astype(np.int32), values[:, 1]))
        return frontier

    @cached_property
    def _views(self) -> list[tuple[memoryview, ...]]:
        """Of each trie, for walks node by node; and what was met of it."""
        return [
            (trie.octets.data, trie.first.data, trie.held.data, trie.ids.data, met.data)
            for trie, met in zip(self.tries, self._met, strict=True)
        ]

    @cached_property
    def _flat_views(self) -> list[memoryview]:
        return [table.data for table in self._flat]


def united(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The values of all parts, each of which is ascending, once."""
    if len(parts) == 1:
        return parts[0]
    return _distinct(np.sort(np.concatenate(parts), kind="stable"))


def token_tries(
    pretokenizer: PretokenizerDfa, forbidden: ForbiddenPairs, vocabulary: Vocabulary
) -> list[Trie]:
    """The tries for planes 0 and 1, of the tokens that merging gives (``forbidden.order``), and for
    planes 2 and 3, if there are tokens of a byte that has none, or of a whole pre-token."""
    found = [_trie_of(forbidden.order, vocabulary)]
    if len(pretokenizer.apart):
        found.append(_trie_of(pretokenizer.apart, vocabulary))
    return found


# Tries by the tokens in them: the same for all grammars of a tokenizer.
_MADE: WeakKeyDictionary[Vocabulary, dict[bytes, Trie]] = WeakKeyDictionary()


def _trie_of(ids: NDArray[np.int32], vocabulary: Vocabulary) -> Trie:
    kinds = np.full(vocabulary.size, HOLE, dtype=np.uint8)
    kinds[ids] = TEXT
    made, key = _MADE.setdefault(vocabulary, {}), np.packbits(kinds == TEXT).tobytes()
    if key not in made:
        made[key] = Trie.from_vocabulary(replace(vocabulary, kinds=kinds))
    return made[key]


def _without_root(
    stopped: list[tuple[tuple[int, int], Nodes]],
) -> Iterator[tuple[tuple[int, int], Nodes]]:
    """The root by itself: tokens that begin there are in the plane of the walk."""
    for place, nodes in stopped:
        if not nodes[0]:
            yield place, nodes[:1]
            nodes = nodes[1:]
        if len(nodes):
            yield place, nodes


def _grouped(
    found: list[tuple[NDArray[np.int32], NDArray[np.int64]]], width: int
) -> list[tuple[tuple[int, int], NDArray[np.int32]]]:
    """Values by (state, pre-tokenizer state), both ascending, each once."""
    return [(divmod(key, width), _distinct(values)) for key, values in grouped(found)]


def _distinct(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Ascending values, each once."""
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values if new.all() else values[new]
