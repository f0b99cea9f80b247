"""Walks of items that a file has: a byte a token says how many items it begins, whatever the count.

set of nodes, item           ->  the byte of each token, or the few tokens that begin some
set of nodes, item, back     ->  what follows behind each number of items (``item_walk.Exits``)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .item_walk import Exits, Items, Levels

_NAMES = ("walks", "needs", "exits", "calls", "values", "levels", "offsets")


@dataclass(frozen=True, eq=False)
class StoredItems:
    """B walks of items, X of what follows them, over V tokens.

    ``walks``: int32 (B, 4), ascending: the set of nodes (a number of ``memo.exit_offsets``), the
    state that items start in, for how many levels there are nodes (0 where levels are found one by
    one), and the row of ``needs``, -1 where its tokens are listed. ``needs``: uint8 (n, V), those
    of ``Items``. ``exits``: int32 (X, 2), ascending: the walk, and the state behind the counter.
    ``calls``: int32 (Y, 2): the exits, and the state that calls.

    Lists are ``values``, int32, beside ``levels``, uint8, which ascend; the i-th is from
    ``offsets[i]`` to ``offsets[i + 1]`` (int64 (B + 2 X + Y + 1,)): of each walk the tokens that
    are listed, each with how many items it begins behind the first; of each exit its tokens, and
    then its nodes; of each call its nodes.
    """

    walks: NDArray[np.int32]
    needs: NDArray[np.uint8]
    exits: NDArray[np.int32]
    calls: NDArray[np.int32]
    values: NDArray[np.int32]
    levels: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        items: Mapping[tuple[int, int], Items | None],
        exits: Mapping[tuple[int, int, int], Exits],
        vocab_size: int,
    ) -> "StoredItems":
        """``items`` by set and item, None for levels one by one; ``exits`` by these and the state
        behind the counter."""
        walks, needs = list[tuple[int, int, int, int]](), list[NDArray[np.uint8]]()
        lists = list[tuple[NDArray[np.integer], NDArray[np.integer]]]()
        for key in sorted(items):
            walked = items[key]
            place = -1
            listed = Levels.of([], [], 0)
            if walked is not None and walked.needs is not None:
                place = len(needs)
                needs.append(walked.needs[:vocab_size])
            elif walked is not None and walked.tokens is not None:
                listed = walked.tokens
            lists.append((listed.values, listed.numbers))
            walks.append((*key, 0 if walked is None else walked.count, place))
        places = {key: place for place, key in enumerate(sorted(items))}
        followed, calls = list[tuple[int, int]](), list[tuple[int, int]]()
        called = list[Levels]()
        for suspended, item, back in sorted(exits):
            found_exits = exits[suspended, item, back]
            for part in (found_exits.tokens, found_exits.nodes):
                lists.append((part.values, part.numbers))
            for state, nodes in found_exits.calls.items():
                calls.append((len(followed), state))
                called.append(nodes)
            followed.append((places[suspended, item], back))
        lists += [(part.values, part.numbers) for part in called]
        return cls(
            np.array(walks, dtype=np.int32).reshape(-1, 4),
            np.array(needs, dtype=np.uint8).reshape(-1, vocab_size),
            np.array(followed, dtype=np.int32).reshape(-1, 2),
            np.array(calls, dtype=np.int32).reshape(-1, 2),
            np.concatenate([np.zeros(0, np.int32), *(values for values, _ in lists)]).astype("i4"),
            np.concatenate([np.zeros(0, np.uint8), *(levels for _, levels in lists)]).astype("u1"),
            np.cumsum([0, *(len(values) for values, _ in lists)]).astype(np.int64),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "StoredItems":
        """The sections of an artifact."""
        return cls(*(arrays[f"items.{name}"] for name in _NAMES))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {f"items.{name}": getattr(self, name) for name in _NAMES}

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def has(self, suspended: int, item: int) -> bool:
        """Whether ``items`` knows what a walk from a set finds."""
        return (suspended, item) in self._places

    def items(self, suspended: int, item: int, size: int) -> Items | None:
        """The items that tokens begin from a set, of which ``Items.nodes`` is not there, or None;
        ``size``: of their needs."""
        place = self._places[suspended, item]
        *_, count, row = self.walks[place].tolist()
        if not count:
            return None
        if row < 0:
            return Items(None, self._levels(place, count), None, count)
        needs = np.zeros(size, dtype=np.uint8)
        needs[: self.needs.shape[1]] = self.needs[row]
        return Items(needs, None, None, count)

    def following(self, suspended: int, item: int, back: int) -> Exits | None:
        """What follows them in a state."""
        place = self._places.get((suspended, item))
        number = self._exits.get((place, back)) if place is not None else None
        if place is None or number is None:
            return None
        count, walks, exits = int(self.walks[place, 2]), len(self.walks), len(self.exits)
        calls = np.flatnonzero(self.calls[:, 0] == number).tolist()
        return Exits(
            self._levels(walks + 2 * number, count),
            self._levels(walks + 2 * number + 1, count),
            {int(self.calls[c, 1]): self._levels(walks + 2 * exits + c, count) for c in calls},
        )

    def _levels(self, place: int, count: int) -> Levels:
        part = slice(*self.offsets[place : place + 2].tolist())
        starts = np.searchsorted(self.levels[part], np.arange(count + 1))
        return Levels(self.values[part], starts.astype(np.int64))

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        keys = self.walks[:, :2].tolist()
        return {(suspended, item): place for place, (suspended, item) in enumerate(keys)}

    @cached_property
    def _exits(self) -> dict[tuple[int, int], int]:
        return {(walk, back): place for place, (walk, back) in enumerate(self.exits.tolist())}
