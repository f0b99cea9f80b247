"""Where sets of bytes lead from sets of states of a pre-tokenizer DFA.

What strings and white space read is the same in most grammars, and they are read beside the same
few sets of states: so it is found once for all grammars of a tokenizer.
"""

import numpy as np
from numpy.typing import NDArray

from ..tokens.distinct import distinct
from .dfa import begins_character

_Led = NDArray[np.int32]

DEAD = 0

# Sets of states of which it is kept where bytes lead.
_MOST_KEPT = 1 << 14


class ByteSets:
    """Where sets of bytes lead, given as columns of ``table``, int64, from sets of its states."""

    def __init__(self, table: NDArray[np.int32]) -> None:
        self.table = table
        self._rows: dict[int, list[list[int]]] = {}
        self._after: dict[tuple[bytes, frozenset[int]], set[int]] = {}
        self._edges: dict[tuple[bytes, bytes], tuple[NDArray[np.int64], ...]] = {}
        self._between: dict[bytes, NDArray[np.bool_]] = {}

    def after(self, columns: bytes, states: frozenset[int]) -> set[int]:
        """The states that some of the bytes lead to."""
        found = self._after.get((columns, states))
        if found is None:
            if len(self._after) > _MOST_KEPT:
                self._after.clear()
            read = np.frombuffer(columns, np.int64)
            if len(read) > 1:
                found = {*self._led([*states], read).ravel().tolist()} - {DEAD}
            else:
                (column,) = read.tolist()
                found = {row[column] for state in states for row in self._row(state)} - {DEAD}
            self._after[columns, states] = found
        return found

    def between(self, classes: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """In which states a character may begin, bool (S,). ``classes``: byte to column."""
        key = classes.tobytes()
        found = self._between.get(key)
        if found is None:
            found = self._between[key] = begins_character(self.table, classes)
        return found

    def _row(self, state: int) -> list[list[int]]:
        """By plane where the bytes lead from one state."""
        found = self._rows.get(state)
        if found is None:
            found = self._rows[state] = self.table[state].tolist()
        return found

    def edges(self, columns: bytes, states: bytes) -> tuple[NDArray[np.int64], ...]:
        """The same one by one, of states in an array: places in it, and targets; and again for the
        edges that start a pre-token."""
        found = self._edges.get((columns, states))
        if found is None:
            if len(self._edges) > _MOST_KEPT:
                self._edges.clear()
            led = self._led(np.frombuffer(states, np.int64), np.frombuffer(columns, np.int64))
            width, places = np.int64(len(self.table)), np.arange(len(led))[:, None]
            parts = (led.reshape(len(led), -1), led[:, :, 1::2].reshape(len(led), -1))
            keys = [distinct((places * width + part)[part != DEAD]) for part in parts]
            found = tuple(half for each in keys for half in np.divmod(each, width))
            self._edges[columns, states] = found
        return found

    def _led(self, states: list[int] | NDArray[np.int64], read: NDArray[np.int64]) -> _Led:
        """By state, column and plane."""
        return self.table[np.asarray(states)[:, None], :, read]
