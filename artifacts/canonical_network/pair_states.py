"""States of a network beside those of the pre-tokenizer, as walks of the token trie ask for them.

    states[n][octet]     the number of the pair that a byte leads to, 0 for none

Pairs have numbers in the order in which walks meet them (``artifacts/walk``). With a pair goes the
plane in which a token begins there, 0 for pairs that are inside of one.
"""

from collections import defaultdict
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ..network.tables import NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.lengths import ENDLESS
from ..tokens.memo import ENTRY_BYTES
from ..walk.rows import STOPS

# A row in the walk.
_ROW_BYTES = 256 * 4


class PairStates:
    """``width``: Q. ``numbers``: int32 (states, Q), 0 for pairs of states that nothing can follow;
    they are read by nothing. A call may begin or end in the pairs that stop."""

    is_bounded = False

    def __init__(
        self, tables: NetworkTables, pretokenizer: PretokenizerDfa, numbers: NDArray[np.int32]
    ) -> None:
        self.width = len(pretokenizer.table)
        self._table_rows, self._alive = tables.rows, numbers.data
        self._pre_table = pretokenizer.table
        # One byte of each class that neither automaton divides, and the class of each byte.
        keys = tables.classes.astype(np.int64) * 256 + pretokenizer.classes
        _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
        self._octets: list[int] = octets.tolist()
        self._pre_classes = pretokenizer.classes[octets]
        self._of_all = itemgetter(*classes.tolist())
        self._stops: list[bool] = (
            (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        ).tolist()
        self._numbers: dict[tuple[int, int], int] = {}
        self._rows = 0
        # What a walk reads: nothing is inside, bounded or called.
        self.ends = [0]
        self.inside = frozenset[int]()
        self.rooms = defaultdict[int, int](lambda: ENDLESS)
        self.calls = defaultdict[int, tuple[()]](lambda: ())
        # By number the pair, and the plane.
        self._pairs, self._planes = [0], [0]
        self._pairs_array = np.zeros(1, dtype=np.int64)

    @property
    def nbytes(self) -> int:
        """About the size of all pairs, with their rows in a walk."""
        return ENTRY_BYTES * len(self._pairs) + _ROW_BYTES * self._rows

    @property
    def pairs(self) -> NDArray[np.int64]:
        """By number the pair, state · Q + pre-tokenizer state."""
        known = len(self._pairs_array)
        if known < len(self._pairs):
            more = np.array(self._pairs[known:], dtype=np.int64)
            self._pairs_array = np.concatenate((self._pairs_array, more))
        return self._pairs_array

    def number(self, state: int, pre_state: int, plane: int) -> int:
        """The number of a pair in which tokens begin in a plane."""
        return self._number(state * self.width + pre_state, plane)

    def _number(self, pair: int, plane: int) -> int:
        found = self._numbers.setdefault((pair, plane), len(self._pairs))
        if found == len(self._pairs):
            self._pairs.append(pair)
            self._planes.append(plane)
            self.ends.append(STOPS if self._stops[pair // self.width] else 0)
        return found

    def __getitem__(self, number: int) -> list[int]:
        """Where each byte leads, 0 for nowhere."""
        if number == 0:
            return [0] * 256
        state, pre_state = divmod(self._pairs[number], self.width)
        row, alive, width = self._table_rows[state], self._alive, self.width
        after = self._pre_table[pre_state, self._planes[number], self._pre_classes].tolist()
        targets = [
            self._number(target * width + pre_target, 0)
            if (target := row[octet]) and alive[target, pre_target]
            else 0
            for octet, pre_target in zip(self._octets, after, strict=True)
        ]
        self._rows += 1
        return list(self._of_all(targets))

    def includes(self, _state: int, _part: int) -> bool:
        """Never: it would lead elsewhere."""
        return False

    def leading_outside_ascii(self, _state: int, _back: int) -> int:
        """None, as bits: tokens may end inside of such characters."""
        return 0
