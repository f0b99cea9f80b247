"""The states of a network, each made when it is first met: what it reads, calls, and may end.

    s ::= '[' s? ']' | 'x';     before any text one state is there; reading "[" makes the next

What a state is made of, the ``StateMaker`` knows: a set of places in a grammar. Numbers are given
in the order in which states are met, so nothing that is written to a file has them.
"""

from collections.abc import Sequence
from typing import Protocol

from ..network.loops import Loop
from ..tokens.subtrees import BROKEN, CLASS_BITS, OTHER, UTF8_BETWEEN, UTF8_ILL, UTF8_STEPS

DEAD = 0

# All numbers of states are below this one.
_MOST_STATES = 1 << 40

# Bytes are the symbols below this one.
_OCTETS = 256

# A state that reads more bytes is looked up byte by byte.
_FEW_EDGES = 16

# The classes that a state without a loop leaves on: all.
ALL_CLASSES = 2**64 - 1

# What a state takes with its row, and one that was named and never made, roughly, in bytes.
ROW_BYTES, _NAME_BYTES = 2_600, 250

# What most states have; shared, and never changed.
_NO_CALLS: list[tuple[int, int]] = []

_CLASSES: list[int] = CLASS_BITS.tolist()
_STEPS: list[list[int]] = UTF8_STEPS.tolist()


class StateMaker(Protocol):
    """What states are made of, sets by their numbers.

    ``start``: the set in front of all texts. ``nullable_start``: ε is a member, which no set says.
    ``first_call``: symbols from here on are calls; those between bytes and them, token terminals.
    """

    start: int
    nullable_start: bool
    first_call: int

    def ends(self, number: int) -> bool:
        """Whether a call, or the text, may end in a set."""

    def calls(self, number: int) -> bool:
        """Whether a set calls something."""

    def runs(self, number: int) -> Sequence[int]:
        """What a set reads: low, high, target, low, high, target, … in ascending order."""

    def callee(self, symbol: int) -> int:
        """The set that a call of a symbol starts in; it does not match ε."""


class States(dict[int, list[int]]):
    """State s reads byte b to ``rows[s][b]``, ``DEAD`` where it does not; the row is made when it
    is first looked up, and is an entry of this dictionary. With it come ``calls[s]``, pairs of a
    start and a frame; before there are none. ``ends[s]``: its call may end. ``stops[s]``: it ends
    or calls; ``plain[s]``: it does not. State ``DEAD`` reads nothing. ``known_leaving``,
    ``few_edges``: what ``leaving`` and ``edges_of`` give, by state, where it is known.

    Made under the lock of whoever shares them. Raises what the maker raises.
    """

    def __init__(self, maker: StateMaker) -> None:
        super().__init__()
        self._maker = maker
        self._numbers: dict[int, int] = {}
        self._sets = [-1]
        self._width = maker.first_call
        self.terminals = maker.first_call - _OCTETS
        self.ends, self.stops, self.plain = [False], [False], [False]
        self.calls: list[list[tuple[int, int]]] = [_NO_CALLS]
        self.few_edges: dict[int, list[tuple[int, int]] | None] = {}
        self.known_leaving: dict[int, int] = {}
        self._loops: dict[int, Loop | None] = {}
        self._successors: dict[int, int] = {}
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
            ends = self._maker.ends(made_of)
            stops = ends or self._maker.calls(made_of)
            number = self._numbers[made_of] = self._added(made_of, ends, stops)
        return number

    def _added(self, made_of: int, ends: bool, stops: bool) -> int:
        """The number of a new state."""
        self._sets.append(made_of)
        self.ends.append(ends)
        self.stops.append(stops)
        self.plain.append(not stops)
        self.calls.append(_NO_CALLS)
        return len(self._sets) - 1

    def _callee(self, symbol: int) -> int:
        """The state that a call of a symbol starts in."""
        return self._number(self._maker.callee(symbol))

    def __missing__(self, state: int) -> list[int]:
        """The row of a state, and with it its calls, and its edges if they are few."""
        row, calls = [DEAD] * self._width, []
        edges: list[tuple[int, int]] | None = []
        looping = 0
        runs = self._maker.runs(self._sets[state]) if state != DEAD else ()
        for i in range(0, len(runs), 3):
            low, high, target = runs[i], runs[i + 1], self._number(runs[i + 2])
            if low >= self._width:
                calls += [(self._callee(symbol), target) for symbol in range(low, high + 1)]
                continue
            if low == high:
                row[low] = target
            else:
                row[low : high + 1] = [target] * (high + 1 - low)
            if target == state:
                looping += high + 1 - low
            if edges is not None and low < _OCTETS:
                few = len(edges) + high - low < _FEW_EDGES
                edges = [*edges, *((b, target) for b in range(low, high + 1))] if few else None
        self.few_edges[state] = edges
        if looping < 2:
            self._loops[state] = None
        if calls:
            self.calls[state] = calls
        self[state] = row
        return row

    def edges_of(self, state: int) -> list[tuple[int, int]] | None:
        """The bytes that a state reads, and where they lead; None if they are many."""
        assert self[state]
        return self.few_edges[state]

    def loop(self, state: int) -> Loop | None:
        """The characters that lead a state back to itself; None for fewer than two. All characters
        outside ASCII are among them or, as far as this says, none."""
        row = self[state]
        if state not in self._loops:
            inside = bytes([target == state for target in row[:128]])
            loops = inside.count(1) > 1
            loop = Loop(inside, self._loops_outside_ascii(state)) if loops else None
            self._loops[state] = loop
        return self._loops[state]

    def successor(self, state: int) -> int:
        """The state that loops, to which most ASCII characters lead from another one; ``DEAD``
        where there is none."""
        found = self._successors.get(state)
        if found is None:
            row, found = self[state][:128], DEAD
            if self.edges_of(state) is None:
                found = max(set(row), key=row.count)
                if found == state or self.loop(found) is None:
                    found = DEAD
            self._successors[state] = found
        return found

    def leaving(self, state: int) -> int:
        """The classes of characters on which a state does not loop, as bits (``tokens.subtrees``);
        those that it loops on end and call nothing on the way."""
        found = self.known_leaving.get(state)
        if found is None:
            found, loop = ALL_CLASSES, self.loop(state)
            if loop is not None and not self.stops[state]:
                found = 1 << BROKEN | (0 if loop.others else 1 << OTHER)
                for octet, stays in enumerate(loop.ascii):
                    if not stays:
                        found |= _CLASSES[octet]
            self.known_leaving[state] = found
        return found

    def _loops_outside_ascii(self, state: int) -> bool:
        """Whether each character outside ASCII leads back to a state, nothing else does so far as
        bytes outside ASCII go, and nothing stops in the middle of one."""
        seen = {(UTF8_BETWEEN, state)}
        pending = [(UTF8_BETWEEN, state)]
        for read, inside in pending:
            if read != UTF8_BETWEEN and self.stops[inside]:
                return False
            row, steps = self[inside], _STEPS[read]
            for octet in range(128 if read == UTF8_BETWEEN else 0, 256):
                step, target = steps[octet], row[octet]
                if step == UTF8_ILL:
                    if target != DEAD:
                        return False
                elif target == DEAD or (step == UTF8_BETWEEN and target != state):
                    return False
                elif step != UTF8_BETWEEN and (step, target) not in seen:
                    seen.add((step, target))
                    pending.append((step, target))
        return True
