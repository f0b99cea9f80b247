"""One conjunction with what is found of it for any text: what is live, read and accepted."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..tokens.watch import Watch, unwatched
from .conjunctions import DEAD, UNBOUNDED, Conjunction
from .cores import Cores
from .emptiness import MOST_VISITED, Emptiness, Sets, accepted, derived
from .lengths import NEVER, Lengths
from .sets import Derivatives
from .token_walks import Ends

# For each end whether tokens that lead there are allowed.
Allowed: TypeAlias = NDArray[np.bool_]


class Walked:
    """One conjunction, and what is found of it for any text. ``most_visited``: states that one
    search for a member visits at most. ``watch``: told of each one."""

    def __init__(
        self,
        conjunction: Conjunction,
        most_visited: int = MOST_VISITED,
        watch: Watch = unwatched,
    ) -> None:
        self.conjunction = conjunction
        columns = conjunction.table.shape[1]
        self.operands = [Derivatives(each, columns) for each in conjunction.operands]
        self.lengths = Lengths(conjunction)
        self.emptiness = Emptiness(conjunction, self.lengths, self.operands, most_visited, watch)
        self.begin_cores()
        # What is live with these sets is so with any; there are such if all operands exclude.
        self._hardest = tuple(each.every for each in self.operands)
        self._excludes = all(each.excludes for each in self.operands)
        self._searches = not all(each.is_followed for each in conjunction.operands)
        # The fewest characters from each state with these sets, -1 where they are not found yet.
        self._fewest = np.full(len(conjunction.table), -1, dtype=np.int64)

    def begin_cores(self) -> None:
        """Drop the states that texts have led to."""
        self.cores = Cores(self.conjunction, self.operands)

    @property
    def first(self) -> tuple[int, Sets, int]:
        """State, sets and characters before any text."""
        return self.conjunction.start, tuple(each.start for each in self.operands), 0

    def read(
        self, state: int, sets: Sets, characters: int, text: bytes | memoryview
    ) -> tuple[int, Sets, int] | None:
        """The same after ``text``; None where that begins no member of the DFA or of a required
        operand. Whether the state is live is not looked at."""
        c = self.conjunction
        rows, columns, operands, phases = c.rows, c.columns, self.operands, c.phases
        for octet in text:
            column = columns[octet]
            # Inside a character, or an escape, none begins.
            characters += octet & 0xC0 != 0x80 and not phases[state]
            state = rows[state][column]
            if state == DEAD:
                return None
            if operands:
                reached = derived(operands, sets, column)
                if reached is None:
                    return None
                sets = reached
        return state, sets, self.clipped(characters)

    def clipped(self, characters: int) -> int:
        """The number that a state has of so many characters."""
        c = self.conjunction
        if not c.counts:
            return 0
        return characters if c.most != UNBOUNDED else min(characters, c.least)

    def is_live(self, state: int, sets: Sets, characters: int) -> bool:
        """Whether a member begins so. Raises ``UndecidedError``."""
        enough = max(self.conjunction.least - characters, 0)
        fewest = self.lengths.fewest_of(enough, state)
        if not self._fits(fewest, characters):
            return False
        if not self._searches:
            return True
        return self._fits(self.emptiness.fewest(state, sets, enough), characters)

    def accepts(self, state: int, sets: Sets, characters: int) -> bool:
        """Whether the text so far is a member."""
        c = self.conjunction
        if not c.accepts[state] or characters < c.least:
            return False
        return self._fits(0, characters) and accepted(self.operands, sets)

    def _fits(self, further: int, characters: int) -> bool:
        most = self.conjunction.most
        return further < NEVER and (most == UNBOUNDED or characters + further <= most)

    def live_ends(self, ends: Ends, characters: int) -> Allowed:
        """Which ends are live by the DFA and the bounds; bool (n,)."""
        return self.live_places(ends.states, ends.characters + characters)

    def live_places(self, states: NDArray[np.int64], characters: NDArray[np.int64]) -> Allowed:
        """The same of states, each after so many characters."""
        c = self.conjunction
        fewest = self.lengths.fewest(np.maximum(c.least - characters, 0), states)
        live: Allowed = fewest < NEVER
        if c.most != UNBOUNDED:
            live &= fewest <= c.most - characters
        return live

    def surely_live(self, ends: Ends, live: Allowed, characters: int) -> Allowed:
        """Which of the ends that are ``live`` are so with any sets of the operands."""
        if not self._searches:
            return live
        sure = np.zeros_like(live)
        if not self._excludes:
            return sure
        c, places = self.conjunction, np.flatnonzero(live)
        if characters < c.least:
            for i in places.tolist():
                so_far = characters + int(ends.characters[i])
                sure[i] = self.is_live(int(ends.states[i]), self._hardest, so_far)
            return sure
        states = ends.states[places]
        for state in np.unique(states[self._fewest[states] < 0]).tolist():
            self._fewest[state] = self.emptiness.fewest(state, self._hardest, 0)
        further = self._fewest[states]
        sure[places] = further < NEVER
        if c.most != UNBOUNDED:
            sure[places] &= characters + ends.characters[places] + further <= c.most
        return sure
