"""The network of the members after what the tokenizer puts before a text.

    put always     S -␣-> where a member begins
    put once,      S -␣-> where a member begins that does not begin with ␣
    "a" and "␣a"   S calls where a member begins with ␣

A tokenizer that puts a space once writes both texts of the second case alike, so both ways share
the first byte. They are copies of the states that members begin in: of one the edges of the prefix
are taken out, of the other all others.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .sets import UnsettledError
from .tables import DEAD, NetworkTables


def behind_prefix(
    tables: NetworkTables, prefix: bytes, *, unless_begun: bool = False
) -> NetworkTables:
    """The members that are not empty after ``prefix``, and the empty one. ``unless_begun``: those
    that begin with it, which is one byte then, are as they are.

    The first of the states added is the start, and the last one that in which a member begins at
    once. Raises ``UnsettledError`` where a part of a permutation may begin with what is put once.
    """
    added = _Added(tables, prefix)
    if unless_begun:
        added.put_once()
    else:
        added.put_always()
    return added.tables()


class _Added:
    """States after those of ``tables``, which have no token terminals: of each its row, and its
    calls, pairs of a start and a frame. Frames of counters, which are after all states, are
    negative here."""

    def __init__(self, tables: NetworkTables, prefix: bytes) -> None:
        self._tables, self._prefix, self._size = tables, prefix, tables.states
        self._classes, joint = _with_own_classes(tables, prefix)
        octets = int(tables.classes.max()) + 1
        columns = [tables.table[:, tables.classes[octet], None] for octet in joint]
        self._table = np.concatenate((tables.table[:, :octets], *columns), axis=1)
        returns = tables.call_returns
        self._returns = np.where(returns < self._size, returns, self._size - 1 - returns)
        pairs = list(zip(tables.call_starts.tolist(), self._returns.tolist(), strict=True))
        bounds = tables.call_offsets.tolist()
        self._calls = [pairs[low:high] for low, high in pairwise(bounds)]
        self._rows: list[NDArray[np.int32]] = []
        self._added_calls: list[list[tuple[int, int]]] = []
        # Frames below it are of sets.
        self._first_set = -len(tables.some_counters.rows) if tables.counters else 0
        # States after which a text ends, beside where an empty member does.
        self._ends: list[int] = []

    def put_always(self) -> None:
        """The prefix is read before each member."""
        for octet in self._prefix[:-1]:
            self._reads(octet, self._size + len(self._rows) + 1)
        self._reads(self._prefix[-1], self._tables.start)

    def put_once(self) -> None:
        """It is read before members that do not begin with it."""
        (octet,) = self._prefix
        start = self._reads(octet, DEAD)
        is_own = np.arange(self._table.shape[1]) == self._classes[octet]
        own = self._beginning(is_own)
        if own == DEAD:
            self._set(start, octet, self._tables.start)
            return
        other = self._beginning(~is_own)
        begun = int(self._rows[own - self._size][self._classes[octet]])
        calls = self._added_calls[start - self._size]
        calls += self._added_calls[own - self._size]
        if other == DEAD or begun == DEAD:
            self._set(start, octet, other or begun)
            return
        # Two states after one byte: the second is in a call, after which the text ends.
        self._set(start, octet, other)
        self._ends.append(self._reads(octet, DEAD))
        calls.append((self._reads(octet, begun), self._ends[0]))

    def tables(self) -> NetworkTables:
        """The whole, with a copy of where a member begins."""
        tables = self._tables
        rows = [*self._rows, self._table[tables.start]]
        calls = [*self._added_calls, self._calls[tables.start]]
        accepting = np.zeros(len(rows), dtype=np.uint8)
        accepting[[0, -1]] = tables.nullable_start
        accepting[[state - self._size for state in self._ends]] = 1
        pairs = np.array([pair for each in calls for pair in each], dtype=np.int64).reshape(-1, 2)
        returns = np.append(self._returns, pairs[:, 1])
        states = self._size + len(rows)
        ends = int(tables.call_offsets[-1]) + np.cumsum([len(each) for each in calls])
        return replace(
            tables,
            table=np.concatenate((self._table, np.stack(rows))),
            classes=self._classes,
            accepting=np.append(tables.accepting, accepting),
            call_offsets=np.append(tables.call_offsets, ends).astype(np.int64),
            call_starts=np.append(tables.call_starts, pairs[:, 0]).astype(np.int32),
            call_returns=np.where(returns < 0, states - 1 - returns, returns).astype(np.int32),
            start=self._size,
            nullable_start=False,
            counters=tables.counters and replace(tables.counters, states=states),
        )

    def _state(self, row: NDArray[np.int32]) -> int:
        self._rows.append(row)
        self._added_calls.append([])
        return self._size + len(self._rows) - 1

    def _reads(self, octet: int, target: int) -> int:
        """A new state, which reads one byte."""
        state = self._state(np.zeros(self._table.shape[1], dtype=np.int32))
        self._set(state, octet, target)
        return state

    def _set(self, state: int, octet: int, target: int) -> None:
        self._rows[state - self._size][self._classes[octet]] = target

    def _beginning(self, is_kept: NDArray[np.bool_]) -> int:
        """A copy of the start, from which each way begins with a byte of the columns that are kept;
        ``DEAD`` if there is none. States that it may call first are copied with it."""
        calls, met = self._calls, [self._tables.start]
        for state in met:
            met += dict.fromkeys(called for called, _ in calls[state] if called not in met)
        rows = {state: np.where(is_kept, self._table[state], DEAD) for state in met}
        begins, count = {state for state in met if rows[state].any()}, -1
        while len(begins) > count:
            count = len(begins)
            begins |= {s for s in met if any(called in begins for called, _ in calls[s])}
        number = {state: self._state(rows[state]) for state in met if state in begins}
        for state, copy in number.items():
            kept = [(number[called], frame) for called, frame in calls[state] if called in number]
            # A set knows its parts by the states that they start in.
            if any(frame < self._first_set for _, frame in kept):
                raise UnsettledError
            self._added_calls[copy - self._size] += kept
        return number.get(self._tables.start, DEAD)


def _with_own_classes(tables: NetworkTables, prefix: bytes) -> tuple[NDArray[np.uint8], list[int]]:
    """Byte classes in which each byte of the prefix has a column of its own; the bytes that have
    new columns. (``tables`` have no token terminals.)"""
    classes = tables.classes.astype(np.int64)
    joint: list[int] = []
    for octet in sorted(set(prefix)):
        if np.count_nonzero(classes == classes[octet]) > 1:
            classes[octet] = int(classes.max()) + 1
            joint.append(octet)
    return classes.astype(np.uint8), joint
