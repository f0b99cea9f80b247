"""Rows of canonical masks that were not precomputed: the live tokens of one thread.

A row is found by walks of the token trie from a thread's state down its stacks. What leads to the
end of a piece is live; of the others ``liveness`` says which are. With counters a row serves as
many counts as can be shown, or is made of what is found once for all of them (``usual_counts``).
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES, solve_recursive, top_down
from ..tokens.sharing import weakly
from ..tokens.tokenset import Words
from ..walk.summary_rows import RowTable
from .closed_calls import ClosedCalls
from .pretokenized import PretokenizedNetwork
from .splits import Left
from .stack_walks import Begun, StackWalks, from_root
from .trie_walk import Frames, Walk, WalkKey

if TYPE_CHECKING:
    from .usual_counts import RowsByDepth, UsualCounts

# State, pre-tokenizer state, set of stacks, and the plane in which tokens begin.
Thread: TypeAlias = tuple[int, int, int, int]

# Walks and contexts may take so many bytes, however small a budget is; and what is found of them:
# where texts have many readings, walks are looked at above tens of thousands of contexts.
FEWEST_WALKED = 3 << 24

# In place of stacks and a frame.
_NO_COUNT = -1, -1

# In place of the row of many counts where it is not the same for all.
_BY_COUNTS = -1


@dataclass(slots=True, eq=False)
class _Live:
    """Live tokens: ``rows``, uint32 (W,), and a ``few`` ids, int32. ``left``: ids that lead to a
    state and a pre-tokenizer state, with frames pushed on some stacks, to be decided."""

    rows: list[Words] = field(default_factory=list)
    few: list[NDArray[np.int32]] = field(default_factory=list)
    left: dict[tuple[int, int, Frames, int], list[NDArray[np.int32]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Above:
    """The tokens of a walk above a context: live ones as ``rows`` and ``few``, those of the
    ``parts`` that it consists of, and what is ``left``, with frames pushed on the context."""

    rows: tuple[Words, ...]
    few: tuple[NDArray[np.int32], ...]
    parts: tuple["_Above", ...]
    left: tuple[tuple[Left, Frames], ...]


# A walk, the context below it, and that beside the inert pre-tokenizer DFA or -1; and whether the
# stacks are those of the network, None for the empty one alone.
_AboveKey: TypeAlias = tuple[Walk, int, int, bool | None]


class LazyRows:
    """The live tokens of a thread, found by walks of the token trie down its stacks.

    ``network``: says what each token reads and what may follow it (``reader``: another one says
    what it reads). ``rows``: where the rows that are found are numbered. ``inert``: the network
    beside the inert pre-tokenizer DFA, if there is one: what is live there needs no search here.
    """

    def __init__(
        self,
        network: PretokenizedNetwork,
        rows: RowTable,
        inert: PretokenizedNetwork | None = None,
    ) -> None:
        self._network, self._rows, self._inert = network, rows, inert
        self._contexts = network.contexts
        self._stack_contexts = network.stack_contexts
        self._stack_walks = StackWalks(network.network, network.reading)
        self._calls = ClosedCalls(network)
        self.usual = _usual_counts(network)
        self._above: dict[_AboveKey, _Above] = {}
        # By thread.
        self._found: dict[Thread, int] = {}
        # No token begins or ends more items.
        self._most_items = int(network.vocabulary.lengths.max(initial=0)) + 2
        # Rows where more must follow.
        self._far_rows: dict[tuple[int, ...], int] = {}
        # Stacks that were looked at as a whole; and such with a long count, with the frame of a
        # shorter one.
        self._whole = set[int]()
        self._counted = _NO_COUNT
        self._by_depth: RowsByDepth | None = None
        if self.usual is not None:
            self._by_depth = _rows_by_depth(network, self)

    def row(
        self, state: int, pre_state: int, node: int, plane: int, among: Words | None = None
    ) -> int:
        """The number of a row; the tokens begin in ``plane``. ``among``: no other tokens are live.
        Raises ``ArtifactError`` where a search meets too much, or parts of a permutation cannot be
        distinguished."""
        if self._by_depth is not None and self.usual is not None:
            ((walk, _),) = from_root(state, pre_state, node, plane)
            words = self._by_depth.live(walk, node)
            if words is not None:
                return self._rows.number(words)
            less, more = self.usual.between(node)
            if more != node:
                row = self._row((state, pre_state, more, plane))
                if row == self._row((state, pre_state, less, plane)):
                    return row
            far = self.usual.far_below(
                node, self._most_items, self._contexts.push, self._stack_contexts.of_node
            )
            if far is not None:
                return self._far_row((state, pre_state, node, plane), far)
        return self._row((state, pre_state, node, plane), among)

    def _far_row(self, thread: Thread, far: tuple[int, ...]) -> int:
        """The row of a thread, which is that of all with stacks like ``far`` if their contexts
        decide it."""
        state, pre_state, _, plane = thread
        key = state, pre_state, plane, *far
        known = self._far_rows.get(key)
        if known is not None and known != _BY_COUNTS:
            return known
        self._whole.clear()
        # What is found by depths is so for these stacks alone.
        row = self._rows.number(self.live(from_root(*thread), lambda _: False))
        if known is None:
            self._far_rows[key] = _BY_COUNTS if self._whole else row
        return row

    def _row(self, thread: Thread, among: Words | None = None) -> int:
        row = self._found.get(thread)
        if row is None:
            row = self._rows.number(self.live(from_root(*thread), among=among))
            self._found[thread] = row
        return row

    def live(
        self,
        begin: Sequence[Begun],
        leave: Callable[[Begun], bool] | None = None,
        among: Words | None = None,
    ) -> Words:
        """The live tokens of some walks, and of those that go on below them until nothing is
        suspended, but for those that ``leave`` takes."""
        found = _Live()
        walked = partial(self._walked, found, among)
        if leave is None and self._by_depth is not None:
            leave = partial(self._is_by_depth, found)
        for _ in self._stack_walks.of(begin, walked, leave):
            continue
        for (p, q, frames, below), ids in found.left.items():
            self._decide(found, Left(p, q, distinct(np.concatenate(ids))), frames, below)
        return self._union(found)

    def _is_by_depth(self, found: "_Live", walk: Begun) -> bool:
        """Whether the tokens of a walk are known by their depths; they are added then."""
        assert self._by_depth is not None
        words = self._by_depth.live(*walk)
        if words is not None:
            found.rows.append(words)
        return words is not None

    def live_over(
        self, node: int, shorter: int, walks: Sequence[WalkKey], leave: Callable[[Begun], bool]
    ) -> Words | None:
        """The same of walks over stacks with a long count on top, which are live over all counts
        down to that of the frame ``shorter``; None if more than the context below decides.
        ``leave`` takes all that goes on below the count."""
        outer, self._whole, self._counted = self._whole, set(), (node, shorter)
        try:
            found = self.live([(walk, node) for walk in walks], leave)
            return None if self._whole else found
        finally:
            self._whole, self._counted = outer, _NO_COUNT

    def _live_over_all(self, left: Left, frames: Frames, below: int) -> NDArray[np.int32] | None:
        """Those that are live over a long count, if it is that of ``live_over``, and over a shorter
        one; None if that is not found out."""
        if below != self._counted[0]:
            return None
        ((frame, lower),) = self._network.network.stacks.entries[below]
        context, above = self._stack_contexts.of_node(lower), self._network.dead_ends.live_above
        found = above(left, (frame, *frames), context)
        shorter = above(left, (self._counted[1], *frames), context)
        same = found is not None and shorter is not None and len(found) == len(shorter)
        return found if same else None

    def _walked(self, found: "_Live", among: Words | None, key: WalkKey, below: int) -> Walk:
        """A walk over the stacks of ``below``; adds its live tokens to what was found."""
        context, walks = self._stack_contexts.of_node(below), self._network.reading
        call = self._calls.key(key, context)
        known = self._calls.find(call)
        if known is not None:
            found.rows.append(known.live)
            return self._calls.walk(known)
        walk = walks.begun(*key)
        if call is None:
            self._add(found, among, walk, below)
            return walk
        own = _Live()
        self._add(own, among, walk, below, of_network=False)
        others = [self._walked(own, among, other, below) for other, _ in walk.others]
        walk = Walk(suspended=walks.suspended_by([walk, *others]))
        if own.left:
            # Some of the stacks say it.
            self._calls.leave(call)
            return self._walked(found, among, key, below)
        row = self._union(own)
        self._calls.keep(call, row, walk)
        found.rows.append(row)
        return walk

    def _add(
        self,
        found: "_Live",
        among: Words | None,
        walk: Walk,
        below: int,
        *,
        of_network: bool = True,
    ) -> None:
        """Add the tokens that a walk leads to: live ones, and those that are left. ``of_network``:
        as of ``DeadEnds.live_with``."""
        context = self._stack_contexts.of_node(below)
        shown = -1 if self._inert is None else self._inert.stack_contexts.of_node(below)
        # What lies on the empty stack is looked at as a whole at once.
        stacks = None if below == BOTTOM else of_network
        key = walk, context, shown, stacks
        whole = self._above.get(key) or solve_recursive(key, self._above.get, self._walked_above)
        for each in top_down([whole], lambda above: above.parts):
            found.rows += each.rows
            found.few += each.few
        for left, frames in whole.left:
            ids = left.ids if among is None else left.ids[tokenset.held(among, left.ids)]
            if len(ids):
                place = left.state, left.pre_state, frames, below
                found.left.setdefault(place, []).append(ids)

    def _walked_above(self, key: _AboveKey) -> Generator[_AboveKey, _Above, _Above]:
        walk, context, shown, stacks = key
        push, inert = self._contexts.push, self._inert
        own, parts = _Live(), list[_Above]()
        left = dict[tuple[Left, Frames], None]()
        for landing in walk.landings:
            split = before = None if inert is None else inert.splits.of(landing, shown)
            if split is None or not split.is_whole:
                split = self._network.splits.of(landing, context, before)
            if split.many is not None:
                own.rows.append(split.many)
            elif len(split.few):
                own.few.append(split.few)
            for each in split.left:
                self._settle(own, left, (each, ()), key)
        for frame, inner in walk.inside:
            less = -1 if inert is None else inert.contexts.push(frame, shown)
            part = yield inner, push(frame, context), less, stacks
            parts.append(part)
            for each, frames in part.left:
                self._settle(own, left, (each, (frame, *frames)), key)
        for outer in walk.after:
            part = yield outer, context, shown, stacks
            parts.append(part)
            left |= dict.fromkeys(part.left)
        found = _Above(tuple(own.rows), tuple(own.few), tuple(parts), tuple(left))
        self._above[key] = found
        return found

    def _settle(
        self,
        found: _Live,
        left: dict[tuple[Left, Frames], None],
        tokens: tuple[Left, Frames],
        key: _AboveKey,
    ) -> None:
        """Add some tokens with frames above a context that are no dead ends; or leave them, if more
        frames may say it."""
        _, context, _, stacks = key
        live, dead_ends = None, self._network.dead_ends
        if stacks is not None:
            live = dead_ends.live_with(*tokens, context, of_network=stacks)
        if live is None:
            left[tokens] = None
        elif len(live):
            found.few.append(live)

    def _decide(self, found: "_Live", left: Left, frames: Frames, below: int) -> None:
        """Add the tokens of what is left that are no dead ends above ``frames`` on ``below``."""
        live = self._live_over_all(left, frames, below)
        if live is None:
            self._whole.add(below)
            live = self._network.dead_ends.live_tokens(left, frames, below)
        found.few.append(live)

    def _union(self, found: "_Live") -> Words:
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *found.few])
        words = tokenset.from_ids(ids, self._network.vocabulary.size)
        for row in {id(row): row for row in found.rows}.values():
            words |= row
        return words

    @property
    def nbytes(self) -> int:
        """About the size of what is found beside rows."""
        return ENTRY_BYTES * (len(self._found) + len(self._far_rows) + 3 * len(self._above))

    def forget(self) -> None:
        """Rows are numbered from 0 again."""
        self._found.clear()
        self._above.clear()
        self._far_rows.clear()


def _rows_by_depth(network: PretokenizedNetwork, lazy: LazyRows) -> "RowsByDepth":
    from .usual_counts import RowsByDepth

    places = network.network, network.stack_contexts, network.reading, network.vocabulary.size
    return RowsByDepth(*places, network.depth_caches, weakly(lazy.live), weakly(lazy.live_over))


def _usual_counts(network: PretokenizedNetwork) -> "UsualCounts | None":
    counters = network.network.tables.counters
    if counters is None or not counters.rows:
        return None
    from .usual_counts import UsualCounts

    return UsualCounts(network.network)
