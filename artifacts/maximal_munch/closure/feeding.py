"""Summaries as arrays, which are fed many at a time.

A summary is a row and a set of pending pairs. What becomes of the pairs by a frame is found once
(``compose.py``), and one look-up then gives the summary of each row beside them:

    (row, P) fed g  =  (row and the row of feed(P, g), the pairs of feed(P, g))

The table of all of them is what an artifact stores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...summaries.node_sets import NOTHING, ROOT
from ...tokens.memo import ENTRY_BYTES
from ..lexer import Lexer
from ..parser_heads import Heads
from ..summary_tables import (
    HeadSummaryTables,
    encoded,
    feed_key,
    first_key,
)
from .compose import DECIDED, FEED, FIRST, Composer

_Ints = NDArray[np.int64]

# Half of the bits of a key that is two numbers.
_SHIFT, _LOW = 32, (1 << 32) - 1


@dataclass(frozen=True, eq=False)
class _Feeds:
    """What becomes of a set of pending pairs by each of some frames: frames, rows, pending sets,
    and the numbers of the sets of frames that can lie below next, int64 (n,) each."""

    frames: _Ints
    rows: _Ints
    pending: _Ints
    below: _Ints


class SummaryArrays:
    """``results``: how many of ``first`` and ``feed`` were found, those that only helped to find
    others included. ``tasks``: how many summaries were fed or are to be, once for each set of
    frames."""

    def __init__(self, composer: Composer, of_state: Sequence[frozenset[int]]) -> None:
        """``of_state``: the frames that can lie right below each state."""
        self._composer, self._of_state = composer, of_state
        # A key is row << _SHIFT | pending.
        self._keys: list[int] = []
        self._numbers: dict[int, int] = {}
        self._firsts: dict[int, int] = {}
        self._feed_keys: list[_Ints] = []
        self._feeds: list[_Ints] = []
        self._fed = self.tasks = 0
        self._below: list[list[int]] = []
        self._below_numbers: dict[frozenset[int], int] = {}
        self._known_feeds: dict[int, _Feeds] = {}
        # By depth, summary << _SHIFT | number of the frames below.
        self._waiting: dict[int, list[int]] = {}
        self._seen: set[int] = set()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._composer.walks.rows)

    @property
    def results(self) -> int:
        """How many results of ``first`` and ``feed`` there are."""
        return len(self._composer.known) + self._fed

    @property
    def nbytes(self) -> int:
        """About the size of all of them, with the rows that they name."""
        entries = 2 * len(self._keys) + len(self._composer.known) + len(self._known_feeds)
        return ENTRY_BYTES * entries + 16 * self._fed + self._composer.walks.rows.nbytes

    @property
    def depth(self) -> int | None:
        """How many frames the next summaries to be fed look at, None if there are none."""
        return min(self._waiting, default=None)

    def begin(self, depth: int, begun: Sequence[tuple[int, int, frozenset[int]]]) -> Iterator[None]:
        """Find ``first`` of heads and states of the lexer, to be fed the frames below next. Yields
        now and then, as ``feed`` does."""
        yield from self._composer.solve((FIRST, ROOT, head, state) for head, state, _ in begun)
        tasks = []
        for head, state, below in begun:
            row, pending = self._composer.known[FIRST, ROOT, head, state]
            number = self._number(row << _SHIFT | pending)
            self._firsts[first_key(ROOT, head, state)] = number
            if pending != DECIDED:
                tasks.append(number << _SHIFT | self._below_number(below))
        self._add(depth, tasks)

    def feed(self, most: int) -> Iterator[None]:
        """Feed up to ``most`` of the summaries that look at the fewest frames."""
        depth = min(self._waiting)
        waiting = self._waiting[depth]
        tasks = np.array(waiting[:most], dtype=np.int64)
        if len(waiting) <= most:
            del self._waiting[depth]
        else:
            self._waiting[depth] = waiting[most:]
        summaries, below = tasks >> _SHIFT, tasks & _LOW
        keys = np.array([self._keys[number] for number in summaries.tolist()], dtype=np.int64)
        # Frames that are fed to the same pairs.
        groups, which = np.unique((keys & _LOW) << _SHIFT | below, return_inverse=True)
        yield from self._find_feeds(groups.tolist())
        found = [self._known_feeds[group] for group in groups.tolist()]
        sizes = np.array([len(feeds.frames) for feeds in found])
        bases = np.cumsum(sizes) - sizes
        counts = sizes[which]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) - np.repeat(ends - counts - bases[which], counts)
        frames, rows, pending, next_below = (
            np.concatenate(parts)[places]
            for parts in zip(
                *((feeds.frames, feeds.rows, feeds.pending, feeds.below) for feeds in found),
                strict=True,
            )
        )
        owners = np.repeat(summaries, counts)
        rows = self._composer.walks.rows.unions(np.repeat(keys >> _SHIFT, counts), rows)
        contents, which = np.unique(rows << _SHIFT | pending, return_inverse=True)
        numbers = np.array([self._number(key) for key in contents.tolist()], dtype=np.int64)[which]
        self._feed_keys.append(feed_key(owners, frames))
        self._feeds.append(numbers)
        self._fed += len(numbers)
        go_on = np.flatnonzero(pending != DECIDED)
        self._add(depth + 1, np.unique(numbers[go_on] << _SHIFT | next_below[go_on]).tolist())

    def _find_feeds(self, groups: Sequence[int]) -> Iterator[None]:
        """By pending << _SHIFT | number of the frames below."""
        known = self._composer.known
        new = [group for group in groups if group not in self._known_feeds]
        yield from self._composer.solve(
            (FEED, group >> _SHIFT, frame) for group in new for frame in self._below[group & _LOW]
        )
        for group in new:
            frames = self._below[group & _LOW]
            found = [known[FEED, group >> _SHIFT, frame] for frame in frames]
            below = [self._below_number(self._of_state[frame]) for frame in frames]
            columns = frames, [row for row, _ in found], [pending for _, pending in found], below
            self._known_feeds[group] = _Feeds(*np.array(columns, dtype=np.int64))

    def _add(self, depth: int, tasks: Sequence[int]) -> None:
        """Feed summaries next that were not fed the same frames before."""
        new = [task for task in dict.fromkeys(tasks) if task not in self._seen]
        self._seen.update(new)
        self.tasks += len(new)
        if new:
            self._waiting.setdefault(depth, []).extend(new)

    def _number(self, key: int) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return number

    def _below_number(self, below: frozenset[int]) -> int:
        number = self._below_numbers.get(below)
        if number is None:
            number = self._below_numbers[below] = len(self._below)
            self._below.append(sorted(below))
        return number

    def tables(self, heads: Heads, lexer: Lexer) -> HeadSummaryTables:
        """All summaries, with the rows and suspended nodes that they name."""
        composer, walks = self._composer, self._composer.walks
        keys = np.array(self._keys, dtype=np.int64)
        rows, known = np.unique(np.append(0, keys >> _SHIFT), return_inverse=True)
        pairs = [composer.pending[number] for number in (keys & _LOW).tolist()]
        pending, offsets = encoded(pairs, 2)
        sets, numbers_of_sets = np.unique(
            np.concatenate(([NOTHING, ROOT], pending[:, 1])), return_inverse=True
        )
        feed_keys, which = np.unique(np.concatenate((_NONE, *self._feed_keys)), return_index=True)
        firsts = sorted(self._firsts.items())
        blocks = walks.rows.block_rows(rows.tolist())
        # Which makes all states of the lexer.
        steps = lexer.table
        return HeadSummaryTables(
            blocks.codes,
            blocks.blocks,
            blocks.offsets,
            *encoded(heads.stacks.entries, 2),
            *encoded(heads.threads, 2),
            *encoded(lexer.sets),
            steps,
            *encoded([walks.suspended[number].tolist() for number in sets.tolist()]),
            known[1:].astype(np.int32),
            np.stack((pending[:, 0], numbers_of_sets[2:]), axis=1).astype(np.int32),
            offsets,
            np.array([key for key, _ in firsts], dtype=np.int64),
            np.array([number for _, number in firsts], dtype=np.int32),
            feed_keys,
            np.concatenate((_NONE, *self._feeds))[which].astype(np.int32),
        )


_NONE = np.zeros(0, dtype=np.int64)
