"""Whether a state of a conjunction with operands is live, and by how few characters.

A member is looked for by an A* search over states (Hart, Nilsson and Raphael 1968): what the DFA
alone needs to a member is never more than what all need. Of two states with the same state of the
DFA the one whose required sets are supersets, and whose excluded sets are subsets, reaches whatever
the other one reaches: the other is passed over (antichains: De Wulf, Doyen, Henzinger and Raskin
2006). The search ends when a member is found or nothing is left, and so is exact; what it may visit
is bounded.
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np

from ..errors import ArtifactError
from ..tokens.memo import memoised
from ..tokens.watch import Watch, unwatched
from .conjunctions import DEAD, Conjunction
from .lengths import NEVER, Lengths
from .sets import Derivatives

# The sets of the operands, in order.
Sets: TypeAlias = tuple[int, ...]

# States that one search visits at most, and results that are cached.
MOST_VISITED, _MOST_RESULTS = 50_000, 1 << 17

# So many states with the same state of the DFA, those that were met last, one is compared with.
_COMPARED = 32


class UndecidedError(ArtifactError):
    """A search has visited as many states as it may."""


class _Visited(NamedTuple):
    """A state that is looked at, after the ``parent``-th, and the characters read to it."""

    state: int
    sets: Sets
    enough: int
    characters: int
    parent: int


class Emptiness:
    """``most``: states that one search visits at most. ``watch``: told of each one."""

    def __init__(
        self,
        conjunction: Conjunction,
        lengths: Lengths,
        operands: Sequence[Derivatives],
        most: int = MOST_VISITED,
        watch: Watch = unwatched,
    ) -> None:
        self._conjunction, self._lengths, self._most = conjunction, lengths, most
        self._operands, self._watch = operands, watch
        self._found: dict[tuple[int, Sets, int], int] = {}

    def fewest(self, state: int, sets: Sets, enough: int) -> int:
        """The fewest characters of at least ``enough`` that lead to a member, ``NEVER`` if there
        are none. Raises ``UndecidedError``."""
        found = self._found.get((state, sets, enough))
        if found is None:
            if len(self._found) >= _MOST_RESULTS:
                self._found.clear()
            found = self._search(_Visited(state, sets, enough, 0, -1))
        return found

    def _search(self, first: _Visited) -> int:
        visited: list[_Visited] = [first]
        front: dict[tuple[int, int], list[tuple[int, Sets]]] = {}
        met: dict[tuple[int, int, Sets], int] = {}
        waiting: list[tuple[int, int, int, int, bool]] = []

        def wait(number: int, total: int, is_found: bool) -> None:
            """Of those that take equally many, the one that is furthest, and easiest, is next."""
            each = visited[number]
            hardness = self._hardness(each.sets)
            heappush(waiting, (total, -each.characters, hardness, number, is_found))

        at_least = self._lengths.fewest_of(first.enough, first.state)
        if at_least < NEVER:
            wait(0, at_least, False)
        while waiting:
            self._watch(1, 0)
            total, _, _, number, is_found = heappop(waiting)
            here = visited[number]
            if is_found:
                return self._noted(visited, number, total)
            cached = self._found.get((here.state, here.sets, here.enough))
            if cached is None and not here.enough and self._accepts(here.state, here.sets):
                cached = 0
            if cached is not None:
                if cached < NEVER:
                    wait(number, here.characters + cached, True)
                continue
            for target, begins, column in self._edges_of(here.state):
                sets = derived(self._operands, here.sets, column)
                if sets is None:
                    continue
                characters = here.characters + begins
                enough = max(here.enough - begins, 0)
                at_least = characters + self._lengths.fewest_of(enough, target)
                if at_least >= NEVER or met.get((target, enough, sets), NEVER) <= characters:
                    continue
                others = front.setdefault((target, enough), [])
                if any(
                    sooner <= characters and self._is_easier(other, sets)
                    for sooner, other in others[-_COMPARED:]
                ):
                    continue
                met[target, enough, sets] = characters
                others.append((characters, sets))
                visited.append(_Visited(target, sets, enough, characters, number))
                wait(len(visited) - 1, at_least, False)
            if len(visited) > self._most:
                raise UndecidedError(
                    f"whether a member can be reached is not decided within {self._most:,} states"
                )
        for each in visited:
            self._found[each.state, each.sets, each.enough] = NEVER
        return NEVER

    def _noted(self, visited: list[_Visited], number: int, total: int) -> int:
        while number >= 0:
            each = visited[number]
            self._found[each.state, each.sets, each.enough] = total - each.characters
            number = each.parent
        return total

    def _accepts(self, state: int, sets: Sets) -> bool:
        return bool(self._conjunction.accepts[state]) and accepted(self._operands, sets)

    def _hardness(self, sets: Sets) -> int:
        """Less where fewer states are excluded, and more are in what is required."""
        return sum(
            states.bit_count() if operand.excludes else -states.bit_count()
            for operand, states in zip(self._operands, sets, strict=True)
        )

    def _is_easier(self, one: Sets, other: Sets) -> bool:
        """Whether ``one`` reaches whatever ``other`` reaches."""
        for operand, here, there in zip(self._operands, one, other, strict=True):
            common = here & there
            if common != (here if operand.excludes else there):
                return False
        return True

    @memoised
    def _edges_of(self, state: int) -> list[tuple[int, int, int]]:
        """Where a state leads, whether a character begins, and by which column."""
        begins = self._conjunction.begins & (not self._conjunction.phases[state])
        row = self._conjunction.table[state]
        columns = np.flatnonzero(row != DEAD).tolist()
        return [(int(row[column]), int(begins[column]), column) for column in columns]


def derived(operands: Sequence[Derivatives], sets: Sets, column: int) -> Sets | None:
    """The sets after a byte of ``column``; None where a required operand has none."""
    found = []
    for operand, states in zip(operands, sets, strict=True):
        target = operand.step(states, column)
        if not target and not operand.excludes:
            return None
        found.append(target)
    return tuple(found)


def accepted(operands: Sequence[Derivatives], sets: Sets) -> bool:
    """Whether a text is one of all required operands and of none that is excluded."""
    return all(
        operand.accepts(states) != operand.excludes
        for operand, states in zip(operands, sets, strict=True)
    )
