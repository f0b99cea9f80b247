"""Two automata in step: all pairs of states that some text leads to."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .marked_dfa import DEAD

# Pairs up to which each possible one has a place in an array.
_FEW_PAIRS = 1 << 22


def in_step(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    begin: NDArray[np.int64],
    check: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The pairs, ``a * len(second) + b``, and their table; pair 0 is dead.

    ``first``: (A, …), ``second``: (B, …), next states by symbol, 0 dead; what follows the first
    axis is broadcast. ``begin``: pairs to begin with, each once. Breadth first: the pairs are
    (N,), dead, those of ``begin``, then level by level in ascending order; the table (N, …).
    ``check`` is called with the number of pairs so far after each level.
    """
    size = len(first) * len(second)
    kind = np.int32 if size <= np.iinfo(np.int32).max else np.int64
    first, second, width = first.astype(kind), second.astype(kind), kind(len(second))
    dead = np.full((1, *np.broadcast_shapes(first.shape[1:], second.shape[1:])), DEAD, dtype=kind)
    known: _Listed | _Placed = _Placed(size) if size <= _FEW_PAIRS else _Listed()
    frontier: NDArray[np.integer] = begin.astype(kind)
    levels: list[NDArray[np.integer]] = [np.array([DEAD], dtype=kind), frontier]
    for pairs in levels:
        known.add(pairs)
    rows = [dead]
    while len(frontier):
        left, right = np.divmod(frontier, width)
        a, b = first[left], second[right]
        targets = np.where((a != DEAD) & (b != DEAD), a * width + b, kind(DEAD))
        rows.append(targets)
        frontier = known.new(targets)
        known.add(frontier)
        levels.append(frontier)
        if check is not None:
            check(known.count)
    return np.concatenate(levels).astype(np.int64), known.places(np.concatenate(rows))


class _Placed:
    """Numbers of pairs, in an array of all that there could be."""

    def __init__(self, size: int) -> None:
        self.count, self.place = 0, np.full(size, -1, dtype=np.int32)

    def add(self, pairs: NDArray[np.integer]) -> None:
        self.place[pairs] = np.arange(self.count, self.count + len(pairs))
        self.count += len(pairs)

    def new(self, targets: NDArray[np.integer]) -> NDArray[np.integer]:
        """Those of ``targets`` that have no number, ascending."""
        is_met = np.zeros(len(self.place), dtype=np.bool_)
        is_met[targets] = True
        return np.flatnonzero(is_met & (self.place < 0)).astype(targets.dtype)

    def places(self, targets: NDArray[np.integer]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self.place[targets]
        return found


class _Listed:
    """The same in an ascending list of those met."""

    def __init__(self) -> None:
        self.count, self.pairs, self.numbers = 0, np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, pairs: NDArray[np.integer]) -> None:
        numbers = np.arange(self.count, self.count + len(pairs))
        joined = np.concatenate([self.pairs, pairs])
        order = np.argsort(joined, kind="stable")
        self.pairs = joined[order]
        self.numbers = np.concatenate([self.numbers, numbers])[order]
        self.count += len(pairs)

    def new(self, targets: NDArray[np.integer]) -> NDArray[np.integer]:
        """Those of ``targets`` that have no number, ascending."""
        found = np.unique(targets)
        place = np.minimum(np.searchsorted(self.pairs, found), len(self.pairs) - 1)
        kept: NDArray[np.integer] = found[self.pairs[place] != found]
        return kept

    def places(self, targets: NDArray[np.integer]) -> NDArray[np.int32]:
        return self.numbers[np.searchsorted(self.pairs, targets)].astype(np.int32)
