"""Where the lexer stands between two lexemes: what it may read next, and which bytes it may not.

    "<"  "<="  NAME     after "<" a "=" begins nothing: the lexer would have read "<="
                        after NAME a letter begins nothing

Contexts in which the lexer does the same are one. It does so for two sets of allowed lexemes where
each byte that may begin a lexeme of both may begin the same lexemes of both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch.lexer import NO_ACCEPT, Lexer
from constrain.artifacts.tokens.memo import memoised

from ..automata.graphs import reached
from ..limits import Limits

# In the place of a lexeme: one that is ignored.
IGNORED = -1

# By lexeme, and by the columns that go on there, as bits, the states of the lexer in which it ends.
Ends = Mapping[int, Mapping[int, Sequence[int]]]


class Seam(NamedTuple):
    """A place between two lexemes. ``context``: of ``LexerContexts``. ``barred``: columns that do
    not begin the next lexeme, as the last one would have gone on or may not end there, as bits."""

    context: int
    barred: int


@dataclass(frozen=True, slots=True)
class Run:
    """What a state of the lexer does. ``targets``: by column, as pairs. ``ended``: the lexemes that
    may end there; ``is_ignored``: one of them is. ``reads``: the columns of ``targets``, and those
    before which none may end."""

    targets: Sequence[tuple[int, int]]
    ended: frozenset[int]
    is_ignored: bool
    reads: int


class LexerContexts:
    """The contexts of a lexer that differ: ``allowed[i]`` are the lexemes of context i."""

    def __init__(self, lexer: Lexer, limits: Limits) -> None:
        self.lexer, self.limits = lexer, limits
        self.ignored = lexer.ignored
        self.allowed: list[frozenset[int]] = []
        columns: dict[int, list[int]] = {}
        for octet, column in enumerate(lexer.columns.tolist()):
            columns.setdefault(column, []).append(octet)
        self.columns = columns
        dfas = lexer.tables.dfas
        starts = dfas.table[dfas.starts[: lexer.tables.lexemes]]
        self._first = [_bits(np.flatnonzero(row != DEAD).tolist()) for row in starts]

    @memoised
    def number(self, allowed: frozenset[int]) -> int:
        """The context in which a parser allows ``allowed``."""
        for number, other in enumerate(self.allowed):
            if self.are_alike(allowed, other):
                self.allowed[number] = allowed | other
                return number
        self.allowed.append(allowed)
        return len(self.allowed) - 1

    def are_alike(self, one: frozenset[int], other: frozenset[int]) -> bool:
        """Whether the lexer reads alike what each of two sets of lexemes allows where the parser
        allows both of them."""
        both = one | other
        return self._is_within(one, both) and self._is_within(other, both)

    def first(self, context: int) -> int:
        """The columns that begin a lexeme."""
        return self._begins(self.allowed[context] | self.ignored)

    def begins(self, lexemes: int) -> int:
        """The columns that begin one of some lexemes, as bits, or ignored text."""
        return self._begins(
            {i for i in range(lexemes.bit_length()) if lexemes >> i & 1} | self.ignored
        )

    def start(self, context: int) -> int:
        """The state of the lexer before a lexeme."""
        return self.lexer.start(self.allowed[context])

    @memoised
    def run(self, state: int) -> Run:
        """What a state of the lexer does."""
        row = self.lexer.rows[state]
        reads = _bits(c for c, octets in self.columns.items() if row[octets[0]] != DEAD)
        targets = [(c, row[o[0]]) for c, o in self.columns.items() if row[o[0]] > DEAD]
        accept = self.lexer.accept_of[state]
        ended = frozenset[int]() if accept == NO_ACCEPT else self.lexer.accept_sets[accept]
        return Run(targets, ended, not ended.isdisjoint(self.ignored), reads)

    def begun(self, seam: Seam) -> Sequence[tuple[int, int]]:
        """Columns that may begin a lexeme at a seam, and the states they lead to."""
        targets = self.run(self.start(seam.context)).targets
        return [each for each in targets if not seam.barred >> each[0] & 1]

    @memoised
    def ends(self, seam: Seam) -> Ends:
        """Where the next lexeme after a seam may end."""
        return self._ending(self.states_in_one(seam))

    @memoised
    def ends_from(self, seam: Seam) -> Ends:
        """The same with ignored text in front of it."""

        def after(state: int) -> list[int]:
            run = self.run(state)
            again = self.begun(Seam(seam.context, run.reads)) if run.is_ignored else ()
            return [target for _, target in (*run.targets, *again)]

        return self._ending(reached((target for _, target in self.begun(seam)), after))

    def _ending(self, states: Iterable[int]) -> Ends:
        found: dict[int, dict[int, list[int]]] = {}
        for state in states:
            run = self.run(state)
            for lexeme in (*run.ended, *([IGNORED] if run.is_ignored else ())):
                found.setdefault(lexeme, {}).setdefault(run.reads, []).append(state)
        return found

    def states_in_one(self, seam: Seam) -> Sequence[int]:
        """The same without ignored text before it."""
        return self.reachable(target for _, target in self.begun(seam))

    @memoised
    def leading_to(self, context: int, ends: frozenset[int]) -> frozenset[int]:
        """The states that lead to one of ``ends``, these included."""
        before = self._before(context)
        return frozenset(reached(ends, lambda state: before.get(state, ())))

    @memoised
    def _before(self, context: int) -> dict[int, set[int]]:
        """By state those that lead to it in a context."""
        found: dict[int, set[int]] = {}
        for state in self.states_in_one(Seam(context, 0)):
            for _, target in self.run(state).targets:
                found.setdefault(target, set()).add(state)
        return found

    def ending_together(self) -> set[frozenset[int]]:
        """The sets of lexemes that may end together."""
        starts = [self.start(context) for context in range(len(self.allowed))]
        accepts = {self.lexer.accept_of[state] for state in self.reachable(starts)} - {NO_ACCEPT}
        return {self.lexer.accept_sets[n] for n in accepts}

    def behind(self, context: int, reads: int) -> Seam:
        """The place after a lexeme that ended where these columns go on, in the next context."""
        return Seam(context, reads & self._firsts[context])

    @cached_property
    def _firsts(self) -> list[int]:
        # No context is added any more.
        return [self.first(i) for i in range(len(self.allowed))]

    def reachable(self, states: Iterable[int]) -> list[int]:
        """The states of the lexer that ``states`` lead to, they included."""
        found = [*reached(states, lambda state: [target for _, target in self.run(state).targets])]
        self.limits.check_states(len(found), "the lexer")
        return found

    def _begins(self, lexemes: Iterable[int]) -> int:
        found = 0
        for lexeme in lexemes:
            found |= self._first[lexeme]
        return found

    def _is_within(self, one: frozenset[int], both: frozenset[int]) -> bool:
        """Whether more lexemes that are allowed change nothing about ``one``."""
        more = self._begins(both - one)
        if more & self._begins(one - self.ignored):
            return False
        shared = more & self._begins(self.ignored)
        return not shared or self._are_ignored_alike(one, both, shared)

    def _are_ignored_alike(self, one: frozenset[int], both: frozenset[int], columns: int) -> bool:
        """Whether ignored text that begins with these columns ends at the same places."""
        first, second = (self.run(self.lexer.start(each)) for each in (one, both))
        begun = [each for each in _pairs(first, second) if columns >> each[0] & 1]
        for _, left, right in reached(begun, lambda e: _pairs(self.run(e[1]), self.run(e[2]))):
            a, b = self.run(left), self.run(right)
            if a.is_ignored != b.is_ignored or (a.is_ignored and a.reads != b.reads):
                return False
            if a.is_ignored and bool(b.ended - a.ended):
                return False
        return True


def _pairs(one: Run, other: Run) -> Iterable[tuple[int, int, int]]:
    """Where two runs lead by each column that one of them reads."""
    left, right = dict(one.targets), dict(other.targets)
    return [(c, left.get(c, DEAD), right.get(c, DEAD)) for c in left.keys() | right.keys()]


def _bits(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found
