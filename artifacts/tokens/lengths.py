"""How many characters the tokens of a trie have, and which: where counts decide what fits.

    "x{0,40}" after no x      tokens of up to 40 characters fit as if there were no bound
    node of 20 spaces         all longer tokens below have spaces alone: those of up to 40 fit

So near a bound few nodes are walked.
"""

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .subtrees import characters, levels_of, subtrees_of
from .trie import Trie, ranges

# Of a length so many leading bits say which counts are kept, and of so many they are.
_KEPT_BITS, _MOST_KEPT = 4, 16

# More characters than a token has.
ENDLESS = 1 << 30


class Unbroken:
    """How many characters of some classes come first below nodes that have longer tokens than some:
    in each of these tokens, or all that it has. ``nodes``: int32, ascending; ``counts``: int32."""

    def __init__(self, nodes: NDArray[np.int32], counts: NDArray[np.int32]) -> None:
        self._nodes, self._counts = nodes, counts
        self._in_order, self._each = nodes.data, counts.data

    def take(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The counts of some of the nodes."""
        return self._counts.take(np.searchsorted(self._nodes, nodes))

    def of(self, node: int) -> int:
        """That of one of them."""
        count: int = self._each[bisect_left(self._in_order, node)]
        return count


class Lengths:
    """Of one trie of N nodes and T tokens. A byte that begins no character is one with the byte
    before it, and the first byte of a token begins one: a text may have been broken off in it.

    ``read``: int32 (N,), characters of the text that a node stands for. ``below``: int32 (N,), of
    the longest text below it, one that is unfinished there included. ``tokens``: int32 (T,), of
    each token, in the order of ``Subtrees.ids``.
    """

    def __init__(self, trie: Trie, arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """``arrays``: what ``lengths_arrays`` gave."""
        self._begins = begins = ((trie.octets & 0xC0) != 0x80).astype(np.int32)
        begins[0], begins[1 : int(trie.first[1])] = 0, 1
        self._levels = [trie.first[first : last + 1] for first, last in levels_of(trie)]
        self._firsts = [first for first, _ in levels_of(trie)]
        self._octets, self._first, self._subtrees = trie.octets, trie.first, subtrees_of(trie)
        if arrays is None:
            self.read, self.below = self._found()
        else:
            self.read, self.below = (arrays[f"lengths.{name}"] for name in _KEPT)
        parts = self._subtrees
        self.tokens = np.zeros(len(parts.ids), dtype=np.int32)
        self.tokens[ranges(parts.begin, parts.own)] = np.repeat(self.read, parts.own)
        self._unbroken: dict[tuple[int, int], Unbroken] = {}

    def _found(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        begins = self._begins
        read, below, unfinished = begins.copy(), np.zeros_like(begins), np.zeros_like(begins)
        for first, starts in zip(self._firsts, self._levels, strict=True):
            above = read[first : first + len(starts) - 1]
            read[int(starts[0]) : int(starts[-1])] += np.repeat(above, np.diff(starts))
        for inner, children, firsts in self._upward:
            longest = below[children] + begins[children]
            below[inner] = np.maximum.reduceat(longest, firsts)
            unfinished[inner] = 1 - np.minimum.reduceat(begins[children], firsts)
        return read, below + unfinished

    @cached_property
    def through(self) -> NDArray[np.int32]:
        """The characters of the longest token through each node, int32 (N,)."""
        through = self.read.copy()
        for inner, children, firsts in self._upward:
            through[inner] = np.maximum.reduceat(through[children], firsts)
        return through

    @cached_property
    def _characters(self) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Whether a character is unfinished behind each node, and the class of that of its byte."""
        nothing = np.zeros(0, dtype=np.int32)
        trie = Trie(self._octets, self._first, nothing, nothing)
        unfinished, _, into = characters(trie, levels_of(trie))
        return unfinished, into

    def unbroken(self, classes: int, length: int) -> Unbroken:
        """Of characters of some classes, as bits, in tokens that are longer than so many; perhaps
        fewer than there are."""
        low = max(length.bit_length() - _KEPT_BITS, 0)
        step = length >> low << low
        found = self._unbroken.get((classes, step))
        if found is None:
            is_long, begins = self.through > step, self._begins
            unfinished, into = self._characters
            goes_on = (into & ~np.uint64(classes)) == 0
            counts = np.full(len(begins), ENDLESS, dtype=np.int32)
            for inner, children, firsts in self._upward:
                behind = np.where(goes_on[children], counts[children] + begins[children], 0)
                behind[~is_long[children]] = ENDLESS
                counts[inner] = np.minimum.reduceat(behind, firsts)
            counts[unfinished] = 0
            nodes = np.flatnonzero(is_long).astype(np.int32)
            found = Unbroken(nodes, np.minimum(counts.take(nodes), ENDLESS))
            # A trie outlives grammars, each of which may have other classes.
            if len(self._unbroken) >= _MOST_KEPT:
                self._unbroken.clear()
            self._unbroken[classes, step] = found
        return found

    @cached_property
    def _upward(self) -> list[tuple[NDArray[np.int64], slice, NDArray[np.int32]]]:
        """Of each level with children, the last first: the nodes that have some, all children, and
        the place of the first child of each."""
        found = []
        for first, starts in reversed(list(zip(self._firsts, self._levels, strict=True))):
            inner = np.flatnonzero(starts[1:] > starts[:-1])
            if len(inner):
                children = slice(int(starts[0]), int(starts[-1]))
                found.append((first + inner, children, starts[inner] - starts[0]))
        return found


_MADE: WeakKeyDictionary[Trie, Lengths] = WeakKeyDictionary()

# What is kept between processes.
_KEPT = ("read", "below")


def lengths_of(trie: Trie) -> Lengths:
    """The lengths of a trie, made when they are first needed."""
    found = _MADE.get(trie)
    if found is None:
        found = _MADE[trie] = Lengths(trie)
    return found


def lengths_arrays(trie: Trie) -> dict[str, NDArray[Any]]:
    """The lengths of a trie as named arrays."""
    found = lengths_of(trie)
    return {f"lengths.{name}": getattr(found, name) for name in _KEPT}


def begin_lengths(trie: Trie, arrays: Mapping[str, NDArray[Any]]) -> None:
    """The lengths of a trie are those that ``lengths_arrays`` gave for it."""
    _MADE[trie] = Lengths(trie, arrays)
