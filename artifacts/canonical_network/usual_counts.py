"""Masks in the middle of long counts, which need not know where they are.

A text of a language is in any larger one, too, and so are its canonical token sequences: where more
members go on, a row has more tokens. Of a counter where enough items have begun and h or more may
follow, what may follow lies between

    at most h items more    and    any number of them

so that its row is that of both where these have one row: the *usual* row, which is found once, for
all such counts and at any height of the stack.

Where more items must follow than a token holds, no two counts have members in common. But tokens
then come to counters alone that look the same to searches without frames, if their contexts are
one: where such searches decide all tokens, their row is that of all these counts, too
(``far_below``). Elsewhere a row is found for its count.

The two are counters of their own, after those of the network.

Where more may follow than tokens hold but fewer than the horizons, rows are made of what is found
once (``RowsByDepth``):

    at most 100 characters, of which    the tokens of a text of any length that begin at most 60
    40 have begun                       more of them

The tokens of a thread are found *depth* by depth: those of depth d begin d items before they end,
or before they go on below the counter. Where enough items have begun, what is at a depth does not
depend on the count, but for the last few items. So the depth of each token is found once for all
counts: of those that end in an item for all counters of such items, and of others for the stacks
below. A row is that of the tokens up to some depth, and of walks of the last items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..errors import ArtifactError
from ..network.configurations import BOTTOM, Network
from ..network.counts import UNBOUNDED, Counters
from ..network.tables import DEAD, NetworkTables
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, bottom_up, memoised
from ..tokens.tokenset import Words
from .contexts import StackContexts
from .stack_walks import Begun
from .trie_walk import TokenWalks, WalkKey

# How many items may follow at least, of which the most that may is taken.
HORIZONS = (4, 8, 16, 32, 64, 128, 256)

# So many frames are looked at for a counter.
_MOST_FRAMES = 8


def with_usual_counters(tables: NetworkTables) -> NetworkTables:
    """The same network with more counters, which stand for many counts of those that it has."""
    counters = tables.counters
    if counters is None or not counters.rows:
        return tables
    count, most = len(counters.rows), (UNBOUNDED, *(h + 1 for h in HORIZONS))
    times = 1 + len(most)
    usual = Counters(
        counters.states,
        np.tile(counters.items, times),
        np.append(counters.least, np.ones(count * len(most), dtype=np.int64)),
        np.append(counters.most, np.repeat(np.array(most, dtype=np.int64), count)),
        np.tile(counters.backs, times),
        counters.sets,
    )
    # Frames of sets are after those of all counters.
    returns = tables.call_returns
    returns = returns + np.where(returns >= counters.states + count, count * len(most), 0)
    return replace(tables, counters=usual, call_returns=returns.astype(np.int32))


class UsualCounts:
    """Sets of stacks with usual counts in place of their own."""

    def __init__(self, network: Network) -> None:
        self._stacks, self._counters = network.stacks, network.tables.some_counters
        self._count = len(self._counters.rows) // (2 + len(HORIZONS))
        # By node the sets that hold less, and more.
        self._known: dict[int, tuple[int, int]] = {BOTTOM: (BOTTOM, BOTTOM)}

    def between(self, node: int) -> tuple[int, int]:
        """Two sets of stacks, above which no more and no less may follow than above ``node``; both
        are ``node`` where none of its counts are usual."""
        known, stacks = self._known, self._stacks
        for current in bottom_up([node], stacks.below, known):
            entries = stacks.entries[current]
            less, more = [], []
            for frame, lower in entries:
                if frame <= DEAD:
                    less.append(current if len(entries) == 1 else BOTTOM)
                    more.append(less[-1])
                    continue
                fewer, any_number = self._of_frame(frame)
                less.append(stacks.push(fewer, known[lower][0]))
                more.append(stacks.push(any_number, known[lower][1]))
            known[current] = stacks.joined(less), stacks.joined(more)
        return known[node]

    def far_below(
        self,
        node: int,
        most_items: int,
        push: Callable[[int, int], int],
        context_of: Callable[[int], int],
    ) -> tuple[int, ...] | None:
        """What stacks have in common over which so many items must follow that a token of at most
        ``most_items`` sees one context alone: the frames on top of the counter, its number and that
        context. None for others.

        ``push``, ``context_of``: of a frame over a context, and of a set of stacks.
        """
        counters, frames = self._counters, list[int]()
        frame, lower = DEAD, node
        while len(frames) <= _MOST_FRAMES:
            entries = self._stacks.entries[lower]
            frame, lower = entries[0]
            if len(entries) > 1 or frame <= DEAD:
                return None
            if frame >= counters.states:
                break
            frames.append(frame)
        else:
            return None
        counter, begun = counters.split(frame)
        last = begun + most_items
        if counter >= self._count or last >= counters.rows[counter][1]:
            return None
        context = context_of(lower)
        # Each context is made of the next alone: if two are one, so are all before them.
        found = push(counters.frame(counter, last), context)
        if found != push(counters.frame(counter, last - 1), context):
            return None
        return (*frames, counter, found)

    def _of_frame(self, frame: int) -> tuple[int, int]:
        counters = self._counters
        if frame < counters.states:
            return frame, frame
        counter, begun = counters.split(frame)
        if counter >= self._count:
            return frame, frame
        _, least, most, _ = counters.rows[counter]
        if begun < least or most == UNBOUNDED:
            return frame, frame
        fitting = [i for i, h in enumerate(HORIZONS) if h <= most - begun]
        if not fitting:
            return frame, frame
        any_number = counter + self._count
        fewer = any_number + (1 + fitting[-1]) * self._count
        return counters.frame(fewer, 1), counters.frame(any_number, 1)


# The depth of tokens that are not live; no token begins as many items.
_NEVER = 255

# The last items of a count are walked: as many as this one of ``HORIZONS`` at least. Where contexts
# farther from the end than so many items still differ from those in the middle, all items are.
_SHORTEST, _MOST_LAST = 1, 16

_Live: TypeAlias = Callable[[Sequence[Begun]], Words]
_LiveOver: TypeAlias = Callable[
    [int, int, Sequence[WalkKey], Callable[[Begun], bool]], Words | None
]

# A walk, the state that items begin in, and a context.
_Key: TypeAlias = tuple[WalkKey, int, int]


class _ByDepth:
    """Tokens by their least depths; of few tokens as ``ids``, int32, and ``depths``, uint8, in
    ascending order, of many the depth of each token of the vocabulary. ``nbytes``: of both."""

    def __init__(self, words: dict[int, Words], size: int) -> None:
        """``words``: the tokens by depth, in ascending order; a token may have several depths.
        ``size``: V."""
        self._size, self._ids = size, None
        depths = np.full(32 * tokenset.word_count(size), _NEVER, dtype=np.uint8)
        for depth in reversed(words):
            depths[tokenset.to_flags(words[depth])] = depth
        ids = np.flatnonzero(depths != _NEVER).astype(np.int32)
        if 5 * len(ids) < len(depths):
            order = np.argsort(depths[ids], kind="stable")
            self._ids = ids[order]
            depths = depths[self._ids]
        self._depths = depths
        self.nbytes = depths.nbytes + (0 if self._ids is None else self._ids.nbytes)

    def until(self, depth: int) -> Words:
        """The tokens of smaller depths, uint32 (W,)."""
        depth = min(depth, _NEVER)
        if self._ids is None:
            return tokenset.from_flags(self._depths < depth)
        return tokenset.from_ids(self._ids[: np.searchsorted(self._depths, depth)], self._size)


@dataclass(frozen=True, slots=True, eq=False)
class _Inside:
    """``tokens``: those that end in an item. By depth the ``walks`` that begin there, and the
    ``ends``, which go on below the counter. None of them where more than the context decides."""

    tokens: _ByDepth
    walks: Sequence[Sequence[WalkKey]]
    ends: Sequence[Sequence[WalkKey]]


class RowsByDepth:
    """``network``: with usual counters. ``walks``: where its tokens lead. ``size``: V. ``live``,
    ``live_over``: of ``LazyRows``."""

    def __init__(
        self,
        network: Network,
        stack_contexts: StackContexts,
        walks: TokenWalks,
        size: int,
        caches: CacheBudget,
        live: _Live,
        live_over: _LiveOver,
    ) -> None:
        self._stacks, self._counters = network.stacks, network.tables.some_counters
        self._contexts, self._stack_contexts = stack_contexts.contexts, stack_contexts
        self._walks, self._size = walks, size
        self._live, self._live_over = live, live_over
        self._count = len(self._counters.rows) // (2 + len(HORIZONS))
        inside, below, failed = caches.divide(6, 2, 1)
        self._inside: BoundedCache[_Key, _Inside] = inside.cache()
        self._below: BoundedCache[tuple[_Key, int, int], _ByDepth] = below.cache()
        self._failed: BoundedCache[tuple[_Key, int, int], bool] = failed.cache()

    def live(self, walk: WalkKey, node: int) -> Words | None:
        """The live tokens of a walk over stacks, uint32 (W,). None where no counter is on top of
        them, more items must follow, or too few may."""
        counters, entries = self._counters, self._stacks.entries[node]
        frame, lower = entries[0]
        if len(entries) > 1 or frame < counters.states:
            return None
        counter, begun = counters.split(frame)
        if counter >= len(counters.rows) or begun < counters.rows[counter][1]:
            return None
        item, _, most, back = counters.rows[counter]
        below, first = self._stack_contexts.of_node(lower), _NEVER
        if most != UNBOUNDED:
            last = self._last_items(counter, below)
            if last is None or most - begun <= last:
                return None
            # The least depth that may be another near the end.
            first = most - begun - last + 1
        key = walk, item, self._middle(counter, below)
        if self._failed.get((key, back, lower)):
            return None
        try:
            inside = self._inside.get(key) or self._found_inside(key, counter, lower)
            behind = self._below.get((key, back, lower))
            behind = behind or self._found_below(key, inside, back, lower)
        except ArtifactError:
            # A search met too much, perhaps at depths that this count has not.
            self._failed.keep((key, back, lower), True)
            return None
        if not inside.walks:
            return None
        words = inside.tokens.until(first) | behind.until(first)
        if first < len(inside.walks):
            above = self._stacks.push(counters.frame(counter, begun + first), lower)
            words |= self._live([(each, above) for each in inside.walks[first]])
        return words

    def _usual(self, counter: int, horizon: int) -> int:
        """The usual counter with as many items as one of ``HORIZONS``."""
        return counter % self._count + (2 + horizon) * self._count

    def _middle(self, counter: int, below: int) -> int:
        """The context of a counter where no token comes to its end."""
        longest = self._usual(counter, len(HORIZONS) - 1)
        return self._contexts.push(self._counters.frame(longest, 1), below)

    @memoised
    def _last_items(self, counter: int, below: int) -> int | None:
        """How many items before the end of a counter its context is that in the middle."""
        frame, most = self._counters.frame, self._counters.rows[counter][2]
        middle, push = self._middle(counter, below), self._contexts.push
        lasts = range(HORIZONS[_SHORTEST], min(_MOST_LAST, most))
        return next((n for n in lasts if push(frame(counter, most - n), below) == middle), None)

    def _found_inside(self, key: _Key, counter: int, lower: int) -> _Inside:
        frame, longest = self._counters.frame, self._usual(counter, len(HORIZONS) - 1)
        shortest = frame(self._usual(counter, _SHORTEST), 1)
        found, walks, ends = dict[int, Words](), list[list[WalkKey]](), list[list[WalkKey]]()
        begin, depth = [key[0]], 0
        while begin:
            node, above = (self._stacks.push(frame(longest, depth + n), lower) for n in (1, 2))
            left: dict[int, list[WalkKey]] = {above: [], lower: []}

            def leave(more: Begun, left: dict[int, list[WalkKey]] = left) -> bool:
                walk, below = more
                if below in left:
                    left[below].append(walk)
                return below in left

            words = self._live_over(node, shortest, begin, leave)
            if words is None or depth + 3 >= _NEVER:
                found, walks, ends = {}, [], []
                break
            found[depth] = words
            walks.append(begin)
            ends.append(left[lower])
            begin, depth = left[above], depth + 1
        made = _Inside(_ByDepth(found, self._size), walks, ends)
        size = ENTRY_BYTES * (1 + sum(map(len, walks))) + made.tokens.nbytes
        return self._inside.keep(key, made, size)

    def _found_below(self, key: _Key, inside: _Inside, back: int, lower: int) -> _ByDepth:
        found = dict[int, Words]()
        for depth, ends in enumerate(inside.ends):
            walks = [(nodes, back, q, plane) for nodes, _, q, plane in ends]
            walks = [walk for walk in walks if self._walks.may_go_on(walk[0], back)]
            if walks:
                found[depth] = self._live([(walk, lower) for walk in walks])
        made = _ByDepth(found, self._size)
        return self._below.keep((key, back, lower), made, ENTRY_BYTES + made.nbytes)
