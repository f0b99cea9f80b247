"""Classes of strings that do the same in every state of a network, found by reading backwards.

The *column* of a string holds its effect in each state. That of the byte b before a string s
follows from b and the column of s: it is the effect of s where the moves by b lead, behind the
frames that they push. So a byte leads from class to class of strings, as it leads from state to
state in an automaton, and a column is worked out once for each class and byte that come together.
Where a call may end at once, the frame below reads all of the string: the string is a *rest*,
and of those only what they do in frames counts.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.first_moves import FirstMoves
from constrain.artifacts.network_tables import NetworkTables

from ..limits import Limits
from .below import frames_below
from .effects import UNKNOWN, Effects, Numbers

# Classes: strings that nothing reads, the empty one, and those whose columns there is no room for.
REFUSED, EMPTY, UNREAD = 0, 1, 2

# Effects in the columns that are worked out at once.
_STEP = 1 << 21

# Columns that are worked out for each that is kept; beyond them strings are UNREAD at once.
_TRIED = 4


class StringClasses:
    """``columns``: uint16 (classes, S), the effect of each class in each state, in the first
    ``len(self)`` rows. ``most``: so many columns are kept, and the others UNREAD."""

    def __init__(self, tables: NetworkTables, most: int, limits: Limits) -> None:
        self._tables, self._limits = tables, limits
        size = tables.states
        self._frames = tables.frames
        self._most = min(most, UNKNOWN)
        self._tries = _TRIED * self._most
        self.effects = Effects(size, self._frames.tolist(), self._most)
        self.columns: Numbers = np.zeros((64, size), dtype=np.uint16)
        self.columns[EMPTY] = np.arange(size)
        self.columns[UNREAD, 1:] = UNKNOWN
        self._numbers = {self.columns[i].tobytes(): i for i in (REFUSED, EMPTY, UNREAD)}
        width = int(tables.classes.max()) + 1
        self._before = np.full((len(self.columns), width), -1, dtype=np.int32)
        self._before[[REFUSED, UNREAD]] = [[REFUSED], [UNREAD]]
        self._rest_numbers: dict[bytes, int] = {}
        self._ends = np.flatnonzero(tables.accepting)
        self._returning = _returning(tables, self._frames)
        self._moves = FirstMoves(tables)
        octets = np.unique(tables.classes, return_index=True)[1].tolist()
        self._by_octet = [self._pushing(octet) for octet in octets]

    def __len__(self) -> int:
        """The number of classes."""
        return len(self._numbers)

    def before(self, octets: NDArray[np.integer], classes: NDArray[np.integer]) -> Numbers:
        """The classes of strings behind one more byte each; ``octets``: the columns of the bytes
        in the network's table."""
        missing = self._before[classes, octets] < 0
        pairs = np.unique(octets[missing].astype(np.int64) << 32 | classes[missing])
        self._before[pairs[self._tries :] & 0xFFFFFFFF, pairs[self._tries :] >> 32] = UNREAD
        pairs = pairs[: self._tries]
        self._tries -= len(pairs)
        step = max(1, _STEP // self._tables.states)
        for begin in range(0, len(pairs), step):
            self._limits.check_time("the effects of the tokens", self._tables.names[:1])
            pair = pairs[begin : begin + step]
            octet, behind = pair >> 32, pair & 0xFFFFFFFF
            after = self._tables.table[:, octet].T
            found = np.ascontiguousarray(self.columns[behind[:, None], after])
            # Pairs ascend: those of one byte are neighbours.
            cuts = np.flatnonzero(np.diff(octet, prepend=-1, append=-1)).tolist()
            for low, high in pairwise(cuts):
                moves = self._by_octet[int(octet[low])]
                self._add_pushing(found[low:high], self.columns[behind[low:high]], moves)
            self._before[behind, octet] = self._classes(found)
        result: Numbers = self._before[classes, octets].astype(np.uint16)
        return result

    def of_terminal(self, number: int) -> int:
        """The class of a token terminal."""
        symbol = 256 + number
        column = int(self._tables.classes.max()) + 1 + number
        found = self.columns[EMPTY][self._tables.table[:, column]][None]
        self._add_pushing(found, self.columns[EMPTY][None], self._pushing(symbol))
        return int(self._classes(found)[0])

    def union(self, left: NDArray[np.integer], right: int) -> Numbers:
        """The classes of what can be read in two ways."""
        different, places = np.unique(left, return_inverse=True)
        columns = self.columns[different]
        other = np.broadcast_to(self.columns[right], columns.shape)
        both = self.effects.union(columns.ravel(), other.ravel()).reshape(columns.shape)
        result: Numbers = self._numbered(both).astype(np.uint16)[places]
        return result

    def _pushing(self, symbol: int) -> NDArray[np.int64]:
        """The moves by a symbol that push: from where, to where, the number of the frames."""
        found = [
            (state, target, self.effects.pushes(frames))
            for state, calls in enumerate(self._tables.calls)
            if calls
            for target, frames in self._moves.of(state, symbol)
            if frames
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    def _add_pushing(self, found: Numbers, behind: Numbers, moves: NDArray[np.int64]) -> None:
        """Add to columns ``found`` what the strings ``behind`` do after moves that push."""
        sources, targets, pushes = moves
        if not len(sources):
            return
        inner = behind[:, targets]
        rows, which = np.nonzero(inner)
        lifted = self.effects.behind(pushes[which], inner[rows, which])
        cells = (rows * found.shape[1] + sources[which])[lifted > 0]
        lifted = lifted[lifted > 0]
        order = np.argsort(cells, kind="stable")
        cells, lifted = cells[order], lifted[order]
        flat = found.reshape(-1)
        while len(cells):
            # Each cell once; the rest of its moves after that.
            first = np.diff(cells, prepend=-1) > 0
            flat[cells[first]] = self.effects.union(flat[cells[first]], lifted[first])
            cells, lifted = cells[~first], lifted[~first]

    def _classes(self, found: Numbers) -> NDArray[np.int32]:
        """The classes of columns that lack what is read behind the ends of calls."""
        read = found[:, self._frames] > 0
        useful = read.astype(np.float32) @ self._returning > 0
        rests = np.zeros(len(found), dtype=np.int64)
        new = []
        for row in np.flatnonzero(useful.any(axis=1)).tolist():
            known = len(self._rest_numbers)
            rests[row] = self._rest_numbers.setdefault(found[row, self._frames].tobytes(), known)
            if rests[row] == known:
                new.append(row)
        rows, ends = np.nonzero(useful)
        states = self._ends[ends]
        found[rows, states] = self.effects.with_rest(found[rows, states], rests[rows])
        self.effects.rests.extend(found[new][:, self._frames].tolist())
        return self._numbered(found)

    def _numbered(self, found: Numbers) -> NDArray[np.int32]:
        result = np.empty(len(found), dtype=np.int32)
        for row, column in enumerate(found):
            key = column.tobytes()
            number = self._numbers.get(key)
            if number is None:
                number = self._add(key, column)
            result[row] = number
        return result

    def _add(self, key: bytes, column: Numbers) -> int:
        number = len(self._numbers)
        if number >= self._most:
            return UNREAD
        if number == len(self.columns):
            self.columns = np.concatenate((self.columns, np.zeros_like(self.columns)))
            self._before = np.concatenate((self._before, np.full_like(self._before, -1)))
        self._numbers[key] = number
        self.columns[number] = column
        return number


def _returning(tables: NetworkTables, frames: NDArray[np.int32]) -> NDArray[np.float32]:
    """1 for (frame, ending state) where the frame can come to be on top by returns alone."""
    below = frames_below(tables)
    place = {frame: number for number, frame in enumerate(frames.tolist())}
    ending = np.flatnonzero(tables.accepting).tolist()
    found = np.zeros((len(frames), len(ending)), dtype=np.float32)
    for column, state in enumerate(ending):
        met = dict.fromkeys(below[state])
        pending = list(met)
        for frame in pending:
            new = [g for g in below[frame] if tables.ends[frame] and g not in met]
            met.update(dict.fromkeys(new))
            pending.extend(new)
        found[[place[frame] for frame in met], column] = 1
    return found
