"""Count, rank, draw and enumerate the members of a regular language.

Counting is the transfer-matrix method (Flajolet and Sedgewick, *Analytic Combinatorics*,
section V.5): the words of length n from a state are those of length n - 1 from its successors.
"""

import random
import string
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .dfa import DEAD, Dfa, trimmed

_STAGE = "the counting of members"

# Counts stay machine integers while 256 times the largest of them fits.
_LARGEST = 2**54

# Bytes of a Python integer without its digits, and the pointer to it.
_INTEGER = 36


class Counted(ABC):
    """The members of a grammar, listed and drawn by what is counted of each length: texts, or
    readings of texts, of which one may have several."""

    # The state in which texts begin.
    _start: int

    @abstractmethod
    def count(self, length: int) -> int:
        """How many there are of exactly ``length`` bytes. All counts are exact."""

    @abstractmethod
    def _steps(self, state: int, length: int) -> Iterator[tuple[int, int]]:
        """The bytes, ascending, and states that ``length - 1`` more bytes complete."""

    @abstractmethod
    def _drawn(self, length: int, place: int, rng: random.Random) -> bytes:
        """The text of ``length`` bytes at a place that was drawn, from 0."""

    def least(self, at_most: int) -> int | None:
        """The length of the shortest members, None if it is more than ``at_most``."""
        return next((n for n in range(at_most + 1) if self.count(n)), None)

    def of_length(self, length: int) -> Iterator[bytes]:
        """The members of ``length`` bytes, each once, in order of bytes."""
        if not self.count(length):
            return
        if not length:
            yield b""
            return
        word, path = bytearray(), [self._steps(self._start, length)]
        while path:
            step = next(path[-1], None)
            if step is None:
                path.pop()
                del word[-1:]
                continue
            octet, target = step
            word.append(octet)
            if len(word) == length:
                yield bytes(word)
                word.pop()
            else:
                path.append(self._steps(target, length - len(word)))

    def up_to(self, at_most: int) -> Iterator[bytes]:
        """The members of at most ``at_most`` bytes, by length, then by bytes."""
        for length in range(at_most + 1):
            yield from self.of_length(length)

    def draws(self, at_most: int, seed: int) -> Iterator[bytes]:
        """Independent draws without end; each that is counted of at most ``at_most`` bytes is
        equally likely.

        The same seed gives the same draws. Raises ``IndexError`` if there is no such member.
        """
        counts = [self.count(length) for length in range(at_most + 1)]
        total, rng = sum(counts), random.Random(seed)
        if not total:
            raise IndexError("there are not so many members")
        while True:
            place = rng.randrange(total)
            for length, inside in enumerate(counts):
                if place < inside:
                    yield self._drawn(length, place, rng)
                    break
                place -= inside


class Members(Counted):
    """The members of an automaton.

    The table of counts, one row for each length, is computed lazily; ``LimitError`` (memory, time)
    if that is too much. ``ValueError`` for automata with token terminals, which spell no one text.
    """

    def __init__(self, dfa: Dfa, limits: Limits | None = None) -> None:
        if dfa.token_columns:
            raise ValueError("members are counted without token terminals")
        self._limits = (limits or Limits()).started()
        self._dfa = trimmed(dfa)
        self._start = self._dfa.start
        self._rows: list[NDArray[Any]] = [self._dfa.accepting.astype(np.int64)]
        self._memory = 0

    def count(self, length: int) -> int:
        return int(self._row(length)[self._start])

    def _drawn(self, length: int, place: int, rng: random.Random) -> bytes:
        return self.unranked(place, length)

    def unranked(self, place: int, length: int) -> bytes:
        """The member at ``place``, from 0, among those of ``length`` bytes."""
        word = bytearray()
        state = self._start
        while len(word) < length:
            row = self._row(length - len(word) - 1)
            for low, high, target in self._runs[state]:
                each = int(row[target])
                inside = each * (high - low + 1)
                if place < inside:
                    word.append(low + place // each)
                    state, place = target, place % each
                    break
                place -= inside
            else:
                raise IndexError("there are not so many members")
        return bytes(word)

    def _row(self, length: int) -> NDArray[Any]:
        """For each state the number of words of ``length`` that lead to acceptance."""
        sources, targets, weights, starts = self._edges
        while len(self._rows) <= length:
            before = self._rows[-1]
            if before.dtype != object and before.max() > _LARGEST:
                before = before.astype(object)
            row = np.zeros_like(before)
            if len(sources):
                row[sources] = np.add.reduceat(before[targets] * weights, starts)
            digits = len(self._rows) if row.dtype == object else 0
            self._memory += len(row) * (digits + _INTEGER if digits else row.itemsize)
            self._limits.check_memory(self._memory, _STAGE)
            self._limits.check_resources(_STAGE)
            self._rows.append(row)
        return self._rows[length]

    def _steps(self, state: int, length: int) -> Iterator[tuple[int, int]]:
        row = self._row(length - 1)
        for low, high, target in self._runs[state]:
            if row[target]:
                yield from ((octet, target) for octet in range(low, high + 1))

    @cached_property
    def _edges(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64], Any]:
        """Sources without repetition, targets and weights of all edges, where each source begins.

        The weight of an edge is how many bytes take it.
        """
        table = self._dfa.table
        sizes = np.bincount(self._dfa.classes, minlength=table.shape[1])
        sources, columns = np.nonzero(table != DEAD)
        pairs = sources.astype(np.int64) * len(table) + table[sources, columns]
        distinct, inverse = np.unique(pairs, return_inverse=True)
        weights = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(weights, inverse, sizes[columns])
        origins, starts = np.unique(distinct // len(table), return_index=True)
        return origins, distinct % len(table), weights, starts

    @cached_property
    def _runs(self) -> list[list[tuple[int, int, int]]]:
        """For each state its edges as runs of bytes: first, last, target; ascending."""
        ranges = self._dfa.byte_ranges()
        flat = sorted((low, high, c) for c, inside in enumerate(ranges) for low, high in inside)
        return [
            [(low, high, row[column]) for low, high, column in flat if row[column] != DEAD]
            for row in self._dfa.table.tolist()
        ]


def shortest(dfa: Dfa, *, is_read: bool = False) -> bytes | None:
    """The shortest member, of equally long ones the first; None if there is none. ``is_read``: by
    people, so that a letter or a digit stands for the bytes that do the same."""
    if dfa.is_empty:
        return None
    first = np.array([inside[0][0] for inside in dfa.byte_ranges()])
    shown = first.copy()
    for char in reversed(
        (string.digits + string.ascii_uppercase + string.ascii_lowercase) * is_read
    ):
        shown[dfa.classes[ord(char)]] = ord(char)
    # Breadth first, the bytes of each state ascending: the first path found is the least.
    order = np.argsort(first, kind="stable").tolist()
    came: dict[int, tuple[int, int]] = {dfa.start: (dfa.start, -1)}
    pending = [dfa.start]
    for state in pending:
        if dfa.accepting[state]:
            break
        row = dfa.table[state].tolist()
        for column in order:
            if row[column] not in came and row[column] != DEAD:
                came[row[column]] = (state, int(shown[column]))
                pending.append(row[column])
    else:
        return None
    word = bytearray()
    while state != dfa.start:
        state, octet = came[state]
        word.append(octet)
    return bytes(reversed(word))


def longest_length(dfa: Dfa) -> int | None:
    """The length of the longest member of a trimmed automaton; None if infinite, -1 if empty.

    Kahn's (1962) topological sort. Round k takes the states that their longest path reaches with
    k bytes; in a trimmed automaton the last state of a longest path accepts.
    """
    if dfa.is_empty:
        return -1
    sources, columns = np.nonzero(dfa.table != DEAD)
    pairs = np.unique(sources.astype(np.int64) * dfa.states + dfa.table[sources, columns])
    sources, targets = pairs // dfa.states, pairs % dfa.states
    missing = np.bincount(targets, minlength=dfa.states)
    starts = np.searchsorted(sources, np.arange(dfa.states + 1))
    ready = [dfa.start] if not missing[dfa.start] else []
    done, length = 0, -1
    while ready:
        done, length = done + len(ready), length + 1
        following = []
        for state in ready:
            for target in targets[starts[state] : starts[state + 1]].tolist():
                missing[target] -= 1
                if not missing[target]:
                    following.append(target)
        ready = following
    return length if done == dfa.states - 1 else None
