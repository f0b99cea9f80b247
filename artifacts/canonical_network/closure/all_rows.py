"""The rows of all threads that can come about, on all stacks.

    joint_walks.reach    the pairs of states, by the calls that they lie in
    pair_walks           where tokens lead from each pair, in each plane
    token_liveness       which of them are live, dead or undecided, whatever lies below
    search               the undecided ones one by one, with nothing given of the stacks but the
                         context, then with one to four frames (``SearchedTokens``)
    token_liveness.Summaries    what was found, encoded as the sections ``closed.*``

A walk that leaves its call goes on at the frame below, in the calls that it can lie on. Pairs are
taken in rounds: first those that the shortest texts lead to, with all that goes on below them, so
that the rows of a round are of use without the next. Rows that are not found here are computed
lazily while decoding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...network.configurations import BOTTOM
from ...tokens.watch import Watch
from ...walk.node_sets import ROOT
from ..precomputed_rows import DEEPER, UNKNOWN
from ..pretokenized import PretokenizedNetwork
from ..trie_walk import Frames
from .joint_walks import TEXT, Calls, reach
from .pair_walks import ByTarget, PairWalks, Part, Suspended
from .token_liveness import DecidedBlocks, Liveness, SearchedTokens, Summaries

# Frames that are looked at one by one.
_FRAMES = 4

# So many pairs are taken in the first round; twice as many in each that follows.
_FIRST_ROUND = 2048

# What a token of a walk, a row, and a place that has one cost in trie nodes that are met.
_TOKEN_WORK, _ROW_WORK, _PLACE_WORK = 2, 6_000, 100


@dataclass(frozen=True, slots=True, eq=False)
class _Threads:
    """Where one row is wanted: ``places`` of entry, state, and the set of entries at which the walk
    goes on; and the calls that all of them can be in."""

    places: Sequence[tuple[int, int, int]]
    calls: tuple[int, ...]


class _FullError(Exception):
    """There is no room for more."""


class AllRows:
    """``watch``: told of all work, as the network's is. ``most``: summaries, and ``memory``: bytes
    of them, that there is room for. ``has_all``: whether what has no summary has no tokens."""

    def __init__(
        self,
        network: PretokenizedNetwork,
        liveness: Liveness,
        watch: Watch,
        most: int,
        memory: int,
    ) -> None:
        self.network, self.liveness, self.watch = network, liveness, watch
        self.most, self.memory = most, memory
        self.contexts, joint = network.contexts, liveness.joint
        self.calls = reach(network, joint)
        self.walks = PairWalks(network.network.tables, self.contexts, joint, network.walks)
        liveness.follow(self.contexts.pushes())
        self.summaries = Summaries(
            network.vocabulary.size, network.planes, len(network.pretokenizer.table)
        )
        self.decisions = _Decisions(network, liveness, self.calls, self.summaries, watch)
        self.has_all = False
        # What goes on at frames, with the calls that these lie in: not found yet, and found.
        self._left: dict[tuple[Suspended, int], set[int]] = {}
        self._done: dict[tuple[Suspended, int], set[int]] = {}

    def find(self) -> None:
        """Find all rows, as far as there is room."""
        try:
            self._find_all()
        except _FullError:
            return
        self.has_all = True

    def _find_all(self) -> None:
        reached, pairs = np.array(self.calls.reached), self.calls.pairs()
        # In a round those first at which a pre-token may start or the text end.
        late = np.ones(self.walks.joint.pairs, dtype=np.bool_)
        for context in set(self.calls.contexts):
            late &= ~self.liveness.at_boundary(context)
        begin, size = 0, _FIRST_ROUND
        while begin < len(pairs):
            some = np.sort(pairs[begin : begin + size])
            self._find_at_root(some[np.argsort(late[some], kind="stable")].tolist(), reached)
            while self._left:
                left, self._left = self._left, {}
                for (where, frame), calls in left.items():
                    self._find_below(where, frame, calls)
            begin, size = begin + size, 2 * size

    def _find_at_root(self, pairs: Sequence[int], reached: NDArray[np.bool_]) -> None:
        """The rows of tokens that begin in some pairs."""
        keys = [(pair, plane) for plane in range(self.network.planes) for pair in pairs]
        for places, part in self.walks.walk(keys):
            threads = []
            for index, suspended in zip(places, part.suspended, strict=True):
                pair, plane = keys[index]
                entry = self.summaries.root_entry(int(self.contexts.pre_states[pair]), plane)
                calls = tuple(np.flatnonzero(reached[:, pair]).tolist())
                after = self.summaries.entry_set(suspended)
                state = int(self.contexts.states[pair])
                threads.append(_Threads([(entry, state, after)], calls))
                self._leave(suspended, calls)
            self._add(part, threads)

    def _find_below(self, where: Suspended, frame: int, calls: set[int]) -> None:
        """The rows of what was suspended, at a frame below that lies in some calls."""
        done = self._done.setdefault((where, frame), set())
        calls = calls - done
        if not calls:
            return
        done |= calls
        part = self.walks.below(where, frame)
        entry, after = self.summaries.entry(where), self.summaries.entry_set(part.suspended[0])
        found, undecided = self.summaries.found, list[int]()
        for call in sorted(calls):
            suffix = self.summaries.suffix(UNKNOWN, self.calls.contexts[call])
            if found.get((entry, frame, suffix), (DEEPER, 0))[0] == DEEPER:
                undecided.append(call)
        self._add(part, [_Threads([(entry, frame, after)], tuple(undecided))])
        self._leave(part.suspended[0], sorted(calls))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to decoding."""
        return self.has_all and self.decisions.is_complete

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections."""
        contexts = np.array(sorted(self.contexts.pushes()), np.int32).reshape(-1, 3)
        return {
            "closed.all": np.array([self.has_all, self.is_complete], dtype=np.uint8),
            "closed.contexts": contexts,
            **self.summaries.arrays(self.network.network.tables.states),
            **self.liveness.arrays(self.summaries, has_all=self.has_all),
        }

    def _leave(self, suspended: Sequence[Suspended], calls: Sequence[int]) -> None:
        """What is suspended in some calls goes on at the frame below each. At the root of the trie
        all is found anyway."""
        for call in calls:
            frame, callers = self.calls.calls[call][0], self.calls.callers[call]
            for where in suspended if callers else ():
                if where[1] != ROOT:
                    self._left.setdefault((where, frame), set()).update(callers)

    def _add(self, part: Part, threads: Sequence[_Threads]) -> None:
        """The rows of a part in all contexts, of its walks by ``threads``."""
        contexts_of: dict[tuple[int, ...], set[int]] = {}
        by_context: dict[int, list[int]] = {}
        for number, thread in enumerate(threads):
            if thread.calls not in contexts_of:
                contexts_of[thread.calls] = {self.calls.contexts[call] for call in thread.calls}
            for context in contexts_of[thread.calls]:
                by_context.setdefault(context, []).append(number)
        for context, numbers in sorted(by_context.items()):
            mine = part.only(np.array(numbers))
            self.watch(_TOKEN_WORK * len(mine.ids), 0)
            decided = DecidedBlocks(mine, self.liveness.decide(mine, context))
            # Most walks meet what others meet.
            alike: dict[tuple[bytes, tuple[int, ...]], list[int]] = {}
            for walk, content in enumerate(decided.contents()):
                alike.setdefault((content, threads[numbers[walk]].calls), []).append(walk)
            for (_, calls), walks in alike.items():
                self.watch(_PLACE_WORK * len(walks), 0)
                room = self.most - len(self.summaries.found)
                if room <= 0 or self.summaries.nbytes > self.memory:
                    raise _FullError
                places = [threads[numbers[walk]].places[0] for walk in walks[:room]]
                live, undecided = decided.of(walks[0])
                wanted = _Threads(places, calls)
                self.decisions.decide(wanted, live, undecided, (), (UNKNOWN, context))
                if room < len(walks):
                    raise _FullError


class _Decisions:
    """Decides undecided tokens with as little as possible given of the stacks. ``is_complete``:
    whether all were decided."""

    def __init__(
        self,
        network: PretokenizedNetwork,
        liveness: Liveness,
        calls: Calls,
        summaries: Summaries,
        watch: Watch,
    ) -> None:
        self.is_complete = True
        self._watch = watch
        self._calls, self._stacks, self._liveness = calls, network.network.stacks, liveness
        self._contexts, self._dead_ends = network.contexts, network.dead_ends
        self._stack_contexts = network.stack_contexts
        self._searched = SearchedTokens(network.dead_ends, watch)
        self._summaries = summaries

    def decide(
        self,
        threads: _Threads,
        live: NDArray[np.int32],
        undecided: ByTarget,
        frames: Frames,
        ground: tuple[int, int],
    ) -> None:
        """The summaries above ``frames``, the uppermost first, and a stack of one context
        (``ground``, a suffix); where that does not decide, those for all frames that can lie
        below."""
        self._watch(_ROW_WORK, 0)
        node, suffix = BOTTOM, 0
        if ground[0] == UNKNOWN:
            node = self._stack_contexts.unknown(ground[1])
            suffix = self._summaries.suffix(*ground)
        for frame in reversed(frames):
            node = self._stacks.push(frame, node)
            suffix = self._summaries.suffix(frame, suffix)
        left: ByTarget = {}
        found = [live]
        for target, ids in undecided.items():
            pair, pushed = target
            leads = self._dead_ends.push_all(pushed, node)
            place = int(self._contexts.states[pair]), int(self._contexts.pre_states[pair]), leads
            results = self._searched.of(place, ids, whole=ground[0] != UNKNOWN)
            of_ids = [results.get(token) for token in ids.tolist()]
            found.append(ids[[result is True for result in of_ids]])
            if len(found[-1]):
                self._liveness.found_live(target, found[-1], frames, ground)
            if None in of_ids:
                left[target] = ids[[result is None for result in of_ids]]
        live = np.concatenate(found)
        row = DEEPER if left else self._summaries.rows.add(live)
        for entry, state, after in threads.places:
            self._summaries.found[entry, state, suffix] = row, after
        if not left:
            return
        if ground[0] != UNKNOWN or len(frames) == _FRAMES or self._searched.has_given_up:
            self.is_complete = False
            return
        for call in threads.calls:
            if self._calls.contexts[call] != ground[1]:
                continue
            frame, below = self._calls.calls[call]
            under = _Threads(threads.places, tuple(sorted(self._calls.callers[call])))
            if frame == TEXT:
                self.decide(under, live, left, frames, (TEXT, BOTTOM))
            else:
                self.decide(under, live, left, (*frames, frame), (UNKNOWN, below))
