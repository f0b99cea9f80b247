"""A grammar as the Earley recogniser reads it: flat productions and the terminals' automata."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# Behind the last symbol of each production.
END = np.iinfo(np.int32).max

# The lexer state that nothing leads out of.
DEAD = 0


@dataclass(frozen=True, eq=False)
class EarleyTables:
    """Productions without ε (Loup's normal form), laid end to end.

    ``symbols``: int32 (P,), the symbol behind each dot: a nonterminal's number, ``~t`` for
    terminal t, ``END`` behind a production. ``bodies``: int32 (Q,), where each production
    begins in ``symbols``, sorted by head. ``first``: int32 (N + 1,), the productions of n are
    ``bodies[first[n]:first[n + 1]]``. ``start``: a nonterminal. ``nullable_start``: ε is a
    member besides what the productions derive.

    For people, ``names``: the author's rules, ``texts``: each terminal as it was written.
    ``paths``, ``path_offsets``: int32, int64 (Q + 1,), for each production the rules (numbers
    in ``names``) that its text lies in, the outermost first; more than one where a rule is
    nothing but another. ``rests``: uint8 (N,), 1 for nonterminals that stand for the rest of a
    production and not for a rule.
    """

    symbols: NDArray[np.int32]
    bodies: NDArray[np.int32]
    first: NDArray[np.int32]
    start: int
    nullable_start: bool
    names: Sequence[str]
    texts: Sequence[str]
    paths: NDArray[np.int32]
    path_offsets: NDArray[np.int64]
    rests: NDArray[np.uint8]

    @property
    def nonterminals(self) -> int:
        """Number of nonterminals, N."""
        return len(self.first) - 1

    def path(self, dot: int) -> list[str]:
        """The rules that the production with a dot lies in, the outermost first."""
        body = int(np.searchsorted(self.bodies, dot, side="right")) - 1
        start, end = self.path_offsets[body : body + 2].tolist()
        return [self.names[rule] for rule in self.paths[start:end].tolist()]


class Terminals(Protocol):
    """The automata of all terminals side by side; ``DEAD`` is no state of any."""

    def start(self, terminal: int) -> int:
        """The state before a terminal."""

    def step(self, state: int, symbol: int) -> int:
        """The state after a byte (or a token terminal, from 256 on)."""

    def accepts(self, state: int) -> bool:
        """Whether the terminal may end here."""

    def next_symbols(self, state: int) -> int:
        """The symbols that lead on, as bits: bit b for symbol b."""


@dataclass(frozen=True, eq=False)
class StackedDfas:
    """Complete DFAs in one table.

    ``table``: int32 (S, C), next state by column, ``DEAD`` for none. ``columns``: uint16
    (256 + T,), the column of each symbol. ``accepting``: uint8 (S,). ``starts``: int32, by
    terminal.
    """

    table: NDArray[np.int32]
    columns: NDArray[np.uint16]
    accepting: NDArray[np.uint8]
    starts: NDArray[np.int32]

    @cached_property
    def _rows(self) -> list[list[int]]:
        rows: list[list[int]] = self.table[:, self.columns].tolist()
        return rows

    @cached_property
    def _outgoing(self) -> list[int]:
        flags = self.table[:, self.columns] != DEAD
        packed = np.packbits(flags, axis=1, bitorder="little")
        return [int.from_bytes(row.tobytes(), "little") for row in packed]

    @cached_property
    def _begins(self) -> list[int]:
        begins: list[int] = self.starts.tolist()
        return begins

    @cached_property
    def _ends(self) -> list[bool]:
        ends: list[bool] = (self.accepting != 0).tolist()
        return ends

    def start(self, terminal: int) -> int:
        """The state before a terminal."""
        return self._begins[terminal]

    def step(self, state: int, symbol: int) -> int:
        """The state after a symbol."""
        return self._rows[state][symbol]

    def accepts(self, state: int) -> bool:
        """Whether the terminal may end here."""
        return self._ends[state]

    def next_symbols(self, state: int) -> int:
        """The symbols that lead on, as bits."""
        return self._outgoing[state]
