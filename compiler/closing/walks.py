"""Walk the token trie from many pairs at once, by a network's own edges."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.frontiers import ranges
from constrain.artifacts.network_tables import DEAD
from constrain.artifacts.trie import Trie

from .joint import Joint

# Tokens that the walks of one part may meet, about; a single walk may meet more. Parts that are
# walked together.
_STEP, _SHARED = 1 << 20, 8


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Parallel arrays, by the index of the walk: ``tokens`` with the pairs that they lead to,
    and inner ``nodes`` where calls may begin or end, with their pairs."""

    walks: NDArray[np.int32]
    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    stopped: NDArray[np.int32]
    nodes: NDArray[np.int32]
    stops: NDArray[np.int32]


def walk_all(
    trie: Trie, joint: Joint, starts: NDArray[np.int64]
) -> Iterator[tuple[int, int, Walks]]:
    """The walks of ``starts``, rows of ``joint.table``: those from the first to before the last,
    in parts. The root itself is not among the nodes.

    Behind their first bytes most walks are in few states: what is below a node is walked once for
    each of them, for several parts together.
    """
    roots = np.arange(int(trie.first[0]), int(trie.first[1]))
    columns = joint.classes[trie.octets]
    ends = _blocks(trie, joint, starts)
    begin = 0
    for group in range(0, len(ends), _SHARED):
        bounds = [begin, *ends[group : group + _SHARED]]
        after = joint.table[starts[begin : bounds[-1]]][:, columns[roots]]
        owners, places = np.nonzero(after)
        keys = places * np.int64(joint.pairs) + after[owners, places]
        distinct, below = np.unique(keys, return_inverse=True)
        nodes, states = np.divmod(distinct, joint.pairs)
        tokens, stops = _walked(trie, joint, columns, roots[nodes], states)
        cuts = np.searchsorted(owners, np.array(bounds) - begin)
        for place, (low, high) in enumerate(pairwise(cuts.tolist())):
            mine, at = owners[low:high] + begin, below.reshape(-1)[low:high]
            found = Walks(*tokens.of(mine, at), *stops.of(mine, at))
            yield bounds[place], bounds[place + 1], found
        begin = bounds[-1]


def _walked(
    trie: Trie,
    joint: Joint,
    columns: NDArray[np.int64],
    nodes: NDArray[np.integer],
    states: NDArray[np.integer],
) -> tuple["_Found", "_Found"]:
    """The tokens at some nodes and below, and the inner nodes where calls may begin or end."""
    flat, width = joint.table.reshape(-1), joint.table.shape[1]
    fan_outs, helds = np.diff(trie.first), np.diff(trie.held)
    count = len(nodes)
    numbers = np.arange(count, dtype=np.int32)
    tokens, stops = _Triples(), _Triples()
    while len(nodes):
        counts = helds[nodes]
        slots = ranges(trie.held[nodes], counts)
        tokens.add(np.repeat(numbers, counts), trie.ids[slots], np.repeat(states, counts))
        inner = np.flatnonzero(fan_outs[nodes])
        nodes, states, numbers = nodes[inner], states[inner], numbers[inner]
        halted = np.flatnonzero(joint.stops[states])
        stops.add(numbers[halted], nodes[halted], states[halted])
        fan_out = fan_outs[nodes]
        parents = np.repeat(np.arange(len(nodes)), fan_out)
        children = ranges(trie.first[nodes], fan_out)
        after = flat[states[parents] * np.int64(width) + columns[children]]
        live = np.flatnonzero(after)
        nodes, states, numbers = children[live], after[live], numbers[parents[live]]
    return _Found(count, *tokens.joined()), _Found(count, *stops.joined())


class _Found:
    """What was found below each of ``count`` nodes, by their numbers."""

    def __init__(
        self,
        count: int,
        numbers: NDArray[np.int32],
        values: NDArray[np.int32],
        states: NDArray[np.int32],
    ) -> None:
        order = np.argsort(numbers, kind="stable")
        self._values, self._states = values[order], states[order]
        self._counts = np.bincount(numbers, minlength=count)
        self._starts = np.cumsum(self._counts) - self._counts

    def of(
        self, owners: NDArray[np.integer], numbers: NDArray[np.integer]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """All below some nodes, each with its owner: owners, values and states."""
        counts = self._counts[numbers]
        places = ranges(self._starts[numbers], counts)
        found = np.repeat(owners.astype(np.int32), counts)
        return found, self._values[places], self._states[places]


class _Triples:
    """Three parallel arrays, in parts."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.integer], ...]] = [(np.zeros(0, dtype=np.int32),) * 3]

    def add(self, *arrays: NDArray[np.integer]) -> None:
        self._parts.append(arrays)

    def joined(self) -> list[NDArray[np.int32]]:
        columns = zip(*self._parts, strict=True)
        return [np.concatenate(column).astype(np.int32) for column in columns]


def _blocks(trie: Trie, joint: Joint, starts: NDArray[np.int64]) -> list[int]:
    """Where to part the walks, so that each part meets few tokens, going by first bytes."""
    first = trie.first
    owner = np.zeros(len(trie.octets), dtype=np.int64)
    begin, end = int(first[0]), int(first[1])
    owner[begin:end] = joint.classes[trie.octets[begin:end]]
    while begin < end:
        below = slice(int(first[begin]), int(first[end]))
        owner[below] = np.repeat(owner[begin:end], np.diff(first[begin : end + 1]))
        begin, end = below.start, below.stop
    held = np.bincount(owner, weights=np.diff(trie.held), minlength=joint.table.shape[1])
    met = np.cumsum((joint.table[starts] != DEAD) @ held)
    blocks, done = [], 0
    while done < len(starts):
        before = float(met[done - 1]) if done else 0.0
        done = max(done + 1, int(np.searchsorted(met, before + _STEP, side="right")))
        blocks.append(done)
    return blocks
