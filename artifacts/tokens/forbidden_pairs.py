"""Forbidden pairs of a BPE vocabulary: which tokens cannot follow a token inside a pre-token.

Byte-pair encoding applies merge k = (a, b) across the boundary of two tokens iff a is then the
right edge of the first and b the left edge of the second. In left-spine order (a token, then the
tokens that it is the left part of, latest merge first, each followed by its own) the second tokens
of one merge are neighbours, so the tokens that may not follow t are a few intervals of that order:

    row(t) = the intervals of the merges (a, ·) with index below the bound of a,
             for each a on the right spine of t

where the bound of t itself is infinite. Indices are ranks, and the bound of the right part of x is
the rank of the merge that makes x, where all parts are made by earlier merges than what they are
parts of; else it is the moment at which they are made. For example, with the merges 0: (b, c) and
1: (a, b), the right spine of ab is ab, b; b has the bound 1 and is the left part of merge 0, so c
may not follow ab (abc is encoded as a bc). ``compiler/bpe/README.md`` has a proof.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .distinct import first_places
from .memo import ENTRY_BYTES, BoundedCache, CacheBudget
from .sharing import shared
from .tokenset import Words
from .trie import ranges

# Above all indices of merges.
_NEVER = (1 << 31) - 1

# So few first tokens are looked up one by one.
_FEW = 4

# Columns (first tokens by second token) that the cache holds before it is cleared.
_MAX_CACHED_COLUMNS = 4096

# What is kept of tokens that may follow others.
_MOST_BYTES = 1 << 24

# Intervals of at least so many tokens are copied one by one, shorter ones are gathered together.
_LONG_INTERVAL = 64

# Sections of an artifact, in the order of the fields below.
SECTIONS = ("part", "bound", "class", "offsets", "index", "begin", "end", "order")


@dataclass(frozen=True, eq=False)
class ForbiddenPairs:
    """The pairs of adjacent tokens that no encoding holds, by first token.

    ``part``: int32 (V,), the right part of each token, -1 for single letters and for tokens that
    no merge makes. ``bound``: int32 (V,), only merges of a lower rank count for the right part; -1
    where there is none.
    ``row_class``: int32 (V,), tokens of one class have equal rows. ``offsets``: int64 (V + 1,),
    the merges with left part a are ``offsets[a]`` to ``offsets[a + 1] - 1`` of ``index`` (int32,
    ascending for each a), ``begin`` and ``end`` (int32, half-open intervals of ``order``).
    ``order``: int32, token ids in left-spine order.
    """

    part: NDArray[np.int32]
    bound: NDArray[np.int32]
    row_class: NDArray[np.int32]
    offsets: NDArray[np.int64]
    index: NDArray[np.int32]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    order: NDArray[np.int32]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> "ForbiddenPairs":
        """The table in the sections ``prefix`` + one of ``SECTIONS``; of the same ones the same."""
        return shared(cls, *(arrays[prefix + name] for name in SECTIONS))

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The table's sections by name; ``from_arrays`` is the inverse."""
        pairs = zip(SECTIONS, fields(self), strict=True)
        return {prefix + name: getattr(self, field.name) for name, field in pairs}

    def padded(self, size: int) -> "ForbiddenPairs":
        """The same table for a vocabulary of ``size`` ids; the added ids forbid nothing."""
        more = size - len(self.part)
        if not more:
            return self
        return replace(
            self,
            part=np.pad(self.part, (0, more), constant_values=-1),
            bound=np.pad(self.bound, (0, more), constant_values=-1),
            row_class=np.pad(self.row_class, (0, more)),
            offsets=np.pad(self.offsets, (0, more), mode="edge"),
        )

    def followed_by(self, used: NDArray[np.bool_]) -> "ForbiddenPairs":
        """The same pairs for the second tokens ``used``, bool (V,), alone.

        Merges that forbid none of these are left out, so that the table of a grammar with few
        tokens is small.
        """
        held = used[self.order]
        place = np.append(0, np.cumsum(held)).astype(np.int32)
        begin, end = place[self.begin], place[self.end]
        filled = begin < end
        counts = np.append(0, np.cumsum(filled))
        return replace(
            self,
            offsets=counts[self.offsets].astype(np.int64),
            index=self.index[filled],
            begin=begin[filled],
            end=end[filled],
            order=self.order[held],
        )

    def of_first(self, size: int) -> "ForbiddenPairs":
        """The pairs of the ids below ``size`` alone."""
        if size == len(self.part):
            return self
        found = self.followed_by(np.arange(len(self.part)) < size)
        merges = int(found.offsets[size])
        return replace(
            found,
            part=self.part[:size],
            bound=self.bound[:size],
            row_class=self.row_class[:size],
            offsets=found.offsets[: size + 1],
            index=found.index[:merges],
            begin=found.begin[:merges],
            end=found.end[:merges],
        )

    @property
    def classes(self) -> int:
        """Number of row classes."""
        return int(self.row_class.max(initial=-1)) + 1

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """The index of each token in ``order``, -1 where it is not in it; int32 (V,)."""
        found = np.full(len(self.part), -1, dtype=np.int32)
        found[self.order] = np.arange(len(self.order), dtype=np.int32)
        return found

    def slices(self, token: int) -> list[tuple[int, int]]:
        """The slices (low, high) of ``begin`` and ``end`` that the row of ``token`` consists of."""
        offsets, index, bounds, parts = self._views
        found = [(offsets[token], offsets[token + 1])]
        while (part := parts[token]) >= 0:
            low, high = offsets[part], offsets[part + 1]
            bound, token = bounds[token], part
            if low < high and index[low] < bound:
                found.append((low, _first_at_least(index, bound, low, high)))
        return [span for span in found if span[0] < span[1]]

    def intervals(self, token: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The intervals of ``order`` that the row of ``token`` consists of: begins and ends."""
        spans = self.slices(token)
        if not spans:
            return self.begin[:0], self.end[:0]
        begin = np.concatenate([self.begin[low:high] for low, high in spans])
        return begin, np.concatenate([self.end[low:high] for low, high in spans])

    def ids(self, token: int) -> NDArray[np.int32]:
        """The tokens that may not follow ``token``, int32, in no particular order."""
        begin, end = self.intervals(token)
        found: NDArray[np.int32] = self.order[ranges(begin, end - begin)]
        return found

    def mark(self, token: int, flags: NDArray[np.bool_]) -> None:
        """Set the flags, bool (at least V,), of the tokens that may not follow ``token``."""
        begin, end = self.intervals(token)
        counts = end - begin
        # Most tokens lie in few long intervals, which need no index of their own.
        short = counts < _LONG_INTERVAL
        for first, count in zip(begin[~short].tolist(), counts[~short].tolist(), strict=True):
            flags[self.order[first : first + count]] = True
        flags[self.order[ranges(begin[short], counts[short])]] = True

    def allowed(self, token: int) -> Words:
        """The tokens that may follow ``token``, packed, and bits that are no tokens: read-only."""
        row_class = int(self.row_class[token])
        found = self._allowed.get(row_class)
        if found is None:
            flags = np.zeros(32 * tokenset.word_count(len(self.part)), dtype=np.bool_)
            self.mark(token, flags)
            found = ~tokenset.from_flags(flags)
            found.flags.writeable = False
            self._allowed.keep(row_class, found, found.nbytes + ENTRY_BYTES)
        return found

    @cached_property
    def _allowed(self) -> BoundedCache[int, Words]:
        """By row class. Threads may share it."""
        return CacheBudget(_MOST_BYTES).cache()

    def forbids(self, first: int, second: int) -> bool:
        """Whether ``second`` may not follow ``first``."""
        place = self.position[second]
        return any(
            bool(((self.begin[low:high] <= place) & (place < self.end[low:high])).any())
            for low, high in self.slices(first)
        )

    def forbidden_after(self, first: int, second: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of the tokens ``second`` may not follow ``first``; bool (len(second),)."""
        begin, end = self.intervals(first)
        order = np.argsort(begin)
        # Any two intervals are disjoint, or one is inside the other.
        begin, end = begin[order], np.maximum.accumulate(end[order])
        places = self.position[second]
        last = np.searchsorted(begin, places, side="right") - 1
        found: NDArray[np.bool_] = last >= 0
        found[found] = places[found] < end[last[found]]
        return found

    def forbidden_before(
        self, first: NDArray[np.integer], second: Sequence[int]
    ) -> NDArray[np.bool_]:
        """Which of the tokens ``first`` none of the tokens ``second`` may follow; bool
        (len(first),).

        Walks down the right spines of all of ``first`` at once.
        """
        if len(first) <= _FEW and len(second) <= _FEW:
            one_by_one = [all(self.forbids(t, u) for u in second) for t in first.tolist()]
            return np.array(one_by_one, dtype=np.bool_)
        columns = self.position[np.asarray(second, dtype=np.int64)]
        if (columns < 0).any():
            return np.zeros(len(first), dtype=np.bool_)
        # Left parts of merges, of each of ``second`` after those of the one before.
        base = np.arange(len(columns)) * len(self.part)
        parts = [self._earliest(place) for place in columns.tolist()]
        lefts = np.concatenate([own + more for (own, _), more in zip(parts, base, strict=True)])
        lefts = np.append(lefts, np.iinfo(np.int64).max)
        earliest = np.append(np.concatenate([merges for _, merges in parts]), np.int32(_NEVER))

        def looked_up(tokens: NDArray[np.int64]) -> NDArray[np.int32]:
            keys = tokens[:, None] + base
            at = lefts.searchsorted(keys)
            return np.where(lefts[at] == keys, earliest[at], _NEVER)

        places, tokens = np.arange(len(first)), np.asarray(first, dtype=np.int64)
        is_forbidden = looked_up(tokens) < _NEVER
        while len(tokens):
            made = self.part[tokens] >= 0
            places, tokens = places[made], tokens[made]
            bounds, tokens = self.bound[tokens], self.part[tokens].astype(np.int64)
            is_forbidden[places] |= looked_up(tokens) < bounds[:, None]
        every: NDArray[np.bool_] = np.logical_and.reduce(is_forbidden, axis=1)
        return every

    def _earliest(self, place: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The left parts of merges whose interval holds ``place``, ascending, and the earliest such
        merge of each."""
        column = self._columns.get(place)
        if column is None:
            if len(self._columns) >= _MAX_CACHED_COLUMNS:
                self._columns.clear()
            hits = self._intervals.holding(place)
            hits = hits[self.end[hits] > place]
            hits = hits[np.lexsort((self.index[hits], self._owners[hits]))]
            hits = hits[np.flatnonzero(np.diff(self._owners[hits], prepend=-1))]
            column = self._owners[hits], self.index[hits]
            # Threads may share it: nothing is written to it any more.
            self._columns[place] = column
        return column

    @cached_property
    def _intervals(self) -> "_NestedIntervals":
        return _NestedIntervals(self.begin, self.end)

    @cached_property
    def _owners(self) -> NDArray[np.int32]:
        """The left part of each merge."""
        return np.arange(len(self.part)).astype(np.int32).repeat(np.diff(self.offsets))

    @cached_property
    def _columns(self) -> dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]]:
        return {}

    def forbidden(self, first: Sequence[int], second: Sequence[int]) -> NDArray[np.bool_]:
        """Whether ``first[i], second[j]`` is a forbidden pair; bool (len(first), len(second))."""
        out = np.zeros((len(first), len(second)), dtype=np.bool_)
        flags = np.zeros(len(self.part), dtype=np.bool_)
        for i, token in enumerate(first):
            found = self.ids(token)
            flags[found] = True
            out[i] = flags[np.asarray(second, dtype=np.int64)]
            flags[found] = False
        return out

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview, memoryview, memoryview]:
        # A memoryview is indexed by an integer several times faster than an array.
        fields = (self.offsets, self.index, self.bound, self.part)
        offsets, index, bounds, parts = (np.ascontiguousarray(field).data for field in fields)
        return offsets, index, bounds, parts


class _NestedIntervals:
    """Finds the intervals that hold a place: any two are disjoint, or one is inside the other."""

    def __init__(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> None:
        self._order = np.argsort(begin, kind="stable")
        firsts = first_places(begin[self._order])
        self._begins = begin[self._order][firsts]
        self._firsts = np.append(firsts, len(begin))
        # Of those with the same beginning the longest; and the last before that ends no earlier.
        ends = np.maximum.reduceat(end[self._order], firsts) if len(firsts) else end
        before = np.arange(-1, len(ends) - 1)
        while True:
            # All between ``before`` and an interval end earlier, also all before that.
            nearer = np.flatnonzero((before >= 0) & (ends[np.maximum(before, 0)] < ends))
            if not len(nearer):
                break
            before[nearer] = before[before[nearer]]
        self._ends, self._before = ends, before

    def holding(self, place: int) -> NDArray[np.int64]:
        """All that hold ``place``, and some that end before it."""
        current = int(np.searchsorted(self._begins, place, side="right")) - 1
        found = [self._order[:0]]
        while current >= 0:
            if self._ends[current] > place:
                found.append(self._order[self._firsts[current] : self._firsts[current + 1]])
            current = int(self._before[current])
        return np.concatenate(found)


def _first_at_least(values: memoryview, bound: int, low: int, high: int) -> int:
    """The first index from ``low`` on, at most ``high``, whose value is at least ``bound``."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low
