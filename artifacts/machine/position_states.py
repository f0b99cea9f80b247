"""The states of a grammar: the sets of its positions, each found when it is first needed.

what a position leads to is written    when a set first has it       positions.py
what a set reads is merged             when its row is made          state_lists.py
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .positions import END, Positions
from .state_lists import EMPTY, ENDED, StateLists

_OCTETS = 256


class PositionStates:
    """A ``StateMaker`` (``states.py``) of ``positions``.

    ``start_of``: by number the position that a procedure starts in, the first of them the grammar's
    start. ``nullable_start``: ε is a member. ``growing``: so many terminals, the last ones, are
    called, too. Raises what writing positions raises.
    """

    def __init__(
        self,
        positions: Positions,
        start_of: Callable[[int], int],
        first_call: int,
        nullable_start: bool,
        growing: int = 0,
    ) -> None:
        self._positions, self._arcs, self._start_of = positions, positions.arcs, start_of
        self._lists = StateLists(positions, None, _unchecked)
        self._first_procedure, self.nullable_start = first_call, nullable_start
        self.first_call = first_call - growing
        self._callees: list[int] = []
        self._calls = {EMPTY: False, ENDED: False}
        self.start = self.callee(first_call)

    def ends(self, number: int) -> bool:
        """Whether a call, or the text, may end in a set."""
        return self._lists.ended[number]

    def calls(self, number: int) -> bool:
        """Whether a set calls something."""
        found, pending = self._calls.get(number), []
        while found is None:
            state, rest = self._lists.head_and_rest(number)
            pending.append((number, state))
            number, found = rest, self._calls.get(rest)
        for number, state in reversed(pending):
            found = self._calls[number] = found or self._calls_from(state)
        return found

    def runs(self, number: int) -> Sequence[int]:
        """What a set reads: low, high, target, low, high, target, … in ascending order."""
        return self._lists.runs(number)

    def callee(self, symbol: int) -> int:
        """The set that a call of a symbol starts in; it does not match ε."""
        place = symbol - self._first_procedure
        while len(self._callees) <= place:
            begun = self._lists.closure(self._start_of(len(self._callees)))
            self._callees.append(self._lists.not_ended(begun))
        return self._callees[place]

    def following(self, begins: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
        """For each growing terminal the bytes that may follow it, bool (256,), or some more; each
        begins with those of ``begins``. All positions are written for that."""
        behind: list[set[int]] = [set() for _ in begins]
        everywhere, first = set[int](), self.first_call
        for low, high, target in self._arcs_from({self._start_of(0)}, through=True):
            for symbol in range(max(low, first), high + 1):
                everywhere.add(target)
                if symbol < self._first_procedure:
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
        they lead to."""
        seen = set(positions)
        pending = list(seen)
        for position in pending:
            self._lists.closure(position)
            arcs, reached = self._arcs[position], list(self._positions.epsilon[position])
            for low, high, target in zip(arcs[::3], arcs[1::3], arcs[2::3], strict=True):
                yield low, high, target
                calls = range(max(low, self._first_procedure), high + 1)
                reached += [self._start_of(symbol - self._first_procedure) for symbol in calls]
                reached += [target] * through
            new = set(reached) - seen
            seen |= new
            pending += new

    def _calls_from(self, state: int) -> bool:
        return state != END and any(low >= self.first_call for low in self._arcs[state][::3])


def _unchecked() -> None:
    """What a text meets is little; nothing is looked at on the way."""
