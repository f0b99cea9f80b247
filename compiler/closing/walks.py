"""Walk the token trie from many pairs at once, by a network's own edges."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network_tables import DEAD
from constrain.artifacts.trie import Trie, ranges

from .joint import Joint

# Tokens that the walks of one part may meet, about; a single walk may meet more.
_STEP = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Parallel arrays, by the index of the walk: ``tokens`` with the pairs that they lead to,
    and inner ``nodes`` where calls may begin or end, with their pairs."""

    walks: NDArray[np.int64]
    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    stopped: NDArray[np.int64]
    nodes: NDArray[np.int32]
    stops: NDArray[np.int32]


def walk_all(
    trie: Trie, joint: Joint, starts: NDArray[np.int64]
) -> Iterator[tuple[int, int, Walks]]:
    """The walks of ``starts``, rows of ``joint.table``: those from the first to before the last,
    in parts. The root itself is not among the nodes."""
    columns = joint.classes[trie.octets]
    first, held = trie.first, trie.held
    begin = 0
    for end in _blocks(trie, joint, starts):
        numbers = np.arange(begin, end)
        nodes: NDArray[np.int32] = np.zeros(len(numbers), dtype=np.int32)
        states: NDArray[np.integer] = starts[begin:end]
        tokens, stops = [np.zeros((3, 0), dtype=np.int64)], [np.zeros((3, 0), dtype=np.int64)]
        while len(nodes):
            fan_out = first[nodes + 1] - first[nodes]
            children = ranges(first[nodes], fan_out)
            states = joint.table[np.repeat(states, fan_out), columns[children]]
            live = states != DEAD
            numbers, nodes = np.repeat(numbers, fan_out)[live], children[live]
            states = states[live]
            counts = held[nodes + 1] - held[nodes]
            ids = trie.ids[ranges(held[nodes], counts)]
            tokens.append(np.stack([np.repeat(numbers, counts), ids, np.repeat(states, counts)]))
            inner = joint.stops[states] & (first[nodes + 1] > first[nodes])
            stops.append(np.stack([numbers[inner], nodes[inner], states[inner]]))
        found, halted = np.concatenate(tokens, axis=1), np.concatenate(stops, axis=1)
        walks = Walks(
            found[0],
            found[1].astype(np.int32),
            found[2].astype(np.int32),
            halted[0],
            halted[1].astype(np.int32),
            halted[2].astype(np.int32),
        )
        yield begin, end, walks
        begin = end


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
