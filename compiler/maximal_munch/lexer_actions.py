"""Classes of tokens that do the same to a lexer, and what they do.

    action(s, ε)  = s
    action(s, aw) = 0              where s does not read a
                  = action(t, w)   where s reads a and is in t then

but for action(t, w) = 0: there the lexeme ends in t, and w is what begins the next one, or
the text is refused, if no lexeme may end in t. A text's column of actions is told by its first
byte and by the column of the rest, so columns are numbered from the ends of all tokens on, a
byte at a time, and equal ones are one class.
"""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch.lexer import NONE, Lexer
from constrain.artifacts.maximal_munch.lexer_actions import NO_TEXT, TokenActions
from constrain.artifacts.tokens.vocabulary import Vocabulary

# Classes, and states and events together, that have a number.
_MOST = 1 << 16

# The class of the empty text.
_EMPTY = 1

_Column = NDArray[np.int64]


def token_actions(lexer: Lexer, vocabulary: Vocabulary) -> TokenActions | None:
    """The actions of all tokens on the states that ``lexer`` has; None where there are more
    than 65,536 classes, or states and events."""
    columns = _Columns(lexer)
    ids = vocabulary.text_ids()
    ids = ids[np.argsort(-vocabulary.lengths[ids], kind="stable")]
    lengths, ends = vocabulary.lengths[ids], vocabulary.offsets[ids + 1]
    symbols = lexer.columns[vocabulary.data]
    found = np.full(len(ids), _EMPTY, dtype=np.int64)
    # The longest tokens come first; so those that have a k-th byte from their end are a prefix.
    counts = len(ids) - np.searchsorted(lengths[::-1], np.arange(1, lengths.max(initial=0) + 1))
    for from_end, count in enumerate(counts.tolist(), 1):
        found[:count] = columns.before(symbols[ends[:count] - from_end], found[:count])
        if len(columns) > _MOST:
            return None
    table, events = columns.table()
    if lexer.states + len(events) > _MOST:
        return None
    classes = np.full(vocabulary.size, NO_TEXT, dtype=np.uint16)
    classes[ids] = found
    return TokenActions(classes, table.astype(np.uint16), events)


class _Columns:
    """The different columns of actions, by number."""

    def __init__(self, lexer: Lexer) -> None:
        self._steps, self._wins = lexer.table, lexer.win_numbers
        self._states = lexer.states
        refusal = NONE, NO_TEXT
        self._events: list[tuple[int, int]] = [refusal]
        nothing = np.zeros(self._states, dtype=np.int64)
        self._columns: list[_Column] = [nothing, np.arange(self._states)]
        # The action of a column, or what happens in front of the text where that is 0.
        refused = np.where(self._columns[_EMPTY], self._states, 0)
        self._resolved: list[_Column] = [refused, self._columns[_EMPTY]]
        # subtle: texts that no state reads yet are a class of their own, as states that are
        # made at run time may read them.
        self._numbers = {self._columns[_EMPTY].tobytes(): _EMPTY}
        self._before = np.full((lexer.table.shape[1], 64), -1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._columns)

    def table(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """int64 (L, C), and the events that it holds, int32 (E, 2)."""
        table = np.stack(self._columns, axis=1)
        held = np.zeros(self._states + len(self._events), dtype=np.bool_)
        # The refusal has its number whether it is met or not.
        held[: self._states + 1] = True
        held[table] = True
        events = np.array(self._events, dtype=np.int32)[held[self._states :]]
        return (np.cumsum(held) - 1)[table], events

    def before(self, symbols: NDArray[np.intp], rests: NDArray[np.int64]) -> NDArray[np.int64]:
        """The classes of texts, by their first bytes' columns and the classes of their rests."""
        found = self._before[symbols, rests]
        missing = np.flatnonzero(found < 0)
        if len(missing):
            width = self._before.shape[1]
            for pair in np.unique(symbols[missing] * width + rests[missing]).tolist():
                symbol, rest = divmod(pair, width)
                self._before[symbol, rest] = self._number(symbol, rest)
            found = self._before[symbols, rests]
            while len(self) > self._before.shape[1]:
                self._before = np.concatenate(
                    (self._before, np.full_like(self._before, -1)), axis=1
                )
        return found

    def _number(self, symbol: int, rest: int) -> int:
        reached = self._steps[:, symbol]
        # State 0 is dead, and its action is 0.
        column = self._resolved[rest][reached]
        key = column.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self)
            self._columns.append(column)
            self._resolved.append(self._with_ends(column, number))
        return number

    def _with_ends(self, column: _Column, number: int) -> _Column:
        """A column with what happens where the first byte is not read."""
        resolved = column.copy()
        stops = column == 0
        resolved[stops] = self._states
        ends = stops & (self._wins != NONE)
        winners = np.unique(self._wins[ends])
        # Each class has events of its own: no two have one column.
        resolved[ends] = (
            self._states + len(self._events) + np.searchsorted(winners, self._wins[ends])
        )
        self._events.extend((one, number) for one in winners.tolist())
        resolved[DEAD] = 0
        return resolved
