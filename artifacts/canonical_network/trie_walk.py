"""Walks of the token trie through a network beside a pre-tokenizer DFA: where each token leads.

A memoised recursion over (trie nodes, state, pre-tokenizer state), a *procedure summary* (Reps,
Horwitz and Sagiv 1995): a walk follows a state's own edges, calls are walks of their own, and the
trie nodes where a call ends inside a token are *suspended*, to go on at the frame below. The result
is tokens in groups by where they lead: state, pre-tokenizer state and frames pushed.

The plane of a walk says how the token begins (``PretokenizerDfa``); it matters at the root alone.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.memo import ENTRY_BYTES, solve_recursive
from ..tokens.trie import Trie, grouped, ranges
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary
from ..tokens.watch import Watch, unwatched
from .contexts import ReturnContexts

# The set of trie nodes that holds the root alone.
ROOT = 0

Frames = tuple[int, ...]
# Set of trie nodes, state, pre-tokenizer state, plane.
WalkKey = tuple[int, int, int, int]

_Nodes = NDArray[np.int32]


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
    ends inside a token, or before it."""

    groups: tuple[Group, ...]
    suspended: tuple[tuple[int, int, int], ...]


class TokenWalks:
    """Walks by key, each made once; sets of trie nodes are numbered. ``tries``: see
    ``token_tries``."""

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
        self._stops = (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        root = np.zeros(1, dtype=np.int32)
        self._node_sets: list[_Nodes] = [root]
        self._numbers: dict[bytes, int] = {root.tobytes(): ROOT}
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
        entries = 2 * len(self._walks) + self._groups + len(self._node_sets)
        return ENTRY_BYTES * entries + self._array_bytes

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

    def _steps(self, key: WalkKey) -> Generator[WalkKey, Walk, Walk]:
        node_set, state, pre_state, plane = key
        tokens, stopped = self._walked(self._node_sets[node_set], state, pre_state, plane)
        found: dict[tuple[int, int, Frames], list[NDArray[np.int32]]] = {}
        for (p, q), ids in tokens:
            found.setdefault((p, q, ()), []).append(ids)
        suspended: dict[tuple[int, int], list[_Nodes]] = {}
        for (p, q), nodes in _without_root(stopped):
            at_root = plane if not nodes[0] else 0
            if self._tables.accepting[p]:
                suspended.setdefault((q, at_root), []).append(nodes)
            for start, frame in self._tables.calls[p]:
                inner = yield self.node_set_number(nodes), start, q, at_root
                for group in inner.groups:
                    place = group.state, group.pre_state, (frame, *group.frames)
                    found.setdefault(place, []).append(group.ids)
                for left_q, left, left_plane in inner.suspended:
                    outer = yield left, frame, left_q, left_plane
                    for group in outer.groups:
                        place = group.state, group.pre_state, group.frames
                        found.setdefault(place, []).append(group.ids)
                    for still_q, still, still_plane in outer.suspended:
                        left_nodes = suspended.setdefault((still_q, still_plane), [])
                        left_nodes.append(self._node_sets[still])
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
                (q, self.node_set_number(united(parts)), at_root)
                for (q, at_root), parts in sorted(suspended.items())
            ),
        )
        self._walks[key] = walk
        return walk

    def _walked(
        self, nodes: _Nodes, state: int, pre_state: int, plane: int
    ) -> tuple[
        list[tuple[tuple[int, int], NDArray[np.int32]]], list[tuple[tuple[int, int], _Nodes]]
    ]:
        """Walk the trie from ``nodes`` by the automaton's own edges.

        The tokens by the states reached, and the nodes where calls begin or end. A set may hold a
        node and another below it: what the walk has met in the same states before it does not
        follow again, since where tokens can be read in many ways that would be most of it.
        """
        trie, met = self.tries[plane // 2], self._met[plane // 2]
        columns, pre_columns = self._columns[plane // 2]
        table, pre_table, pair = self._tables.table, self._pretokenizer.table, self._contexts.pair
        width = np.int64(len(pre_table))
        states = np.full(len(nodes), state, dtype=np.int64)
        pre_states = np.full(len(nodes), pre_state, dtype=np.int64)
        tokens: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        stopped: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        self._walked_before += 1
        first_meeting = self._walked_before * len(table) * width
        several = len(nodes) > 1
        while len(nodes):
            self._watch(len(nodes), 0)
            fan_out = trie.first[nodes + 1] - trie.first[nodes]
            stops = self._stops[states] & (fan_out > 0)
            if stops.any():
                stopped.append((nodes[stops], states[stops] * width + pre_states[stops]))
            children = ranges(trie.first[nodes], fan_out)
            targets = table[np.repeat(states, fan_out), columns[children]].astype(np.int64)
            after = pre_table[np.repeat(pre_states, fan_out), plane, pre_columns[children]]
            # Nothing follows a pair without a number.
            live = pair[targets, after] != DEAD
            nodes, states = children[live], targets[live]
            pre_states = after[live].astype(np.int64)
            if several:
                meetings = first_meeting + states * width + pre_states
                new = met[nodes] != meetings
                nodes, states, pre_states = nodes[new], states[new], pre_states[new]
                met[nodes] = meetings[new]
            counts = trie.held[nodes + 1] - trie.held[nodes]
            if counts.any():
                ids = trie.ids[ranges(trie.held[nodes], counts)]
                tokens.append((ids, np.repeat(states * width + pre_states, counts)))
            plane = 0
        return _grouped(tokens, int(width)), _grouped(stopped, int(width))

    def node_set(self, number: int) -> _Nodes:
        """The nodes of a set, ascending."""
        return self._node_sets[number]

    def node_set_number(self, nodes: _Nodes) -> int:
        """The number of a set of trie nodes, ascending."""
        key = nodes.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._node_sets)
            self._node_sets.append(nodes)
            self._array_bytes += 2 * nodes.nbytes
        return number


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


def _trie_of(ids: NDArray[np.int32], vocabulary: Vocabulary) -> Trie:
    kinds = np.full(vocabulary.size, HOLE, dtype=np.uint8)
    kinds[ids] = TEXT
    return Trie.from_vocabulary(replace(vocabulary, kinds=kinds))


def _without_root(
    stopped: list[tuple[tuple[int, int], _Nodes]],
) -> Iterator[tuple[tuple[int, int], _Nodes]]:
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
