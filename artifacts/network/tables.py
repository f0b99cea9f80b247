"""A recursive transition network as arrays: byte automata whose states may call one another.

    s ::= '[' s? ']' | 'x';

    state 1, the start    '[' leads to 2, 'x' to 3
    state 2               ']' leads to 3, or it calls 1 and goes on in 4, the *frame* of that call
    state 4               ']' leads to 3
    state 3               accepts

A configuration is a state and a stack of frames. A call pushes its frame and goes to its start; an
accepting state pops the frame on top and goes on there (Woods, Transition network grammars for
natural language analysis, 1970).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import ParserNames
from ..tokens.distinct import distinct
from .counts import Counters
from .sets import NO_SEPARATOR

DEAD = 0


class Reading(Protocol):
    """What texts are read by: of state s the targets ``rows[s]`` by symbol, the calls ``calls[s]``,
    pairs of a start and a frame, and whether its call may end, ``ends[s]``; ``plain[s]``: it has no
    calls and does not end, so that its own edges are all that it can do. ``states``: all numbers of
    states are below it. ``terminals``, ``start`` and ``nullable_start`` as in ``NetworkTables``."""

    @property
    def rows(self) -> Mapping[int, Sequence[int]]: ...

    @property
    def calls(self) -> Sequence[Sequence[tuple[int, int]]]: ...

    @property
    def ends(self) -> Sequence[bool]: ...

    @property
    def plain(self) -> Sequence[bool]: ...

    @property
    def states(self) -> int: ...

    @property
    def terminals(self) -> int: ...

    @property
    def start(self) -> int: ...

    @property
    def nullable_start(self) -> bool: ...


# The sections ``network.*`` of the fields.
_NAMES = ("table", "classes", "accepting", "call_offsets", "call_starts", "call_returns", "entries")


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """S states, C byte columns, T token terminals; state 0 is dead.

    ``table``: int32 (S, C + T), next state by byte column, then by token terminal, ``DEAD`` for
    none. ``classes``: uint8 (256,), the column of each byte. ``accepting``: uint8 (S,), 1 where the
    call (or the text) may end. The calls of state s are ``call_offsets[s]`` to
    ``call_offsets[s + 1] - 1`` (int64 (S + 1,)): ``call_starts``, int32, the state that the callee
    starts in, and ``call_returns``, int32, the frame to push. No callee matches ε. ``start``: a
    state. ``nullable_start``: ε is a member. For messages, ``names``: the rules that are called,
    the start's first, and ``entries``: int32, the state that each of them starts in.
    ``counters``: what calls may count with, and sets of parts, if there are any; then a call's
    frame may be one of theirs (``Counters.called``), beyond the states.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    accepting: NDArray[np.uint8]
    call_offsets: NDArray[np.int64]
    call_starts: NDArray[np.int32]
    call_returns: NDArray[np.int32]
    start: int
    nullable_start: bool
    names: Sequence[str]
    entries: NDArray[np.int32]
    counters: Counters | None = None

    @classmethod
    def from_sections(
        cls, arrays: Mapping[str, NDArray[Any]], start: int, names: ParserNames
    ) -> "NetworkTables":
        """The network in the sections of an artifact."""
        found = {name: arrays[f"network.{name}"] for name in _NAMES}
        states = len(found["table"])
        return cls(
            start=start,
            nullable_start=names.nullable_start,
            names=names.called,
            counters=Counters.from_arrays(states, arrays) if "count.items" in arrays else None,
            **found,
        )

    def sections(self) -> dict[str, NDArray[Any]]:
        """``from_sections`` is the inverse."""
        counters = {} if self.counters is None else self.counters.arrays()
        return counters | {f"network.{name}": getattr(self, name) for name in _NAMES}

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)

    @property
    def terminals(self) -> int:
        """Number of token terminals, T."""
        return int(self.table.shape[1]) - int(self.classes.max()) - 1

    @cached_property
    def frames(self) -> NDArray[np.int32]:
        """The frames that calls push, each once, ascending."""
        return distinct(self.call_returns)

    @property
    def some_counters(self) -> Counters:
        """The counters of a network that has some."""
        assert self.counters is not None
        return self.counters

    @property
    def has_sets(self) -> bool:
        """Whether some frames are sets of parts."""
        return self.counters is not None and self.counters.sets is not None

    @cached_property
    def call_ends(self) -> NDArray[np.int32]:
        """The state that each call goes on in after its end, that of a counter's last item and of
        a set's last part."""
        if self.counters is None:
            return self.call_returns
        plain, sets = np.arange(self.states, dtype=np.int32), self.counters.sets
        ends = np.concatenate((plain, self.counters.backs))
        if sets is not None:
            ends = np.concatenate((ends, sets.backs[sets.owners]))
        return ends[self.call_returns]

    @cached_property
    def callees(self) -> NDArray[np.int32]:
        """The states in which something begins that was called, ascending: also the parts of sets
        after the first and the separators between them, which no call of the tables names."""
        sets = None if self.counters is None else self.counters.sets
        if sets is None:
            return distinct(self.call_starts)
        separators = sets.separators[sets.separators != NO_SEPARATOR]
        return distinct(np.concatenate((self.call_starts, sets.parts, separators)))

    @cached_property
    def calls(self) -> list[list[tuple[int, int]]]:
        """For each state its (start, frame)."""
        frames = self.call_returns.tolist()
        if self.has_sets:
            called = self.some_counters.called
            frames = [f if f < self.states else called(f) for f in frames]
        pairs = list(zip(self.call_starts.tolist(), frames, strict=True))
        ends = self.call_offsets.tolist()
        found: list[list[tuple[int, int]]] = [_NO_CALLS] * self.states
        for state in np.flatnonzero(self.call_offsets[1:] > self.call_offsets[:-1]).tolist():
            found[state] = pairs[ends[state] : ends[state + 1]]
        return found

    @cached_property
    def rows(self) -> "TableRows":
        """The table by byte (and terminals after them), as lists by state."""
        return TableRows(self)

    @cached_property
    def ends(self) -> list[bool]:
        """Whether each state may end its call."""
        ends: list[bool] = (self.accepting != 0).tolist()
        return ends

    @cached_property
    def plain(self) -> list[bool]:
        """Whether each state has no calls and does not end."""
        stops: NDArray[np.bool_] = (self.accepting != 0) | (np.diff(self.call_offsets) > 0)
        plain: list[bool] = (~stops).tolist()
        return plain


# What most states have; shared, and never changed.
_NO_CALLS: list[tuple[int, int]] = []


class TableRows(dict[int, list[int]]):
    """By state its next states by byte, and by token terminal from 256 on; each row is made when it
    is first read, as a text comes to few of them."""

    def __init__(self, tables: NetworkTables) -> None:
        super().__init__()
        columns = int(tables.classes.max()) + 1
        terminals = np.arange(columns, tables.table.shape[1])
        self._table = tables.table
        self._columns = np.concatenate((tables.classes.astype(np.int64), terminals))

    def __missing__(self, state: int) -> list[int]:
        row: list[int] = self._table[state].take(self._columns).tolist()
        self[state] = row
        return row


# (target, the frames that calls push on the way to it, the lowest first)
FirstTransition = tuple[int, tuple[int, ...]]


class FirstTransitions:
    """How a state reads a symbol without returning: by an edge of its own, or by the first edge of
    a callee, of a callee's callee, …; FIRST sets, with where they lead.

    Computed lazily and cached for good: there are at most S (256 + T) of them. ``plain``: that of
    the tables.
    """

    def __init__(self, tables: Reading) -> None:
        self._rows, self._calls, self.plain = tables.rows, tables.calls, tables.plain
        self._symbols = 256 + tables.terminals
        self._cached: dict[int, tuple[FirstTransition, ...]] = {}

    def of(self, state: int, symbol: int) -> tuple[FirstTransition, ...]:
        """The transitions by a byte, or by 256 + a token terminal.

        No chain of first calls leads back to its beginning, so this ends.
        """
        key = state * self._symbols + symbol
        transitions = self._cached.get(key)
        if transitions is None:
            found = []
            pending: list[FirstTransition] = [(state, ())]
            for reached, frames in pending:
                target = self._rows[reached][symbol]
                if target != DEAD:
                    found.append((target, frames))
                pending.extend((start, (*frames, frame)) for start, frame in self._calls[reached])
            transitions = self._cached[key] = tuple(found)
        return transitions
