"""Where tokens lead from pairs of states, with what calls and returns add.

    PairWalks   what ``trie_walk.TokenWalks`` has at the root of the trie, for many pairs at once
    Part        some of these walks, which share blocks of tokens

for JSON after ``{``: the tokens that begin with ``"`` are one block, whatever is in the string;
after ``[`` it is the same one
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...network.tables import NetworkTables
from ...tokens.trie import grouped, ranges
from ...tokens.watch import Watch
from ..contexts import Contexts
from ..trie_walk import Frames, Landing, TokenWalks, Walk, united
from .joint_walks import Below, Joint, Walks, bounds_of, walk_all

# Pre-tokenizer state, set of trie nodes, plane: where a walk goes on at the frame below.
Suspended = tuple[int, int, int]


# Where tokens lead: a pair, with frames pushed, the lowest first. And the tokens of each target.
Target: TypeAlias = tuple[int, Frames]
ByTarget: TypeAlias = dict[Target, NDArray[np.int32]]


@dataclass(frozen=True, eq=False)
class Part:
    """Some walks, which share *blocks* of tokens: what lies below some first bytes in one state, or
    a landing of a call's walk. Parallel arrays: ``ids`` of tokens that lead to ``pairs`` with
    ``frames[pushed]`` pushed, those of block b from ``bounds[b]`` on. ``blocks`` of walk i from
    ``offsets[i]`` on; ``suspended`` of each walk."""

    ids: NDArray[np.int32]
    pairs: NDArray[np.int32]
    pushed: NDArray[np.int32]
    bounds: NDArray[np.int64]
    frames: Sequence[Frames]
    offsets: NDArray[np.int64]
    blocks: NDArray[np.int32]
    suspended: Sequence[tuple[Suspended, ...]]

    @cached_property
    def by_frames(self) -> Sequence[tuple[Frames, NDArray[np.int32]]]:
        """The places of the tokens with the same frames pushed, ascending."""
        order = np.argsort(self.pushed, kind="stable").astype(np.int32)
        bounds = np.searchsorted(self.pushed[order], np.arange(len(self.frames) + 1)).tolist()
        places = [order[low:high] for low, high in pairwise(bounds)]
        return list(zip(self.frames, places, strict=True))

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

    def only(self, walks: NDArray[np.int64]) -> "Part":
        """The same of some walks, ascending, and of the blocks that they have."""
        if len(walks) == len(self.suspended):
            return self
        counts = np.diff(self.offsets)[walks]
        blocks = self.blocks[ranges(self.offsets[walks], counts)]
        is_met = np.zeros(len(self.bounds) - 1, dtype=np.bool_)
        is_met[blocks] = True
        sizes = np.diff(self.bounds)
        tokens = np.repeat(is_met, sizes)
        pushed = self.pushed[tokens]
        is_pushed = np.zeros(len(self.frames), dtype=np.bool_)
        is_pushed[pushed] = True
        return Part(
            self.ids[tokens],
            self.pairs[tokens],
            (np.cumsum(is_pushed, dtype=np.int32) - 1)[pushed],
            bounds_of(sizes[is_met]),
            [self.frames[number] for number in np.flatnonzero(is_pushed).tolist()],
            bounds_of(counts),
            (np.cumsum(is_met, dtype=np.int32) - 1)[blocks],
            [self.suspended[walk] for walk in walks.tolist()],
        )


# A part ends with the walk whose calls bring it so many tokens.
_CALL_TOKENS = 1 << 21

# What a landing takes, and a number of one, in trie nodes that are met; and a token of it in bytes.
_LANDING_WORK, _NUMBER_WORK, _TOKEN_BYTES = 300, 4, 12

# The walk of a pair: the pre-tokenizer state and plane of what is suspended, with sets of nodes.
_Left: TypeAlias = dict[tuple[int, int], list[NDArray[np.int32]]]


class _Crossings:
    """What calls and returns add to the walks of a part: landings, numbered as blocks after
    ``before`` others, and the ``tokens`` of these. ``watch``: told of what they take."""

    def __init__(self, before: int, watch: Watch) -> None:
        self._before, self._watch, self.tokens = before, watch, 0
        # With the frames pushed.
        self._numbers: dict[tuple[Landing, Frames], int] = {}
        self.frames: dict[Frames, int] = {(): 0}

    def add(self, walk: Walk, frames: Frames) -> list[int]:
        """The blocks of a walk with ``frames`` pushed below its own."""
        numbers, found = self._numbers, []
        for pushed, landing in walk.parts:
            key = landing, (*frames, *pushed)
            if key not in numbers:
                numbers[key] = self._before + len(numbers)
                self.tokens += int((landing.end - landing.begin).sum())
            found.append(numbers[key])
        self._watch(_NUMBER_WORK * len(found), 0)
        return found

    def part(
        self, tokens: Below, blocks: list[NDArray[np.int32]], suspended: list[tuple[Suspended, ...]]
    ) -> Part:
        """The blocks of ``tokens``, and these; ``blocks`` of each walk."""
        ids, pairs, pushed = [tokens.values], [tokens.targets], [0]
        for landing, frames in self._numbers:
            some, places = landing.tokens(np.ones(len(landing.pairs), dtype=np.bool_))
            self._watch(_LANDING_WORK, _TOKEN_BYTES * len(some))
            ids.append(some)
            pairs.append(landing.pairs[places].astype(np.int32))
            pushed.append(self.frames.setdefault(frames, len(self.frames)))
        sizes = np.array(list(map(len, ids)))
        counts = np.concatenate([np.diff(tokens.bounds), sizes[1:]])
        return Part(
            np.concatenate(ids),
            np.concatenate(pairs),
            np.repeat(np.array(pushed, dtype=np.int32), sizes),
            bounds_of(counts),
            list(self.frames),
            bounds_of(np.array(list(map(len, blocks)))),
            np.concatenate(blocks),
            suspended,
        )


@dataclass(frozen=True, eq=False)
class PairWalks:
    """``inner``: walks from sets of trie nodes, and of calls."""

    tables: NetworkTables
    contexts: Contexts
    joint: Joint
    inner: TokenWalks

    def walk(self, keys: Sequence[tuple[int, int]]) -> Iterator[tuple[range, Part]]:
        """The walks of (pair, plane), planes ascending; each part with the places of its keys."""
        done = 0
        for number, trie in enumerate(self.inner.tries):
            mine = [key for key in keys if key[1] // 2 == number]
            starts = np.array([plane * self.joint.pairs + pair for pair, plane in mine], np.int64)
            for first, last, walks in walk_all(trie, self.joint, starts):
                base = self.inner.roots[number]
                for begin, part in self._parts(mine[first:last], walks, base):
                    begin += done + first
                    yield range(begin, begin + len(part.suspended)), part
            done += len(mine)

    def below(self, suspended: Suspended, frame: int) -> Part:
        """The walk that goes on at a frame."""
        pre_state, nodes, plane = suspended
        walk = self.inner.walk(nodes, frame, pre_state, plane)
        found = _Crossings(0, self.inner.watch)
        none = np.zeros(0, dtype=np.int32)
        blocks = np.array(found.add(walk, ()), dtype=np.int32)
        left = tuple(self.inner.left_by(walk, frame))
        return found.part(Below(np.zeros(1, np.int64), none, none), [blocks], [left])

    def _parts(
        self, keys: Sequence[tuple[int, int]], walks: Walks, base: int
    ) -> Iterator[tuple[int, Part]]:
        """Each with its first walk. ``base``: the number of the trie's root."""
        before = len(walks.tokens.bounds) - 1
        found, begin = _Crossings(before, self.inner.watch), 0
        has_stops = np.diff(walks.stopped.bounds)[walks.blocks] > 0
        bounds = bounds_of(has_stops)[walks.offsets].tolist()
        offsets = walks.offsets.tolist()
        stopping = walks.blocks[has_stops]
        root = np.zeros(1, dtype=np.int32)
        # By the blocks of a walk that have stops: what these add, and what they suspend.
        crossed: dict[bytes, tuple[list[int], _Left]] = {}
        blocks: list[NDArray[np.int32]] = []
        suspended: list[tuple[Suspended, ...]] = []
        for owner, (pair, plane) in enumerate(keys):
            if found.tokens > _CALL_TOKENS:
                yield begin, found.part(walks.tokens, blocks, suspended)
                found, begin = _Crossings(before, self.inner.watch), owner
                crossed, blocks, suspended = {}, [], []
            mine = stopping[bounds[owner] : bounds[owner + 1]]
            key = mine.tobytes()
            if key not in crossed:
                crossed[key] = self._crossed(mine, walks.stopped, found, base)
            more, left = crossed[key]
            if self.joint.stops[pair]:
                left = {place: list(parts) for place, parts in left.items()}
                more = [*self._stopped(pair, root, plane, found, left), *more]
            own = walks.blocks[offsets[owner] : offsets[owner + 1]]
            blocks.append(np.concatenate([own, np.unique(more).astype(np.int32)]) if more else own)
            state = int(self.contexts.states[pair])
            suspended.append(self._numbered(left, state))
        yield begin, found.part(walks.tokens, blocks, suspended)

    def _crossed(
        self, blocks: NDArray[np.int32], stopped: Below, found: _Crossings, base: int
    ) -> tuple[list[int], _Left]:
        """What the calls add that begin or end inside some blocks, and what is suspended."""
        low = stopped.bounds[blocks]
        places = ranges(low, stopped.bounds[blocks + 1] - low)
        more: list[int] = []
        left: _Left = {}
        found_at = (
            [(stopped.values[places] + np.int32(base), stopped.targets[places])]
            if len(places)
            else []
        )
        for pair, nodes in grouped(found_at):
            more += self._stopped(pair, nodes, 0, found, left)
        return more, left

    def _numbered(self, left: _Left, state: int) -> tuple[Suspended, ...]:
        suspended = tuple(
            (pre_state, self.inner.sets.number(united(parts)), plane)
            for (pre_state, plane), parts in sorted(left.items())
        )
        return tuple(self.inner.left_by(Walk(suspended=suspended), state))

    def _stopped(
        self,
        pair: int,
        nodes: NDArray[np.int32],
        plane: int,
        found: _Crossings,
        suspended: _Left,
    ) -> list[int]:
        """The calls that begin or end at ``nodes``, as ``TokenWalks`` has them: blocks."""
        state, pre_state = int(self.contexts.states[pair]), int(self.contexts.pre_states[pair])
        more = []
        if self.tables.accepting[state]:
            suspended.setdefault((pre_state, plane), []).append(nodes)
        for start, frame in self.tables.calls[state]:
            begun = self.inner.read_by(nodes, start)
            if not len(begun):
                continue
            node_set = self.inner.sets.number(begun)
            inside = self.inner.walk(node_set, start, pre_state, plane)
            more += found.add(inside, (frame,))
            for left_q, left, left_plane in self.inner.left_by(inside, start):
                after = self.inner.walk(left, frame, left_q, left_plane)
                more += found.add(after, ())
                for still_q, still, still_plane in after.suspended:
                    parts = suspended.setdefault((still_q, still_plane), [])
                    parts.append(self.inner.sets[still])
        return more
