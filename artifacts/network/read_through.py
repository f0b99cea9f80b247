"""Which characters a state of a network reads one after the other, for subtrees taken whole.

    in a string of at most 100 characters, 60 of them read, at the trie node of "co": below it
    "unt", "unter", "nt_rol", none of which is longer than 40   ->   all fit, none is walked

Most characters lead a state to one other, its *successor*: itself in a free string, the next one
where characters are counted, the string behind a name that is not one of these. L_h(q) are the
classes of characters (``tokens.subtrees``) that a text of up to h characters must not have, so that
it is read from q by successors alone, and no call begins or ends on the way:

    L_1(q)     = the classes with a character that does not lead to q's successor s(q)
    L_a+b(q)   = L_a(q) | L_b(s^a(q))

A trie node of height h is taken whole where the classes below it are disjoint from L_h.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..tokens.distinct import distinct
from ..tokens.subtrees import BROKEN, CLASS_BITS, NO_CLASS_LOOPS, OUTSIDE, characters, levels_of
from ..tokens.subtrees import UTF8_BETWEEN as BETWEEN
from ..tokens.subtrees import UTF8_ILL as ILL
from ..tokens.subtrees import UTF8_STEPS as STEPS
from ..tokens.trie import Trie, ranges
from .tables import DEAD, NetworkTables

# Characters that are tried as those that lead to the successor.
_SAMPLES = b"ez0~ "

# What all characters outside ASCII weigh against ASCII ones, in the choice of a successor.
_OTHER_WEIGHT = 64

# Rows of a table that are looked at together; bounds what is allocated.
_ROWS = 1 << 12

# Texts of different lengths are distinguished if some state reads so many characters of words, a
# power of two, but not any number. Digits that count are not worth it: few tokens have several.
_COUNTED = 8
_WORDS = CLASS_BITS[ord("z")] | CLASS_BITS[ord("Z")] | np.uint64(OUTSIDE)

_Bits = NDArray[np.uint64]
_States = NDArray[np.int32]


def height_steps(most: int) -> list[int]:
    """The heights that are distinguished: powers of two, and once and a half those, up to the first
    that is ``most`` or more. ``most=7 -> [1, 2, 3, 4, 6, 8]``"""
    steps = [1, 2]
    while steps[-1] < most:
        steps += [steps[-1] + steps[-1] // 2, 2 * steps[-1]]
    return steps if steps[-2] < most else steps[:-1]


@dataclass(frozen=True, eq=False)
class Heights:
    """How many characters are below the nodes of a trie, as indices into ``steps``.

    ``below``: uint8 (N,), the first step that no text below a node is longer than; ``within``: the
    same with one character more.
    """

    steps: list[int]
    below: NDArray[np.uint8]
    within: NDArray[np.uint8]

    @classmethod
    def of(cls, trie: Trie) -> "Heights":
        """From the last level up."""
        levels = levels_of(trie)
        _, continued, _ = characters(trie, levels)
        begins = (~continued).astype(np.int32)
        heights = np.zeros(len(trie.octets), dtype=np.int32)
        for first, last in reversed(levels):
            starts = trie.first[first : last + 1]
            inner = np.flatnonzero(starts[1:] > starts[:-1])
            if len(inner):
                children = slice(int(starts[0]), int(starts[-1]))
                found = heights[children] + begins[children]
                heights[first + inner] = np.maximum.reduceat(found, starts[inner] - starts[0])
        steps = height_steps(int(heights.max()) + 1)
        least = np.searchsorted(steps, np.arange(steps[-1] + 1)).astype(np.uint8)
        return cls(steps, least.take(heights), least.take(heights + 1))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Heights":
        """``to_arrays`` is the inverse."""
        below, within = arrays["heights.below"], arrays["heights.within"]
        return cls(arrays["heights.steps"].tolist(), below, within)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As named arrays."""
        steps = np.array(self.steps, dtype=np.int64)
        return {"heights.steps": steps, "heights.below": self.below, "heights.within": self.within}


_MADE: WeakKeyDictionary[Trie, Heights] = WeakKeyDictionary()


def heights_of(trie: Trie) -> Heights:
    """The heights of a trie, made when they are first needed."""
    found = _MADE.get(trie)
    if found is None:
        found = _MADE[trie] = Heights.of(trie)
    return found


def keep_heights(trie: Trie, heights: Heights) -> None:
    """Have these as the heights of a trie."""
    _MADE[trie] = heights


@dataclass(frozen=True, eq=False)
class ReadThrough:
    """L_h for S states. ``leaving``: uint64 (H * S,), those of the i-th step of ``heights`` from
    i * S on; without heights, uint64 (S,), they are for texts of any length. ``successors``: int32
    (S,), ``DEAD`` for none. ``stopping``: uint64 (S,), L_1 of states that are their own successors
    but that calls begin or end in each of them, all classes for others; None if there are none.
    """

    leaving: _Bits
    successors: _States
    heights: Heights | None
    stopping: _Bits | None

    @classmethod
    def of(cls, tables: NetworkTables, stops: NDArray[np.bool_], trie: Trie) -> "ReadThrough":
        """For the texts below the nodes of ``trie``; ``stops``: (S,), where calls begin or end."""
        successors, leaving = _successors(tables, stops)
        looping = stops & (successors == np.arange(len(successors)))
        stopping = np.where(looping, leaving, NO_CLASS_LOOPS) if looping.any() else None
        leaving[stops] = NO_CLASS_LOOPS
        all_successors, successors = successors, np.where(stops, np.int32(DEAD), successors)
        # L_h and s^h for powers of two, up to the first that no text is longer than, which is also
        # the highest of the steps.
        depth = len(levels_of(trie))
        powers = [(leaving, successors)]
        while 1 << (len(powers) - 1) < depth:
            leaving, following = powers[-1]
            powers.append((leaving | leaving[following], following[following]))
        least = powers[min(_COUNTED.bit_length() - 1, len(powers) - 1)][0]
        last = powers[-1][0]
        if not ((least != last) & (least & _WORDS != _WORDS)).any():
            return cls(last, all_successors, None, stopping)
        heights = heights_of(trie)
        rows = []
        for height in heights.steps:
            leaving, following = powers[height.bit_length() - 1]
            rest = height - (1 << (height.bit_length() - 1))
            if rest:
                leaving = leaving | powers[rest.bit_length() - 1][0][following]
            rows.append(leaving)
        return cls(np.concatenate(rows), all_successors, heights, stopping)

    def fits(
        self, classes: _Bits, nodes: NDArray[np.int32], states: _States, *, within: bool = False
    ) -> NDArray[np.bool_]:
        """At which nodes all of the classes, ``Subtrees.below`` or ``within``, are read."""
        if self.heights is not None:
            steps = self.heights.within if within else self.heights.below
            states = steps.take(nodes) * np.int32(len(self.successors)) + states
        fits: NDArray[np.bool_] = (classes.take(nodes) & self.leaving.take(states)) == 0
        return fits

    def stops_all_through(
        self, classes: _Bits, nodes: NDArray[np.int32], states: _States
    ) -> NDArray[np.bool_] | None:
        """At which nodes all of the classes are read in one state in which calls begin or end;
        None for nowhere."""
        if self.stopping is None:
            return None
        fits: NDArray[np.bool_] = (classes.take(nodes) & self.stopping.take(states)) == 0
        return fits if fits.any() else None


def _successors(tables: NetworkTables, stops: NDArray[np.bool_]) -> tuple[_States, _Bits]:
    """The successor of each state, and the classes with a character that does not lead there."""
    table, columns = tables.table, tables.classes
    bits, weights = np.zeros(table.shape[1], np.uint64), np.zeros(table.shape[1], np.int64)
    np.bitwise_or.at(bits, columns[:128], CLASS_BITS[:128])
    np.add.at(weights, columns[:128], 1)
    other = outside_ascii(table, columns, stops)
    successors = np.zeros(len(table), dtype=np.int32)
    leaving = np.full(len(table), NO_CLASS_LOOPS)
    for first in range(0, len(table), _ROWS):
        part = slice(first, first + _ROWS)
        rows = table[part]
        best = np.zeros(len(rows), dtype=np.int64)
        chosen = successors[part]
        for targets in (*(rows[:, columns[octet]] for octet in _SAMPLES), other[part]):
            weight = np.where(rows == targets[:, None], weights, 0).sum(axis=1)
            weight += (other[part] == targets) * _OTHER_WEIGHT
            better = (weight > best) & (targets != DEAD)
            best[better], chosen[better] = weight[better], targets[better]
        found = np.bitwise_or.reduce(np.where(rows == chosen[:, None], np.uint64(0), bits), axis=1)
        found |= np.where(other[part] == chosen, np.uint64(0), np.uint64(OUTSIDE))
        found |= np.uint64(1 << BROKEN)
        leaving[part] = np.where(chosen == DEAD, NO_CLASS_LOOPS, found)
    return successors, leaving


def outside_ascii(
    table: NDArray[np.int32], columns: NDArray[np.uint8], stops: NDArray[np.bool_]
) -> _States:
    """The one state that all characters outside ASCII lead each state to, int32 (S,); ``DEAD``
    where there is none, or where a character is read that ``stops`` in the middle."""
    after: dict[int, _States] = {BETWEEN: np.arange(len(table), dtype=np.int32)}
    reads = [*range(1, ILL), BETWEEN]
    for read in reads:
        parts = []
        for following in distinct(STEPS[read][128:]).tolist():
            if following != ILL:
                octets = np.flatnonzero(STEPS[read] == following)
                used = distinct(columns[octets[octets >= 128]])
                parts.append(after[following][table[:, used]])
        targets = np.concatenate(parts, axis=1)
        same = (targets == targets[:, :1]).all(axis=1)
        if read != BETWEEN:
            same &= ~stops
        after[read] = np.where(same, targets[:, 0], np.int32(DEAD))
    return after[BETWEEN]


def inside_calls(tables: NetworkTables) -> NDArray[np.bool_]:
    """The states that something which was called can be in, bool (S,)."""
    found = np.zeros(tables.states, dtype=np.bool_)
    calling = np.diff(tables.call_offsets)
    pending: NDArray[np.integer] = tables.callees
    while len(pending):
        found[pending] = True
        frames = tables.call_ends[ranges(tables.call_offsets[pending], calling[pending])]
        reached = np.zeros(tables.states, dtype=np.bool_)
        reached[tables.table[pending].ravel()] = True
        reached[frames] = True
        reached[DEAD] = False
        pending = np.flatnonzero(reached & ~found)
    return found
