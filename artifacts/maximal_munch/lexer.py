"""The contextual lexer: several lexemes' DFAs run at once, each lexeme as long as possible.

A state is a set of DFA states, which begins with the start states of the lexemes that the parser
allows and of the ignored ones. Subset construction makes the row of a state when it is first
needed:

    allowed {NAME, 'if'}   start {NAME 0, 'if' 0}  -i->  {NAME 1, 'if' 1}  -f->  {NAME 1, 'if' 2}

Where no DFA of a state can read the next byte, the lexeme ends. The *accept set* of the state says
which lexeme it was: of those that may end there, the ones of the highest priority. Where one may
end that is to be as short as possible, nothing else is left in the state:

    allowed {TEXT, TEXT "<f" (shortest)}   {TEXT 1, trigger 1}  -<f->  {trigger 2}

A lexeme may be one only before certain bytes (a look-ahead at its end). Its DFA leads by the others
to a state that is no end and reads nothing: there the text is ``REFUSED_BYTE``. So it is where only
lexemes are left that are read and *refused*: with them nothing ends
(``compiler/maximal_munch/lalr_contexts.py``).

Source: llguidance, "Optimizing", the lexer; its DFAs are built lazily, these are complete
(``artifacts/lazy_lexer`` has those that are too large for that).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD, StackedDfas
from ..tokens.memo import ENTRY_BYTES, Made, Numbered, memoised, top_down
from ..tokens.sharing import weakly
from ..tokens.watch import Watch, unwatched

# The accept set of a state in which no lexeme may end.
NO_ACCEPT = -1

# In place of a state: no lexeme has begun, so the head says in which state the next one begins. It
# has the number of ``DEAD``, which no text leads to.
BETWEEN = 0

# In place of a state a byte leads to: no lexeme reads it, and the one before may not end there.
REFUSED_BYTE = -1

# Where each byte leads: of 256, or found as they are asked for.
Row: TypeAlias = list[int] | dict[int, int]


@dataclass(frozen=True, eq=False)
class LexerTables:
    """The L lexemes of a grammar.

    ``dfas``: their complete DFAs in one table; states that are no end and lead nowhere refuse the
    byte before them. ``priorities``: int32 (L,), ranks. ``ignored``:
    uint8 (L,), 1 where the lexeme may stand between any two. ``shortest``: uint8 (L,), 1 where the
    lexeme, and all that was begun beside it, ends as soon as it may; its rank is above those of all
    others, and no text of it begins another. ``texts``: as their author wrote them.
    ``refused``: what is read beside them and never ends; none where some have no complete DFA.
    ``watch``: bounds how many states a lexer makes of them, which may be exponentially many.
    """

    dfas: StackedDfas
    priorities: NDArray[np.int32]
    ignored: NDArray[np.uint8]
    shortest: NDArray[np.uint8]
    texts: Sequence[str]
    watch: Watch = field(default=unwatched, kw_only=True)
    refused: frozenset[int] = field(default=frozenset(), kw_only=True)

    @property
    def is_lazy(self) -> bool:
        """Whether some lexemes have no complete DFA."""
        return False

    @property
    def lexemes(self) -> int:
        """L: how many lexemes there are."""
        return len(self.priorities)

    def lexer(
        self, sets: Sequence[tuple[int, ...]] = ((),), table: NDArray[np.int32] | None = None
    ) -> "Lexer":
        """A lexer of them."""
        return Lexer(self, sets, table)


class Lexer:
    """States are integers; ``DEAD``, the first, is the empty set, which reads nothing.

    ``rows``: by state and byte the next state, ``DEAD`` for none, or ``REFUSED_BYTE``.
    ``accept_of``: by state the number of its accept set, or ``NO_ACCEPT``; ``accept_sets``: these
    sets of lexemes, numbered in the order in which states first have them. ``sets`` and ``table``
    of another lexer over the same tables are the states to begin with.
    """

    def __init__(
        self,
        tables: LexerTables,
        sets: Sequence[tuple[int, ...]] = ((),),
        table: NDArray[np.int32] | None = None,
    ) -> None:
        self.tables = tables
        dfas = tables.dfas
        self.columns = dfas.columns[:256].astype(np.intp)
        self._accepting: list[bool] = (dfas.accepting != 0).tolist()
        refusing = (dfas.accepting == 0) & ~dfas.table.any(axis=1)
        self._refusing = frozenset(np.flatnonzero(refusing).tolist())
        owners = np.searchsorted(dfas.starts, np.arange(len(dfas.table)), side="right") - 1
        self._owners: list[int] = owners.tolist()
        self._begins: list[int] = dfas.starts.tolist()
        self._priorities: list[int] = tables.priorities.tolist()
        self._ignored = frozenset(np.flatnonzero(tables.ignored).tolist())
        self._shortest = frozenset(np.flatnonzero(tables.shortest).tolist())
        self._refused = tables.refused
        self._sets = list(sets)
        self._numbers = {inner: state for state, inner in enumerate(sets)}
        self.accept_sets = Numbered[frozenset[int]]()
        self._table = (
            np.zeros((64, dfas.table.shape[1]), dtype=np.int32) if table is None else table
        )
        # By state, each made when it is first asked for.
        self.rows = Made(weakly(self._row))
        self.rows[REFUSED_BYTE] = [DEAD] * 256
        # The states whose rows are not in the table.
        self._unfilled = set[int]() if table is not None else set(range(len(sets)))
        self._accept_set_of_ended: dict[tuple[int, ...], int] = {(): NO_ACCEPT}
        self.accept_of = [self._accept_set_of(inner) for inner in sets]

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """By state the DFA states that it stands for, ascending."""
        return self._sets

    @property
    def ignored(self) -> frozenset[int]:
        """The lexemes that are always allowed."""
        return self._ignored

    @property
    def states(self) -> int:
        """How many states there are so far, ``DEAD`` included."""
        return len(self._sets)

    @property
    def nbytes(self) -> int:
        """About the size of all states: a list of 256 and a row of the table each."""
        columns: int = self._table.shape[1]
        return (2048 + 2 * ENTRY_BYTES + 4 * columns) * self.states

    @property
    def table(self) -> NDArray[np.int32]:
        """int32 (states, C): next state by byte column, as in ``rows``; makes all states that are
        reachable."""
        while self._unfilled:
            for state in sorted(self._unfilled):
                self._fill(state)
        return self._table[: self.states]

    @memoised
    def start(self, allowed: frozenset[int]) -> int:
        """The state before a lexeme where the parser allows ``allowed``."""
        begun = sorted(self._begins[lexeme] for lexeme in allowed | self._ignored)
        return self._number(tuple(begun))

    def lexemes(self, state: int) -> frozenset[int]:
        """The lexemes that can still be read in a state."""
        return frozenset(self._owners[inner] for inner in self._sets[state])

    def reachable(self, start: int) -> list[int]:
        """A state and all that it leads to, breadth-first."""

        def following(state: int) -> list[int]:
            self._fill(state)
            return [target for target in np.unique(self._table[state]).tolist() if target > DEAD]

        return list(top_down([start], following))

    def _number(self, inner: tuple[int, ...]) -> int:
        number = self._numbers.get(inner)
        if number is None:
            number = self._numbers[inner] = self.states
            self._sets.append(inner)
            self._unfilled.add(number)
            self._keep(number, DEAD, self._accept_set_of(inner))
        return number

    def _row(self, state: int) -> Row:
        self._fill(state)
        row: list[int] = self._table[state].take(self.columns).tolist()
        return row

    def _fill(self, state: int) -> None:
        """Make the row of a state in the table, if it is not there."""
        if state not in self._unfilled:
            return
        self._unfilled.remove(state)
        inner = self._sets[state]
        self.tables.watch(len(inner), 0)
        steps = self.tables.dfas.table[list(inner)].T
        live, places = steps.nonzero()
        # By column where it leads. The DFAs are stacked, so the targets of a sorted set are sorted.
        columns = defaultdict[int, list[int]](list)
        for column, target in zip(live.tolist(), steps[live, places].tolist(), strict=True):
            columns[column].append(target)
        numbers = dict[tuple[int, ...], int]()
        row = [DEAD] * len(steps)
        for column, targets in zip(columns, map(tuple, columns.values()), strict=True):
            number = numbers.get(targets)
            if number is None:
                left = self._left([t for t in targets if t not in self._refusing])
                if left and not self._refused.issuperset(map(self._owners.__getitem__, left)):
                    number = self._number(left)
                else:
                    is_refused = self._is_refused(state, left, targets)
                    number = REFUSED_BYTE if is_refused else DEAD
                numbers[targets] = number
            row[column] = number
        self._table[state] = row

    def _is_refused(self, state: int, left: Sequence[int], refusing: Iterable[int]) -> bool:
        """Whether what is read where a state ends may not end before a byte, by where that leads
        the DFAs of all lexemes, and those that are ``left``, which never end."""
        accept_set = self.accept_of[state]
        owners = {self._owners[inner] for inner in refusing if inner != DEAD}
        return accept_set != NO_ACCEPT and (
            bool(left) or not owners.isdisjoint(self.accept_sets[accept_set])
        )

    def _left(self, inner: Sequence[int]) -> tuple[int, ...]:
        """The DFA states that a set leaves: where the shortest lexemes end, those alone."""
        if self._shortest:
            inner = [s for s in inner if self._ends_all(s)] or inner
        return tuple(inner)

    def _ends_all(self, inner: int) -> bool:
        """Whether in a DFA state all that was begun ends."""
        return self._accepting[inner] and self._owners[inner] in self._shortest

    def _keep(self, state: int, targets: NDArray[np.int32] | int, accept_set: int) -> None:
        """Put a new state into the tables."""
        while state >= len(self._table):
            self.tables.watch(0, self._table.nbytes)
            self._table = np.concatenate((self._table, np.zeros_like(self._table)))
        self._table[state] = targets
        self.accept_of.append(accept_set)

    def _accept_set_of(self, inner: Iterable[int]) -> int:
        accepting = self._accepting
        ended = tuple([s for s in inner if accepting[s]])
        number = self._accept_set_of_ended.get(ended)
        if number is None:
            number = self._accept_set([self._owners[s] for s in ended])
            self._accept_set_of_ended[ended] = number
        return number

    def _accept_set(self, lexemes: Sequence[int]) -> int:
        """The number of what is read where these lexemes may end, at least one."""
        highest = max(self._priorities[lexeme] for lexeme in lexemes)
        found = frozenset(i for i in lexemes if self._priorities[i] == highest) - self._refused
        return self.accept_sets.number(found) if found else NO_ACCEPT
