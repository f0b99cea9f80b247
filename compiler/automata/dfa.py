"""Deterministic automata as tables: byte classes, token terminals, origins, and trimming."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.tokens.vocabulary import TokenClasses

from ..limits import Limits
from .nfa import FIRST_TERMINAL, Arc, Nfa, Origins

DEAD = 0

_STAGE = "the DFA"

# Cells that are looked at in one step.
_BLOCK = 1 << 18

# States whose numbers end so are where time and memory are looked at.
_BETWEEN_CHECKS = 1023

# What an edge takes while states are looked for.
_EDGE_BYTES = 24

# The ids of a set of tokens, ascending: int32 (n,).
TokenIds: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """A complete automaton over byte classes and token terminals; state 0 is dead.

    ``table``: int32 (S, C + T). ``classes``: uint8 (256,), byte to one of C columns; the last
    T columns are the token terminals. ``accepting``: bool (S,). ``origins``: for each state
    the atomic origins of what may be read there. ``is_trimmed``: as ``trimmed`` leaves it.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    accepting: NDArray[np.bool_]
    start: int
    origins: tuple[Origins, ...]
    is_trimmed: bool = False

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)

    @property
    def byte_columns(self) -> int:
        """C: number of columns that bytes use."""
        return int(self.classes.max()) + 1

    @property
    def is_empty(self) -> bool:
        """Whether there is no member (holds for trimmed automata)."""
        return self.start == DEAD

    def run(self, symbols: Iterable[int], state: int | None = None) -> int:
        """The state after ``symbols``, ``DEAD`` if there is none."""
        state = self.start if state is None else state
        for symbol in symbols:
            state = int(self.table[state, self.column(symbol)])
        return state

    def column(self, symbol: int) -> int:
        """The column of a byte or a token terminal."""
        if symbol < FIRST_TERMINAL:
            return int(self.classes[symbol])
        return self.byte_columns + symbol - FIRST_TERMINAL

    def accepts(self, symbols: Iterable[int]) -> bool:
        """Whether ``symbols`` is a member."""
        return bool(self.accepting[self.run(symbols)])

    def byte_ranges(self) -> list[list[tuple[int, int]]]:
        """For each of the C columns its bytes as ranges, ascending."""
        ranges: list[list[tuple[int, int]]] = [[] for _ in range(self.byte_columns)]
        ends = np.append(np.flatnonzero(self.classes[1:] != self.classes[:-1]), 255)
        first = 0
        for last, column in zip(ends.tolist(), self.classes[ends].tolist(), strict=True):
            ranges[column].append((first, last))
            first = last + 1
        return ranges

    def used_bytes(self) -> NDArray[np.bool_]:
        """Which bytes occur on some edge between live states, shape (256,)."""
        used: NDArray[np.bool_] = (self.table != DEAD).any(axis=0)[self.classes]
        return used

    @property
    def token_columns(self) -> int:
        """T: number of columns that token terminals use."""
        return int(self.table.shape[1]) - self.byte_columns

    def tables(self, terminals: Sequence[TokenIds] | None = None) -> ByteDfa:
        """The automaton as an artifact stores it.

        ``terminals``: the ids of each of the T token terminals, ascending; without them, as
        before a tokenizer is known, no id is read.
        """
        nobody = np.zeros(0, dtype=np.int32)
        return ByteDfa(
            self.table,
            self.classes,
            TokenClasses.of([nobody] * self.token_columns if terminals is None else terminals),
            self.accepting.astype(np.uint8),
            self.start,
        )


def literal(data: bytes) -> Dfa:
    """The minimal automaton of one text, not empty, numbered as ``minimize`` would."""
    octets = np.frombuffer(data, dtype=np.uint8)
    distinct = np.zeros(256, dtype=np.bool_)
    distinct[octets] = True
    # Columns are numbered by their first bytes; what the text does not hold shares one.
    missing = np.flatnonzero(~distinct)[:1]
    firsts = np.sort(np.append(np.flatnonzero(distinct), missing))
    classes = np.full(256, np.searchsorted(firsts, missing).sum(), dtype=np.uint8)
    classes[distinct] = np.searchsorted(firsts, np.flatnonzero(distinct))
    table = np.zeros((len(data) + 2, len(firsts)), dtype=np.int32)
    table[np.arange(len(data)) + 1, classes[octets]] = np.arange(len(data)) + 2
    accepting = np.zeros(len(table), dtype=np.bool_)
    accepting[-1] = True
    return Dfa(table, classes, accepting, 1, (frozenset(),) * len(table), is_trimmed=True)


def nothing() -> Dfa:
    """The automaton without members."""
    table, classes = np.zeros((1, 1), dtype=np.int32), np.zeros(256, dtype=np.uint8)
    return Dfa(table, classes, np.zeros(1, dtype=np.bool_), DEAD, (frozenset(),))


def from_tables(tables: ByteDfa) -> Dfa:
    """The automaton that an artifact stores, without its origins; inverse of ``tables``."""
    origins: tuple[Origins, ...] = (frozenset(),) * tables.states
    accepting = tables.accepting.astype(np.bool_)
    return Dfa(tables.table, tables.classes, accepting, tables.start, origins)


def trimmed(dfa: Dfa, limits: Limits | None = None) -> Dfa:
    """Only the dead state and live ones, numbered breadth-first from the start.

    A state is live if it lies on a path from the start to an accepting state. Columns
    that no longer differ are joined; the numbering depends on the language's automaton
    alone, so equal minimal automata come out equal. Raises ``LimitError`` (time, memory).
    """
    if dfa.is_trimmed:
        return dfa
    limits = limits or Limits()
    # Columns without bytes lead nowhere, so they go before any state is looked at.
    columns, classes = _joined_columns(dfa.table, dfa.classes, limits)
    sources, targets = edges(dfa.table, columns, limits)
    live = _coreachable(dfa.accepting, sources, targets, limits)
    order = [DEAD]
    if live[dfa.start]:
        if not live.all():
            remain = live[targets]
            sources, targets = sources[remain], targets[remain]
        starts = np.searchsorted(sources, np.arange(dfa.states + 1)).tolist()
        following = array("i", targets.tobytes())
        seen = bytearray(dfa.states)
        seen[dfa.start] = 1
        order.append(dfa.start)
        for state in islice(order, 1, None):
            if not state & _BETWEEN_CHECKS:
                limits.check_resources(_STAGE)
            for target in following[starts[state] : starts[state + 1]]:
                if not seen[target]:
                    seen[target] = 1
                    order.append(target)
    inner = np.array(order)
    renumber = np.zeros(dfa.states, dtype=np.int32)
    renumber[inner] = np.arange(len(inner), dtype=np.int32)
    limits.check_allocation(len(inner) * len(columns) * 4, _STAGE)
    table = np.empty((len(inner), len(columns)), dtype=np.int32)
    for rows in _blocks(table):
        table[rows] = renumber[dfa.table[inner[rows]][:, columns]]
        limits.check_resources(_STAGE)
    if len(inner) < dfa.states:
        columns, classes = _joined_columns(table, classes, limits)
        if len(columns) < table.shape[1]:
            table = np.ascontiguousarray(table[:, columns])
    return Dfa(
        table=table,
        classes=classes,
        accepting=dfa.accepting[inner] & live[inner],
        start=int(renumber[dfa.start]) if live[dfa.start] else DEAD,
        origins=tuple(dfa.origins[s] if s != DEAD else frozenset() for s in order),
        is_trimmed=True,
    )


def _blocks(table: NDArray[np.int32]) -> Iterator[slice]:
    """Slices of rows, of about as many cells each as are worth a step of their own."""
    rows = max(1, _BLOCK // max(table.shape[1], 1))
    for first in range(0, len(table), rows):
        yield slice(first, first + rows)


def without_bytes(dfa: Dfa, missing: NDArray[np.bool_]) -> Dfa:
    """The members that hold none of the bytes ``missing``, bool (256,); trimmed."""
    if not (missing & dfa.used_bytes()).any():
        return dfa
    dead = dfa.byte_columns
    if dead == 256:
        raise ValueError("a DFA with 256 byte classes has no room for one more; trim it first")
    table = np.insert(dfa.table, dead, DEAD, axis=1)
    classes = np.where(missing, dead, dfa.classes).astype(np.uint8)
    return trimmed(Dfa(table, classes, dfa.accepting, dfa.start, dfa.origins))


def as_nfa(dfa: Dfa, rules: Sequence[str] = (), *, keep_origins: bool = True) -> Nfa:
    """The automaton as an NFA, one arc for each run of bytes; its dead state has no arcs."""
    nfa = Nfa(
        arcs=[[] for _ in range(dfa.states)],
        epsilon=[[] for _ in range(dfa.states)],
        start=dfa.start,
        finals=frozenset(np.flatnonzero(dfa.accepting).tolist()),
        rules=rules,
    )
    none = frozenset[int]()
    for first in range(0, dfa.states, _RUN_ROWS):
        for state, low, high, target in _runs(dfa, first):
            origins = dfa.origins[state] if keep_origins else none
            nfa.arcs[state].append(Arc(low, high, target, origins))
    return nfa


# States whose runs are looked for at once.
_RUN_ROWS = 4096


def _runs(dfa: Dfa, first: int) -> Iterator[tuple[int, int, int, int]]:
    """Runs of symbols with one target that is not dead, of some states from ``first`` on: (state,
    low, high, target)."""
    rows = dfa.table[first : first + _RUN_ROWS]
    whole = np.concatenate([rows[:, dfa.classes], rows[:, dfa.byte_columns :]], axis=1)
    begins = np.ones(whole.shape, dtype=np.bool_)
    np.not_equal(whole[:, 1:], whole[:, :-1], out=begins[:, 1:])
    # Token terminals are not bytes, and stand alone.
    begins[:, FIRST_TERMINAL:] = True
    places = np.flatnonzero(begins)
    ends = np.append(places[1:], whole.size) - 1
    targets = whole.ravel()[places]
    live = targets != DEAD
    places, ends, width = places[live], ends[live], whole.shape[1]
    states = places // width + first
    return zip(
        states.tolist(),
        (places % width).tolist(),
        (ends % width).tolist(),
        targets[live].tolist(),
        strict=True,
    )


def edges(
    table: NDArray[np.int32],
    columns: NDArray[np.intp] | None = None,
    limits: Limits | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sources, ascending, and targets of the edges between live states, in the order of
    ``columns``, which are all unless given.

    A run of neighbouring columns with one target is one edge; both arrays have shape (m,).
    Raises ``LimitError``.
    """
    limits = limits or Limits()
    found: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    count = 0
    for block in _blocks(table):
        rows = table[block] if columns is None else table[block][:, columns]
        begins = rows != DEAD
        begins[:, 1:] &= rows[:, 1:] != rows[:, :-1]
        if not block.start:
            begins[DEAD] = False
        cells = np.flatnonzero(begins)
        sources = (cells // rows.shape[1] + block.start).astype(np.int32)
        found.append((sources, rows.ravel()[cells]))
        count += len(cells)
        limits.check_allocation(count * _EDGE_BYTES, _STAGE)
        limits.check_resources(_STAGE)
    if len(found) == 1:
        return found[0]
    nobody = [np.zeros(0, dtype=np.int32)]
    sources, targets = zip(*found, strict=True) if found else (nobody, nobody)
    return np.concatenate(sources), np.concatenate(targets)


def _coreachable(
    accepting: NDArray[np.bool_],
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    limits: Limits,
) -> NDArray[np.bool_]:
    """States from which an accepting one can be reached, the dead state never."""
    order = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[order], np.arange(len(accepting) + 1)).tolist()
    before = array("i", sources[order].tobytes())
    live = bytearray(accepting.tobytes())
    live[DEAD] = 0
    pending = np.flatnonzero(accepting).tolist()
    while pending:
        state = pending.pop()
        if not state & _BETWEEN_CHECKS:
            limits.check_resources(_STAGE)
        for source in before[starts[state] : starts[state + 1]]:
            if not live[source]:
                live[source] = 1
                pending.append(source)
    return np.frombuffer(live, dtype=np.bool_)


def _joined_columns(
    table: NDArray[np.int32], classes: NDArray[np.uint8], limits: Limits
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """The columns that remain where bytes with equal columns have one class, numbered by first
    byte, and unused columns are dropped; and the class of each byte."""
    width = int(classes.max()) + 1
    # Columns of one number are equal so far.
    numbers = [0] * width
    for block in _blocks(table):
        by_column = np.ascontiguousarray(table[block, :width].T)
        met: dict[tuple[int, bytes], int] = {}
        numbers = [
            met.setdefault((number, column.tobytes()), len(met))
            for number, column in zip(numbers, by_column, strict=True)
        ]
        limits.check_resources(_STAGE)
    joined: dict[int, int] = {}
    columns: list[int] = []
    class_of = np.zeros(width, dtype=np.uint8)
    for column in dict.fromkeys(classes.tolist()):
        number = joined.setdefault(numbers[column], len(joined))
        if number == len(columns):
            columns.append(column)
        class_of[column] = number
    columns.extend(range(width, table.shape[1]))
    return np.array(columns, dtype=np.intp), class_of[classes]
