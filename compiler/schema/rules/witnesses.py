"""Which members may be there for the conditions on some key, and whether these can all be met.

    some key beginning with b is 1, some key is null       the conditions
    a, b1, then other keys                                 members in their turn, cells last

A set of conditions is a number with a bit for each. A member meets several at once where one value
can; a named key is written once, and of a cell the last key counts, so that each member is there
for one set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from constrain.artifacts.tokens.memo import memoised

from ..formulas import Some
from ..goals import Goal
from ..normal import Normal
from ..sets import Texts


@dataclass(frozen=True, slots=True)
class Member:
    """A named key, or a cell of other keys, and what the value must satisfy.

    ``witnesses``: the numbers of the conditions that it may be there for.
    """

    key: str | Texts
    goal: Goal
    is_required: bool
    witnesses: tuple[int, ...]


class Witnesses:
    """The members of an object, those of ``named`` keys and then ``cells``, for ``conditions``."""

    def __init__(
        self,
        named: Sequence[Member],
        cells: Sequence[Member],
        conditions: Sequence[Some],
        normal: Normal,
    ) -> None:
        self._named, self._cells = named, cells
        self.conditions, self._normal = conditions, normal
        self._every = (1 << len(conditions)) - 1

    def of(self, member: Member) -> Sequence[tuple[int, Goal]]:
        """The sets of conditions that a member can meet, none first, with what its value satisfies
        then."""
        if not member.witnesses:
            return ((0, member.goal),)
        return self._sets[member]

    @cached_property
    def _sets(self) -> dict[Member, list[tuple[int, Goal]]]:
        return {m: self._of(m) for m in (*self._named, *self._cells) if m.witnesses}

    def _of(self, member: Member) -> list[tuple[int, Goal]]:
        numbers, found = member.witnesses, [(0, member.goal)]
        for chosen in (c for n in range(1, len(numbers) + 1) for c in combinations(numbers, n)):
            goals = (self.conditions[i].goal for i in chosen)
            goal = self._normal.goals.both(member.goal, *goals)
            if not self._normal.is_surely_empty(goal):
                found.append((sum(1 << i for i in chosen), goal))
        return found

    @property
    def goals(self) -> list[Goal]:
        """What values may have to satisfy."""
        members = (*self._named, *self._cells)
        return list(dict.fromkeys(goal for member in members for _, goal in self.of(member)))

    def can_end(self, passed: int, met: int, closed: int = 0) -> bool:
        """Whether the conditions that are not ``met`` can be, so many named keys being passed, and
        the cells that are ``closed`` having been there for some."""
        if met == self._every:
            return True
        return met in (self._in_cells(closed) if closed else self._possible[passed])

    @cached_property
    def _possible(self) -> list[set[int]]:
        """By how many named keys were passed, what may have been met by then."""
        found = [self._in_cells(0)]
        for member in reversed(self._named):
            found.append(self._before(member, found[-1]) if member.witnesses else found[-1])
        return found[::-1]

    @memoised
    def _in_cells(self, closed: int) -> set[int]:
        """The same after all named keys."""
        found = {self._every}
        for i, cell in enumerate(self._cells):
            if not closed >> i & 1:
                found = self._before(cell, found)
        return found

    def _before(self, member: Member, after: set[int]) -> set[int]:
        return {met & ~new for met in after for new, _ in self.of(member) if not new & ~met}

    def ways(self) -> list[list[Goal]]:
        """What the values of members satisfy in objects that are as few members as can be: where
        the last members meet the conditions, and where the first ones do."""
        found = [self._way(min)]
        return [*found, self._way(max)] if self.conditions else found

    def _way(self, choose: Callable[..., tuple[int, Goal]]) -> list[Goal]:
        found: list[Goal] = []
        met = closed = 0
        for i, member in enumerate((*self._named, *self._cells)):
            if i >= len(self._named):
                closed |= 1 << i - len(self._named)
            following = min(i + 1, len(self._named))
            possible = [
                (new, goal)
                for new, goal in self.of(member)
                if not new & met and self.can_end(following, met | new, closed)
            ]
            new, goal = choose(possible)
            if new or member.is_required:
                found.append(goal)
            met |= new
        return found
