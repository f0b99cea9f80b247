"""The token trie as a walk reads it, and what walks of all grammars have in common there.

    root            children of a node are neighbours, and stand before those of any node below
    +- a  b  c      them: a walk in depth reads memory nearly in order
       |  +- ba
       +- ab

A state that loops on classes of characters reads, below a node, all tokens without others: one
*row*. Where it may leave that loop are the *exits*: on each way down the first node with another
character. Both are the same in each grammar.
"""

from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.lengths import lengths_of
from ..tokens.subtrees import subtrees_of
from ..tokens.trie import Trie, ranges

# The fields of a node's record, by their places, and how many they are.
FIRST, LAST, BEGIN, OWN, END, FIELDS = 0, 1, 2, 3, 4, 5

# What is kept of a trie, in bytes: rows, and nodes of exits.
_MOST_BYTES = 1 << 25


class Exits(NamedTuple):
    """Below a node: ``row``, uint32 (W,), the tokens without characters of some classes, and the
    first nodes with some, int32, ascending. By need also these by how many characters stand before
    them, and rows without longer tokens."""

    row: memoryview
    nodes: memoryview
    by_count: list[tuple[int, memoryview]]
    shorter: dict[int, memoryview]


class TrieLayout:
    """A trie of N nodes and T tokens, in another order. Node 0 is the root.

    ``octets``: uint8 (N,), the byte on the edge into a node. ``nodes``: int32 (5 N,), five fields a
    node: its children from ``FIRST`` up to ``LAST``, and the tokens at and below it,
    ``ids[BEGIN:END]``, of which those up to ``OWN`` are its own. ``classes``: uint64 (2 N,), of
    each node the classes of the characters of its byte and below, and of those below
    (``Subtrees.within``, ``below``). ``ids``, ``tokens_in_order``: int32 (T,), in the order of
    texts. ``order``, ``place``: int32 (N,), the trie's number of each node, and the other way
    round.
    Raises ``ArtifactError`` where ids are beyond ``vocab_size``.
    """

    def __init__(self, trie: Trie, vocab_size: int) -> None:
        # subtle: a layout is found by its trie, and would keep it alive.
        self._vocab_size, self._trie_ref = vocab_size, ref(trie)
        parts, order = subtrees_of(trie), order_of(trie)
        if int(parts.ids.max(initial=0)) >= vocab_size:
            # The walk sets bits without a look at how many there are.
            raise ArtifactError(f"the token trie has ids beyond a vocabulary of {vocab_size}")
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=np.int32)
        fields = np.empty((len(order), FIELDS), dtype=np.int32)
        fields[:, FIRST] = place.take(trie.first[:-1], mode="clip")
        fields[:, LAST] = fields[:, FIRST] + trie.fan_out
        fields[:, BEGIN], fields[:, END] = parts.begin, parts.end
        fields[:, OWN] = parts.begin + parts.own
        classes = np.stack((parts.within, parts.below), axis=1)
        # One look at the memory of a node has all that it needs.
        self.nodes: memoryview = fields.take(order, axis=0).ravel().data
        self.classes: memoryview = classes.take(order, axis=0).ravel().data
        self.octets: memoryview = trie.octets.take(order).data
        self.ids: memoryview = parts.ids.data
        self.order, self.place, self.tokens_in_order = order, place, parts.ids
        self._forget()

    def by_count(self, exits: Exits, node: int) -> list[tuple[int, memoryview]]:
        """The exits below a node by how many characters are between, ascending."""
        if not exits.by_count:
            nodes, read = np.asarray(exits.nodes), lengths_of(self._trie).read
            above = self._trie.above.take(self.order.take(nodes))
            counts = read.take(above) - read[self.order[node]]
            for count in distinct(counts).tolist():
                exits.by_count.append((count, nodes[counts == count].data))
            self._bytes += nodes.nbytes
        return exits.by_count

    def shorter(self, exits: Exits, node: int, most: int) -> memoryview:
        """The row of exits below a node without tokens of more characters than so many below it."""
        found = exits.shorter.get(most)
        if found is None:
            lengths = lengths_of(self._trie)
            longest = most + int(lengths.read[self.order[node]])
            longer = tokenset.from_ids(lengths.longer(longest), self._vocab_size)
            found = exits.shorter[most] = (np.asarray(exits.row) & ~longer).data
            self._bytes += found.nbytes
        return found

    def tokens(self, nodes: NDArray[np.int32]) -> tuple[NDArray[np.int32], ...]:
        """``BEGIN``, ``OWN`` and ``END`` of some nodes of the trie, int32."""
        fields = np.asarray(self.nodes).reshape(-1, FIELDS)[self.place[nodes]]
        return fields[:, BEGIN], fields[:, OWN], fields[:, END]

    @property
    def _trie(self) -> Trie:
        trie = self._trie_ref()
        assert trie is not None
        return trie

    @cached_property
    def lengths(self) -> memoryview:
        """Of each node the characters of the longest text below it, int32 (N,)."""
        longest: memoryview = lengths_of(self._trie).below.take(self.order).data
        return longest

    def _forget(self) -> None:
        self._exits: dict[tuple[int, int], Exits] = {}
        self._blocks: dict[int, memoryview] = {}
        self._bytes = 0

    @property
    def words(self) -> int:
        """The length of a row."""
        return tokenset.word_count(self._vocab_size)

    def begin(self) -> None:
        """Begin a walk: drop what was kept if that is much."""
        if self._bytes > _MOST_BYTES:
            self._forget()

    def block(self, node: int) -> memoryview:
        """The tokens below a node, uint32 (W,)."""
        found = self._blocks.get(node)
        if found is None:
            base = FIELDS * node
            ids = np.asarray(self.ids[self.nodes[base + OWN] : self.nodes[base + END]])
            found = self._blocks[node] = tokenset.from_ids(ids, self._vocab_size).data
            self._bytes += found.nbytes
        return found

    def exits(self, node: int, leaving: int) -> Exits | None:
        """Those of a node for the characters that are in none of some classes, as bits, if they
        were found before."""
        return self._exits.get((node, leaving))

    def keep(self, node: int, leaving: int, row: memoryview, nodes: NDArray[np.int32]) -> Exits:
        """Keep what was found; ``nodes`` in any order."""
        nodes.sort()
        found = self._exits[node, leaving] = Exits(row, nodes.data, [], {})
        self._bytes += row.nbytes + nodes.nbytes
        return found


def order_of(trie: Trie) -> NDArray[np.int32]:
    """The nodes, int32 (N,), the children of each side by side, in the order in which a walk in
    depth comes to their parents."""
    if trie in _ORDERS:
        return _ORDERS[trie]
    parts = subtrees_of(trie)
    inner = np.flatnonzero(trie.fan_out)
    # Nodes are numbered level by level, so that of equal beginnings the highest comes first.
    inner = inner[np.argsort(parts.begin[inner], kind="stable")]
    children = ranges(trie.first[inner], trie.fan_out[inner])
    return np.concatenate((np.zeros(1, dtype=np.int32), children))


def begin_order(trie: Trie, order: NDArray[np.int32]) -> None:
    """The order of a trie is that which ``order_of`` gave for it."""
    _ORDERS[trie] = order


_ORDERS: WeakKeyDictionary[Trie, NDArray[np.int32]] = WeakKeyDictionary()
_MADE: WeakKeyDictionary[Trie, dict[int, TrieLayout]] = WeakKeyDictionary()


def layout_of(trie: Trie, vocab_size: int) -> TrieLayout:
    """The layout of a trie for rows of a vocabulary's size, made when it is first needed."""
    made = _MADE.setdefault(trie, {})
    found = made.get(vocab_size)
    if found is None:
        found = made[vocab_size] = TrieLayout(trie, vocab_size)
    return found
