"""The tables of Earley's recogniser: productions without ε, terminals' automata, a jagged array.

    v ::= '[' v ']' | 'x'      symbols  ~0 v ~1 END | ~2 END      ~t: terminal t, END: after a
    production

``JaggedRows`` is where the columns of items lie: rows of any length in one buffer, which grows and
shrinks at its end only, as columns do while a text is read and tokens are taken back.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import ParserNames

# Type codes of unsigned values of 4 and 8 bytes; the first is used as long as all values fit.
_NARROW, _WIDE = "I", "Q"
_NARROW_END, _WIDE_END = 1 << 32, 1 << 64


class JaggedRows:
    """Rows of integers below 2¹²⁸ in one buffer, appended and removed at the end only.

    Values take 4 bytes each until one needs 8, and 8 until one needs 16.
    """

    def __init__(self) -> None:
        self._data = array(_NARROW)
        self._ends = array(_WIDE)
        # Places of the buffer that a value takes: 2 for its lower and its upper half.
        self._places = 1

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._ends)

    def append(self, row: Sequence[int]) -> None:
        """Add a row. Raises ``OverflowError`` for a value that does not fit 16 bytes."""
        largest = max(row, default=0)
        if largest >= _NARROW_END and self._data.typecode == _NARROW:
            self._data = array(_WIDE, self._data)
        if largest >= _WIDE_END and self._places == 1:
            self._data = array(_WIDE, _halves(self._data))
            self._places = 2
        self._data.extend(row if self._places == 1 else array(_WIDE, _halves(row)))
        self._ends.append(self.values)

    def row(self, number: int) -> Sequence[int]:
        """A copy of one row."""
        begin, end = self._ends[number - 1] if number else 0, self._ends[number]
        if self._places == 1:
            return self._data[begin:end]
        halves = self._data[2 * begin : 2 * end]
        return [low | high << 64 for low, high in zip(halves[::2], halves[1::2], strict=True)]

    def truncate(self, rows: int) -> None:
        """Keep the first ``rows`` rows."""
        if rows < len(self._ends):
            del self._data[self._places * self._ends[rows - 1] if rows else 0 :]
            del self._ends[rows:]

    @property
    def values(self) -> int:
        """The number of values in all rows."""
        return len(self._data) // self._places

    @property
    def nbytes(self) -> int:
        """The size of both buffers."""
        return len(self._data) * self._data.itemsize + len(self._ends) * self._ends.itemsize


def _halves(values: Sequence[int]) -> list[int]:
    """Of each value the lower 8 bytes, then the others."""
    return [half for value in values for half in (value & _WIDE_END - 1, value >> 64)]


# After the last symbol of each production.
END = np.iinfo(np.int32).max


# The sections ``earley.*`` of the fields.
_NAMES = ("symbols", "bodies", "first", "paths", "path_offsets", "rests")


@dataclass(frozen=True, eq=False)
class EarleyTables:
    """Productions without ε (Loup's normal form), concatenated.

    ``symbols``: int32 (P,), the symbol after each dot: a nonterminal's number, ``~t`` for
    terminal t, ``END`` after a production. ``bodies``: int32 (Q,), where each production
    begins in ``symbols``, sorted by head. ``first``: int32 (N + 1,), the productions of n are
    ``bodies[first[n]:first[n + 1]]``. ``start``: a nonterminal. ``nullable_start``: ε is a
    member besides what the productions derive.

    For messages, ``names``: the author's rules, ``texts``: each terminal as it was written.
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

    @classmethod
    def from_sections(
        cls, arrays: Mapping[str, NDArray[Any]], names: ParserNames
    ) -> "EarleyTables":
        """The productions in the sections of an artifact."""
        return cls(
            start=names.start,
            nullable_start=names.nullable_start,
            names=names.rules,
            texts=names.texts,
            **{name: arrays[f"earley.{name}"] for name in _NAMES},
        )

    def sections(self) -> dict[str, NDArray[Any]]:
        """``from_sections`` is the inverse."""
        return {f"earley.{name}": getattr(self, name) for name in _NAMES}

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
