"""From the byte DFA of L to that of canon(L), the texts of L as WordPiece sees them.

Each code point is replaced by its image; runs of spaces between words become one space,
leading and trailing ones none. The result is a language of normalised UTF-8 text, on which
words and their tokens are all that is left to follow.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.memo import Made

from ..automata.compare import Inclusion
from ..automata.determinize import determinize
from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimize
from ..automata.nfa import Arc, Nfa
from ..limits import Limits
from .image import ImageTable

_STAGE = "canonical text"

# Where a text stands: before its first word, in a word, after a word and white space.
_START, _WORD, _GAP = range(3)

_NOTHING: frozenset[int] = frozenset()
_NO_TAILS: frozenset[bytes] = frozenset()

# A place in L's DFA, a mode, and in the NFA's construction what is still to be emitted.
_Place = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalText:
    """canon(L). ``dfa``: minimal. ``lost``: code points that L uses and V lacks, ascending, one
    of those that L takes alike; ``lost_count``: how many there are in all."""

    dfa: Dfa
    lost: tuple[int, ...]
    lost_count: int


def canonical_text(dfa: Dfa, images: ImageTable, limits: Limits) -> CanonicalText:
    """The texts of L's members without a code point that has no image, in canonical form.

    Bytes of L that are not UTF-8 are no text and go too. Raises ``LimitError``.
    """
    steps = _CodePointSteps(dfa, images)
    nfa = _Builder()
    start = (dfa.start, _START)
    pending = deque([start])
    nfa.start = nfa.place(start)
    finals = set()
    while pending:
        limits.check_resources(_STAGE)
        place = pending.popleft()
        state, mode = place
        if dfa.accepting[state]:
            finals.add(nfa.place(place))
        moves: defaultdict[_Place, set[bytes]] = defaultdict(set)
        for target, numbers in steps.of(state):
            for text in map(images.texts.__getitem__, numbers):
                if text is None:
                    continue
                emitted, after = _emitted(text, mode)
                moves[target, after].add(emitted.encode("utf-8", "surrogateescape"))
        for target_place, strings in moves.items():
            if not nfa.knows(target_place):
                pending.append(target_place)
            nfa.connect(nfa.place(place), frozenset(strings), nfa.place(target_place))
        limits.check_states(len(nfa.arcs), _STAGE)
    prune = nfa.pruning(Inclusion(dfa))
    result = minimize(determinize(nfa.finished(frozenset(finals)), limits, prune=prune), limits)
    return CanonicalText(result, *steps.without_image())


def _emitted(image: str, mode: int) -> tuple[str, int]:
    """What an image adds to the canonical text, and the mode after it.

    In a word ``" - "`` adds ``" -"`` and leaves a gap; the gap's space is due with the next word.
    """
    out = ""
    for char in image:
        if char == " ":
            mode = _GAP if mode == _WORD else mode
        else:
            out += " " + char if mode == _GAP else char
            mode = _WORD
    return out, mode


class _CodePointSteps:
    """Where the code points lead from a state of L, by image.

    Code points whose bytes fall into the same columns of the DFA and that have the same image
    are one row of a table; there are few of those for narrow grammars.
    """

    def __init__(self, dfa: Dfa, images: ImageTable) -> None:
        self._table = np.ascontiguousarray(dfa.table)
        self._has_image = np.array([text is not None for text in images.texts])
        self._found: dict[int, list[tuple[int, list[int]]]] = {}
        used = dfa.used_bytes()
        rows = [_rows(dfa, images, used, *span) for span in _SPANS]
        self._columns = np.concatenate([r[0] for r in rows])
        self._images = np.concatenate([r[1] for r in rows])
        self._examples = np.concatenate([r[2] for r in rows])
        self._counts = np.concatenate([r[3] for r in rows])
        self._read = np.zeros(len(self._columns), dtype=np.bool_)

    def without_image(self) -> tuple[tuple[int, ...], int]:
        """Code points that have none, one of each row, of those read so far; and their number."""
        rows = np.flatnonzero(self._read & ~self._has_image[self._images])
        return tuple(sorted(self._examples[rows].tolist())), int(self._counts[rows].sum())

    def of(self, state: int) -> list[tuple[int, list[int]]]:
        """For each target the images that lead there."""
        if state in self._found:
            return self._found[state]
        columns = self._columns
        alive = np.flatnonzero(self._table[state][columns[:, 0]])
        states = self._table[state, columns[alive, 0]]
        for k in range(1, 4):
            more = columns[alive, k] >= 0
            states = np.where(more, self._table[states, columns[alive, k]], states)
            keep = states != DEAD
            alive, states = alive[keep], states[keep]
        self._read[alive] = True
        found = []
        for target in np.unique(states).tolist():
            numbers = np.unique(self._images[alive[states == target]])
            found.append((target, numbers.tolist()))
        self._found[state] = found
        return found


# The code points of each UTF-8 length, and that length.
_SPANS = ((0, 0x80, 1), (0x80, 0x800, 2), (0x800, 0x10000, 3), (0x10000, 0x110000, 4))
_LEADS = (0, 0, 0xC0, 0xE0, 0xF0)


def _rows(
    dfa: Dfa, images: ImageTable, used: NDArray[np.bool_], low: int, high: int, length: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Columns (n, 4), -1 after the last byte, images (n,), first code points (n,) and how many
    there are (n,)."""
    codes = np.arange(low, high, dtype=np.int64)
    lead = (codes >> 6 * (length - 1)) | _LEADS[length]
    codes = codes[used[lead] & ((codes < 0xD800) | (codes > 0xDFFF))]
    columns = np.full((len(codes), 4), -1, dtype=np.int32)
    readable = np.ones(len(codes), dtype=np.bool_)
    for k in range(length):
        octets = (codes >> 6 * (length - 1 - k)) & 0x3F | 0x80
        if k == 0:
            octets = (codes >> 6 * (length - 1)) | _LEADS[length]
        readable &= used[octets]
        columns[:, k] = dfa.classes[octets]
    codes, columns = codes[readable], columns[readable]
    numbers = images.numbers[codes]
    key = numbers.astype(np.int64)
    for k in range(4):
        key = key * 257 + columns[:, k] + 1
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return columns[first], numbers[first], codes[first], counts


# Runs of first bytes with the same tails.
_Runs = Sequence[tuple[int, int, frozenset[bytes]]]


class _Builder:
    """The NFA of canon(L): places of L, joined by small acyclic automata of strings."""

    def __init__(self) -> None:
        self.arcs: list[list[Arc]] = []
        self.epsilon: list[list[int]] = []
        self.start = 0
        self._places: dict[_Place, int] = {}
        # For each state the tails still to be read, the mode after them, and the state of L.
        self._rest: list[tuple[tuple[frozenset[bytes], int], int]] = []
        self._tails: dict[tuple[frozenset[bytes], int], int] = {}
        # Places of a counted class have the same strings.
        self._runs = Made(_by_first_byte)

    def knows(self, place: _Place) -> bool:
        """Whether the place has a state."""
        return place in self._places

    def place(self, place: _Place) -> int:
        """The state of a place, made if there is none."""
        if place not in self._places:
            state, mode = place
            self._places[place] = self._new(_NO_TAILS, mode, state)
        return self._places[place]

    def connect(self, source: int, strings: frozenset[bytes], target: int) -> None:
        """Let ``strings`` lead from ``source`` to ``target``; equal tails are shared."""
        if b"" in strings:
            self.epsilon[source].append(target)
        (_, mode), place = self._rest[target]
        pending = [(source, strings)]
        while pending:
            state, rest = pending.pop()
            for low, high, tails in self._runs[rest]:
                after = self._tails.get((tails, target))
                if tails == {b""}:
                    after = target
                elif after is None:
                    after = self._tails[tails, target] = self._new(tails, mode, place)
                    pending.append((after, tails))
                self.arcs[state].append(Arc(low, high, after, _NOTHING))
                if b"" in tails and after != target:
                    self.epsilon[after].append(target)

    def finished(self, finals: frozenset[int]) -> Nfa:
        """The automaton."""
        return Nfa(self.arcs, self.epsilon, self.start, finals)

    def pruning(self, inclusion: Inclusion) -> Callable[[frozenset[int]], frozenset[int]]:
        """What drops states of a set whose texts others of the set have.

        Where a class that is counted has characters that vanish, a place in a text may be all later
        counts too: these add nothing.
        """

        def pruned(states: frozenset[int]) -> frozenset[int]:
            alike: defaultdict[tuple[frozenset[bytes], int], list[int]] = defaultdict(list)
            for state in states:
                alike[self._rest[state][0]].append(state)
            if len(alike) == len(states):
                return states
            largest: list[int] = []
            for group in alike.values():
                places = {self._rest[state][1]: state for state in sorted(group)}
                largest += map(places.__getitem__, inclusion.largest(places))
            return frozenset(largest)

        return pruned

    def _new(self, tails: frozenset[bytes], mode: int, state: int) -> int:
        self.arcs.append([])
        self.epsilon.append([])
        self._rest.append(((tails, mode), state))
        return len(self.arcs) - 1


def _by_first_byte(strings: frozenset[bytes]) -> _Runs:
    """Runs of first bytes that have the same tails, ascending."""
    grouped: defaultdict[int, set[bytes]] = defaultdict(set)
    for string in strings:
        if string:
            grouped[string[0]].add(string[1:])
    runs: list[tuple[int, int, frozenset[bytes]]] = []
    for octet in sorted(grouped):
        tails = frozenset(grouped[octet])
        if runs and runs[-1][1] == octet - 1 and runs[-1][2] == tails:
            runs[-1] = (runs[-1][0], octet, tails)
        else:
            runs.append((octet, octet, tails))
    return runs
