"""How many characters the tokens of a trie have, and which: where counts decide what fits.

    "x{0,40}" after no x      tokens of up to 40 characters fit as if there were no bound
    node of 20 spaces         all longer tokens below have spaces alone: those of up to 40 fit

So near a bound few nodes are walked.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .subtrees import levels_of, subtrees_of, upward
from .trie import Trie, ranges

# More characters than a token has.
ENDLESS = 1 << 30


class Lengths:
    """Of one trie of N nodes and T tokens. A byte that begins no character is one with the byte
    before it, and the first byte of a token begins one: a text may have been broken off in it.

    ``read``: int32 (N,), characters of the text that a node stands for. ``below``: int32 (N,), of
    the longest text below it, one that is unfinished there included.
    """

    def __init__(self, trie: Trie, arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """``arrays``: what ``lengths_arrays`` gave."""
        if arrays is None:
            self.read, self.below = _read_and_below(trie)
        else:
            self.read, self.below = (arrays[f"lengths.{name}"] for name in _KEPT)
        self._parts = subtrees_of(trie)

    @cached_property
    def _by_count(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The tokens, the shortest first, and how many characters each has; int32 (T,)."""
        parts = self._parts
        counts = np.zeros(len(parts.ids), dtype=np.int32)
        counts[ranges(parts.begin, parts.own)] = np.repeat(self.read, parts.own)
        order = np.argsort(counts, kind="stable")
        return parts.ids[order], counts[order]

    def longer(self, most: int) -> NDArray[np.int32]:
        """The tokens of more than so many characters, int32 (n,), the longest last."""
        ids, counts = self._by_count
        return ids[counts.searchsorted(most, side="right") :]


def _read_and_below(trie: Trie) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    begins, levels = ((trie.octets & 0xC0) != 0x80).astype(np.int32), levels_of(trie)
    begins[0], begins[1 : int(trie.first[1])] = 0, 1
    read, below, unfinished = begins.copy(), np.zeros_like(begins), np.zeros_like(begins)
    for first, last in levels[1:]:
        read[first:last] += read[trie.above[first:last]]
    for inner, children, firsts in upward(trie, levels):
        longest = below[children] + begins[children]
        below[inner] = np.maximum.reduceat(longest, firsts)
        unfinished[inner] = 1 - np.minimum.reduceat(begins[children], firsts)
    return read, below + unfinished


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
