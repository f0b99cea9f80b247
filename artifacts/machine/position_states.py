"""The states of a grammar: the sets of its positions, each found when it is first needed.

    what a position leads to is written    when a set first has it       positions.py
    what a set reads is merged             when its row is made          state_lists.py

A set in a long repetition is that of the first few items, and how many more were read: a thousand
characters of a string are one set and a number.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..tokens.lengths import ENDLESS
from ..tokens.memo import memoised, top_down
from .positions import END, Positions
from .repetitions import Repetitions
from .state_lists import EMPTY, ENDED, StateLists

_OCTETS = 256

# A set is the number of a list, and above so many bits how many items more were read.
_LIST_BITS = 32
_LIST = (1 << _LIST_BITS) - 1

# Of each position of a set, what a file calls it.
Name: TypeAlias = tuple[tuple[int, int, int], ...]

# Numbers of repetitions, and how many items were read.
_Copies = frozenset[tuple[int, int]]


def _unchecked() -> None:
    """What a text meets is little; nothing is looked at on the way."""


def _nameless(position: int) -> None:
    """Positions that are in no file have no name there."""


class PositionStates:
    """What states (``states.py``) are made of, by ``positions``: sets by their numbers.

    ``start_of``: by number the position that a procedure starts in, the first of them the grammar's
    start. ``nullable_start``: ε is a member. ``growing``: so many terminals, the last ones, are
    called, too. ``repetitions``: among the positions. ``begin_turn`` is called in front of each
    token and each mask. ``name``: what a file calls a position. Raises what writing positions
    raises.
    """

    def __init__(
        self,
        positions: Positions,
        start_of: Callable[[int], int],
        first_call: int,
        nullable_start: bool,
        growing: int = 0,
        repetitions: Repetitions | None = None,
        begin_turn: Callable[[], None] = _unchecked,
        name: Callable[[int], tuple[int, int, int] | None] = _nameless,
    ) -> None:
        self._positions, self._arcs, self._start_of = positions, positions.arcs, start_of
        self.begin_turn, self._name = begin_turn, name
        self._repetitions = repetitions or Repetitions(positions)
        self._lists = StateLists(positions, None, _unchecked)
        self.first_procedure, self.nullable_start = first_call, nullable_start
        self.first_call = first_call - growing
        self._callees: list[int] = []
        self._calls = {EMPTY: False, ENDED: False}
        self._copies: dict[int, _Copies] = {EMPTY: frozenset(), ENDED: frozenset()}
        self._rooms = {EMPTY: ENDLESS, ENDED: ENDLESS}
        self.start = self.callee(first_call)

    def seen(self, number: int) -> tuple[bool, bool, int]:
        """Whether a call, or the text, may end in a set; whether it calls something; and of how
        many characters texts lead where they lead from its ``twin``."""
        inner, more = number & _LIST, number >> _LIST_BITS
        if inner not in self._calls:
            self._look_at(inner)
        room = self._rooms[inner]
        if more:
            ((only, read),) = self._copies[inner]
            room = self._repetitions.room(only, read + more)
        return self._lists.ended[inner], self._calls[inner], room

    def ends(self, number: int) -> bool:
        """Whether a call, or the text, may end in a set."""
        return self._lists.ended[number & _LIST]

    def runs(self, number: int) -> Sequence[int]:
        """What a set reads: low, high, target, low, high, target, … in ascending order."""
        runs = self._lists.runs(number)
        if self._repetitions.is_empty:
            return runs
        runs = runs[:]
        runs[2::3] = [self._set(target) for target in runs[2::3]]
        return runs

    def base(self, number: int) -> int:
        """The set of which ``runs`` is asked: of one that stands further inside of a repetition the
        one that stands for it, of others itself."""
        return number & _LIST

    def further(self, number: int, target: int) -> int:
        """Where a set leads if its base leads to a target."""
        ((repetition, first),) = self._copies_of(number & _LIST)
        behind, read = target & _LIST, target >> _LIST_BITS
        return self._set(behind, repetition, first, read + (number >> _LIST_BITS))

    def callee(self, symbol: int) -> int:
        """The set that a call of a symbol starts in; it does not match ε."""
        place = symbol - self.first_procedure
        while len(self._callees) <= place:
            begun = self._lists.closure(self._start_of(len(self._callees)))
            self._callees.append(self._set(self._lists.not_ended(begun)))
        return self._callees[place]

    def following(self, begins: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
        """For each growing terminal the bytes that may follow it, bool (256,), or some more; each
        begins with those of ``begins``. All positions are written for that."""
        behind: list[set[int]] = [set() for _ in begins]
        everywhere, first = set[int](), self.first_call
        for low, high, target in self._arcs_from({self._start_of(0)}, through=True):
            for symbol in range(max(low, first), high + 1):
                everywhere.add(target)
                if symbol < self.first_procedure:
                    behind[symbol - first].add(target)
        found = []
        for targets in behind:
            read = np.zeros(_OCTETS, dtype=np.bool_)
            if any(self._lists.ended[self._lists.closure(target)] for target in targets):
                # Where a call ends, any other may go on.
                targets = targets | everywhere
            for low, high, _ in self._arcs_from(targets, through=False):
                read[low : high + 1] = True
                for symbol in range(max(low, first), min(high + 1, first + len(begins))):
                    read |= begins[symbol - first]
            found.append(read)
        return found

    def _arcs_from(
        self, positions: Iterable[int], *, through: bool
    ) -> Iterator[tuple[int, int, int]]:
        """The arcs of positions and of what is called there; and, ``through`` all of them, of what
        they lead to. Repetitions go on as if they had no bounds."""

        def reached(position: int) -> Iterator[int]:
            yield from self._positions.epsilon[position]
            for low, high, target in self._leaving(position):
                calls = range(max(low, self.first_procedure), high + 1)
                yield from (self._start_of(symbol - self.first_procedure) for symbol in calls)
                if through:
                    yield target

        def endless(position: int) -> Iterable[int]:
            return map(self._repetitions.endless, reached(position))

        for position in top_down(positions, endless):
            self._lists.closure(position)
            yield from self._leaving(position)

    def _leaving(self, position: int) -> Iterator[tuple[int, int, int]]:
        """The arcs of a position."""
        arcs = self._arcs[position]
        return zip(arcs[::3], arcs[1::3], arcs[2::3], strict=True)

    def twin(self, number: int) -> int:
        """The set that goes on without the bounds of repetitions: it reads, calls and ends as this
        one, as far as there is room."""
        repetitions, members = self._repetitions, self._lists.members(number & _LIST)
        twins = (repetitions.twin(p) if repetitions.copy_at(p) else p for p in members)
        return self._lists.of(twins, ended=self.ends(number))

    def name(self, number: int) -> Name | None:
        """What a file calls a set: the names of its positions, and of the end if it may end there;
        None where one has none."""
        if number > _LIST:
            return None
        found = [self._name(position) for position in self._lists.members(number)]
        found += [(END, 0, 0)] * self.ends(number)
        names = sorted(name for name in found if name is not None)
        return tuple(names) if len(names) == len(found) else None

    def counts_characters(self, number: int) -> bool:
        """Whether the room of a set is what is left up to the next bound of one repetition, of
        items that begin with characters."""
        copies = self._copies_of(number & _LIST)
        return len(copies) == 1 and all(self._repetitions.reads_characters(n) for n, _ in copies)

    def behind_least(self, number: int) -> int | None:
        """Where a set that counts characters leads if as many items are read as there must be, and
        these were not read yet."""
        ((repetition, read),) = self._copies_of(number & _LIST)
        front = self._repetitions.behind_least(repetition, read)
        return None if front is None else self._set(self._lists.closure(front))

    def uncounted(self, number: int) -> int:
        """The positions of a set that are in no repetition."""
        members = self._lists.members(number & _LIST)
        alone = (p for p in members if self._repetitions.copy_at(p) is None)
        return self._lists.of(alone, ended=self.ends(number))

    def includes(self, number: int, part: int) -> bool:
        """Whether it is seen at once that a set reads what another one does."""
        is_real = number <= _LIST and part <= _LIST
        return number == part or (is_real and self._lists.includes(number, part))

    def _set(self, number: int, repetition: int = 0, first: int = 0, more: int = 0) -> int:
        """The set of a list whose copies of a repetition, from that after ``first`` items on, are
        those after so many ``more``."""
        copies = self._copies_of(number)
        if not copies:
            return number
        if len(copies) > 1:
            return self._with_more(number, repetition, first, more) if more else number
        ((only, read),) = copies
        real = read + more if only == repetition and read >= first else read
        alike = self._repetitions.alike(only, real)
        return real - alike << _LIST_BITS | self._with_more(number, only, read, alike - read)

    @memoised
    def _with_more(self, number: int, repetition: int, first: int, more: int) -> int:
        """The list in which copies are those after so many items more."""
        if not more:
            return number
        members = list(self._lists.members(number))
        for place, position in enumerate(members):
            copy = self._repetitions.copy_at(position)
            if copy is not None and copy[0] == repetition and copy[1] >= first:
                members[place] = self._repetitions.moved(position, more)
        return self._lists.of(members, ended=self._lists.ended[number])

    def _copies_of(self, number: int) -> _Copies:
        """Up to two of the copies that a list is in."""
        if number not in self._copies:
            self._look_at(number)
        return self._copies[number]

    def _look_at(self, number: int) -> None:
        """Note of a list what it calls, the copies that it is in, and its room."""
        calls, copies, rooms, pending = self._calls, self._copies, self._rooms, []
        while number not in calls:
            head, rest = self._lists.head_and_rest(number)
            pending.append((number, head, rest))
            number = rest
        arcs, first, is_plain = self._arcs, self.first_call, self._repetitions.is_empty
        for each, head, rest in reversed(pending):
            calls[each] = calls[rest] or max(arcs[head][::3], default=0) >= first
            copies[each], rooms[each] = copies[rest], rooms[rest]
            copy = None if is_plain else self._repetitions.copy_at(head)
            if copy is not None:
                rooms[each] = min(rooms[rest], self._repetitions.room(*copy))
                # Two are many.
                if len(copies[rest]) < 2:
                    copies[each] = copies[rest] | {copy}
