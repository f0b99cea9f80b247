"""Walks of the token trie by the lexer alone, and numbered rows and sets of trie nodes.

A *set of exits* e holds the trie nodes whose own byte is to be read next; ``ROOT`` holds the
first byte of every token. From a state of the lexer

    W(e, s) = (row, ends)

``row``: the tokens that end inside the lexeme that s is in. ``ends``: for each set of lexemes
that can end in the middle of tokens, the exits at which the next lexeme begins. No parser is
involved, so W is worked out once for all texts.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .earley_tables import DEAD
from .greedy_memo import GreedyMemo
from .lexer import NONE, Lexer
from .slices import Slices
from .tokenset import Words
from .trie import Trie

NOTHING, ROOT = 0, 1
EMPTY = 0

_Nodes = NDArray[np.int32]


class Walked(NamedTuple):
    """A row's number, and (winners, exits) pairs of numbers."""

    row: int
    ends: Sequence[tuple[int, int]]


class Walks:
    """W, the rows and the exits; equal rows and exits are one number.

    ``trie`` is made for the first walk. ``rows``: uint32 (W,) each, row 0 is empty. ``exits``:
    int32, ascending nodes; the root stands for the first bytes of all tokens. ``visited`` and
    ``parsed`` count the trie nodes that walks have read and those of them at which a lexeme
    ended, so that the parser is asked.
    """

    def __init__(
        self,
        lexer: Lexer,
        trie: Callable[[], Trie],
        vocab_size: int,
        slices: Slices | None = None,
        memo: GreedyMemo | None = None,
    ) -> None:
        self._lexer, self._make_trie, self._vocab_size = lexer, trie, vocab_size
        self._slices = slices
        if memo is None:
            self.rows: list[Words] = [tokenset.from_ids([], vocab_size)]
            self.exits: list[_Nodes] = [np.zeros(0, np.int32), np.zeros(1, np.int32)]
        else:
            self.rows = list(memo.rows)
            self.exits = [memo.exits[a:b] for a, b in pairwise(memo.exits_offsets.tolist())]
        # By content; filled when the first new row or set of exits is numbered.
        self._row_numbers: dict[bytes, int] = {}
        self._exit_numbers: dict[bytes, int] = {}
        self._trie: Trie | None = None
        self._columns: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._walked: dict[tuple[int, int], Walked] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self.visited = self.parsed = 0

    def walk(self, exits: int, state: int) -> Walked:
        """W(exits, state)."""
        known = self._walked.get((exits, state))
        if known is None:
            known = self._walked[exits, state] = self._walk(exits, state)
        return known

    def union(self, left: int, right: int) -> int:
        """The row that holds both."""
        if left == right or right == EMPTY:
            return left
        if left == EMPTY:
            return right
        key = (left, right) if left < right else (right, left)
        known = self._unions.get(key)
        if known is None:
            known = self._unions[key] = self.row_number(self.rows[left] | self.rows[right])
        return known

    def join(self, left: int, right: int) -> int:
        """The exits of both."""
        if left == right or right == NOTHING:
            return left
        if left == NOTHING:
            return right
        key = (left, right) if left < right else (right, left)
        known = self._joined.get(key)
        if known is None:
            nodes = np.union1d(self.exits[left], self.exits[right])
            known = self._joined[key] = self._exit_number(nodes)
        return known

    def row_number(self, row: Words) -> int:
        """The number of a row."""
        if not self._row_numbers:
            self._row_numbers = {known.tobytes(): i for i, known in enumerate(self.rows)}
        key = row.tobytes()
        number = self._row_numbers.get(key)
        if number is None:
            row.flags.writeable = False
            number = self._row_numbers[key] = len(self.rows)
            self.rows.append(row)
        return number

    def _walk(self, exits: int, state: int) -> Walked:
        if self._trie is None:
            self._trie = self._make_trie()
            self._columns = self._lexer.columns[self._trie.octets]
        trie, table, wins = self._trie, self._lexer.table, self._lexer.win_numbers
        nodes = self.exits[exits]
        if exits == ROOT:
            nodes = np.arange(trie.first[0], trie.first[1], dtype=np.int32)
        skip = None
        flags = np.zeros(tokenset.word_count(self._vocab_size) * 32, dtype=np.bool_)
        if self._slices is not None and exits == ROOT:
            skip = self._slices.covered(self._lexer, state)
            if skip is not None:
                nodes = nodes[skip.needed[nodes]]
        states = np.full(len(nodes), state, dtype=np.int32)
        ended: list[tuple[_Nodes, NDArray[np.int32]]] = []
        while len(nodes):
            self.visited += len(nodes)
            targets = table[states, self._columns[nodes]]
            dead = targets == DEAD
            winners = wins[states[dead]]
            stops = winners != NONE
            if stops.any():
                ended.append((nodes[dead][stops], winners[stops]))
            live = ~dead
            nodes, states = nodes[live], targets[live]
            held = trie.held[nodes]
            flags[trie.ids[_ranges(held, trie.held[nodes + 1] - held)]] = True
            fan_out = trie.first[nodes + 1] - trie.first[nodes]
            states = np.repeat(states, fan_out)
            nodes = _ranges(trie.first[nodes], fan_out)
            if skip is not None:
                kept = skip.needed[nodes]
                nodes, states = nodes[kept], states[kept]
        row = tokenset.from_flags(flags)
        number = self.row_number(row if skip is None else row | skip.row)
        return Walked(number, self._grouped(ended))

    def _grouped(self, ended: list[tuple[_Nodes, NDArray[np.int32]]]) -> list[tuple[int, int]]:
        """(winners, exits) pairs, by the number of the winners."""
        if not ended:
            return []
        nodes = np.concatenate([n for n, _ in ended])
        winners = np.concatenate([w for _, w in ended])
        self.parsed += len(nodes)
        order = np.lexsort((nodes, winners))
        nodes, winners = nodes[order], winners[order]
        cuts = np.flatnonzero(np.diff(winners)) + 1
        parts = zip(np.split(winners, cuts), np.split(nodes, cuts), strict=True)
        return [(int(w[0]), self._exit_number(n)) for w, n in parts]

    def _exit_number(self, nodes: _Nodes) -> int:
        if not self._exit_numbers:
            self._exit_numbers = {known.tobytes(): i for i, known in enumerate(self.exits)}
        key = nodes.tobytes()
        number = self._exit_numbers.get(key)
        if number is None:
            number = self._exit_numbers[key] = len(self.exits)
            self.exits.append(nodes)
        return number


def _ranges(starts: NDArray[np.int32], counts: NDArray[np.int32]) -> NDArray[np.int32]:
    """``starts=[3, 9], counts=[2, 1] -> [3, 4, 9]``"""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    shift = np.repeat(starts - (ends - counts), counts)
    expanded: NDArray[np.int32] = (np.arange(total) + shift).astype(np.int32)
    return expanded
