"""The positions of a grammar as arrays of a file, which are read as texts come to them.

arcs     by position what it reads and calls, and where that leads     ``Positions.arcs``
skips    by position where it gets without reading                     ``Positions.epsilon``
starts   by procedure the position in front of it
repeats.*, set.*   long repetitions and permutations among them        ``StoredFronts``

Position 0 is the end. The others are numbered breadth-first from the start of the grammar, so that
the same grammar has the same arrays, whatever was met of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays, check_sections, require
from ..network.check import check_first_calls
from ..tokens.memo import top_down
from .position_states import PositionStates
from .positions import END, NOWHERE, Positions, Runs
from .stored_fronts import Edges, FrontReader, StoredFronts, check_fronts

# The sections, of one of two types.
_SECTIONS = {
    "arc_offsets": "(states+1) to:arcs",
    "arcs": "(arcs, 3) 0..symbols,0..symbols,0..states",
    "skip_offsets": "(states+1) to:skips",
    "skips": "(skips) 0..states",
    "starts": "(called) 0..states",
}

_ARCS = "positions.arcs"

_OCTETS = 256

# Positions that are looked at in front of all procedures, when a file is checked.
_MOST_SKIPPED = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class StoredPositions:
    """N positions and P procedures, int32 or uint16.

    ``arcs``: (A, 3), the lowest and the highest symbol and the target of each arc, by position:
    those of position p from ``arc_offsets[p]`` on, (N + 1,). ``skips``, ``skip_offsets``: the same
    of what is gone to without reading. ``starts``: (P,), the first one the grammar's.
    ``first_call``: the symbols from here on are calls. ``nullable_start``: ε is a member, which no
    position says. ``fronts``: the repetitions and permutations.
    """

    arcs: NDArray[np.integer]
    arc_offsets: NDArray[np.integer]
    skips: NDArray[np.integer]
    skip_offsets: NDArray[np.integer]
    starts: NDArray[np.integer]
    fronts: StoredFronts
    first_call: int
    nullable_start: bool

    @classmethod
    def of(
        cls,
        positions: Positions,
        starts: Sequence[int],
        fronts: StoredFronts,
        first_call: int,
        *,
        nullable_start: bool,
    ) -> "StoredPositions":
        """Of positions that are all written."""
        arcs, skips = positions.arcs, positions.epsilon
        return cls(
            np.array([number for runs in arcs for number in runs], np.int32).reshape(-1, 3),
            np.cumsum([0, *(len(runs) // 3 for runs in arcs)], dtype=np.int32),
            np.array([target for targets in skips for target in targets], np.int32),
            np.cumsum([0, *map(len, skips)], dtype=np.int32),
            np.array(starts, np.int32),
            fronts,
            first_call,
            nullable_start,
        )

    @classmethod
    def from_arrays(
        cls, arrays: Arrays, first_call: int, *, nullable_start: bool
    ) -> "StoredPositions":
        """From sections that have been checked."""
        found = {name: arrays[f"positions.{name}"] for name in _SECTIONS}
        fronts = StoredFronts.from_arrays(arrays)
        return cls(fronts=fronts, first_call=first_call, nullable_start=nullable_start, **found)

    def arrays(self) -> dict[str, NDArray[np.integer]]:
        """The sections: of the narrow type if no number is too large for it."""
        found = {f"positions.{name}": getattr(self, name) for name in _SECTIONS}
        most = max(int(array.max(initial=0)) for array in found.values())
        dtype = np.dtype("<u2" if most < 1 << 16 else "<i4")
        return {n: a.astype(dtype) for n, a in found.items()} | self.fronts.arrays()

    @property
    def calls(self) -> int:
        """How many arcs, and parts of permutations, are calls."""
        sets = self.fronts.sets
        return int((self.arcs[:, 0] >= self.first_call).sum()) + len(sets.parts if sets else ())

    @property
    def counts(self) -> dict[str, int]:
        """What the manifest says of them, for people."""
        repeated, permuted = len(self.fronts.fronts), len(self.fronts.set_fronts)
        found = {"positions": self.states - 1, "calls": self.calls}
        found |= {"repetitions": repeated} if repeated else {}
        return found | ({"sets": permuted} if permuted else {})

    @property
    def states(self) -> int:
        """Number of positions, the end included."""
        return len(self.arc_offsets) - 1

    def positions(self) -> Positions:
        """The positions, all of them read. Fronts lead nowhere."""
        read = _Reader(self, Positions()).read
        pairs = [read(position) for position in range(self.states)]
        return Positions([runs for runs, _ in pairs], [skips for _, skips in pairs])

    def _unread(self) -> tuple[Positions, FrontReader]:
        """The positions, each read when it is first needed."""
        count = self.states
        reader = _Reader(self, found := Positions([[]] * count, [NOWHERE] * count))
        found.unlaid |= dict.fromkeys(range(END + 1, count), reader)
        return found, FrontReader(self.fronts, found, reader.read)

    def copied(self) -> Positions:
        """All positions, and all copies of repetitions."""
        found, _ = self._unread()
        while found.unlaid:
            position, writer = found.unlaid.popitem()
            writer.lay(position)
        return found

    def begun(self, growing: int = 0) -> PositionStates:
        """States of these positions, of which none is made. ``growing``: as there."""
        starts: list[int] = self.starts.tolist()
        positions, reader = self._unread()
        return PositionStates(
            positions,
            starts.__getitem__,
            self.first_call,
            self.nullable_start,
            growing,
            reader.repetitions,
            reader.permutations.begin_turn,
            reader.name,
        )


class _Reader:
    """Reads positions from arrays."""

    def __init__(self, stored: StoredPositions, into: Positions) -> None:
        self._into: Positions = proxy(into)
        # subtle: a memoryview's slices are lists of Python's own integers at once.
        self._arcs = np.ascontiguousarray(stored.arcs).ravel().data
        self._arc_offsets = np.ascontiguousarray(stored.arc_offsets).data
        self._skips = np.ascontiguousarray(stored.skips).data
        self._skip_offsets = np.ascontiguousarray(stored.skip_offsets).data

    def read(self, state: int) -> tuple[Runs, list[int]]:
        """What leaves a position: its runs, and where it gets without reading."""
        begin, end = self._arc_offsets[state], self._arc_offsets[state + 1]
        runs = self._arcs[3 * begin : 3 * end].tolist()
        begin, end = self._skip_offsets[state], self._skip_offsets[state + 1]
        return runs, self._skips[begin:end].tolist()

    def lay(self, state: int) -> None:
        """Read it."""
        self._into.arcs[state], self._into.epsilon[state] = self.read(state)


def check_positions(arrays: Arrays, called: int, terminals: int = 0) -> None:
    """Check the positions of a grammar that calls ``called`` procedures, itself the first, and
    names so many ``terminals``: the bounds of all numbers, and that no chain of first calls leads
    back to its beginning, nor too deep.

    Raises ``ArtifactError`` naming the first section that does not fit.
    """
    arcs = arrays.get(_ARCS)
    dtype = "uint16" if arcs is not None and arcs.itemsize == 2 else "int32"
    declared = {f"positions.{name}": f"{dtype} {text}" for name, text in _SECTIONS.items()}
    first_call = _OCTETS + terminals
    sizes = check_sections(arrays, declared, symbols=first_call + called, called=called)
    require(sizes["states"] > END, "positions.arc_offsets")
    require(called > 0, "positions.starts")
    # Fronts are checked when positions are.
    own = {name: array for name, array in arrays.items() if name.startswith("positions.")}
    found = StoredPositions.from_arrays(own, first_call, nullable_start=False)
    require(int(found.arc_offsets[END + 1]) == 0, "positions.arc_offsets")
    require(int(found.skip_offsets[END + 1]) == 0, "positions.skip_offsets")
    low, high, _ = found.arcs.T
    # A run is of bytes, or one terminal or call.
    require(bool(((low == high) | (low <= high) & (high < _OCTETS)).all()), _ARCS)
    arcs_lead = Edges(found.arcs[:, 2], found.arc_offsets)
    skips_lead = Edges(found.skips, found.skip_offsets)
    fronts = check_fronts(arrays, (first_call, first_call + called), arcs_lead, skips_lead)
    callers, callees = _first_calls(found, fronts)
    check_first_calls(called, callers, callees, "positions.starts")


def _first_calls(
    found: StoredPositions, fronts: StoredFronts
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The procedures that call others before they read, and these."""
    is_call = found.arcs[:, 0] >= found.first_call
    calling = np.repeat(np.arange(found.states), np.diff(found.arc_offsets))[is_call]
    called = dict[int, set[int]]()
    for position, symbol in zip(calling.tolist(), found.arcs[is_call, 0].tolist(), strict=True):
        called.setdefault(position, set()).add(symbol - found.first_call)
    for front, rule in fronts.rules.items():
        called[front] = {symbol - found.first_call for symbol in rule.parts}
    begins, times = fronts.items[:, 0].tolist(), fronts.times
    skips, offsets = found.skips.data, found.skip_offsets.data
    steps, pairs = 0, set[tuple[int, int]]()

    def skipped(position: int) -> Sequence[int]:
        if position not in times:
            return skips[offsets[position] : offsets[position + 1]]
        item, least, _, behind = times[position]
        return [begins[item], *([] if least else [behind])]

    for procedure, start in enumerate(found.starts.tolist()):
        for position in top_down([start], skipped):
            steps += 1
            pairs.update((procedure, callee) for callee in called.get(position, ()))
        require(steps <= _MOST_SKIPPED, "positions.skips")
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
