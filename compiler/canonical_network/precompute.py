"""Rows that are laid out for an artifact: equal ones once, short ones as lists of ids.

Find the rows of all threads that can come about, on all stacks
(``artifacts.canonical_network.precomputed_rows``).

    reach         the pairs of states, by the calls that they lie in
    parts         where tokens lead from each pair, in each plane
    certificates  which of them are alive, whatever lies below
    dead_ends     the few others one by one, with nothing known of the stacks but the context,
                  then with one and two frames

A walk that leaves its call goes on at the frame below, in the calls that it can lie on.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.masks import CanonicalMasks, LazyRows
from constrain.artifacts.canonical_network.precomputed_rows import DEEPER, UNKNOWN
from constrain.artifacts.canonical_network.trie_walk import ROOT

from ..limits import Limits
from ..normalizer.normalized_members import NormalFormTables
from .decisions import Decisions, Doubt, Thread
from .liveness import IS_DEAD, IS_DOUBTFUL, IS_OPEN, ContextStatus
from .normalized_liveness import InertLiveness
from .reachable_pairs import reach
from .split_characters import SplitCharacterEnds
from .trie_walks import PairWalks, Part, Pending, joint_table

_STAGE = "the canonical masks of the network"


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """``stable``: the texts that a normalizer leaves alone. ``inert``: rows of the inert cuts."""

    stable: NormalFormTables
    inert: LazyRows


@dataclass(frozen=True, slots=True)
class Precomputed:
    """``arrays``: the sections ``closed.*``. ``answers``: how many. ``is_complete``: whether no
    row will be missing while decoding."""

    arrays: dict[str, NDArray[Any]]
    answers: int
    is_complete: bool


def precompute_rows(
    masks: CanonicalMasks,
    answers: int,
    memory: int,
    limits: Limits,
    beside: Beside | None = None,
) -> Precomputed:
    """Stops beyond so many ``answers`` or bytes of ``memory``, both approximately. ``beside``:
    what stable texts beside the masks need. Raises ``LimitError`` on time alone, so that the
    same grammar gives the same rows."""
    closing = _Precomputation(masks, limits, beside)
    closing.run(answers, memory)
    return Precomputed(closing.arrays(), len(closing.decisions.answers), closing.is_complete)


class _Precomputation:
    def __init__(self, masks: CanonicalMasks, limits: Limits, beside: Beside | None = None) -> None:
        self.masks, self.limits = masks, limits
        self.threads, self.stacks = masks.threads, masks.network.stacks
        self.endings = endings = masks.threads.endings
        tables = masks.network.tables
        self.joint = joint_table(tables, masks.cuts, endings)
        self.calls = reach(tables, masks.cuts, endings, self.joint, masks.continued)
        self.walks = PairWalks(tables, endings, self.joint, masks.threads.walks)
        self.freely = None if beside is None else InertLiveness(masks, beside.inert)
        self.ends = None if beside is None else SplitCharacterEnds(masks, beside.stable)
        if self.freely is not None:
            self.freely.follow(endings.pushes())
        self.decisions = Decisions(masks, self.calls, self.freely)
        # Whether what is not in the answers has no tokens.
        self.has_all = True
        self._outlooks: dict[int, ContextStatus] = {}
        # Where walks go on; those at the root of the trie are numbered by plane and cut state.
        self._entries: dict[Pending, int] = {}
        self._sets: dict[tuple[int, ...], int] = {(): 0}
        self._width = len(masks.cuts.table)

    def run(self, answers: int, memory: int) -> None:
        """Find all rows, those where a piece may start or the text end first."""
        reached = np.array(self.calls.reached)
        pairs = np.flatnonzero(reached.any(axis=0))
        opened = [self._outlook(c).status == IS_OPEN for c in sorted(set(self.calls.contexts))]
        pairs = pairs[np.argsort(~np.logical_or.reduce(opened)[pairs], kind="stable")]
        keys = [(pair, plane) for plane in range(self.masks.planes) for pair in pairs.tolist()]
        below: deque[tuple[Pending, int, int]] = deque()
        for places, part in self.walks.walk(keys):
            threads = []
            for place, pending in zip(places, part.pending, strict=True):
                pair, plane = keys[place]
                entry = self._entry((int(self.endings.cut_of[pair]), ROOT, plane))
                calls = np.flatnonzero(reached[:, pair]).tolist()
                left = self._set(pending)
                threads.append(Thread(entry, int(self.endings.states[pair]), left, calls))
                below.extend(self._below(pending, calls))
            self._answer(part, threads)
            if self._is_beyond(answers, memory):
                return
        seen = set()
        while below:
            item = below.popleft()
            if item in seen:
                continue
            seen.add(item)
            where, frame, call = item
            part = self.walks.below(where, frame)
            left = self._set(part.pending[0])
            self._answer(part, [Thread(self._entry(where), frame, left, [call])])
            below.extend(self._below(part.pending[0], [call]))
            if self._is_beyond(answers, memory):
                return

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to decoding."""
        return self.has_all and self.decisions.is_complete

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections."""
        found = self.decisions
        states, suffixes = self.masks.network.tables.states, len(found.suffixes)
        listed = sorted(found.answers)
        keys = np.array(listed, dtype=np.int64).reshape(-1, 3)
        placed = [
            (row if row == DEEPER else found.rows.place(row), left)
            for row, left in map(found.answers.__getitem__, listed)
        ]
        return {
            "closed.all": np.array([self.has_all, self.is_complete], dtype=np.uint8),
            "closed.answers": np.array(placed, dtype=np.int32).reshape(-1, 2),
            "closed.contexts": np.array(sorted(self.endings.pushes()), np.int32).reshape(-1, 3),
            "closed.keys": (keys[:, 0] * states + keys[:, 1]) * suffixes + keys[:, 2],
            "closed.pending": np.array([e for left in self._sets for e in left], dtype=np.int32),
            "closed.pending_offsets": np.cumsum([0, *map(len, self._sets)]).astype(np.int64),
            "closed.suffixes": np.array(list(self.decisions.suffixes), dtype=np.int32),
            **self.decisions.rows.arrays(),
            **self._beside_texts(),
        }

    def _beside_texts(self) -> dict[str, NDArray[Any]]:
        if self.freely is None or self.ends is None:
            return {}
        doubtful = self.freely.doubtful
        sections = {"closed.doubtful": np.array(sorted(doubtful), dtype=np.int32)}
        if self.has_all:
            sections["stable.unsure"] = self.ends.unsure(self.decisions, self.joint, doubtful)
        return sections

    def _is_beyond(self, answers: int, memory: int) -> bool:
        self.limits.check_time(_STAGE, self.masks.network.tables.names[:1])
        found = self.decisions
        size = found.rows.nbytes + 16 * len(found.answers)
        beyond = len(found.answers) >= answers or size > memory
        self.has_all &= not beyond
        return beyond

    def _entry(self, pending: Pending) -> int:
        cut, exits, plane = pending
        if exits == ROOT:
            return plane * self._width + cut
        roots = self.masks.planes * self._width
        return self._entries.setdefault(pending, roots + len(self._entries))

    def _set(self, pending: Sequence[Pending]) -> int:
        left = tuple(sorted(map(self._entry, pending)))
        return self._sets.setdefault(left, len(self._sets))

    def _below(
        self, pending: Sequence[Pending], calls: Sequence[int]
    ) -> list[tuple[Pending, int, int]]:
        """What is pending, with the frame below each call and the calls that this lies in. At
        the root all is found anyway."""
        return [
            (left, self.calls.calls[call][0], caller)
            for left in pending
            if left[1] != ROOT
            for call in calls
            for caller in sorted(self.calls.callers[call])
        ]

    def _answer(self, part: Part, threads: Sequence[Thread]) -> None:
        """The rows of a part in all contexts."""
        contexts = [{self.calls.contexts[call] for call in thread.calls} for thread in threads]
        for context in sorted(set().union(*contexts)):
            alive, doubtful, unfree = self._certified(part, context)
            if self.freely is not None and self.ends is not None:
                met = np.repeat([context in own for own in contexts], np.diff(part.bounds))
                opened = np.flatnonzero(met & self.ends.is_opened[part.ids])
                for place, ids in self._by_place(part, opened).items():
                    self.ends.meet(*place, ids, context)
                for place, ids in self._by_place(part, unfree[met[unfree]]).items():
                    self.freely.search(*place, ids, (), (UNKNOWN, context))
            for number, thread in enumerate(threads):
                if context not in contexts[number]:
                    continue
                span = slice(part.bounds[number], part.bounds[number + 1])
                sure = part.ids[span][alive[span]]
                low, high = np.searchsorted(doubtful, [span.start, span.stop])
                doubt = self._by_place(part, doubtful[low:high])
                self.decisions.decide(thread, sure, doubt, (), (UNKNOWN, context))

    def _certified(
        self, part: Part, context: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        """Which tokens are surely alive in a context; the places of those in doubt; and the
        places of those alive that may not be so by inert characters."""
        alive = np.zeros(len(part.ids), dtype=np.bool_)
        doubtful, unfree = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for number, frames in enumerate(part.frames):
            above = context
            for frame in frames:
                above = self.endings.push(frame, above)
            outlook = self._outlook(above)
            places = np.flatnonzero(part.pushed == number)
            status = outlook.status[part.pairs[places]]
            if self.freely is not None:
                places, status = places[status != IS_DEAD], status[status != IS_DEAD]
                free = self.freely.certified(part.pairs[places], part.ids[places], frames, context)
                alive[places[free]] = True
                places, status = places[~free], status[~free]
                unfree.append(places[status == IS_OPEN])
            alive[places] = status == IS_OPEN
            places = places[status == IS_DOUBTFUL]
            left = outlook.dead_ends(part.pairs[places], part.ids[places])
            alive[places] = ~left
            if self.freely is not None:
                unfree.append(places[~left])
            doubtful.append(places[left])
        return alive, np.sort(np.concatenate(doubtful)), np.sort(np.concatenate(unfree))

    def _by_place(self, part: Part, mine: NDArray[np.int64]) -> Doubt:
        if not len(mine):
            return {}
        mine = mine[np.lexsort((part.pairs[mine], part.pushed[mine]))]
        pairs, pushed = part.pairs[mine], part.pushed[mine]
        bounds = np.flatnonzero((np.diff(pairs) != 0) | (np.diff(pushed) != 0)) + 1
        return {
            (int(part.pairs[places[0]]), part.frames[part.pushed[places[0]]]): np.unique(
                part.ids[places]
            )
            for places in np.split(mine, bounds)
        }

    def _outlook(self, context: int) -> ContextStatus:
        if context not in self._outlooks:
            self._outlooks[context] = ContextStatus(
                self.joint,
                self.endings,
                context,
                self.masks.pairs,
                self.threads.firsts.first_token,
            )
        return self._outlooks[context]
