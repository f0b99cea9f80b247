"""Where tokens lead from many pairs, calls and returns included."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.endings import Endings
from constrain.artifacts.network_tables import NetworkTables
from constrain.artifacts.piece_walk import Frames, PieceWalks, Walk, united

from .joint import Joint
from .walks import Walks, walk_all

# Cut state, exit set, plane: where a walk goes on at the frame below.
Pending = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some walks. Parallel arrays: ``ids`` of tokens that lead to ``pairs`` with
    ``frames[pushed]`` pushed, those of walk i from ``bounds[i]`` on. ``pending`` of each walk."""

    ids: NDArray[np.int32]
    pairs: NDArray[np.int32]
    pushed: NDArray[np.int32]
    bounds: list[int]
    frames: Sequence[Frames]
    pending: Sequence[tuple[Pending, ...]]


@dataclass(slots=True, eq=False)
class _Found:
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
    """``inner``: walks from exit sets, and of calls."""

    tables: NetworkTables
    endings: Endings
    joint: Joint
    inner: PieceWalks

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

    def below(self, pending: Pending, frame: int) -> Part:
        """The walk that goes on at a frame."""
        cut, exits, plane = pending
        walk = self.inner.walk(exits, frame, cut, plane)
        found = _Found()
        found.add(0, walk, ())
        none = np.zeros(0, dtype=np.int32)
        return _joined(found, none, none, none, [walk.pending])

    def _part(self, keys: Sequence[tuple[int, int]], walks: Walks, first: int) -> Part:
        found = _Found()
        pending: list[dict[tuple[int, int], list[NDArray[np.int32]]]] = [{} for _ in keys]
        root = np.zeros(1, dtype=np.int32)
        for owner, (pair, plane) in enumerate(keys):
            if self.joint.stops[pair]:
                self._halted(owner, pair, root, plane, found, pending[owner])
        order = np.lexsort((walks.nodes, walks.stops, walks.stopped))
        stopped, stops, nodes = walks.stopped[order], walks.stops[order], walks.nodes[order]
        bounds = np.flatnonzero((np.diff(stopped) != 0) | (np.diff(stops) != 0)) + 1
        for low, high in zip([0, *bounds.tolist()], [*bounds.tolist(), len(order)], strict=True):
            if low < high:
                owner = int(stopped[low]) - first
                self._halted(owner, int(stops[low]), nodes[low:high], 0, found, pending[owner])
        left = [
            tuple(
                (cut, self.inner.exit_number(united(parts)), plane)
                for (cut, plane), parts in sorted(mine.items())
            )
            for mine in pending
        ]
        return _joined(found, walks.walks - first, walks.tokens, walks.targets, left)

    def _halted(
        self,
        owner: int,
        pair: int,
        nodes: NDArray[np.int32],
        plane: int,
        found: _Found,
        pending: dict[tuple[int, int], list[NDArray[np.int32]]],
    ) -> None:
        """What begins or ends at ``nodes``, as ``PieceWalks`` says."""
        state, cut = int(self.endings.states[pair]), int(self.endings.cut_of[pair])
        if self.tables.accepting[state]:
            pending.setdefault((cut, plane), []).append(nodes)
        for start, frame in self.tables.calls[state]:
            inside = self.inner.walk(self.inner.exit_number(nodes), start, cut, plane)
            found.add(owner, inside, (frame,))
            for left_cut, left, left_plane in inside.pending:
                after = self.inner.walk(left, frame, left_cut, left_plane)
                found.add(owner, after, ())
                for still_cut, still, still_plane in after.pending:
                    kept = pending.setdefault((still_cut, still_plane), [])
                    kept.append(self.inner.exit_set(still))


def _joined(
    found: _Found,
    owners: NDArray[np.int32],
    ids: NDArray[np.int32],
    pairs: NDArray[np.int32],
    pending: Sequence[tuple[Pending, ...]],
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
        np.searchsorted(all_owners[order], np.arange(len(pending) + 1)).tolist(),
        list(found.numbers),
        pending,
    )
