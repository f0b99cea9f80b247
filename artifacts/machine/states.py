"""The states of a network, each made when it is first met: what it reads, calls, and may end.

    s ::= '[' s? ']' | 'x';     before any text one state is there; reading "[" makes the next

What a state is made of, ``PositionStates`` know: a set of places in a grammar. Numbers are given
in the order in which states are met, so nothing that is written to a file has them.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

from ..tokens.lengths import ENDLESS
from ..tokens.memo import Made, memoised
from ..tokens.subtrees import BROKEN, CLASS_BITS, OUTSIDE
from ..walk.characters import leading_outside_ascii

if TYPE_CHECKING:
    from .position_states import Name, PositionStates

DEAD = 0

# All numbers of states are below this one.
_MOST_STATES = 1 << 40

# Bytes are the symbols below this one.
_OCTETS = 256

# The classes that a state without a loop leaves on: all.
ALL_CLASSES = 2**64 - 1

# More characters than a token has.
_MANY_CHARACTERS = 1 << 20

# Repetitions in a row that are looked at for what is read within their bounds.
_MOST_BOUNDS = 8

# What a state takes with its rows, here and in the walk, and one that was named and never made,
# roughly, in bytes.
ROW_BYTES, _NAME_BYTES = 3_700, 250

# What most states have; shared, and never changed.
_NO_CALLS: list[tuple[int, int]] = []

_CLASSES: list[int] = CLASS_BITS.tolist()


class _FollowingRow(Sequence[int]):
    """The row of a state that leads where its ``base`` does, further inside of a repetition; what
    is not looked at gets no number."""

    def __init__(self, states: "States", state: int, base: int) -> None:
        self.base, self._row = base, states[base]
        self._led = Made[int, int](lambda target: states.further(state, target))

    def __len__(self) -> int:
        return len(self._row)

    @overload
    def __getitem__(self, symbol: int) -> int: ...
    @overload
    def __getitem__(self, symbol: slice) -> list[int]: ...
    def __getitem__(self, symbol: int | slice) -> int | list[int]:
        if isinstance(symbol, slice):
            # Most symbols lead to few states.
            return [self._led[target] for target in self._row[symbol]]
        return self._led[self._row[symbol]]


class States(dict[int, Sequence[int]]):
    """State s reads byte b to ``rows[s][b]``, ``DEAD`` where it does not; the row is made when it
    is first looked up, and is an entry of this dictionary. With it come ``calls[s]``, pairs of a
    start and a frame; before there are none. ``ends[s]``: its call may end. ``stops[s]``: it ends
    or calls; ``plain[s]``: it does not. State ``DEAD`` reads nothing.

    ``rooms[s]``: texts of so many characters lead where they lead from ``twin(s)``; all do if it is
    ``ENDLESS``, which it is of all states unless one ``is_bounded``.

    ``inside``: states that walks of tokens go around, as those of terminals that grow.

    Made under the lock of whoever shares them. Raises what the maker raises.
    """

    inside: Mapping[int, object] = MappingProxyType({})

    def __init__(self, maker: "PositionStates") -> None:
        super().__init__()
        self._maker, self.begin_turn = maker, maker.begin_turn
        self._numbers: dict[int, int] = {}
        self._sets = [-1]
        self._width = maker.first_call
        self.terminals = maker.first_call - _OCTETS
        self.ends, self.stops, self.plain = [False], [False], [False]
        self.calls: list[list[tuple[int, int]]] = [_NO_CALLS]
        self.rooms = [ENDLESS]
        self.is_bounded = False
        self._counting: dict[int, int] = {}
        self.start, self.nullable_start = self._number(maker.start), maker.nullable_start

    @property
    def rows(self) -> "States":
        """By state its targets by symbol."""
        return self

    @property
    def states(self) -> int:
        """More than are ever made."""
        return _MOST_STATES

    @property
    def named(self) -> int:
        """How many states have a number, the dead one included."""
        return len(self._sets)

    @property
    def nbytes(self) -> int:
        """About the size of all that was made."""
        return ROW_BYTES * len(self) + _NAME_BYTES * self.named

    def _number(self, made_of: int) -> int:
        number = self._numbers.get(made_of)
        if number is None:
            ends, calls, room = self._maker.seen(made_of)
            number = self._numbers[made_of] = self._added(made_of, ends, ends or calls)
            if room != ENDLESS:
                self.rooms[number] = min(room, ENDLESS - 1)
                self.is_bounded = True
        return number

    def _added(self, made_of: int, ends: bool, stops: bool) -> int:
        """The number of a new state."""
        self._sets.append(made_of)
        self.ends.append(ends)
        self.stops.append(stops)
        self.plain.append(not stops)
        self.calls.append(_NO_CALLS)
        self.rooms.append(ENDLESS)
        return len(self._sets) - 1

    def _callee(self, symbol: int) -> int:
        """The state that a call of a symbol starts in."""
        return self._number(self._maker.callee(symbol))

    @memoised
    def twin(self, state: int) -> int:
        """The state that goes on as another, without the bounds of repetitions."""
        return self._number(self._maker.twin(self._sets[state]))

    def within(self, state: int, characters: int) -> int:
        """The state that stands for one, if no text is of more than so many characters."""
        if self.is_bounded and characters <= self.rooms[state] < ENDLESS:
            return self.twin(state)
        return state

    def name(self, state: int) -> "Name | None":
        """What a file calls a state, if it can; nothing is the dead one."""
        return () if state == DEAD else self._maker.name(self._sets[state])

    def counting(self, state: int, bounds: int = _MOST_BOUNDS) -> tuple[int, int]:
        """Of a state with bounds, classes of characters, as bits, of which it reads up to so many
        and no more; none where more than ``bounds`` repetitions follow one another, as in a loop.
        Nothing ends or is called on the way."""
        made_of, room = self._sets[state], self.rooms[state]
        if self.stops[state] or not self._maker.counts_characters(made_of):
            return 0, 0
        following, most = self._maker.behind_least(made_of), 0
        classes = ALL_CLASSES
        if following is not None:
            if not bounds:
                return 0, 0
            after = self._number(following)
            classes, most = self.counting(after, bounds - 1)
            if self.rooms[after] == ENDLESS:
                classes, most = ALL_CLASSES & ~self.leaving(after), _MANY_CHARACTERS
            if room == 1:
                return 0, 0
        # Copies of one repetition are alike.
        twin = self.twin(state)
        if twin not in self._counting:
            self._counting[twin] = self._single(state, twin)
        return self._counting[twin] & classes, room + most

    def _single(self, state: int, twin: int) -> int:
        row, room = self[state], self.rooms[state]
        behind = self._number(self._maker.uncounted(self._sets[state]))
        other = self[behind]

        def is_next(target: int) -> bool:
            is_behind = room == 1 and target == behind
            return is_behind or (self.rooms[target] == room - 1 and self.twin(target) == twin)

        following = {target for target in set(row[:_OCTETS]) - {DEAD} if is_next(target)}
        single = others = 0
        for octet in range(128):
            if row[octet] in following and other[octet] == DEAD:
                single |= _CLASSES[octet]
            else:
                others |= _CLASSES[octet]
        if not any(other[128:256]) and len(following) == 1:
            single |= self.leading_outside_ascii(state, *following)
        return single & ~others

    def further(self, state: int, target: int) -> int:
        """Where a state leads if its base leads to ``target``."""
        if target == DEAD:
            return DEAD
        return self._number(self._maker.further(self._sets[state], self._sets[target]))

    def _following_row(self, state: int, base: int) -> Sequence[int]:
        row = self[state] = _FollowingRow(self, state, base)
        if calls := self.calls[base]:
            self.calls[state] = [(start, self.further(state, frame)) for start, frame in calls]
        return row

    def __missing__(self, state: int) -> Sequence[int]:
        """The row of a state, and with it its calls."""
        made_of = self._sets[state]
        base = made_of if state == DEAD else self._maker.base(made_of)
        if base != made_of:
            return self._following_row(state, self._number(base))
        row, calls = [DEAD] * self._width, []
        runs = self._maker.runs(made_of) if state != DEAD else ()
        for i in range(0, len(runs), 3):
            low, high, target = runs[i], runs[i + 1], self._number(runs[i + 2])
            if low >= self._width:
                calls += [(self._callee(symbol), target) for symbol in range(low, high + 1)]
                continue
            if low == high:
                row[low] = target
            else:
                row[low : high + 1] = [target] * (high + 1 - low)
        if calls:
            self.calls[state] = calls
        self[state] = row
        return row

    def leaving(self, state: int) -> int:
        """The classes of characters on which a state does not loop, as bits (``tokens.subtrees``);
        those that it loops on end and call nothing on the way."""
        row = self[state]
        if self.stops[state] or row[:128].count(state) < 2:
            return ALL_CLASSES
        found = 1 << BROKEN | OUTSIDE & ~self.leading_outside_ascii(state, state)
        for octet, target in enumerate(row[:128]):
            if target != state:
                found |= _CLASSES[octet]
        return found

    def includes(self, state: int, part: int) -> bool:
        """Whether it is seen at once that a state reads what another one does."""
        made_of, least = self._sets[state], self._sets[part]
        return min(made_of, least) >= 0 and self._maker.includes(made_of, least)

    def leading_outside_ascii(self, state: int, back: int) -> int:
        """The classes of characters outside ASCII, as bits, all of which lead from a state to
        another one; nothing stops in the middle of one."""
        return leading_outside_ascii(self, self.stops, state, back)
