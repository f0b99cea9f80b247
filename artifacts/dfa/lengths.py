"""How few characters lead to a member, from each state of a DFA, if at least so many are read.

    labels of host names, after "a-"     0 -> 1, 1 -> 1, 2 -> 2     (a letter ends the label)

So a state is live within bounds of the length iff the fewest characters from it, of those that are
enough, are not too many: the bounds may be any numbers, and no state is copied for them.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .conjunctions import DEAD, Conjunction

# More than any number of characters: no member is reached.
NEVER = 1 << 40

# Where the lengths of members do not become alike, a row for each number of characters is made.
_MOST_BYTES, _MOST_ROWS = 1 << 26, 1 << 15


class Lengths:
    """Of the DFA of one conjunction and its bounds, without the operands.

    ``rows``: int64 (n, S), the fewest characters of at least 0, 1, …; from the last row on members
    of each length are reached, or none. ``is_bounded``: whether the table was made; it is not where
    members of some thousand lengths must be told from others.
    """

    def __init__(self, conjunction: Conjunction) -> None:
        self._table = conjunction.table
        begins = conjunction.begins
        self._first, self._further = np.flatnonzero(begins), np.flatnonzero(~begins)
        self._inside: NDArray[np.bool_] | None = None
        if conjunction.has_escapes:
            self._inside = np.array(conjunction.phases) > 0
        self._accepting: NDArray[np.bool_] = conjunction.accepts.copy()
        self._accepting[DEAD] = False
        self._least = conjunction.least
        self.is_bounded = True
        self.rows = self._made()

    def fewest(self, enough: NDArray[np.int64], states: NDArray[np.integer]) -> NDArray[np.int64]:
        """The fewest characters of at least ``enough`` that lead from each of ``states`` to a
        member; int64 (n,), ``NEVER`` where there are none."""
        last = len(self.rows) - 1
        found: NDArray[np.int64] = self.rows[np.minimum(enough, last), states]
        further = enough - last
        if (further > 0).any():
            found = np.where((found < NEVER) & (further > 0), found + further, found)
        return found

    def fewest_of(self, enough: int, state: int) -> int:
        """The same for one state."""
        rows = self._lists
        last = len(rows) - 1
        if enough <= last:
            return rows[enough][state]
        found = rows[last][state]
        return found if found >= NEVER else found + enough - last

    @cached_property
    def _lists(self) -> list[list[int]]:
        found: list[list[int]] = self.rows.tolist()
        return found

    def _made(self) -> NDArray[np.int64]:
        """The rows of 0 to ``least`` characters, or up to the one from which all are alike."""
        exactly = self._closed(self._accepting)
        reached: list[NDArray[np.bool_]] = [exactly]
        while len(reached) <= self._least:
            before = self._before(exactly)
            if (before == exactly).all():
                break
            exactly = before
            reached.append(exactly)
            if len(reached) * max(len(exactly) * 8, _MOST_BYTES // _MOST_ROWS) > _MOST_BYTES:
                self.is_bounded = False
                break
        last = len(reached) - 1
        row = np.where(exactly, last, NEVER).astype(np.int64)
        if last == self._least:
            # Of at least so many the fewest, breadth first.
            seen, level, characters = exactly, exactly, last
            while level.any():
                characters += 1
                level = self._before(level) & ~seen
                row[level] = characters
                seen = np.logical_or(seen, level)
        rows = [row]
        for characters in range(last - 1, -1, -1):
            row = np.where(reached[characters], characters, row)
            rows.append(row)
        return np.array(rows[::-1])

    def _before(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The states that one character more leads to one of ``flags``."""
        found = _any(flags[self._table[:, self._first]])
        return self._closed(found if self._inside is None else found & ~self._inside)

    def _closed(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The same and the states inside a character that lead to them."""
        while True:
            before = _any(flags[self._table[:, self._further]])
            if self._inside is not None:
                before |= self._inside & _any(flags[self._table[:, self._first]])
            if not (before & ~flags).any():
                return flags
            flags = np.logical_or(flags, before)


def _any(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a flag."""
    found: NDArray[np.bool_] = np.logical_or.reduce(flags, axis=1)
    return found
