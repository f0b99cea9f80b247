"""Walk the token trie from many states that are nearly alike, each difference once.

Two states are *k-alike* if all texts of at most k bytes lead from both to targets of one kind
(dead, open or neither): Moore's refinement, stopped after k rounds. Below a trie node whose
longest token ends h bytes further on, two walks in h-alike states find the same tokens. So one
state of each class of nearly alike states, the *leader*, is walked wholly; the others only
where they differ from it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.trie import Trie

# States that are alike for so many bytes have one leader.
_NEARLY = 2
# Entries of a frontier; more are walked in two halves.
_STEP = 1 << 20

Pairs: TypeAlias = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """``labels``: int32 (K, S), row k numbers the classes of k-alike states, the last row holds
    for every k beyond. ``heights``: int64 (N,), bytes from each trie node to its longest token.
    """

    labels: NDArray[np.int32]
    heights: NDArray[np.int64]

    def leaders(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each of ``states`` the first of them that is nearly alike."""
        near = self.labels[min(_NEARLY, len(self.labels) - 1), states]
        _, first, place = np.unique(near, return_index=True, return_inverse=True)
        return states[first[place.reshape(-1)]]

    def differ(
        self, nodes: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether walks below ``nodes`` may find different tokens."""
        depth = np.minimum(self.heights[nodes], len(self.labels) - 1)
        found: NDArray[np.bool_] = self.labels[depth, one] != self.labels[depth, other]
        return found


def likeness(table: NDArray[np.int32], kinds: NDArray[np.int8], trie: Trie) -> Likeness:
    """Classes of the states of ``table``, int32 (S, J), by the kinds of what follows."""
    heights = _heights(trie)
    labels = [np.zeros(len(table), dtype=np.int32)]
    count = 1
    for _ in range(int(heights[0])):
        keys = (labels[-1] * np.int64(4) + kinds)[table].astype(np.int32)
        known: dict[bytes, int] = {}
        found = [known.setdefault(row.tobytes(), len(known)) for row in keys]
        labels.append(np.array(found, dtype=np.int32))
        if len(known) == count:
            break
        count = len(known)
    return Likeness(np.stack(labels), heights)


def _heights(trie: Trie) -> NDArray[np.int64]:
    """Level by level, the deepest first."""
    first = trie.first.astype(np.int64)
    heights = np.zeros(len(trie.octets), dtype=np.int64)
    # A level's nodes are neighbours.
    levels = [(0, 1)]
    while first[levels[-1][1]] > first[levels[-1][0]]:
        begin, end = levels[-1]
        levels.append((int(first[begin]), int(first[end])))
    for begin, end in reversed(levels[:-1]):
        parents = begin + np.flatnonzero(np.diff(first[begin : end + 1]))
        below = heights[first[begin] : first[end]]
        heights[parents] = np.maximum.reduceat(below, first[parents] - first[begin]) + 1
    return heights


def walk_pairs(
    trie: Trie,
    table: NDArray[np.int32],
    columns: NDArray[np.uint8],
    alike: Likeness,
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
) -> Iterator[Pairs]:
    """The tokens that ``starts`` may read otherwise than ``others``: (place, token, target).

    Target 0: not read, where the other state reads the token or might. An other state 0 reads
    nothing, so that the whole walk of the start is found. ``columns``: of each trie node.
    """
    first, held = trie.first.astype(np.int64), trie.held.astype(np.int64)
    whole = others == 0
    begin = np.flatnonzero(whole | alike.differ(np.zeros_like(starts), starts, others))
    pending = [(begin, np.zeros_like(begin), starts[begin], others[begin])]
    while pending:
        places, nodes, one, other = pending.pop()
        fan_out = first[nodes + 1] - first[nodes]
        if len(places) > 1 and int(fan_out.sum()) > _STEP:
            half = len(places) // 2
            for part in (slice(half, None), slice(None, half)):
                pending.append((places[part], nodes[part], one[part], other[part]))
            continue
        child = _ranges(first[nodes], fan_out)
        column = columns[child]
        places = np.repeat(places, fan_out)
        one = table[np.repeat(one, fan_out), column].astype(np.int64)
        other = table[np.repeat(other, fan_out), column].astype(np.int64)
        kept = (one != 0) | (other != 0)
        places, child, one, other = places[kept], child[kept], one[kept], other[kept]
        if not len(places):
            continue
        ends = held[child + 1] - held[child]
        if ends.any():
            slots = _ranges(held[child], ends)
            yield np.repeat(places, ends), trie.ids[slots], np.repeat(one, ends)
        # Where the leader is dead the start is walked wholly; where the start is, so is it.
        go_on = (other == 0) | (one == 0) | alike.differ(child, one, other)
        pending.append((places[go_on], child[go_on], one[go_on], other[go_on]))


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """``starts=[3, 9], counts=[2, 1] -> [3, 4, 9]``"""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    found: NDArray[np.int64] = np.arange(total) + np.repeat(starts - (ends - counts), counts)
    return found
