"""Walk the token trie from many pairs at once, by a network's own edges."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.frontiers import ranges
from constrain.artifacts.network_tables import DEAD
from constrain.artifacts.trie import Trie

from .joint import Joint

# Tokens that the walks of one part may meet, about; a single walk may meet more.
_STEP = 1 << 20


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
    in parts. The root itself is not among the nodes."""
    columns = joint.classes[trie.octets]
    flat, width = joint.table.reshape(-1), joint.table.shape[1]
    fan_outs, helds = np.diff(trie.first), np.diff(trie.held)
    begin = 0
    for end in _blocks(trie, joint, starts):
        numbers = np.arange(begin, end, dtype=np.int32)
        nodes: NDArray[np.int32] = np.zeros(len(numbers), dtype=np.int32)
        states: NDArray[np.integer] = starts[begin:end]
        tokens, stops = _Triples(), _Triples()
        while len(nodes):
            fan_out = fan_outs[nodes]
            parents = np.repeat(np.arange(len(nodes)), fan_out)
            children = ranges(trie.first[nodes], fan_out)
            after = flat[states[parents] * np.int64(width) + columns[children]]
            live = np.flatnonzero(after)
            nodes, states, numbers = children[live], after[live], numbers[parents[live]]
            counts = helds[nodes]
            slots = ranges(trie.held[nodes], counts)
            tokens.add(np.repeat(numbers, counts), trie.ids[slots], np.repeat(states, counts))
            inner = np.flatnonzero(fan_outs[nodes])
            nodes, states, numbers = nodes[inner], states[inner], numbers[inner]
            halted = np.flatnonzero(joint.stops[states])
            stops.add(numbers[halted], nodes[halted], states[halted])
        yield begin, end, Walks(*tokens.joined(), *stops.joined())
        begin = end


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
