"""Long repetitions and permutations among the positions of a file, as its arrays have them.

repeats.fronts, repeats.bounds    by repetition the position in front of it, and how many items
repeats.items                     by item its positions, side by side: it starts in the first
set.fronts, set.*                 by permutation the position in front of it, and what it holds

A position in front of one has no arcs and no skips of its own; what it leads to is written when a
text comes to it (``repetitions.py``, ``permutations.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays, check_sections, require
from ..network.check import check_sets
from ..network.counts import MOST_ITEMS, UNBOUNDED
from ..network.sets import SetRule, Sets
from ..tokens.memo import memoised, top_down
from ..tokens.trie import ranges
from .permutations import Permutations
from .positions import END, NOWHERE, Positions, Runs
from .repetitions import MOST_PLACES, Item, Repetitions, Times

_REPEATS = {
    "bounds": f"int64 (fronts, 2) 0..{MOST_ITEMS},{UNBOUNDED}..{MOST_ITEMS}",
    "fronts": f"int32 (fronts, 3) {END + 1}..states,0..items,{END}..states",
    "items": f"int32 (items, 2) {END + 1}..,1..{MOST_PLACES + 1}",
}
_FRONTS, _BOUNDS, _ITEMS = (f"repeats.{name}" for name in ("fronts", "bounds", "items"))
_SET_FRONTS = "set.fronts"

# As many items read have no name.
MOST_READ = 1 << 31


@dataclass(frozen=True, eq=False)
class StoredFronts:
    """R repetitions of I items, and T permutations.

    ``fronts``: int32 (R, 3), of each repetition the position in front of it, its item and the
    position after it. ``bounds``: int64 (R, 2), the least and the most items, ``UNBOUNDED`` for
    any number. ``items``: int32 (I, 2), the first of its positions and how many it has.
    ``set_fronts``: int32 (T,). ``sets``: what these hold, over the symbols of calls; None for no
    permutation.
    """

    fronts: NDArray[np.integer]
    bounds: NDArray[np.integer]
    items: NDArray[np.integer]
    set_fronts: NDArray[np.integer]
    sets: Sets | None

    @classmethod
    def of(
        cls,
        repeated: Sequence[tuple[int, int, int, Times]],
        items: Sequence[tuple[int, int]],
        permuted: Sequence[tuple[int, SetRule]],
    ) -> "StoredFronts":
        """Of repetitions, each with its front, its item and the position after it; and of
        permutations with their fronts."""
        # No text is long enough for more items.
        bounds = [
            (
                min(times.least, MOST_ITEMS - 1),
                UNBOUNDED if times.most is None else min(times.most, MOST_ITEMS - 1),
            )
            for _, _, _, times in repeated
        ]
        return cls(
            np.array([places for *places, _ in repeated], np.int32).reshape(-1, 3),
            np.array(bounds, np.int64).reshape(-1, 2),
            np.array(items, np.int32).reshape(-1, 2),
            np.array([front for front, _ in permuted], np.int32),
            Sets.of([rule for _, rule in permuted]) if permuted else None,
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "StoredFronts":
        """From sections that have been checked."""
        none = np.zeros((0, 3), np.int32)
        return cls(
            arrays.get(_FRONTS, none),
            arrays.get(_BOUNDS, none[:, :2]),
            arrays.get(_ITEMS, none[:, :2]),
            arrays.get(_SET_FRONTS, none[:, 0]),
            Sets.from_arrays(arrays) if _SET_FRONTS in arrays else None,
        )

    def arrays(self) -> dict[str, NDArray[np.integer]]:
        """The sections; none where there is nothing."""
        found = {}
        if len(self.fronts):
            found = {f"repeats.{name}": getattr(self, name) for name in _REPEATS}
        if self.sets is not None:
            found |= {_SET_FRONTS: self.set_fronts, **self.sets.arrays()}
        return found

    @cached_property
    def times(self) -> "dict[int, tuple[int, int, int | None, int]]":
        """By front the item, the least, the most and what stands after."""
        return {
            front: (item, least, None if most == UNBOUNDED else most, behind)
            for (front, item, behind), (least, most) in zip(
                self.fronts.tolist(), self.bounds.tolist(), strict=True
            )
        }

    @cached_property
    def rules(self) -> dict[int, SetRule]:
        """By front the permutation."""
        rules = [] if self.sets is None else self.sets.rules
        return dict(zip(self.set_fronts.tolist(), rules, strict=True))

    @property
    def copies(self) -> int:
        """About how many positions the copies of all repetitions are."""
        sizes = self.items[:, 1].tolist()
        return sum(max(least, most or 0) * sizes[i] for i, least, most, _ in self.times.values())


class FrontReader:
    """Reads what stands in front of repetitions and permutations, as a ``Writer``. ``repetitions``,
    ``permutations``: of those that were read, ``into`` positions. ``read``: the runs and the skips
    of a position."""

    def __init__(
        self,
        fronts: StoredFronts,
        into: Positions,
        read: Callable[[int], tuple[Runs, list[int]]],
    ) -> None:
        self.repetitions, self.permutations = Repetitions(into), Permutations(into)
        self._times, self._rules, self._items = fronts.times, fronts.rules, fronts.items
        self._into: Positions = proxy(into)
        self._read, self._stored, self._begun = read, into.states, list[int]()
        into.unlaid |= dict.fromkeys([*self._times, *self._rules], self)

    def lay(self, state: int) -> None:
        """Write what a front leads to."""
        if state in self._rules:
            begun = self.permutations.begin(self._rules[state])
        else:
            item, least, most, behind = self._times[state]
            self._begun.append(state)
            begun = self.repetitions.begin(Times(self._item(item), least, most, behind))
        self._into.epsilon[state] = [begun]

    def name(self, position: int) -> tuple[int, int, int] | None:
        """What a file may call a position: itself; or the front of a repetition, how many items
        were read after it, and the place in the next one. None for one of a permutation."""
        if position < self._stored:
            return position, 0, 0
        number, read, place = self.repetitions.name(position) or (0, MOST_READ, 0)
        return (self._begun[number], read, place) if read < MOST_READ else None

    @memoised
    def _item(self, number: int) -> Item:
        first, count = self._items[number].tolist()
        arcs, skips = list[Runs]([[]]), list[Sequence[int]]([NOWHERE])
        for position in range(first, first + count):
            runs, targets = self._read(position)
            runs[2::3] = [target and target - first + 1 for target in runs[2::3]]
            arcs.append(runs)
            skips.append([target and target - first + 1 for target in targets])
        return Item.of(arcs, skips)


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Where N positions lead: those from position p at ``targets[offsets[p]:offsets[p + 1]]``."""

    targets: NDArray[np.integer]
    offsets: NDArray[np.integer]

    @property
    def sources(self) -> NDArray[np.int64]:
        """The position that each leads from."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def check_fronts(arrays: Arrays, calls: tuple[int, int], arcs: Edges, skips: Edges) -> StoredFronts:
    """Check what stands in front of repetitions and permutations among checked positions.

    ``calls``: the symbols of calls, from the first to after the last. Raises ``ArtifactError``
    naming the first section that does not fit.
    """
    states = len(arcs.offsets) - 1
    if any(name.startswith("repeats.") for name in arrays):
        declared = {f"repeats.{name}": text for name, text in _REPEATS.items()}
        check_sections(arrays, declared, states=states)
    if any(name.startswith("set.") for name in arrays):
        check_sets(arrays, calls, (END, states))
        declared = {_SET_FRONTS: f"int32 (sets) {END + 1}..states"}
        check_sections(arrays, declared, states=states, sets=len(arrays["set.separators"]))
    found = StoredFronts.from_arrays(arrays)
    inside = _check_items(found.items, arcs, skips)
    least, most = found.bounds.T
    require(bool(((most >= np.maximum(least, 2)) | (most == UNBOUNDED)).all()), _BOUNDS)
    # Nothing else is read in front of one, nor is there one inside an item.
    is_free = ~inside & (np.diff(arcs.offsets) == 0) & (np.diff(skips.offsets) == 0)
    for name, each in ((_FRONTS, found.fronts[:, 0]), (_SET_FRONTS, found.set_fronts)):
        require(bool((np.diff(each) > 0).all()), name)
        require(bool(is_free[each].all()), name)
        is_free[each] = False
    return found


def _check_items(items: NDArray[np.integer], arcs: Edges, skips: Edges) -> NDArray[np.bool_]:
    """Items are few positions side by side, that lead to one another or end, and read something.
    Which positions are in one, bool (N,)."""
    states = len(arcs.offsets) - 1
    first, count = items.T.astype(np.int64)
    require(bool((first + count <= np.append(first[1:], states)).all()), _ITEMS)
    owners = np.full(states, -1)
    owners[ranges(first, count)] = np.repeat(np.arange(len(items)), count)
    for edges in (arcs, skips):
        of = owners[edges.sources]
        leaves = (of >= 0) & (edges.targets != END) & (owners[edges.targets] != of)
        require(not leaves.any(), _ITEMS)
    targets, offsets = skips.targets.data, skips.offsets.data
    for begin in first.tolist():
        seen = top_down([begin], lambda p: targets[offsets[p] : offsets[p + 1]])
        require(END not in seen, _ITEMS)
    return owners >= 0
