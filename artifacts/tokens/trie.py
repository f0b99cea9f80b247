"""The token trie in level order, its frontiers as arrays, and its walk through a byte DFA.

``tokens=[b"a", b"ab", b"b"]`` gives the nodes ``root | a b | ab``: the children of a node are
neighbours, so that one ``np.repeat`` expands a whole frontier of a walk.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sharing import shared
from .vocabulary import Vocabulary


def ranges(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int32]:
    """``starts=[3, 9], counts=[2, 1] -> [3, 4, 9]``"""
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    expanded: NDArray[np.int32] = (starts - (ends - counts)).astype(np.int32).repeat(counts)
    expanded += np.arange(total, dtype=np.int32)
    return expanded


def expand(
    rows: NDArray[np.int32], starts: NDArray[np.int32], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Repeat each row ``counts`` times beside the indices ``starts, starts + 1, …``.

    ``rows=[7, 8], starts=[3, 9], counts=[2, 1] -> [7, 7, 8], [3, 4, 9]``
    """
    return rows.repeat(counts), ranges(starts, counts)


def grouped(
    found: Iterable[tuple[NDArray[np.int32], NDArray[np.integer]]],
) -> list[tuple[int, NDArray[np.int32]]]:
    """Values by key, both ascending, out of (values, keys) arrays; all from 0 on, keys below 2^31.

    ``[([5, 2], [7, 7]), ([1], [3])] -> [(3, [1]), (7, [2, 5])]``
    """
    parts = list(found)
    if not parts:
        return []
    values = np.concatenate([v for v, _ in parts])
    keys = np.concatenate([k for _, k in parts])
    # Both in one number sort several times faster than by two keys.
    both = np.sort(keys.astype(np.int64) << 32 | values)
    values, keys = (both & 0xFFFFFFFF).astype(np.int32), both >> 32
    bounds = np.flatnonzero(np.diff(keys)) + 1
    heads = keys[np.append(0, bounds)].tolist()
    return list(zip(heads, np.split(values, bounds), strict=True))


# Frontier entries that one step of the walk may hold; bounds its memory to about 100 MB.
_STEP = 1 << 21

# Up to so many tokens that go on, what is left of them is written as wholes: a step for each level
# would take longer, and many times so for tokens of megabytes.
_FEW = 64


@dataclass(frozen=True, eq=False)
class Trie:
    """Nodes numbered level by level; node 0 is the root.

    ``octets``: uint8 (N,), the byte on the edge into a node. ``first``: int32 (N + 1,),
    the children of n are ``first[n]`` to ``first[n + 1] - 1``. ``ids``: int32 (T,), token
    ids sorted by node. ``held``: int32 (N + 1,), the tokens that end at n are
    ``ids[held[n]:held[n + 1]]`` (several ids may spell the same bytes).
    """

    octets: NDArray[np.uint8]
    first: NDArray[np.int32]
    ids: NDArray[np.int32]
    held: NDArray[np.int32]

    @cached_property
    def fan_out(self) -> NDArray[np.int32]:
        """How many children each node has, int32 (N,)."""
        return np.diff(self.first)

    @cached_property
    def above(self) -> NDArray[np.intp]:
        """The node above each, (N,); the root's is the root."""
        nodes = np.arange(len(self.octets), dtype=np.intp)
        return np.concatenate((nodes[:1], nodes.repeat(self.fan_out)))

    def octets_below(self, nodes: NDArray[np.integer]) -> NDArray[np.uint8]:
        """The bytes on the edges out of some nodes, uint8, in the order of the nodes."""
        first = self.first[nodes]
        return self.octets[ranges(first, self.first[nodes + 1] - first)]

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """``octets``, ``first`` and ``held``, for walks node by node."""
        return self.octets.tolist(), self.first.tolist(), self.held.tolist()

    @classmethod
    def from_vocabulary(cls, vocabulary: Vocabulary) -> "Trie":
        """Build the trie of all text tokens; grows with their total bytes.

        Level by level while many tokens go on; the long ends of a few are written as wholes.
        """
        whole, ends = vocabulary.data.tobytes(), vocabulary.offsets.tolist()
        text_ids = vocabulary.text_ids()
        texts = [whole[ends[i] : ends[i + 1]] for i in text_ids.tolist()]
        # Ids ascend, and among equal texts a stable sort leaves them in order.
        by_text = sorted(range(len(texts)), key=texts.__getitem__)
        ids = text_ids[by_text].astype(np.int32)
        lengths = vocabulary.lengths[ids]
        data = np.frombuffer(b"".join([texts[i] for i in by_text]), dtype=np.uint8)
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if len(ids) else lengths
        node = np.zeros(len(ids), dtype=np.int64)
        octets, parents = [np.zeros(1, np.uint8)], [np.zeros(0, np.int64)]
        count, depth = 1, 0
        alive = np.flatnonzero(lengths > 0)
        while len(alive) > _FEW:
            parent, octet = node[alive], data[starts[alive] + depth]
            # Sorted tokens with the same parent and byte are neighbours: one node each run.
            new = np.ones(len(alive), dtype=np.bool_)
            new[1:] = (parent[1:] != parent[:-1]) | (octet[1:] != octet[:-1])
            node[alive] = count + np.cumsum(new) - 1
            octets.append(octet[new])
            parents.append(parent[new])
            count += int(new.sum())
            depth += 1
            alive = alive[lengths[alive] > depth]
        if len(alive):
            new_octets, new_parents = _long_ends(data, starts, lengths, alive, node, depth, count)
            octets.append(new_octets)
            parents.append(new_parents)
            count += len(new_octets)
        children = np.bincount(np.concatenate(parents), minlength=count)
        first = np.concatenate(([1], 1 + np.cumsum(children))).astype(np.int32)
        order = np.argsort(node, kind="stable")
        ending = np.bincount(node, minlength=count) if len(ids) else np.zeros(count, np.int64)
        held = np.concatenate(([0], np.cumsum(ending))).astype(np.int32)
        return cls(np.concatenate(octets), first, ids[order], held)

    def restricted(self, ids: NDArray[np.integer]) -> "Trie":
        """The trie of some of its tokens, each named once; itself if they are all."""
        if len(ids) == len(self.ids):
            return self
        kept = np.isin(self.ids, ids)
        nodes = np.arange(len(self.octets)).repeat(np.diff(self.held))[kept]
        is_kept = np.zeros(len(self.octets), dtype=np.bool_)
        is_kept[0] = True
        above = nodes
        while len(above):
            is_kept[above] = True
            above = self.above[above]
            above = above[~is_kept[above]]
        number, count = np.cumsum(is_kept) - 1, int(is_kept.sum())
        children = np.bincount(number[self.above[is_kept][1:]], minlength=count)
        first = np.concatenate(([1], 1 + np.cumsum(children))).astype(np.int32)
        ending = np.bincount(number[nodes], minlength=count)
        held = np.concatenate(([0], np.cumsum(ending))).astype(np.int32)
        return Trie(self.octets[is_kept], first, self.ids[kept], held)


def _long_ends(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    alive: NDArray[np.intp],
    node: NDArray[np.int64],
    depth: int,
    count: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes and parents of all nodes below ``depth``, numbered from ``count`` on by level.

    ``alive``: the sorted tokens that are longer. ``node``: int64, at which node of level ``depth``
    each of them is; becomes the node at which it ends. Linear in the bytes but for one sort of few
    runs.
    """
    nodes_at = node[alive].tolist()
    ends = [data[starts[i] + depth : starts[i] + lengths[i]] for i in alive.tolist()]
    # Token i has the nodes of its own from ``own[i]`` on; above them are those of the one before.
    own = [0] * len(ends)
    for i in range(1, len(ends)):
        if nodes_at[i] == nodes_at[i - 1]:
            most = min(len(ends[i - 1]), len(ends[i]))
            differ = np.flatnonzero(ends[i - 1][:most] != ends[i][:most])
            own[i] = int(differ[0]) if len(differ) else most
    levels = np.concatenate([np.arange(low, len(end)) for low, end in zip(own, ends, strict=True)])
    order = np.argsort(levels, kind="stable")
    numbers = np.empty(len(levels), dtype=np.int64)
    numbers[order] = np.arange(count, count + len(levels))
    offsets = np.cumsum([0, *(len(end) - low for low, end in zip(own, ends, strict=True))])

    def node_at(i: int, level: int) -> int:
        """The node of token i at a level, from 0 on; -1 is ``depth``."""
        if level < 0:
            return int(nodes_at[i])
        while level < own[i]:
            i -= 1
        return int(numbers[offsets[i] + level - own[i]])

    octets, parents = np.empty(len(levels), dtype=np.uint8), np.empty(len(levels), dtype=np.int64)
    for i, end in enumerate(ends):
        low, high = int(offsets[i]), int(offsets[i + 1])
        octets[low:high] = end[own[i] :]
        if high > low:
            parents[low + 1 : high] = numbers[low : high - 1]
            parents[low] = node_at(i, own[i] - 1)
    node[alive] = [node_at(i, len(end) - 1) for i, end in enumerate(ends)]
    return octets[order], parents[order]


_ARRAYS = ("octets", "first", "ids", "held")


def trie_arrays(trie: Trie, prefix: str) -> dict[str, NDArray[Any]]:
    """A trie as named arrays; ``trie_of`` is the inverse."""
    return {prefix + name: getattr(trie, name) for name in _ARRAYS}


def trie_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Trie:
    """A trie out of named arrays; of the same ones the same trie."""
    return shared(Trie, *(arrays[prefix + name] for name in _ARRAYS))


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Token occurrences found by a walk; parallel int32 arrays.

    ``rows`` index the states that the walk started from, ``tokens`` are ids, ``states``
    where the token leads.
    """

    rows: NDArray[np.int32]
    tokens: NDArray[np.int32]
    states: NDArray[np.int32]


def walk(
    trie: Trie,
    table: NDArray[np.integer],
    classes: NDArray[np.uint8],
    starts: NDArray[np.integer],
    root: int = 0,
) -> Iterator[Hits]:
    """All tokens below ``root`` that the DFA can read from each of ``starts``, level by level.

    ``table``: integers (S, C), state 0 dead. ``classes``: uint8 (256,), byte to column. Work is
    proportional to the trie edges that leave live nodes, over all starting states.
    """
    columns = classes[trie.octets]
    pending = [
        (
            np.arange(len(starts), dtype=np.int32),
            np.full(len(starts), root, dtype=np.int32),
            np.asarray(starts, dtype=np.int32),
        )
    ]
    while pending:
        rows, nodes, states = pending.pop()
        fan_out = trie.first[nodes + 1] - trie.first[nodes]
        if len(rows) > 1 and int(fan_out.sum()) > _STEP:
            half = len(rows) // 2
            pending.append((rows[half:], nodes[half:], states[half:]))
            pending.append((rows[:half], nodes[:half], states[:half]))
            continue
        rows, child = expand(rows, trie.first[nodes], fan_out)
        states = table[np.repeat(states, fan_out), columns[child]].astype(np.int32)
        live = states != 0
        rows, child, states = rows[live], child[live], states[live]
        if not len(rows):
            continue
        ends = trie.held[child + 1] - trie.held[child]
        hit_rows, slots = expand(rows, trie.held[child], ends)
        if len(hit_rows):
            yield Hits(hit_rows, trie.ids[slots], np.repeat(states, ends))
        pending.append((rows, child, states))
