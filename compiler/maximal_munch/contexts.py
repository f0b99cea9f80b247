"""What the lexer may read next in each context of the parser: LR(1) states of a network of lexemes.

    start: "if" start | NAME        state 0: start·       may read "if", NAME
                                    after NAME           the end of the text
                                    after "if"           as in state 0

A context is a set of items: a place in a procedure, and which lexemes may follow the end of that
procedure in this context. So the lexemes that a context allows are exactly those by which some
member goes on: a canonical LR(1) parser finds errors before it does anything else. Where the
parser has one reading of each text (``one_reading.py``), the context is a function of the text.

Source: Knuth, "On the Translation of Languages from Left to Right", 1965; procedures in place of
productions as in LaLonde, "Regular right part grammars and their parsers", 1977.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..limits import Limits
from ..network.counter_tables import first_symbols

# Of a large language there are some thousands.
MOST_STATES = 20_000

_STAGE = "the contexts of the lexer"

# By item, a procedure's start and a place in it, the lexemes that may follow the procedure's end.
# Lexemes are bits of an integer; the one beyond all of them is the end of the text.
Item = tuple[int, int]
Items = dict[Item, int]


@dataclass(frozen=True, eq=False)
class LexemeNetwork:
    """A network over ``lexemes`` lexemes, as lists. Of place s ``edges[s]`` are where lexemes lead
    to, ``calls[s]`` pairs of a procedure's start and a frame, ``ends[s]`` whether the procedure
    may end there, and ``first[s]`` the lexemes that may come first, as bits."""

    edges: list[dict[int, int]]
    calls: list[list[tuple[int, int]]]
    ends: list[bool]
    first: list[int]
    start: int
    lexemes: int
    nullable_start: bool

    @classmethod
    def of(cls, tables: NetworkTables, lexemes: int) -> "LexemeNetwork":
        """The lists of a network without counters."""
        edges = list[dict[int, int]]()
        by_column = tables.table[:, tables.table.shape[1] - tables.terminals :]
        for row in by_column:
            read = np.flatnonzero(row != DEAD)
            edges.append(dict(zip(read.tolist(), row[read].tolist(), strict=True)))
        pairs = list(zip(tables.call_starts.tolist(), tables.call_returns.tolist(), strict=True))
        offsets = tables.call_offsets.tolist()
        calls = [pairs[a:b] for a, b in pairwise(offsets)]
        ends = (tables.accepting != 0).tolist()
        first = np.packbits(first_symbols(tables)[:, -lexemes:], axis=1, bitorder="little")
        bits = [int.from_bytes(row.tobytes(), "little") for row in first]
        return cls(edges, calls, ends, bits, tables.start, lexemes, tables.nullable_start)


@dataclass(eq=False)
class Contexts:
    """The LR(1) states of a network, numbered from 0, where nothing is read.

    ``items[p]``: all items of state p. ``shifts[p]``, ``gotos[p]``: where a lexeme leads to, and a
    procedure that was begun there, by its start. ``entered``: the states that are after a
    lexeme, and 0; the lexer begins in these.
    """

    network: LexemeNetwork
    limits: Limits
    items: list[Items] = field(default_factory=list)
    begun: list[frozenset[int]] = field(default_factory=list)
    kernels: list[frozenset[Item]] = field(default_factory=list)
    shifts: list[dict[int, int]] = field(default_factory=list)
    gotos: list[dict[int, int]] = field(default_factory=list)
    entered: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        network, numbers = self.network, dict[frozenset[tuple[Item, int]], int]()

        def number(kernel: Items, begins: int | None = None) -> int:
            key = frozenset(kernel.items())
            found = numbers.get(key)
            if found is None:
                found = numbers[key] = len(self.items)
                items, begun = self._closed(kernel)
                self.items.append(items)
                self.begun.append(frozenset(begun if begins is None else {*begun, begins}))
                self.kernels.append(frozenset(kernel if begins is None else ()))
            return found

        number({(network.start, network.start): self.end}, network.start)
        self.entered.add(0)
        while len(self.shifts) < len(self.items):
            if not len(self.shifts) % 64:
                self.limits.check_resources(_STAGE)
            self.limits.within(MOST_STATES).check_states(len(self.items), _STAGE)
            by_lexeme, by_call = dict[int, Items](), dict[int, Items]()
            for (start, place), behind in self.items[len(self.shifts)].items():
                for lexeme, target in network.edges[place].items():
                    _add(by_lexeme.setdefault(lexeme, {}), (start, target), behind)
                for called, frame in network.calls[place]:
                    _add(by_call.setdefault(called, {}), (start, frame), behind)
            self.shifts.append({lexeme: number(k) for lexeme, k in by_lexeme.items()})
            self.gotos.append({called: number(k) for called, k in by_call.items()})
            self.entered.update(self.shifts[-1].values())

    @property
    def end(self) -> int:
        """The bit of the end of the text."""
        return 1 << self.network.lexemes

    def allowed(self, state: int) -> frozenset[int]:
        """The lexemes by which some member goes on in a state."""
        found = 0
        for (_, place), behind in self.items[state].items():
            for lexeme in self.network.edges[place]:
                found |= 1 << lexeme
            if self.network.ends[place]:
                found |= behind
        return frozenset(i for i in range(self.network.lexemes) if found >> i & 1)

    def _closed(self, kernel: Items) -> tuple[Items, set[int]]:
        """The items of a state, and the procedures that begin in it."""
        network, items, begun = self.network, dict(kernel), set[int]()
        pending = list(items)
        while pending:
            item = pending.pop()
            behind = items[item]
            for called, frame in network.calls[item[1]]:
                begun.add(called)
                follows = network.first[frame] | (behind if network.ends[frame] else 0)
                inner = called, called
                if inner not in items or items[inner] | follows != items[inner]:
                    items[inner] = items.get(inner, 0) | follows
                    pending.append(inner)
        return items, begun


def _add(items: Items, item: Item, behind: int) -> None:
    items[item] = items.get(item, 0) | behind
