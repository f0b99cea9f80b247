"""How calls of a network return beside a pre-tokenizer DFA: what contexts are made of.

    pair                  a state of the network and one of the pre-tokenizer DFA that some text
                          leads to (``reached_pairs.py``)
    returns of a pair     the pre-tokenizer states that its call can end in: the least solution
                          over all pairs (Bar-Hillel, Perles and Shamir 1961, tabulated)

They take long to find for a large grammar and depend on no text, so that they are in the file where
decoding needs them (``ReturnTables.arrays``).
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays, check_types, require, require_range
from ..network.sets import SetRule, UnsettledError
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.distinct import distinct
from ..tokens.watch import Watch, unwatched
from .reached_pairs import ReachedPairs, reached_pairs
from .settled_sets import ended_parts, joined

_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ReturnTables:
    """Pairs by number, 0 for none. ``states``, ``pre_states``: int64 (n,), what each is of.
    ``return_states``: int64 (R,), pre-tokenizer states that calls may end in, ascending;
    ``standing_for``: int64 (Q,), the one that counts for each (``_standing_for``). Few sets of them
    differ: ``sets``, bool (D, R), the first of which is empty; ``set_of``: int32 (n,), the
    one of each pair's call. ``starting``: int32 (2, m), sources and targets of the byte edges that
    start a pre-token."""

    states: NDArray[np.int64]
    pre_states: NDArray[np.int64]
    return_states: NDArray[np.int64]
    standing_for: NDArray[np.int64]
    sets: _Flags
    set_of: NDArray[np.int32]
    starting: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        tables: NetworkTables,
        pretokenizer: PretokenizerDfa,
        final: _Flags,
        begins: NDArray[np.int64],
        watch: Watch = unwatched,
    ) -> "ReturnTables":
        """``final``: bool (Q,), the pre-tokenizer states that a text may end in. ``begins``: the
        pairs in which texts begin, p · Q + q."""
        found = reached_pairs(tables, pretokenizer, begins, watch)
        standing = _standing_for(tables, final)
        ends_in = standing[found.pre_states]
        return_states = _return_states(tables, found.states, ends_in)
        packed = call_returns(tables, found, ends_in, return_states, watch)
        # The dead pair's set is empty, and comes first.
        different, set_of = packed[:1], np.zeros(len(packed), dtype=np.int32)
        if len(return_states):
            different, set_of = _different(packed)
        sets = np.unpackbits(different, axis=1, count=len(return_states)).view(np.bool_)
        starting = found.starting.astype(np.int32)
        return cls(found.states, found.pre_states, return_states, standing, sets, set_of, starting)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The sections; ``from_arrays`` is the inverse."""
        pairs = np.stack((self.states, self.pre_states)).astype(np.int32)
        return {
            prefix + "pairs": np.ascontiguousarray(pairs[:, 1:]),
            prefix + "return_sets": np.packbits(self.sets, axis=1),
            prefix + "returns": self.set_of,
            prefix + "starting": self.starting,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Arrays, prefix: str, tables: NetworkTables, final: _Flags
    ) -> "ReturnTables":
        """``final``: as in ``of``. Raises ``ArtifactError`` naming a section whose values do not
        fit: they are looked at here, as most texts never need them."""
        pairs, packed, set_of, starting = (arrays[prefix + name] for name in _TYPES)
        states, pre_states = (np.append(DEAD, numbers).astype(np.int64) for numbers in pairs)
        width, standing = len(final), _standing_for(tables, final)
        for values, high in ((states, tables.states), (pre_states, width)):
            require(bool((values >= 0).all() and (values < high).all()), prefix + "pairs")
        keys = states * width + pre_states
        require(bool((keys[1:] > keys[:-1]).all()), prefix + "pairs")
        return_states = _return_states(tables, states, standing[pre_states])
        require(packed.shape[1] == -(-len(return_states) // 8), prefix + "return_sets")
        sets = np.unpackbits(packed, axis=1, count=len(return_states)).view(np.bool_)
        require(len(sets) > 0 and not sets[0].any(), prefix + "return_sets")
        require(len(set_of) == len(states) and set_of[DEAD] == 0, prefix + "returns")
        require_range(arrays, prefix + "returns", 0, len(sets))
        require_range(arrays, prefix + "starting", 0, len(states))
        return cls(states, pre_states, return_states, standing, sets, set_of, starting)


def _different(rows: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The different rows, ascending, and which of them each is."""
    order, begins = np.arange(len(rows)), np.ones(len(rows), dtype=np.bool_)
    # Several columns are compared as one number.
    wide = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 8))).view(">u8").astype(np.uint64)
    for column in reversed(wide.T):
        order = order[np.argsort(column[order], kind="stable")]
    ordered = wide[order]
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers = np.empty(len(rows), dtype=np.int32)
    numbers[order] = np.cumsum(begins) - 1
    return rows[order[begins]], numbers


# Sections: dtype and number of axes.
_TYPES = {
    "pairs": ("i4", 2),
    "return_sets": ("u1", 2),
    "returns": ("i4", 1),
    "starting": ("i4", 2),
}


def check_return_tables(arrays: Arrays, prefix: str) -> None:
    """Raise ``ArtifactError`` naming the first section of another type or shape. Values are looked
    at when they are read."""
    check_types(arrays, {prefix + name: wanted for name, wanted in _TYPES.items()})
    for name in ("pairs", "starting"):
        require(len(arrays[prefix + name]) == 2, prefix + name)


def _standing_for(tables: NetworkTables, final: _Flags) -> NDArray[np.int64]:
    """For each pre-tokenizer state the one that counts in its place where a call ends, int64 (Q,).
    Without calls a text alone ends, and all that counts of its state is whether it is final."""
    if len(tables.call_starts):
        return np.arange(len(final))
    return np.where(final, final.argmax(), final.argmin())


def _return_states(
    tables: NetworkTables, states: NDArray[np.int64], ends_in: NDArray[np.int64]
) -> NDArray[np.int64]:
    return np.unique(ends_in[tables.accepting[states] != 0])


def call_returns(
    tables: NetworkTables,
    pairs: ReachedPairs,
    ends_in: NDArray[np.int64],
    return_states: NDArray[np.int64],
    watch: Watch = unwatched,
) -> NDArray[np.uint8]:
    """For each pair the return states of its call, as bits, uint8 (pairs, return states / 8); those
    that pairs end in: ``ends_in``, int64 (pairs,). The least solution of

    returns(p, q) = {q where p may end} | returns of the pairs that a byte leads to
                  | for calls (s, g): returns(g, q') for each q' of returns(s, q)

    Of a counted call, each q' is one where enough items have ended, and not too many; of a set's,
    one where all parts have. Raises ``UnsettledError`` where that depends on their order.
    """
    watch(0, len(pairs.states) * (-(-len(return_states) // 8)))
    words = np.zeros((len(pairs.states), -(-len(return_states) // 8)), dtype=np.uint8)
    ending = np.flatnonzero(tables.accepting[pairs.states] != 0)
    ended = np.searchsorted(return_states, ends_in[ending])
    words[ending, ended >> 3] = 128 >> (ended & 7)
    width, calls = len(return_states), _PlainCalls(tables, pairs)
    with_sets = np.flatnonzero(np.diff(tables.call_offsets) if tables.has_sets else 0).tolist()
    of_sets = [
        (pairs.of_state(state), *called)
        for state in with_sets
        for called in _sets_called(tables, state)
    ]
    leading = _LeadingEdges(pairs.edges, len(pairs.states))

    def unpacked(packed: NDArray[np.uint8]) -> _Flags:
        return np.unpackbits(packed, axis=1)[:, :width].view(np.bool_)

    def returns(state: int) -> _Flags:
        return unpacked(words[pairs.number[state, return_states]])

    def grown(rows: slice, more: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The pairs of a state of which more returns were found."""
        joint = words[rows] | more
        changed: NDArray[np.int64] = np.flatnonzero((joint != words[rows]).any(axis=1))
        words[rows] = joint
        return changed + np.int64(rows.start)

    fresh = ending
    calls.look_at_all()
    while True:
        while len(fresh):
            calls.look_at(pairs.states[fresh])
            sources, firsts, targets = leading.into(fresh)
            watch(len(targets), 0)
            if not len(targets):
                break
            more = words[sources] | np.bitwise_or.reduceat(words[targets], firsts, axis=0)
            fresh = sources[(more != words[sources]).any(axis=1)]
            words[sources] = more
        call = calls.next()
        if call is not None:
            callers, start, frame = call
            count = callers.stop - callers.start
            watch(count, 4 * count * width)
            # Few of them differ.
            numbers = dict[bytes, int]()
            all_inner = words[pairs.number[start, pairs.pre_states[callers]]]
            which = [numbers.setdefault(row.tobytes(), len(numbers)) for row in all_inner]
            some = np.frombuffer(b"".join(numbers), dtype=np.uint8)
            inner, back = unpacked(some.reshape(len(numbers), -1)), frame
            if frame >= tables.states:
                _, least, most, back = tables.some_counters.rows[frame - tables.states]
                others = most - least if most > 0 else None
                inner = _ended(inner, returns(start), least - 1, others, watch)
            behind = words[pairs.number[back, return_states]]
            each = [np.bitwise_or.reduce(behind[row], axis=0) for row in inner]
            fresh = grown(callers, np.array(each, dtype=np.uint8)[which])
            continue
        settle, rows = True, list[NDArray[np.int64]]()
        for callers, rule, parts in of_sets:
            count = callers.stop - callers.start
            watch(len(rule.parts) * count, 4 * count * width)
            at = pairs.pre_states[callers]
            begun = [(i, unpacked(words[pairs.number[rule.parts[i], at]])) for i in parts]
            inner, settled = ended_parts(rule, begun, returns)
            settle &= settled
            rows.append(grown(callers, np.packbits(joined(inner, returns(rule.back)), axis=1)))
        fresh = distinct(np.concatenate(rows)) if rows else fresh[:0]
        if not len(fresh):
            if not settle:
                raise UnsettledError
            words[DEAD] = 0
            return words


class _PlainCalls:
    """The calls of a network but those of sets, each with the pairs of its caller's state: which of
    them are to be looked at again."""

    def __init__(self, tables: NetworkTables, pairs: ReachedPairs) -> None:
        self._calls: list[tuple[slice, int, int]] = []
        # The calls that what a state returns counts for.
        self._of: dict[int, list[int]] = {}
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist():
            callers = pairs.of_state(state)
            for start, frame in tables.calls[state] if callers.stop > callers.start else ():
                if _is_of_set(tables, frame):
                    continue
                plain = frame < tables.states
                back = frame if plain else tables.some_counters.rows[frame - tables.states][3]
                for needed in {start, back}:
                    self._of.setdefault(needed, []).append(len(self._calls))
                self._calls.append((callers, start, frame))
        self._heap: list[int] = []
        self._pending: set[int] = set()
        self._states = np.zeros(tables.states, dtype=np.bool_)
        self._states[list(self._of)] = True

    def look_at_all(self) -> None:
        """Nothing is known of any."""
        self._pending.update(range(len(self._calls)))
        self._heap = list(range(len(self._calls)))

    def look_at(self, states: NDArray[np.int64]) -> None:
        """More is known of what these states return."""
        for state in states[self._states[states]].tolist():
            for number in self._of[state]:
                if number not in self._pending:
                    self._pending.add(number)
                    heappush(self._heap, number)

    def next(self) -> tuple[slice, int, int] | None:
        """One of them, None if none is left: pairs, where the call starts, and its frame."""
        if not self._heap:
            return None
        number = heappop(self._heap)
        self._pending.remove(number)
        return self._calls[number]


class _LeadingEdges:
    """Edges, int64 (2, m), by what they lead to."""

    def __init__(self, edges: NDArray[np.int64], size: int) -> None:
        sources, targets = edges
        order = np.argsort(targets, kind="stable")
        self._sources = sources[order]
        self._offsets = np.searchsorted(targets[order], np.arange(size + 1))

    def into(self, targets: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The sources of the edges into ``targets``, each once, the place of its first edge, and
        the targets of these edges."""
        first = self._offsets[targets]
        counts = self._offsets[targets + 1] - first
        ends = np.repeat(targets, counts)
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(len(ends))
        sources = self._sources[places]
        order = np.argsort(sources, kind="stable")
        sources, ends = sources[order], ends[order]
        firsts = np.flatnonzero(np.diff(sources, prepend=-1))
        return sources[firsts], firsts, ends


def _ended(
    begun: _Flags, again: _Flags, least: int, more: int | None, watch: Watch = unwatched
) -> _Flags:
    """Where items end that follow one that ends in ``begun``: ``least`` of them and up to ``more``
    others, None for any number. ``again[i, j]``: an item that begins in i may end in j. Powers of
    relations, by squares (all bool)."""
    found, power, left = begun, again, least
    while left:
        watch(len(again), 6 * again.size)
        if left & 1:
            found = joined(found, power)
        left >>= 1
        square = joined(power, power) if left else power
        if left and (square == power).all():
            # All further powers are this one.
            return _ended(joined(found, power), again, 0, more, watch)
        power = square
    power, left = again | np.eye(len(again), dtype=np.bool_), -1 if more is None else more
    while left:
        watch(len(again), 6 * again.size)
        if left & 1:
            found = joined(found, power)
        left >>= 1
        square = joined(power, power)
        if (square == power).all():
            return joined(found, power) if left else found
        power = square
    return found


def _is_of_set(tables: NetworkTables, frame: int) -> bool:
    if frame < tables.states:
        return False
    counters = tables.some_counters
    return counters.split(frame)[0] >= len(counters.rows)


def _sets_called(tables: NetworkTables, state: int) -> list[tuple[SetRule, list[int]]]:
    """The sets that a state calls, each with the parts that may be the first."""
    counters = tables.some_counters
    found: dict[int, list[int]] = {}
    for start, frame in tables.calls[state]:
        if _is_of_set(tables, frame):
            number = counters.split(frame)[0] - len(counters.rows)
            found.setdefault(number, []).append(counters.set_rules[number].parts.index(start))
    return [(counters.set_rules[number], parts) for number, parts in found.items()]
