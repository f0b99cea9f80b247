"""Walks of the token trie through a network and the cuts in step: where each token leads.

As in ``residual``, for an exit set e, a state p and here a cut state q. Instead of a row the
answer is *groups*: tokens that lead to one state, one cut state and one list of pushed frames.
The plane of a walk says how the token begins (``PretokenizerDfa``); it matters at the root alone.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.memo import solve_recursive
from ..tokens.trie import Trie, grouped, ranges
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary
from .contexts import ReturnContexts

ROOT = 0

Frames = tuple[int, ...]
# Exit set, state, cut state, plane.
WalkKey = tuple[int, int, int, int]

_Nodes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Tokens ``ids`` (int32, ascending) that lead to one place: ``pair`` (of ``ReturnContexts``) of
    ``state`` and ``cut``, with ``frames`` pushed, the lowest first. ``number``: its own."""

    number: int
    pair: int
    state: int
    cut: int
    frames: Frames
    ids: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """``groups``; ``pending``: (cut state, exit set, plane) at which the call ends inside a
    token, or before it."""

    groups: tuple[Group, ...]
    pending: tuple[tuple[int, int, int], ...]


class PieceWalks:
    """Memoised walks. ``tries``: see ``piece_tries``."""

    def __init__(
        self,
        tables: NetworkTables,
        cuts: PretokenizerDfa,
        endings: ReturnContexts,
        tries: Sequence[Trie],
    ) -> None:
        self._tables, self._cuts, self._endings = tables, cuts, endings
        self.tries = tries
        self._columns = [
            (tables.classes[trie.octets], cuts.classes[trie.octets]) for trie in self.tries
        ]
        self._stops = (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        root = np.zeros(1, dtype=np.int32)
        self._exits: list[_Nodes] = [root]
        self._numbers: dict[bytes, int] = {root.tobytes(): ROOT}
        self._known: dict[WalkKey, Walk] = {}
        self._groups = 0

    @property
    def planes(self) -> int:
        """How many ways there are to begin a token: 2, or 4 with tokens of bytes or
        whole pieces."""
        return 2 * len(self.tries)

    @property
    def trie(self) -> Trie:
        """The trie of the tokens that merging gives."""
        return self.tries[0]

    def walk(self, exits: int, state: int, cut: int, plane: int) -> Walk:
        """Where the tokens lead. Calls nest as deep as tokens are long."""
        key = exits, state, cut, plane
        known = self._known.get(key)
        return solve_recursive(key, self._known.get, self._steps) if known is None else known

    def _steps(self, key: WalkKey) -> Generator[WalkKey, Walk, Walk]:
        exits, state, cut, plane = key
        tokens, stopped = self._walked(self._exits[exits], state, cut, plane)
        found: dict[tuple[int, int, Frames], list[NDArray[np.int32]]] = {}
        for (p, q), ids in tokens:
            found.setdefault((p, q, ()), []).append(ids)
        pending: dict[tuple[int, int], list[_Nodes]] = {}
        for (p, q), nodes in _without_root(stopped):
            at_root = plane if not nodes[0] else 0
            if self._tables.accepting[p]:
                pending.setdefault((q, at_root), []).append(nodes)
            for start, frame in self._tables.calls[p]:
                inner = yield self.exit_number(nodes), start, q, at_root
                for group in inner.groups:
                    place = group.state, group.cut, (frame, *group.frames)
                    found.setdefault(place, []).append(group.ids)
                for left_cut, left, left_plane in inner.pending:
                    outer = yield left, frame, left_cut, left_plane
                    for group in outer.groups:
                        found.setdefault((group.state, group.cut, group.frames), []).append(
                            group.ids
                        )
                    for still_cut, still, still_plane in outer.pending:
                        pending.setdefault((still_cut, still_plane), []).append(self._exits[still])
        groups = []
        for (p, q, frames), parts in sorted(found.items()):
            ids = united(parts)
            pair = self._endings.number(p, q)
            groups.append(Group(self._groups, pair, p, q, frames, ids))
            self._groups += 1
        answer = Walk(
            tuple(groups),
            tuple(
                (q, self.exit_number(united(parts)), at_root)
                for (q, at_root), parts in sorted(pending.items())
            ),
        )
        self._known[key] = answer
        return answer

    def _walked(
        self, nodes: _Nodes, state: int, cut: int, plane: int
    ) -> tuple[
        list[tuple[tuple[int, int], NDArray[np.int32]]], list[tuple[tuple[int, int], _Nodes]]
    ]:
        """Walk the trie from ``nodes`` by the automaton's own edges.

        The tokens by the states reached, and the nodes where calls begin or end.
        """
        trie = self.tries[plane // 2]
        columns, cut_columns = self._columns[plane // 2]
        table, cut_table, pair = self._tables.table, self._cuts.table, self._endings.pair
        width = np.int64(len(cut_table))
        states = np.full(len(nodes), state, dtype=np.int64)
        cuts = np.full(len(nodes), cut, dtype=np.int64)
        tokens: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        stopped: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        while len(nodes):
            fan_out = trie.first[nodes + 1] - trie.first[nodes]
            stops = self._stops[states] & (fan_out > 0)
            if stops.any():
                stopped.append((nodes[stops], states[stops] * width + cuts[stops]))
            children = ranges(trie.first[nodes], fan_out)
            targets = table[np.repeat(states, fan_out), columns[children]].astype(np.int64)
            after = cut_table[np.repeat(cuts, fan_out), plane, cut_columns[children]]
            # Nothing follows a pair without a number.
            live = pair[targets, after] != DEAD
            nodes, states = children[live], targets[live]
            cuts = after[live].astype(np.int64)
            counts = trie.held[nodes + 1] - trie.held[nodes]
            if counts.any():
                ids = trie.ids[ranges(trie.held[nodes], counts)]
                tokens.append((ids, np.repeat(states * width + cuts, counts)))
            plane = 0
        return _grouped(tokens, int(width)), _grouped(stopped, int(width))

    def exit_set(self, number: int) -> _Nodes:
        """The nodes of an exit set, ascending."""
        return self._exits[number]

    def exit_number(self, nodes: _Nodes) -> int:
        """The number of an exit set."""
        key = nodes.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._exits)
            self._exits.append(nodes)
        return number


def united(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The values of all parts, each of which is ascending, once."""
    if len(parts) == 1:
        return parts[0]
    values = np.sort(np.concatenate(parts), kind="stable")
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values[new]


def piece_tries(cuts: PretokenizerDfa, pairs: ForbiddenPairs, vocabulary: Vocabulary) -> list[Trie]:
    """The tries for planes 0 and 1, of the tokens that merging gives (``pairs.order``), and for
    planes 2 and 3, if there are tokens of a byte that has none, or of a whole piece."""
    found = [_trie_of(pairs.order, vocabulary)]
    if len(cuts.apart):
        found.append(_trie_of(cuts.apart, vocabulary))
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
    """Values by (state, cut state), both ascending."""
    return [(divmod(key, width), values) for key, values in grouped(found)]
