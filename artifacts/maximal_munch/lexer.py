"""A contextual lexer over complete automata: which lexeme is read is told by the longest match.

After llguidance's lexer (its "Optimizing" notes): a state is a set of
(lexeme, state of its DFA), begun with the lexemes that the parser allows and no others.

    state {(NAME, 1), ('if', 2)}  -byte-> the same lexemes, those that can read it

When no lexeme of a state can read the next byte, the lexeme ends there: it is each of those
that may end in that state and have the highest priority among these. Ignored lexemes are
always allowed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD, StackedDfas

# What a state that no lexeme may end in has instead of winners.
NONE = -1


@dataclass(frozen=True, eq=False)
class LexerTables:
    """``dfas``: of all lexemes, in one table. ``priorities``: int32 (L,), ranks. ``ignored``: uint8
    (L,), 1 where the lexeme may stand anywhere. ``texts``: as their author wrote them."""

    dfas: StackedDfas
    priorities: NDArray[np.int32]
    ignored: NDArray[np.uint8]
    texts: Sequence[str]

    @property
    def lexemes(self) -> int:
        """L: how many lexemes there are."""
        return len(self.priorities)


class Lexer:
    """States are integers; all that a start leads to are made with it.

    ``rows``: next state by state and byte, ``DEAD`` for none. ``wins``: for each state the
    number of the set of lexemes that end there, or ``NONE``; ``winners``: these sets. ``known``
    and ``steps``: the ``sets`` and the ``table`` of the first states.
    """

    def __init__(
        self,
        tables: LexerTables,
        known: Sequence[tuple[int, ...]] = (),
        steps: NDArray[np.int32] | None = None,
    ) -> None:
        self.tables = tables
        dfas = tables.dfas
        self.columns = dfas.columns[:256].astype(np.intp)
        self._accepting: list[bool] = (dfas.accepting != 0).tolist()
        owners = np.searchsorted(dfas.starts, np.arange(len(dfas.table)), side="right") - 1
        self._owners: list[int] = owners.tolist()
        self._begins: list[int] = dfas.starts.tolist()
        self._priorities: list[int] = tables.priorities.tolist()
        self._ignored = frozenset(np.flatnonzero(tables.ignored).tolist())
        self._sets: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): DEAD}
        self._starts: dict[frozenset[int], int] = {}
        self._table = np.zeros((64, dfas.table.shape[1]), dtype=np.int32)
        self.rows: list[list[int]] = [[DEAD] * 256]
        self._wins = np.full(64, NONE, dtype=np.int32)
        self.wins: list[int] = [NONE]
        self.winners: list[frozenset[int]] = []
        self._winner_numbers: dict[frozenset[int], int] = {}
        if steps is not None:
            self._sets = list(known)
            self._numbers = {inner: state for state, inner in enumerate(known)}
            self._table = steps
            self._wins = np.full(len(known), NONE, dtype=np.int32)
            self.rows = steps[:, self.columns].tolist()
            self.wins = [self._winning(inner) for inner in known]
            self._wins[:] = self.wins

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """The automata's states in each state; ``known`` of another lexer."""
        return self._sets

    @property
    def ignored(self) -> frozenset[int]:
        """The lexemes that are always allowed."""
        return self._ignored

    @property
    def states(self) -> int:
        """How many states were made so far, the dead one included."""
        return len(self._sets)

    @property
    def table(self) -> NDArray[np.int32]:
        """int32 (states, C): next state by byte column."""
        return self._table[: self.states]

    @property
    def win_numbers(self) -> NDArray[np.int32]:
        """int32 (states,): ``wins`` as an array."""
        return self._wins[: self.states]

    def start(self, allowed: frozenset[int]) -> int:
        """The state before a lexeme where the parser allows ``allowed``."""
        known = self._starts.get(allowed)
        if known is None:
            begun = sorted(self._begins[lexeme] for lexeme in allowed | self._ignored)
            known = self._starts[allowed] = self._closed(tuple(begun))
        return known

    def lexemes(self, state: int) -> frozenset[int]:
        """The lexemes that can still be read in a state."""
        return frozenset(self._owners[inner] for inner in self._sets[state])

    def reachable(self, start: int) -> list[int]:
        """A state and all that it leads to."""
        found = {start}
        pending = [start]
        for state in pending:
            for target in np.unique(self._table[state]).tolist():
                if target != DEAD and target not in found:
                    found.add(target)
                    pending.append(target)
        return pending

    def _closed(self, begun: tuple[int, ...]) -> int:
        """The number of a state, made with all that it leads to."""
        state, number = self.states, self._number(begun)
        while state < self.states:
            self._fill(state)
            state += 1
        return number

    def _number(self, inner: tuple[int, ...]) -> int:
        number = self._numbers.get(inner)
        if number is None:
            number = self._numbers[inner] = self.states
            self._sets.append(inner)
        return number

    def _fill(self, state: int) -> None:
        inner = self._sets[state]
        steps = self.tables.dfas.table[list(inner)]
        targets = np.zeros(steps.shape[1], dtype=np.int32)
        live = np.flatnonzero(steps.any(axis=0))
        # Lexemes are laid out one behind the other, so what is left of a set stays sorted.
        targets[live] = [
            self._number(tuple(t for t in column if t != DEAD))
            for column in steps[:, live].T.tolist()
        ]
        while state >= len(self._table):
            self._table = np.concatenate((self._table, np.zeros_like(self._table)))
            self._wins = np.concatenate((self._wins, np.full_like(self._wins, NONE)))
        self._table[state] = targets
        row: list[int] = self._table[state][self.columns].tolist()
        self.rows.append(row)
        self._wins[state] = self._winning(inner)
        self.wins.append(int(self._wins[state]))

    def _winning(self, inner: Iterable[int]) -> int:
        ended = [self._owners[s] for s in inner if self._accepting[s]]
        if not ended:
            return NONE
        highest = max(self._priorities[lexeme] for lexeme in ended)
        found = frozenset(lexeme for lexeme in ended if self._priorities[lexeme] == highest)
        number = self._winner_numbers.get(found)
        if number is None:
            number = self._winner_numbers[found] = len(self.winners)
            self.winners.append(found)
        return number
