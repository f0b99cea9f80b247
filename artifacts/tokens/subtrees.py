"""Subtrees of the token trie that a state of an automaton reads without leaving that state.

    inside a name, node "co": below it "unt", "unter", "nt_rol"   ->   all fit, none is walked

In a name, a comment or a string an automaton stays in one state for most of what it reads. Each
trie node has a bit set of the classes of the characters below it, and each state one of the classes
that it does not loop on: where the two are disjoint, all tokens below the node fit.
Classes are coarse: an ASCII byte is in one of 48, and all other characters are in one of fifteen by
their first byte, as long as they are well-formed from the node on. In the order of token texts the
tokens below a node are an interval. So one comparison decides a subtree, and one interval holds its
tokens.

The same idea as slices (llguidance, "Optimizing"), with one slice a node; it does not cover lexemes
that count, such as "[a-z]{1,20}", which have no loops.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .trie import Trie, ranges, trie_arrays, trie_of

# The first ASCII bytes of classes; each goes up to the next one.
_BORDERS = [*range(0x20, 0x30), *b"028:;<=>?@AG", *range(0x5B, 0x61), *b"ag", *range(0x7B, 0x80)]
_CONTROLS = [0, 9, 10, 11, 12, 13, 14]

# The classes of characters outside ASCII by their first bytes; each goes up to the next one, and
# some of E2, E3 and E4 are letters of few alphabets, or none.
_LEADS = [0xC2, 0xC3, 0xCC, 0xD0, 0xD5, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE9, 0xEA, 0xEE, 0xF0]
_FIRST_LEAD = 48

# The class of bytes that make no character, and the bits of all characters outside ASCII.
BROKEN = 63
OUTSIDE = (1 << BROKEN) - (1 << _FIRST_LEAD)

# Of a state that reads nothing, or of which nothing is known.
NO_CLASS_LOOPS = np.uint64(2**64 - 1)

# The states of well-formed UTF-8 (Unicode, table 3-7): between characters, before one, two or
# three more bytes, and after E0, ED, F0 and F4.
UTF8_BETWEEN, UTF8_ILL = 0, 8
_UTF8 = [
    (UTF8_BETWEEN, 0x00, 0x7F, UTF8_BETWEEN),
    (UTF8_BETWEEN, 0xC2, 0xDF, 1),
    (UTF8_BETWEEN, 0xE1, 0xEF, 2),
    (UTF8_BETWEEN, 0xE0, 0xE0, 4),
    (UTF8_BETWEEN, 0xED, 0xED, 5),
    (UTF8_BETWEEN, 0xF1, 0xF3, 3),
    (UTF8_BETWEEN, 0xF0, 0xF0, 6),
    (UTF8_BETWEEN, 0xF4, 0xF4, 7),
    (1, 0x80, 0xBF, UTF8_BETWEEN),
    (2, 0x80, 0xBF, 1),
    (3, 0x80, 0xBF, 2),
    (4, 0xA0, 0xBF, 1),
    (5, 0x80, 0x9F, 1),
    (6, 0x90, 0xBF, 2),
    (7, 0x80, 0x8F, 2),
]


def _utf8_table() -> NDArray[np.uint8]:
    table = np.full((UTF8_ILL + 1, 256), UTF8_ILL, dtype=np.uint8)
    for state, low, high, target in _UTF8:
        table[state, low : high + 1] = target
    return table


UTF8_STEPS = _utf8_table()
_SAMPLE = "é".encode()


def _class_bits() -> NDArray[np.uint64]:
    """The class of each byte that begins a character, as a bit; of others, some class."""
    borders = [*_CONTROLS, *_BORDERS]
    classes = np.searchsorted(borders, np.arange(256), side="right") - 1
    leads = np.searchsorted(_LEADS, np.arange(128, 256), side="right") - 1
    classes[128:] = _FIRST_LEAD + np.maximum(leads, 0)
    return np.left_shift(np.uint64(1), classes.astype(np.uint64))


CLASS_BITS = _class_bits()


@dataclass(frozen=True, eq=False)
class Subtrees:
    """The subtrees of a trie with N nodes and T tokens.

    ``ids``: int32 (T,), token ids in the order of their texts. Those at and below node n are
    ``ids[begin[n]:end[n]]``; the first ``own[n]`` end at n itself (int32 (N,) each). ``below``:
    uint64 (N,), the classes of the characters below n, 0 if there are none; ``within``: the same
    with the character that n's byte is of, if that begins at n.
    """

    ids: NDArray[np.int32]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    own: NDArray[np.int32]
    below: NDArray[np.uint64]
    within: NDArray[np.uint64]

    @classmethod
    def of(cls, trie: Trie) -> "Subtrees":
        """From the last level up, and down again."""
        levels = levels_of(trie)
        own = np.diff(trie.held)
        totals, below = own.copy(), np.zeros(len(own), dtype=np.uint64)
        unfinished, continued, into = characters(trie, levels)
        for inner, children, firsts in upward(trie, levels):
            totals[inner] += np.add.reduceat(totals[children], firsts)
            below[inner] = np.bitwise_or.reduceat(below[children] | into[children], firsts)
        begin = np.zeros(len(own), dtype=np.int32)
        for first, last in levels:
            starts = trie.first[first : last + 1]
            children = slice(int(starts[0]), int(starts[-1]))
            before = np.cumsum(totals[children], dtype=np.int32) - totals[children]
            # Where the first child begins, less the tokens before it on its level.
            base = begin[first:last] + own[first:last]
            inner = np.flatnonzero(starts[1:] > starts[:-1])
            base[inner] -= before[starts[inner] - starts[0]]
            begin[children] = np.repeat(base, np.diff(starts)) + before
        ids = np.zeros(len(trie.ids), dtype=np.int32)
        ending = np.flatnonzero(own)
        ids[ranges(begin[ending], own[ending])] = trie.ids
        # What is well-formed from the start of a token need not be so from inside a character.
        broken = np.uint64(1 << BROKEN)
        within = below | into
        within[np.flatnonzero(continued)] |= broken
        below[np.flatnonzero(unfinished & (below != 0))] |= broken
        return cls(ids, begin, begin + totals, own, below, within)

    @classmethod
    def leaves(cls, trie: Trie) -> "Subtrees":
        """Subtrees of which only leaves are taken whole: the plain walk, which is the oracle."""
        inner = np.diff(trie.first) > 0
        below = np.left_shift(inner.astype(np.uint64), np.uint64(BROKEN))
        within = np.full_like(below, 1 << BROKEN)
        return cls(trie.ids, trie.held[:-1], trie.held[1:], np.diff(trie.held), below, within)


# Made once a trie, which most have no need of.
_MADE: WeakKeyDictionary[Trie, Subtrees] = WeakKeyDictionary()


def subtrees_of(trie: Trie) -> Subtrees:
    """The subtrees of a trie, made when they are first needed."""
    found = _MADE.get(trie)
    if found is None:
        found = _MADE[trie] = Subtrees.of(trie)
    return found


_ENDING: WeakKeyDictionary[Trie, Subtrees] = WeakKeyDictionary()


def ending_subtrees_of(trie: Trie) -> Subtrees:
    """The same for who asks where tokens lead: those that end inside a character lead elsewhere
    than into the state that loops on it."""
    found = _ENDING.get(trie)
    if found is None:
        parts, levels = subtrees_of(trie), levels_of(trie)
        inside = characters(trie, levels)[0] & (parts.own > 0)
        holds = np.zeros(len(inside), dtype=np.bool_)
        for inner, children, firsts in upward(trie, levels):
            holds[inner] = np.logical_or.reduceat(holds[children] | inside[children], firsts)
        below = parts.below | np.left_shift(holds.astype(np.uint64), np.uint64(BROKEN))
        found = _ENDING[trie] = replace(parts, below=below)
    return found


def to_arrays(trie: Trie) -> dict[str, NDArray[Any]]:
    """A trie and its subtrees as named arrays; ``from_arrays`` is the inverse."""
    parts = subtrees_of(trie)
    return {
        **trie_arrays(trie, "trie."),
        **{f"subtrees.{name}": getattr(parts, name) for name in _INTERVALS},
        **{f"subtrees.{name}": getattr(parts, name).view(np.int64) for name in _CLASS_SETS},
    }


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Trie:
    """A trie out of named arrays, with its subtrees where they are there."""
    trie = trie_of(arrays, "trie.")
    if "subtrees.ids" in arrays:
        intervals = [arrays[f"subtrees.{name}"] for name in _INTERVALS]
        classes = [arrays[f"subtrees.{name}"].view(np.uint64) for name in _CLASS_SETS]
        _MADE[trie] = Subtrees(*intervals, *classes)
    return trie


_INTERVALS = ("ids", "begin", "end", "own")
_CLASS_SETS = ("below", "within")


def levels_of(trie: Trie) -> list[tuple[int, int]]:
    """First node and end of each level, the root's first."""
    levels = [(0, 1)]
    while levels[-1][0] < levels[-1][1]:
        first, last = levels[-1]
        levels.append((int(trie.first[first]), int(trie.first[last])))
    return levels[:-1]


def upward(
    trie: Trie, levels: list[tuple[int, int]]
) -> Iterator[tuple[NDArray[np.int64], slice, NDArray[np.int32]]]:
    """Of each level with children, the last first: the nodes that have some, all children, and the
    place of the first child of each among these."""
    for first, last in reversed(levels):
        starts = trie.first[first : last + 1]
        inner = np.flatnonzero(starts[1:] > starts[:-1])
        if len(inner):
            children = slice(int(starts[0]), int(starts[-1]))
            yield first + inner, children, starts[inner] - starts[0]


def characters(
    trie: Trie, levels: list[tuple[int, int]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.uint64]]:
    """Of each node: whether a character is unfinished after it, whether its byte continues one,
    and the class of the character that it is of, as a bit."""
    read = np.zeros(len(trie.octets), dtype=np.uint8)
    before, into = np.zeros_like(read), CLASS_BITS.take(trie.octets)
    for first, last in levels[1:]:
        level, above = slice(first, last), trie.above[first:last]
        before[level] = read[above]
        cells = before[level].astype(np.intp) << 8 | trie.octets[level]
        read[level] = UTF8_STEPS.ravel().take(cells)
        # The class of a character's first byte is that of the others.
        into[level] = np.where(before[level] != UTF8_BETWEEN, into[above], into[level])
    into[read == UTF8_ILL] = 1 << BROKEN
    return read != UTF8_BETWEEN, before != UTF8_BETWEEN, into


def leaving(
    table: NDArray[np.integer], columns: NDArray[np.integer], states: NDArray[np.integer]
) -> NDArray[np.uint64]:
    """The classes of characters on which each of ``states`` does not loop, uint64, shape as theirs.

    ``table``: (S, C), next state by column, state 0 dead; all classes for that one, which reads
    nothing. ``columns``: (256,), the column of each byte.
    """
    stays = table[states][:, columns[:128]] == states[:, None]
    bits = np.where(stays, np.uint64(0), CLASS_BITS[:128])
    found: NDArray[np.uint64] = np.bitwise_or.reduce(bits, axis=1)
    found |= np.uint64(OUTSIDE | 1 << BROKEN)
    # The slow look is only for states to which a character of two bytes leads back.
    may_loop = table[table[states, columns[_SAMPLE[0]]], columns[_SAMPLE[1]]] == states
    for place in np.flatnonzero(may_loop).tolist():
        if loops_outside_ascii(table, columns, int(states[place])):
            found[place] &= ~np.uint64(OUTSIDE)
    found[states == 0] = NO_CLASS_LOOPS
    return found


def loops_outside_ascii(
    table: NDArray[np.integer], columns: NDArray[np.integer], state: int
) -> bool:
    """Whether each character outside ASCII is read and leads back to the state."""
    seen = {(UTF8_BETWEEN, state)}
    pending = list(seen)
    for read, inside in pending:
        octets = slice(128 if read == UTF8_BETWEEN else 0, 256)
        targets, following = table[inside].take(columns[octets]), UTF8_STEPS[read][octets]
        ill = following == UTF8_ILL
        if not targets[~ill].all():
            return False
        for step, target in set(zip(following[~ill].tolist(), targets[~ill].tolist(), strict=True)):
            if step == UTF8_BETWEEN and target != state:
                return False
            if step != UTF8_BETWEEN and (step, target) not in seen:
                seen.add((step, target))
                pending.append((step, target))
    return True
