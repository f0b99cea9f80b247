"""Effects of strings on the threads of a network, as numbers: equal effects are one number.

An effect says what a string makes of a thread in a state
(``constrain.artifacts.network.token_steps``).
Here effects are put together: those of two ways to read a string, and those of a string in a
state that other frames were pushed on the way to.

Classes of strings that do the same in every state of a network, found by reading backwards.

The *column* of a string holds its effect in each state. That of the byte b before a string s
follows from b and the column of s: it is the effect of s where the moves by b lead, behind the
frames that they push. So a byte leads from class to class of strings, as it leads from state to
state in an automaton, and a column is worked out once for each class and byte that come together.
Where a call may end at once, the frame below reads all of the string: the string is a *rest*,
and of those only what they do in frames counts.

Work out what every token does in every state of a network, and lay it out.

The tokens are read from their ends to their beginnings, all at once, byte by byte
(``network.token_effects``): so those that end alike share the work.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.tables import FirstTransitions, NetworkTables
from constrain.artifacts.network.token_steps import TokenEffects
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..limits import Limits
from .precompute import frames_below

Numbers: TypeAlias = NDArray[np.uint16]

# A state and the frames that are pushed, the lowest first; all threads of an effect and its rests.
Thread: TypeAlias = tuple[int, tuple[int, ...]]
Effect: TypeAlias = tuple[tuple[Thread, ...], tuple[int, ...]]

# The number of all effects that are not known; beside it there is room for so many.
UNKNOWN = (1 << 16) - 1

# Pairs that are put together in each way; more are not known.
_PAIRS = 1 << 18

# Threads, frames and rests of an effect; one with more is read when it is met.
_PARTS = 64


class Effects:
    """``known``: by number; 0 is none, and a state's number one thread that is in it.

    ``rests``: for each rest what it does in the frames, by place in ``frames``; an effect that has
    one beyond the first ``most_rests`` is unknown.
    """

    def __init__(self, states: int, frames: Sequence[int], most_rests: int) -> None:
        self._states, self._most_rests = states, most_rests
        self.frames = list(frames)
        self.known: list[Effect] = [((), ())]
        self.known.extend((((state, ()),), ()) for state in range(1, states))
        self.rests: list[list[int]] = []
        self._place = {frame: place for place, frame in enumerate(self.frames)}
        self._numbers = {effect: number for number, effect in enumerate(self.known)}
        self._united: dict[int, int] = {}
        self._lifted: dict[int, int] = {}
        self._resting: dict[int, int] = {}
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
        return _each(self._union, self._united, left, right)

    def behind(self, pushes: NDArray[np.int64], effects: Numbers) -> Numbers:
        """What effects are once frames (``pushes``) were pushed: where a call ends, they read
        the rest."""
        return _each(self._behind, self._lifted, pushes, effects)

    def with_rest(self, effects: Numbers, rests: NDArray[np.int64]) -> Numbers:
        """Effects beside which the call may end at once, place by place."""
        return _each(self._with_rest, self._resting, rests, effects)

    def codes(self, number: int, rests: Mapping[int, int]) -> list[int]:
        """An effect as in ``TokenEffects``; ``rests``: the numbers there."""
        threads, left = self.known[number]
        codes = []
        for state, frames in threads:
            codes += [*(-frame for frame in frames), state]
        return codes + [self._states + rests[rest] for rest in left]

    def _number(self, threads: set[Thread], rests: set[int]) -> int:
        effect = tuple(sorted(threads)), tuple(sorted(rests))
        number = self._numbers.get(effect)
        if number is None:
            parts = len(rests) + sum(1 + len(frames) for _, frames in threads)
            if parts > _PARTS or len(self.known) == UNKNOWN:
                return UNKNOWN
            number = self._numbers[effect] = len(self.known)
            self.known.append(effect)
        return number

    def _union(self, left: int, right: int) -> int:
        if UNKNOWN in (left, right):
            return UNKNOWN
        (threads, rests), (others, more) = self.known[left], self.known[right]
        return self._number({*threads, *others}, {*rests, *more})

    def _with_rest(self, rest: int, effect: int) -> int:
        if effect == UNKNOWN or rest >= self._most_rests:
            return UNKNOWN
        threads, rests = self.known[effect]
        return self._number(set(threads), {*rests, rest})

    def _behind(self, pushes: int, effect: int) -> int:
        frames = self._pushed[pushes]
        found: set[Thread] = set()
        pending = [(effect, len(frames))]
        seen = set(pending)
        outside: set[int] = set()
        for number, height in pending:
            if number == UNKNOWN:
                return UNKNOWN
            threads, rests = self.known[number]
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
    work: Callable[[int, int], int],
    memo: dict[int, int],
    left: NDArray[np.integer],
    right: NDArray[np.integer],
) -> Numbers:
    """``work`` on pairs, once for each different one."""
    pairs, places = np.unique(left.astype(np.int64) << 32 | right, return_inverse=True)
    results = []
    for pair in pairs.tolist():
        result = memo.get(pair)
        if result is None and len(memo) == _PAIRS:
            result = UNKNOWN
        elif result is None:
            result = memo[pair] = work(pair >> 32, pair & 0xFFFFFFFF)
        results.append(result)
    return np.array(results, dtype=np.uint16)[places]


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
        self._moves = FirstTransitions(tables)
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


def token_effects(
    tables: NetworkTables,
    vocabulary: Vocabulary,
    terminals: Sequence[NDArray[np.integer]],
    memory: int,
    limits: Limits,
) -> TokenEffects:
    """The effects of all tokens; ``terminals``: the ids of each token terminal.

    A table of more than ``memory`` bytes is not made: tokens for whose classes there is no room
    are unknown in all states, those that end rarely first. Raises ``LimitError`` on time alone.
    """
    most = memory // (2 * tables.states)
    if most < 4 or not 1 < tables.states < UNKNOWN:
        return TokenEffects.empty()
    found = StringClasses(tables, most, limits)
    classes = _classes(found, tables, vocabulary)
    for number, named in enumerate(terminals):
        classes[named] = found.union(classes[named], found.of_terminal(number))
    return _laid_out(found, classes, tables.states)


def _classes(found: StringClasses, tables: NetworkTables, vocabulary: Vocabulary) -> Numbers:
    """The class of each token as a text, shape (V,)."""
    octets = tables.classes[vocabulary.data]
    ids = vocabulary.text_ids()
    classes = np.full(vocabulary.size, REFUSED, dtype=np.uint16)
    classes[ids] = EMPTY
    place = vocabulary.offsets[ids + 1] - 1
    while len(ids):
        classes[ids] = found.before(octets[place], classes[ids])
        left = place > vocabulary.offsets[ids]
        ids, place = ids[left], place[left] - 1
    return classes


def _laid_out(found: StringClasses, classes: Numbers, states: int) -> TokenEffects:
    """The classes that tokens have, and all that is reached from them, numbered anew."""
    used, of_token = np.unique(classes, return_inverse=True)
    table = found.columns[used].T
    effects = found.effects
    pending = np.unique(table).tolist()
    reached, rests = set(pending), set[int]()
    for number in pending:
        for rest in effects.known[number][1] if number != UNKNOWN else ():
            if rest not in rests:
                rests.add(rest)
                new = set(effects.rests[rest]) - reached
                reached |= new
                pending.extend(sorted(new))
    kept_rests = {rest: number for number, rest in enumerate(sorted(rests))}
    renumbered = np.arange(UNKNOWN + 1, dtype=np.uint16)
    own: list[list[int]] = []
    first = states + len(kept_rests)
    for number in sorted(reached - {0, UNKNOWN}):
        codes = effects.codes(number, kept_rests)
        # A thread alone that pushes nothing, or a rest alone, are numbers as they are codes.
        renumbered[number] = codes[0] if len(codes) == 1 else first + len(own)
        if len(codes) > 1:
            own.append(codes)
    renumbered[UNKNOWN] = first + len(own)
    in_frames = np.array([effects.rests[rest] for rest in kept_rests], dtype=np.uint16)
    return TokenEffects.of(
        of_token.astype(np.uint16),
        np.ascontiguousarray(renumbered[table]),
        renumbered[in_frames.reshape(len(kept_rests), len(effects.frames))],
        own,
    )
