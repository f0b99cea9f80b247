"""States of a lexer with lazy DFAs, by number, made when a byte leads to them.

    12 -> (state 3 of the lexer of all other lexemes, {HOST: its threads})

A state in which no lazy DFA is left is one of that lexer itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays
from ..dfa.conjunctions import Conjunction, from_sections
from ..dfa.lazy_reader import Reader, Threads
from ..dfa.stacked_dfas import DEAD
from ..maximal_munch.lexer import NO_ACCEPT, Lexer, LexerTables
from ..tokens.memo import Made, memoised
from ..tokens.sharing import weakly
from .check import LEXEMES, TERMINALS

# Bytes of a state, its threads and its steps so far, roughly.
_STATE_BYTES = 1500

# Lazy lexemes, ascending, and where each is.
Places: TypeAlias = tuple[tuple[int, Threads], ...]


class Parts(NamedTuple):
    """What a state stands for. ``others``: the state of the lexer of all other lexemes."""

    others: int
    places: Places


@dataclass(frozen=True, eq=False)
class LazyLexerTables(LexerTables):
    """``lazily``: the conjunctions of the lexemes that have lazy DFAs. Those in ``dfas`` read the
    first byte of these alone, and accept then."""

    lazily: Mapping[int, Sequence[Conjunction]]

    @property
    def is_lazy(self) -> bool:
        """Whether some lexemes have no complete DFA."""
        return True

    def lexer(
        self, sets: Sequence[tuple[int, ...]] = ((),), table: NDArray[np.int32] | None = None
    ) -> "LazyLexer":
        """A lexer of them."""
        return LazyLexer(self, sets, table)


def conjunctions_of(arrays: Arrays) -> dict[int, Sequence[Conjunction]]:
    """The conjunctions of the lexemes that have lazy DFAs, of a file's sections."""
    conjunctions, spans = from_sections(arrays), pairwise(arrays[TERMINALS].tolist())
    lexemes = zip(arrays[LEXEMES].tolist(), spans, strict=True)
    return {lexeme: conjunctions[low:high] for lexeme, (low, high) in lexemes}


class LazyLexer(Lexer):
    """``parts``: of the states in which some lazy DFA is left. ``readers``: of the lazy DFAs, by
    lexeme."""

    def __init__(
        self,
        tables: LazyLexerTables,
        sets: Sequence[tuple[int, ...]] = ((),),
        table: NDArray[np.int32] | None = None,
    ) -> None:
        super().__init__(tables, sets, table)
        self.readers = {lexeme: Reader(each) for lexeme, each in tables.lazily.items()}
        self.parts: dict[int, Parts] = {}
        self._lazy_numbers: dict[Parts, int] = {}

    @property
    def nbytes(self) -> int:
        """About the size of all states without lazy DFAs."""
        return super().nbytes * (self.states - len(self.parts)) // self.states

    @property
    def lazy_nbytes(self) -> int:
        """About the size of all others."""
        return _STATE_BYTES * len(self.parts)

    @memoised
    def start(self, allowed: frozenset[int]) -> int:
        """The state before a lexeme where the parser allows ``allowed``."""
        wanted = allowed | self.ignored
        lazily = sorted(wanted & self.readers.keys())
        begun = sorted(self._begins[lexeme] for lexeme in wanted - self.readers.keys())
        places = tuple((lexeme, self.readers[lexeme].start) for lexeme in lazily)
        return self._lazy(self._number(tuple(begun)), places)

    def lexemes(self, state: int) -> frozenset[int]:
        """The lexemes that can still be read in a state."""
        parts = self.parts.get(state)
        if parts is None:
            return super().lexemes(state)
        return super().lexemes(parts.others) | {lexeme for lexeme, _ in parts.places}

    def ended(self, state: int) -> tuple[int, ...]:
        """The lexemes with DFAs that may end in a state without lazy ones, of any priority."""
        return tuple(self._owners[s] for s in self.sets[state] if self._accepting[s])

    def accept_set(self, lexemes: Sequence[int]) -> int:
        """The number of what is read where these lexemes may end; ``NO_ACCEPT`` for none."""
        return self._accept_set(lexemes) if lexemes else NO_ACCEPT

    def same(self, parts: Parts) -> int:
        """The number of a state."""
        return self._lazy(*parts)

    def _lazy(self, others: int, places: Places) -> int:
        if not places:
            return others
        parts = Parts(others, places)
        number = self._lazy_numbers.get(parts)
        if number is None:
            readers = self.readers
            ended = [lexeme for lexeme, at in places if readers[lexeme].accepts(at)]
            if self._shortest and (left := self._left_of(others, ended)):
                number = self._lazy_numbers[parts] = self._number(left)
                return number
            number = self._lazy_numbers[parts] = self.states
            # Of its own DFA states there are those of the other lexemes alone.
            self._sets.append(self.sets[others])
            self._keep(number, DEAD, self.accept_set([*self.ended(others), *ended]))
            self.rows[number] = Made(partial(weakly(self._step), number))
            self.parts[number] = parts
        return number

    def _left_of(self, others: int, ended: Sequence[int]) -> tuple[int, ...]:
        """The DFA states in which the shortest lexemes end, if some do: of all others, and of the
        lazy ones ``ended`` those that stand for them, which read no further either."""
        found = [inner for inner in self.sets[others] if self._ends_all(inner)]
        dfas = self.tables.dfas
        for lexeme in self._shortest.intersection(ended):
            found.append(int(dfas.table[dfas.starts[lexeme]].max()))
        return tuple(sorted(found))

    def is_shortest(self, lexeme: int) -> bool:
        """Whether a lexeme ends as soon as it may, and all others with it."""
        return lexeme in self._shortest

    def may_end_all(self, state: int) -> bool:
        """Whether some lexeme is read that ends all others where it ends."""
        return bool(self._shortest) and not self._shortest.isdisjoint(self.lexemes(state))

    def read(self, state: int, text: bytes) -> int:
        """The state after a text that some lexeme of a state reads as a whole, else ``DEAD``."""
        if len(text) > 1 and self.may_end_all(state):
            for octet in text:
                state = self.rows[state][octet]
            return state
        others, places = self.parts[state]
        for octet in text:
            others = self.rows[others][octet]
        read = [(lexeme, self.readers[lexeme].read(at, text)) for lexeme, at in places]
        return self._lazy(others, tuple(each for each in read if each[1]))

    def _step(self, state: int, octet: int) -> int:
        return self.read(state, bytes([octet]))
