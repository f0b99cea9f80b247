"""Precompute what every token does in every state of a network, by reading tokens backwards.

The *column* of a string holds its effect in each state (``constrain.artifacts.network.token_steps``
says what effects are); strings with the same column are a class. The column of the byte b before a
string s follows from b and the column of s: it is the effect of s wherever the first transitions by
b lead, once the frames that these push lie below. So a byte leads from class to class of strings (a
left congruence), as it leads from state to state in an automaton, and a column is computed once for
each byte and class that come together. All tokens are read at once, from their last bytes on: those
that end alike share the work. Where a call may end in front of s, the frame below reads all of s:
it is then a *rest*, of which only the effects in frames count.

    s ::= '[' s? ']' | 'x';    (``constrain.artifacts.network.tables``)

              state 1     state 2      state 3     state 4
    ""        go to 1     go to 2      go to 3     go to 4
    "]"       -           go to 3      rest "]"    go to 3
    "x]"      rest "]"    go to 3      -           -

In state 2 "x]" calls 1, reads "x" there and leaves the rest "]" to frame 4, where it leads to 3.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.closure import frames_below
from constrain.artifacts.network.tables import FirstTransitions, NetworkTables
from constrain.artifacts.network.token_steps import TokenEffects
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..limits import Effort

Numbers: TypeAlias = NDArray[np.uint16]

# A state and the frames that are pushed, the lowest first; all threads of an effect and its rests.
Thread: TypeAlias = tuple[int, tuple[int, ...]]
Effect: TypeAlias = tuple[tuple[Thread, ...], tuple[int, ...]]

# The number of all effects that are not tabulated; beside it there is room for so many.
UNKNOWN = (1 << 16) - 1

# Classes: strings that nothing reads, the empty one, and those whose columns there is no room for.
REFUSED, EMPTY, NOT_TABULATED = 0, 1, 2

# Threads, frames and rests of an effect; one with more is not tabulated.
_MAX_PARTS = 64

# Pairs of effects on which each operation is computed; further ones are not tabulated.
_MAX_PAIRS = 1 << 18

# Columns that are computed for each that is stored; further strings are not tabulated.
_TRIES = 4

# Effects in the columns that are computed at once.
_BATCH = 1 << 21


def token_effects(
    tables: NetworkTables,
    vocabulary: Vocabulary,
    terminals: Sequence[NDArray[np.integer]],
    memory: int,
    effort: Effort,
) -> TokenEffects:
    """The effects of all tokens; ``terminals``: the ids of each token terminal.

    A table of more than ``memory`` bytes is not made: tokens for whose classes there is no room
    are tabulated in no state, those with rare endings first. Raises ``LimitError`` on time alone.
    """
    most = memory // (2 * tables.states)
    if most < 4 or not 1 < tables.states < UNKNOWN:
        return TokenEffects.empty()
    strings = StringClasses(tables, most, effort)
    classes = _classes(strings, tables, vocabulary)
    for number, named in enumerate(terminals):
        classes[named] = strings.union(classes[named], strings.of_terminal(number))
    return _encoded(strings, classes, tables.states)


def _classes(strings: "StringClasses", tables: NetworkTables, vocabulary: Vocabulary) -> Numbers:
    """The class of each token as a text, shape (V,)."""
    octets = tables.classes[vocabulary.data]
    ids = vocabulary.text_ids()
    classes = np.full(vocabulary.size, REFUSED, dtype=np.uint16)
    classes[ids] = EMPTY
    place = vocabulary.offsets[ids + 1] - 1
    while len(ids):
        classes[ids] = strings.prepended(octets[place], classes[ids])
        left = place > vocabulary.offsets[ids]
        ids, place = ids[left], place[left] - 1
    return classes


def _encoded(strings: "StringClasses", classes: Numbers, states: int) -> TokenEffects:
    """The classes that tokens have, and the effects and rests that these lead to, renumbered."""
    used, of_token = np.unique(classes, return_inverse=True)
    table = strings.columns[used].T
    effects = strings.effects
    pending = np.unique(table).tolist()
    reached, rests = set(pending), set[int]()
    for number in pending:
        for rest in effects.interned[number][1] if number != UNKNOWN else ():
            if rest not in rests:
                rests.add(rest)
                new = set(effects.rests[rest]) - reached
                reached |= new
                pending.extend(sorted(new))
    rest_numbers = {rest: number for number, rest in enumerate(sorted(rests))}
    renumbered = np.arange(UNKNOWN + 1, dtype=np.uint16)
    coded: list[list[int]] = []
    first = states + len(rest_numbers)
    for number in sorted(reached - {0, UNKNOWN}):
        codes = effects.codes(number, rest_numbers)
        # A thread alone that pushes nothing, or a rest alone, are numbers as they are codes.
        renumbered[number] = codes[0] if len(codes) == 1 else first + len(coded)
        if len(codes) > 1:
            coded.append(codes)
    renumbered[UNKNOWN] = first + len(coded)
    in_frames = np.array([effects.rests[rest] for rest in rest_numbers], dtype=np.uint16)
    return TokenEffects.of(
        of_token.astype(np.uint16),
        np.ascontiguousarray(renumbered[table]),
        renumbered[in_frames.reshape(len(rest_numbers), len(effects.frames))],
        coded,
    )


class StringClasses:
    """Classes of strings and their columns, found by prepending bytes.

    ``columns``: uint16 (n, S), the effect of each class in each state, in the first ``len(self)``
    rows; so many columns as ``most`` are stored, and other strings are ``NOT_TABULATED``.
    """

    def __init__(self, tables: NetworkTables, most: int, effort: Effort) -> None:
        self._tables, self._effort = tables, effort
        size = tables.states
        self._frames = tables.frames
        self._most = min(most, UNKNOWN)
        self._tries = _TRIES * self._most
        self.effects = Effects(size, self._frames.tolist(), self._most)
        self.columns: Numbers = np.zeros((64, size), dtype=np.uint16)
        self.columns[EMPTY] = np.arange(size)
        self.columns[NOT_TABULATED, 1:] = UNKNOWN
        first = (REFUSED, EMPTY, NOT_TABULATED)
        self._numbers = {self.columns[i].tobytes(): i for i in first}
        width = int(tables.classes.max()) + 1
        # By class and byte column, -1 where it is not computed.
        self._prepended = np.full((len(self.columns), width), -1, dtype=np.int32)
        self._prepended[[REFUSED, NOT_TABULATED]] = [[REFUSED], [NOT_TABULATED]]
        self._rest_numbers: dict[bytes, int] = {}
        self._ends = np.flatnonzero(tables.accepting)
        self._returning = _returning(tables, self._frames, effort)
        self._first_transitions = FirstTransitions(tables)
        octets = np.unique(tables.classes, return_index=True)[1].tolist()
        self._by_column = [self._pushing(octet) for octet in octets]

    def __len__(self) -> int:
        """The number of classes."""
        return len(self._numbers)

    def prepended(self, octets: NDArray[np.integer], classes: NDArray[np.integer]) -> Numbers:
        """The classes of strings with one more byte in front of each; ``octets``: the columns of
        these bytes in the network's table."""
        missing = self._prepended[classes, octets] < 0
        pairs = np.unique(octets[missing].astype(np.int64) << 32 | classes[missing])
        beyond = pairs[self._tries :]
        self._prepended[beyond & 0xFFFFFFFF, beyond >> 32] = NOT_TABULATED
        pairs = pairs[: self._tries]
        self._tries -= len(pairs)
        step = max(1, _BATCH // self._tables.states)
        for begin in range(0, len(pairs), step):
            pair = pairs[begin : begin + step]
            self._effort.spend(len(pair) * self._tables.states)
            octet, behind = pair >> 32, pair & 0xFFFFFFFF
            after = self._tables.table[:, octet].T
            found = np.ascontiguousarray(self.columns[behind[:, None], after])
            # Pairs ascend: those of one byte are neighbours.
            bounds = np.flatnonzero(np.diff(octet, prepend=-1, append=-1)).tolist()
            for low, high in pairwise(bounds):
                pushing = self._by_column[int(octet[low])]
                self._add_pushing(found[low:high], self.columns[behind[low:high]], pushing)
            self._prepended[behind, octet] = self._classes(found)
        result: Numbers = self._prepended[classes, octets].astype(np.uint16)
        return result

    def of_terminal(self, number: int) -> int:
        """The class of a token terminal."""
        symbol = 256 + number
        column = int(self._tables.classes.max()) + 1 + number
        found = self.columns[EMPTY][self._tables.table[:, column]][None]
        self._add_pushing(found, self.columns[EMPTY][None], self._pushing(symbol))
        return int(self._classes(found)[0])

    def union(self, left: NDArray[np.integer], right: int) -> Numbers:
        """The classes of what has two readings."""
        different, places = np.unique(left, return_inverse=True)
        columns = self.columns[different]
        other = np.broadcast_to(self.columns[right], columns.shape)
        both = self.effects.union(columns.ravel(), other.ravel()).reshape(columns.shape)
        result: Numbers = self._numbered(both).astype(np.uint16)[places]
        return result

    def _pushing(self, symbol: int) -> NDArray[np.int64]:
        """The first transitions by a symbol that push frames, int64 (3, n): from where, to where,
        the number of the frames."""
        self._effort.spend(self._tables.states)
        found = [
            (state, target, self.effects.pushes(frames))
            for state, calls in enumerate(self._tables.calls)
            if calls
            for target, frames in self._first_transitions.of(state, symbol)
            if frames
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    def _add_pushing(self, found: Numbers, behind: Numbers, pushing: NDArray[np.int64]) -> None:
        """Add to columns ``found`` what strings, whose columns are ``behind``, do after first
        transitions that push."""
        sources, targets, pushes = pushing
        if not len(sources):
            return
        inner = behind[:, targets]
        rows, which = np.nonzero(inner)
        lifted = self.effects.over_pushes(pushes[which], inner[rows, which])
        cells = (rows * found.shape[1] + sources[which])[lifted > 0]
        lifted = lifted[lifted > 0]
        order = np.argsort(cells, kind="stable")
        cells, lifted = cells[order], lifted[order]
        flat = found.reshape(-1)
        while len(cells):
            # Each cell once, then what else belongs to it.
            first = np.diff(cells, prepend=-1) > 0
            flat[cells[first]] = self.effects.union(flat[cells[first]], lifted[first])
            cells, lifted = cells[~first], lifted[~first]

    def _classes(self, found: Numbers) -> NDArray[np.int32]:
        """The classes of columns that lack the rests, which are added."""
        read = found[:, self._frames] > 0
        useful = read.astype(np.float32) @ self._returning > 0
        rests = np.zeros(len(found), dtype=np.int64)
        new = []
        for row in np.flatnonzero(useful.any(axis=1)).tolist():
            count = len(self._rest_numbers)
            rests[row] = self._rest_numbers.setdefault(found[row, self._frames].tobytes(), count)
            if rests[row] == count:
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
            return NOT_TABULATED
        if number == len(self.columns):
            self.columns = np.concatenate((self.columns, np.zeros_like(self.columns)))
            self._prepended = np.concatenate((self._prepended, np.full_like(self._prepended, -1)))
        self._numbers[key] = number
        self.columns[number] = column
        return number


def _returning(
    tables: NetworkTables, frames: NDArray[np.int32], effort: Effort
) -> NDArray[np.float32]:
    """1 for (frame, accepting state) where the frame can come to be on top by returns alone."""
    below = frames_below(tables, effort.spend)
    place = {frame: number for number, frame in enumerate(frames.tolist())}
    ending = np.flatnonzero(tables.accepting).tolist()
    found = np.zeros((len(frames), len(ending)), dtype=np.float32)
    for column, state in enumerate(ending):
        effort.spend(len(frames))
        met = dict.fromkeys(below[state])
        pending = list(met)
        for frame in pending:
            new = [g for g in below[frame] if tables.ends[frame] and g not in met]
            met.update(dict.fromkeys(new))
            pending.extend(new)
        found[[place[frame] for frame in met], column] = 1
    return found


class Effects:
    """Effects as numbers, equal ones once, and the operations that columns are made by.

    ``interned``: by number; 0 is none, and a state's number one thread that is in it. ``rests``:
    for each rest its effects in the frames, by place in ``frames``; an effect that has one beyond
    the first ``most_rests`` is not tabulated.
    """

    def __init__(self, states: int, frames: Sequence[int], most_rests: int) -> None:
        self._states, self._most_rests = states, most_rests
        self.frames = list(frames)
        self.interned: list[Effect] = [((), ())]
        self.interned.extend((((state, ()),), ()) for state in range(1, states))
        self.rests: list[list[int]] = []
        self._place = {frame: place for place, frame in enumerate(self.frames)}
        self._numbers = {effect: number for number, effect in enumerate(self.interned)}
        # The results of each operation, by both operands.
        self._unions: dict[int, int] = {}
        self._over_pushes: dict[int, int] = {}
        self._with_rests: dict[int, int] = {}
        self._pushed: list[tuple[int, ...]] = []
        self._push_numbers: dict[tuple[int, ...], int] = {}

    def pushes(self, frames: tuple[int, ...]) -> int:
        """A number for frames that are pushed."""
        number = self._push_numbers.setdefault(frames, len(self._pushed))
        if number == len(self._pushed):
            self._pushed.append(frames)
        return number

    def union(self, left: Numbers, right: Numbers) -> Numbers:
        """The effects of both, place by place."""
        return _each(self._union, self._unions, left, right)

    def over_pushes(self, pushes: NDArray[np.int64], effects: Numbers) -> Numbers:
        """Effects over frames that were pushed before (``pushes``): where a call ends, these read
        the rest."""
        return _each(self._lift, self._over_pushes, pushes, effects)

    def with_rest(self, effects: Numbers, rests: NDArray[np.int64]) -> Numbers:
        """Effects beside which the call may end at once, place by place."""
        return _each(self._add_rest, self._with_rests, rests, effects)

    def codes(self, number: int, rests: Mapping[int, int]) -> list[int]:
        """An effect as in ``TokenEffects``; ``rests``: the numbers there."""
        threads, left = self.interned[number]
        codes = []
        for state, frames in threads:
            codes += [*(-frame for frame in frames), state]
        return codes + [self._states + rests[rest] for rest in left]

    def _number(self, threads: set[Thread], rests: set[int]) -> int:
        effect = tuple(sorted(threads)), tuple(sorted(rests))
        number = self._numbers.get(effect)
        if number is None:
            parts = len(rests) + sum(1 + len(frames) for _, frames in threads)
            if parts > _MAX_PARTS or len(self.interned) == UNKNOWN:
                return UNKNOWN
            number = self._numbers[effect] = len(self.interned)
            self.interned.append(effect)
        return number

    def _union(self, left: int, right: int) -> int:
        if UNKNOWN in (left, right):
            return UNKNOWN
        (threads, rests), (others, more) = self.interned[left], self.interned[right]
        return self._number({*threads, *others}, {*rests, *more})

    def _add_rest(self, rest: int, effect: int) -> int:
        if effect == UNKNOWN or rest >= self._most_rests:
            return UNKNOWN
        threads, rests = self.interned[effect]
        return self._number(set(threads), {*rests, rest})

    def _lift(self, pushes: int, effect: int) -> int:
        frames = self._pushed[pushes]
        found: set[Thread] = set()
        # Effects, each over the lowest so many of the frames.
        pending = [(effect, len(frames))]
        seen = set(pending)
        outside: set[int] = set()
        for number, height in pending:
            if number == UNKNOWN:
                return UNKNOWN
            threads, rests = self.interned[number]
            found.update((state, frames[:height] + pushed) for state, pushed in threads)
            if height == 0:
                outside.update(rests)
                continue
            top = self._place[frames[height - 1]]
            for rest in rests:
                below = self.rests[rest][top], height - 1
                if below[0] and below not in seen:
                    seen.add(below)
                    pending.append(below)
        return self._number(found, outside)


def _each(
    operation: Callable[[int, int], int],
    results: dict[int, int],
    left: NDArray[np.integer],
    right: NDArray[np.integer],
) -> Numbers:
    """``operation`` place by place, once for each different pair."""
    pairs, places = np.unique(left.astype(np.int64) << 32 | right, return_inverse=True)
    found = []
    for pair in pairs.tolist():
        result = results.get(pair)
        if result is None and len(results) == _MAX_PAIRS:
            result = UNKNOWN
        elif result is None:
            result = results[pair] = operation(pair >> 32, pair & 0xFFFFFFFF)
        found.append(result)
    return np.array(found, dtype=np.uint16)[places]
