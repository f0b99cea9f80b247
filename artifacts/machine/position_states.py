"""The states of a grammar: the sets of its positions, each found when it is first needed.

what a position leads to is written    when a set first has it       positions.py
what a set reads is merged             when its row is made          state_lists.py
"""

from collections.abc import Callable, Sequence

from .positions import END, Positions
from .state_lists import EMPTY, ENDED, StateLists


class PositionStates:
    """A ``StateMaker`` (``states.py``) of ``positions``.

    ``start_of``: by number the position that a procedure starts in, the first of them the grammar's
    start. ``nullable_start``: ε is a member. Raises what writing positions raises.
    """

    def __init__(
        self,
        positions: Positions,
        start_of: Callable[[int], int],
        first_call: int,
        nullable_start: bool,
    ) -> None:
        self._arcs, self._start_of = positions.arcs, start_of
        self._lists = StateLists(positions, None, _unchecked)
        self.first_call, self.nullable_start = first_call, nullable_start
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
        place = symbol - self.first_call
        while len(self._callees) <= place:
            begun = self._lists.closure(self._start_of(len(self._callees)))
            self._callees.append(self._lists.not_ended(begun))
        return self._callees[place]

    def _calls_from(self, state: int) -> bool:
        return state != END and any(low >= self.first_call for low in self._arcs[state][::3])


def _unchecked() -> None:
    """What a text meets is little; nothing is looked at on the way."""
