"""States of a network beside those of the pre-tokenizer, as walks of the token trie ask for them.

    states[n][octet]     the number of the pair that a byte leads to, 0 for none

Pairs have numbers in the order in which walks meet them (``artifacts/walk``). With a pair goes the
plane in which a token begins there, 0 for pairs that are inside of one.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from ..network.tables import NetworkTables
from ..tokenizer_steps.pretokenizer import PretokenizerDfa
from ..tokens.lengths import ENDLESS
from ..tokens.memo import ENTRY_BYTES
from ..walk.rows import STOPS
from .contexts import Contexts

# A row in the walk.
_ROW_BYTES = 256 * 4


class PairStates:
    """The pairs of ``contexts``, from which something goes on; ``pairs``: int64, by number. A call
    may begin or end in those that stop."""

    is_bounded = False

    def __init__(
        self, tables: NetworkTables, pretokenizer: PretokenizerDfa, contexts: Contexts
    ) -> None:
        self._table, self._contexts = tables.table, contexts
        self._pre_table = pretokenizer.table
        # One byte of each class that neither automaton divides, and the class of each byte.
        keys = tables.classes.astype(np.int64) * 256 + pretokenizer.classes
        _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
        self._columns = tables.classes[octets].astype(np.int64)
        self._pre_columns = pretokenizer.classes[octets].astype(np.int64)
        self._of_all = classes
        self._stops = (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        # Of pairs inside of tokens, and of those in which tokens begin, with the plane.
        self._numbers = np.zeros(64, dtype=np.int32)
        self._begun: dict[tuple[int, int], int] = {}
        self._rows = 0
        # What a walk reads: nothing is inside, bounded or called.
        self.ends = [0]
        self.inside = frozenset[int]()
        self.rooms = defaultdict[int, int](lambda: ENDLESS)
        self.calls = defaultdict[int, tuple[()]](lambda: ())
        self.pairs = np.zeros(64, dtype=np.int64)
        self._planes = [0]

    @property
    def nbytes(self) -> int:
        """About the size of all pairs, with their rows in a walk."""
        return self._numbers.nbytes + ENTRY_BYTES * len(self.ends) + _ROW_BYTES * self._rows

    def number(self, state: int, pre_state: int, plane: int) -> int:
        """The number of a pair in which tokens begin in a plane; 0 if nothing goes on there."""
        pair = self._contexts.number(state, pre_state)
        if not pair:
            return 0
        if not plane:
            return self._inside(pair)[pair] or self._add(pair, 0)
        found = self._begun.get((pair, plane))
        if found is None:
            found = self._begun[pair, plane] = self._add(pair, plane)
        return found

    def _add(self, pair: int, plane: int) -> int:
        number = len(self.ends)
        if number == len(self.pairs):
            self.pairs = np.concatenate((self.pairs, np.zeros_like(self.pairs)))
        self.pairs[number] = pair
        self._planes.append(plane)
        self.ends.append(STOPS if self._stops[self._contexts.states[pair]] else 0)
        if not plane:
            self._numbers[pair] = number
        return number

    def __getitem__(self, number: int) -> list[int]:
        """Where each byte leads, 0 for nowhere."""
        contexts, pair = self._contexts, self.pairs[number]
        state, pre_state = contexts.states[pair], contexts.pre_states[pair]
        after = self._table[state, self._columns]
        pre_after = self._pre_table[pre_state, self._planes[number], self._pre_columns]
        targets = contexts.numbers(after, pre_after)
        numbers = self._inside(int(targets.max(initial=0)))
        for target in targets[(numbers[targets] == 0) & (targets > 0)].tolist():
            if not numbers[target]:
                self._add(target, 0)
        self._rows += 1
        row: list[int] = numbers[targets][self._of_all].tolist()
        return row

    def _inside(self, pair: int) -> NDArray[np.int32]:
        """The numbers of pairs inside of tokens, with room for one."""
        if pair >= len(self._numbers):
            more = np.zeros(pair + len(self._numbers), dtype=np.int32)
            self._numbers = np.concatenate((self._numbers, more))
        return self._numbers

    def includes(self, _state: int, _part: int) -> bool:
        """Never: it would lead elsewhere."""
        return False

    def leading_outside_ascii(self, _state: int, _back: int) -> int:
        """None, as bits: tokens may end inside of such characters."""
        return 0
