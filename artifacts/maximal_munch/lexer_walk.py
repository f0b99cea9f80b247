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

from ..dfa.stacked_dfas import DEAD
from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, expand, grouped
from .lexer import NONE, Lexer
from .slices import Covered, Slices
from .subtrees import OTHER, Stays, Subtrees
from .summary_tables import HeadSummaryTables

NOTHING, ROOT = 0, 1
EMPTY = 0

# From so many nodes read on, subtrees are made, in the time that reading some ten times as many
# takes. A first mask mostly reads a few thousand.
LARGE = 1 << 14

_Nodes = NDArray[np.int32]
_NO_NODES: _Nodes = np.zeros(0, dtype=np.int32)


class LexerWalked(NamedTuple):
    """A row's number, and (winners, exits) pairs of numbers."""

    row: int
    ends: Sequence[tuple[int, int]]


class LexerWalks:
    """W, the rows and the exits; equal exits are one number, and so are equal rows that were
    not given.

    ``trie`` is made for the first walk. ``exits``: int32, ascending nodes; the root stands for
    the first bytes of all tokens. ``visited`` and ``parsed`` count the trie nodes that walks
    have read and those of them at which a lexeme ended, so that the parser is asked.
    """

    def __init__(
        self,
        lexer: Lexer,
        trie: Callable[[], Trie],
        vocab_size: int,
        slices: Callable[[], Slices] | None = None,
        memo: HeadSummaryTables | None = None,
    ) -> None:
        self._lexer, self._make_trie, self._vocab_size = lexer, trie, vocab_size
        self._make_slices = slices
        self._slices: Slices | None = None
        self._given = None if memo is None else memo.rows
        self._decoded: dict[int, Words] = {}
        self._first = 0 if self._given is None else len(self._given)
        self._rows: list[Words] = []
        self._row_numbers: dict[bytes, int] = {}
        self.exits: list[_Nodes] = [np.zeros(0, np.int32), np.zeros(1, np.int32)]
        self._given_exits = self.exits[ROOT] if memo is None else memo.exits
        if memo is None:
            self.row_number(tokenset.from_ids([], vocab_size))
        else:
            self.exits = [memo.exits[a:b] for a, b in pairwise(memo.exits_offsets.tolist())]
        # By content; filled when the first new set of exits is numbered.
        self._exit_numbers: dict[bytes, int] = {}
        self._trie: Trie | None = None
        self._leaves: Subtrees | None = None
        self.stays = Stays(lexer)
        self._walked: dict[tuple[int, int], LexerWalked] = {}
        self._unions: dict[tuple[int, int], int] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self.visited = self.parsed = 0

    @property
    def row_count(self) -> int:
        """How many rows have a number."""
        return self._first + len(self._rows)

    @property
    def held_rows(self) -> int:
        """How many rows are in memory: those that were added, and those that were looked at."""
        return len(self._rows) + len(self._decoded)

    def row(self, number: int) -> Words:
        """A row, uint32 (W,), read-only; row 0 is empty."""
        if number >= self._first:
            return self._rows[number - self._first]
        row = self._decoded.get(number)
        if row is None:
            assert self._given is not None
            row = self._decoded[number] = self._given.row(number, self._vocab_size)
        return row

    def walk(self, exits: int, state: int) -> LexerWalked:
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
            known = self._unions[key] = self.row_number(self.row(left) | self.row(right))
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
            known = self._joined[key] = self.exit_number(nodes)
        return known

    def row_number(self, row: Words) -> int:
        """The number of a row."""
        key = row.tobytes()
        number = self._row_numbers.get(key)
        if number is None:
            row.flags.writeable = False
            number = self._row_numbers[key] = self.row_count
            self._rows.append(row)
        return number

    def trie(self) -> Trie:
        """The trie, when a walk is missing. Raises ``ArtifactError`` for another memo."""
        if self._trie is None:
            trie = self._make_trie()
            if int(self._given_exits.max()) >= len(trie.octets):
                raise ArtifactError("section 'greedy.exits' is damaged: there are no such nodes")
            if self._make_slices is not None:
                self._slices = self._make_slices()
            self._trie = trie
        return self._trie

    def tokens(self, reading: int | None = None) -> Subtrees:
        """The tokens of the trie, in subtrees that can be taken whole if there are slices.

        With ``reading`` so many nodes next, these are made only if walks have become large.
        """
        trie, slices = self.trie(), self._slices
        if slices is not None:
            return slices.subtrees(make=reading is None or self.visited + reading >= LARGE)
        if self._leaves is None:
            self._leaves = Subtrees.leaves(trie)
        return self._leaves

    def nodes(self, exits: int) -> _Nodes:
        """The nodes whose own byte is read next."""
        first = self.trie().first
        if exits == ROOT:
            return np.arange(first[0], first[1], dtype=np.int32)
        return self.exits[exits]

    def skipped(self, exits: int, state: int) -> Covered | None:
        """The slices that fit, where subtrees do not do the same."""
        if (
            self._slices is None
            or exits != ROOT
            or not int(self.stays.leaving()[state]) >> OTHER & 1
        ):
            return None
        return self._slices.covered(self._lexer, state)

    def _walk(self, exits: int, state: int) -> LexerWalked:
        trie, tokens, leaving = self.trie(), self.tokens(), self.stays.leaving()
        lexer = self._lexer
        nodes, skip = self.nodes(exits), self.skipped(exits, state)
        states = np.full(len(nodes), state, dtype=np.int32)
        begins, ends = [_NO_NODES], [_NO_NODES]
        ended: list[tuple[_Nodes, NDArray[np.int32]]] = []
        while len(nodes):
            if skip is not None:
                nodes, states = nodes[skip.needed[nodes]], states[skip.needed[nodes]]
            self.visited += len(nodes)
            whole = (tokens.within[nodes] & leaving[states]) == 0
            begins.append(tokens.begin[nodes[whole]])
            ends.append(tokens.end[nodes[whole]])
            nodes, states = nodes[~whole], states[~whole]
            targets = lexer.table[states, lexer.columns[trie.octets[nodes]]]
            dead = targets == DEAD
            winners = lexer.win_numbers[states[dead]]
            stops = winners != NONE
            if stops.any():
                ended.append((nodes[dead][stops], winners[stops]))
                self.parsed += len(ended[-1][0])
            nodes, states = nodes[~dead], targets[~dead]
            whole = (tokens.below[nodes] & leaving[states]) == 0
            begins.append(tokens.begin[nodes])
            ends.append(np.where(whole, tokens.end[nodes], begins[-1] + tokens.own[nodes]))
            nodes, states = nodes[~whole], states[~whole]
            fan_out = trie.first[nodes + 1] - trie.first[nodes]
            states, nodes = expand(states, trie.first[nodes], fan_out)
        row = tokens.row(np.concatenate(begins), np.concatenate(ends), self._vocab_size)
        number = self.row_number(row if skip is None else row | skip.row)
        return LexerWalked(number, [(w, self.exit_number(n)) for w, n in grouped(ended)])

    def exit_number(self, nodes: _Nodes) -> int:
        """The number of a set of exits; nodes ascend."""
        if not self._exit_numbers:
            self._exit_numbers = {known.tobytes(): i for i, known in enumerate(self.exits)}
        key = nodes.tobytes()
        number = self._exit_numbers.get(key)
        if number is None:
            number = self._exit_numbers[key] = len(self.exits)
            self.exits.append(nodes)
        return number
