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

from .distinct import stable_order
from .sharing import share, shared
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

    def ids_below(self, nodes: NDArray[np.integer]) -> NDArray[np.int32]:
        """The tokens that end at some nodes or below them, int32, level by level."""
        found = list[NDArray[np.int32]]()
        while len(nodes):
            held, first = self.held[nodes], self.first[nodes]
            found.append(self.ids[ranges(held, self.held[nodes + 1] - held)])
            nodes = ranges(first, self.first[nodes + 1] - first)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int32)

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """``octets``, ``first`` and ``held``, for walks node by node."""
        return self.octets.tolist(), self.first.tolist(), self.held.tolist()

    @classmethod
    def from_vocabulary(cls, vocabulary: Vocabulary) -> "Trie":
        """Build the trie of all text tokens; grows with their total bytes.

        In the order of texts a token has the nodes of its own beyond what it has in common with the
        one before; of the nodes of a level that it leads to the last one so far is above them.
        """
        texts = _Texts(vocabulary)
        order = texts.order()
        lengths, common = texts.lengths[order], texts.common(order)
        own, count = lengths - common, len(order)
        owner, depth = np.arange(count).repeat(own), ranges(common, own)
        by_level = stable_order(depth)
        owner, depth = owner[by_level], depth[by_level]
        places = texts.starts[order][owner] + depth
        octets = np.append(np.zeros(1, np.uint8), vocabulary.data[places])
        # The node behind each key is one more than its place: the root is 0.
        keys = depth * np.int64(count) + owner
        children = np.bincount(np.searchsorted(keys, keys - count, side="right"))
        children = np.pad(children, (0, len(octets) - len(children)))
        first = np.concatenate(([1], 1 + np.cumsum(children))).astype(np.int32)
        by_node = stable_order(lengths)
        ends = (lengths[by_node] - 1) * np.int64(count) + by_node
        node = np.searchsorted(keys, ends, side="right")
        held = np.append(0, np.cumsum(np.bincount(node, minlength=len(octets)))).astype(np.int32)
        return cls(octets, first, texts.ids[order[by_node]].astype(np.int32), held)

    def restricted(self, ids: NDArray[np.integer]) -> "Trie":
        """The trie of some of its tokens, each named once; itself if they are all."""
        if len(ids) == len(self.ids):
            return self
        kept = np.isin(self.ids, ids)
        nodes = np.arange(len(self.octets)).repeat(np.diff(self.held))[kept]
        return self.leading_to(nodes, self.ids[kept])

    def leading_to(
        self, nodes: NDArray[np.integer], ids: NDArray[np.int32] | None = None
    ) -> "Trie":
        """What leads to some nodes, ascending, at which the tokens ``ids`` end; by default their
        places."""
        ids = np.arange(len(nodes), dtype=np.int32) if ids is None else ids
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
        return Trie(self.octets[is_kept], first, ids, held)


class _Texts:
    """The texts of the tokens ``ids``, int64 (n,), compared by words of eight bytes.

    ``starts``, ``lengths``: int64 (n,), where each begins in the vocabulary's data, and its bytes.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.ids = vocabulary.text_ids()
        self.starts = vocabulary.offsets[self.ids]
        self.lengths = vocabulary.lengths[self.ids]
        self._data = vocabulary.data
        data = np.append(vocabulary.data, np.zeros(_WORD, dtype=np.uint8))
        # The word that begins at each byte.
        self._words = np.ndarray(len(data) - _WORD + 1, dtype=">u8", buffer=data, strides=(1,))

    def words(self, texts: NDArray[np.int64], place: int) -> NDArray[np.uint64]:
        """The bytes of some texts from ``place`` on as a number, with zeros after their ends."""
        left = np.maximum(self.lengths[texts] - place, 0)
        beyond = (8 * np.maximum(_WORD - left, 0)).astype(np.uint64)
        words = self._words[np.minimum(self.starts[texts] + place, len(self._words) - 1)]
        words = words.astype(np.uint64)
        return np.where(left > 0, words >> beyond << beyond, np.uint64(0))

    def order(self) -> NDArray[np.int64]:
        """The texts in order, equal ones in that of their ids, int64 (n,)."""
        order, tied = np.arange(len(self.ids)), np.arange(len(self.ids))
        group, place = np.zeros_like(order), 0
        while len(tied) and place < _MOST:
            texts = order[tied]
            words = self.words(texts, place)
            by_text = stable_order(self.lengths[texts], words, group)
            texts, words = texts[by_text], words[by_text]
            order[tied] = texts
            is_new = np.ones(len(tied), dtype=np.bool_)
            is_new[1:] = (words[1:] != words[:-1]) | (group[1:] != group[:-1])
            group, place = np.cumsum(is_new) - 1, place + _WORD
            goes_on = np.bincount(group, self.lengths[texts] > place) > 0
            kept = (goes_on & (np.bincount(group) > 1))[group]
            tied, group = tied[kept], group[kept]
        if len(tied):
            texts = order[tied].tolist()
            left = zip(group.tolist(), (self.data(i).tobytes() for i in texts), texts, strict=True)
            order[tied] = [i for *_, i in sorted(left)]
        return order

    def common(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many bytes each has in common with the one before in ``order``, int64 (n,)."""
        found = np.zeros(len(order), dtype=np.int64)
        before, texts, place = order[:-1], order[1:], 0
        alike, most = (
            np.arange(1, len(order)),
            np.minimum(self.lengths[before], self.lengths[texts]),
        )
        while len(alike) and place < _MOST:
            differ = self.words(before[alike - 1], place) ^ self.words(texts[alike - 1], place)
            place += _WORD
            found[alike] = place - np.searchsorted(_OF_BYTES, differ, side="right")
            alike = alike[(differ == 0) & (most[alike - 1] > place)]
        found[1:] = np.minimum(found[1:], most)
        for i in alike.tolist():
            count = int(most[i - 1])
            differ = self.data(order[i - 1])[:count] != self.data(order[i])[:count]
            found[i] = differ.argmax() if differ.any() else count
        return found

    def data(self, text: int) -> NDArray[np.uint8]:
        """The bytes of one text."""
        start = self.starts[text]
        return self._data[start : start + self.lengths[text]]


# Words are compared up to so many bytes: few texts have more in common, and are compared whole.
_MOST = 64

# Bytes of a word, and the least numbers of one byte, of two, and so on.
_WORD = 8
_OF_BYTES = np.array([1 << 8 * count for count in range(_WORD)], dtype=np.uint64)

_ARRAYS = ("octets", "first", "ids", "held")


def trie_arrays(trie: Trie, prefix: str) -> dict[str, NDArray[Any]]:
    """A trie as named arrays; ``trie_of`` is the inverse."""
    return {prefix + name: getattr(trie, name) for name in _ARRAYS}


def trie_of(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Trie:
    """A trie out of named arrays; of the same ones the same trie."""
    return shared(Trie, *(arrays[prefix + name] for name in _ARRAYS))


def share_trie(trie: Trie) -> None:
    """``trie_of`` gives this trie for its arrays, with what was made of it."""
    share(trie, Trie, *(getattr(trie, name) for name in _ARRAYS))


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
