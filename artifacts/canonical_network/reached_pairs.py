"""The pairs of states that some text leads to: of a network, and of a pre-tokenizer DFA beside it.

    s ::= "a" s "b" | "c";     state 1 beside what precedes a text, and beside what "a" leads to, …

Reading, calls and returns are followed until nothing is new. How calls return is another question
(``return_tables.py``), which is asked of these pairs.
"""

from collections import deque
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ..network.sets import NO_SEPARATOR
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.byte_sets import ByteSets
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.distinct import distinct
from ..tokens.sharing import recent
from ..tokens.trie import ranges
from ..tokens.watch import Watch, unwatched

_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ReachedPairs:
    """Pairs by number, 0 for none; ``number``: int32 (S, Q). ``states``, ``pre_states``: int64
    (n,), what each is of. ``edges`` and ``starting``: int64 (2, m), sources and targets of all byte
    edges, each once, and of those that start a pre-token."""

    states: NDArray[np.int64]
    pre_states: NDArray[np.int64]
    number: NDArray[np.int32]
    edges: NDArray[np.int64]
    starting: NDArray[np.int64]

    def of_state(self, state: int) -> slice:
        """The numbers of the pairs of a state but the dead one."""
        first = int(np.searchsorted(self.states, state))
        return slice(first, int(np.searchsorted(self.states, state, side="right")))


@dataclass(frozen=True, slots=True, eq=False)
class ByteEdges:
    """The edges of a network's states over some of its columns, few of which lead anywhere.

    State s has the edges ``offsets[s]`` to ``offsets[s + 1] - 1``: ``places``, int64, numbers of
    columns, and ``targets``, int32.
    """

    offsets: NDArray[np.int64]
    places: NDArray[np.int64]
    targets: NDArray[np.int32]

    @classmethod
    def over(cls, tables: NetworkTables, columns: NDArray[np.integer]) -> "ByteEdges":
        """Those of the columns given, by their places among them."""
        after = tables.table[:, columns]
        sources, places = np.nonzero(after)
        offsets = np.searchsorted(sources, np.arange(tables.states + 1))
        return cls(offsets, places, after[sources, places])

    def leaving(
        self, states: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Of each edge of some states: the place of its state among these, that of its column, and
        where it leads."""
        first = self.offsets[states]
        counts = self.offsets[states + 1] - first
        rows = np.repeat(np.arange(len(states)), counts)
        edges = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(len(rows))
        return rows, self.places[edges], self.targets[edges]


def _joint_columns(
    tables: NetworkTables, pretokenizer: PretokenizerDfa
) -> tuple[NDArray[np.int64], ...]:
    """The columns of both tables for a byte of each joint class, for bytes that lead somewhere."""
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = tables.classes.astype(np.int64) * 256 + pretokenizer.classes
    _, octets = np.unique(np.where(used, keys, -1), return_index=True)
    octets = octets[used[octets]]
    return tables.classes[octets].astype(np.int64), pretokenizer.classes[octets].astype(np.int64)


def text_begins(
    tables: NetworkTables, pretokenizer: PretokenizerDfa, final: _Flags, continued: int
) -> NDArray[np.int64]:
    """The pairs in which texts begin, p · Q + q, also after a prompt."""
    width = len(pretokenizer.table)
    # A prompt ends between characters.
    between = recent(ByteSets, pretokenizer.table).between(pretokenizer.classes)
    ends = np.flatnonzero(between | final)
    begins = continued * width + ends[ends != DEAD]
    return np.union1d(begins, [tables.start * width + pretokenizer.start])


# From so many bytes on it is kept where they lead.
_FEW = 4


def _reading(tables: NetworkTables, pretokenizer: PretokenizerDfa) -> list[list[tuple[int, bytes]]]:
    """By state of a network where bytes lead, and which, as columns of the pre-tokenizer's."""
    columns, pre_columns = _joint_columns(tables, pretokenizer)
    edges = ByteEdges.over(tables, columns)
    sources = np.repeat(np.arange(tables.states), np.diff(edges.offsets))
    keys = sources * tables.states + edges.targets
    order = np.argsort(keys, kind="stable")
    read, keys = pre_columns[edges.places[order]], keys[order]
    firsts = np.flatnonzero(np.diff(keys, prepend=-1)).tolist()
    found: list[list[tuple[int, bytes]]] = [[] for _ in range(tables.states)]
    for first, last in pairwise([*firsts, len(keys)]):
        source, target = divmod(int(keys[first]), tables.states)
        octets = distinct(read[first:last]) if last > first + 1 else read[first:last]
        found[source].append((target, octets.tobytes()))
    return found


def reached_pairs(
    tables: NetworkTables,
    pretokenizer: PretokenizerDfa,
    begins: NDArray[np.int64],
    watch: Watch = unwatched,
) -> ReachedPairs:
    """The pairs that some text leads to from where it begins; and some that none does.

    After a call that may end in q each frame is taken beside q, whoever called.
    """
    width = len(pretokenizer.table)
    watch(0, 5 * tables.states * width)
    steps = recent(ByteSets, pretokenizer.table)
    reading, frames = _reading(tables, pretokenizer), _resumed(tables).tolist()
    starts = [{start for start, _ in calls} for calls in tables.calls]
    # Of each state the pre-tokenizer states that are reached, and those of them that are new.
    reached: list[set[int]] = [set() for _ in range(tables.states)]
    new: list[set[int]] = [set() for _ in range(tables.states)]
    todo = deque[int]()
    ended = set[int]()

    def reach(state: int, more: set[int]) -> None:
        found = more - reached[state]
        if found:
            reached[state] |= found
            if not new[state]:
                todo.append(state)
            new[state] |= found

    begun, at = np.divmod(np.sort(begins), width)
    firsts = np.flatnonzero(np.diff(begun, prepend=-1)).tolist()
    for first, last in pairwise([*firsts, len(begun)] if firsts else ()):
        reach(int(begun[first]), {*at[first:last].tolist()})
    while todo:
        state = todo.popleft()
        fresh, new[state] = frozenset(new[state]), set()
        watch(len(fresh) * (1 + len(reading[state])), 0)
        for target, octets in reading[state]:
            reach(target, steps.after(octets, fresh))
        for start in starts[state]:
            reach(start, {*fresh})
        if tables.accepting[state] and (ending := fresh - ended):
            ended |= ending
            for frame in frames:
                reach(frame, {*ending})
    return _numbered_pairs(steps, reading, reached, width, watch)


def _numbered_pairs(
    steps: ByteSets,
    reading: list[list[tuple[int, bytes]]],
    reached: list[set[int]],
    width: int,
    watch: Watch,
) -> ReachedPairs:
    """The pairs of all states, and the edges between them."""
    every = [sorted(each) for each in reached]
    counts = [len(each) for each in every]
    states = np.repeat(np.arange(len(every)), counts)
    at = np.fromiter(chain.from_iterable(every), np.int64, len(states))
    number = np.zeros((len(every), width), dtype=np.int32)
    number[states, at] = np.arange(1, len(states) + 1)
    # Edges by a byte of few, and by sets of many; each with its state's first pair.
    single: list[tuple[int, int, int, int]] = []
    begun, ends = [0], [DEAD]
    many: list[tuple[NDArray[np.int64], ...]] = [(np.zeros(0, np.int64),) * 4]
    first = 0
    for state, count in enumerate(counts):
        alike = at[first : first + count].tobytes()
        for target, octets in reading[state] if count else ():
            if len(octets) <= _FEW * at.itemsize:
                columns = np.frombuffer(octets, np.int64).tolist()
                single += [(first, count, target, column) for column in columns]
            else:
                begun.append(first + 1)
                ends.append(target)
                many.append(steps.edges(octets, alike))
        first += count
    watch(len(states), 0)
    firsts, sizes, targets, read = np.array(single, np.int64).reshape(-1, 4).T
    rows, size = ranges(firsts, sizes), np.int64(len(states) + 1)
    led = steps.table[at[rows], :, np.repeat(read, sizes)]
    sources, every_led = (rows + 1) * size, number[np.repeat(targets, sizes)[:, None], led]
    found = []
    for behind, half in ((every_led, slice(0, 2)), (every_led[:, 1::2], slice(2, 4))):
        places, after = zip(*(each[half] for each in many), strict=True)
        sizes = np.array([len(each) for each in after])
        keys = (np.repeat(begun, sizes) + np.concatenate(places)) * size
        keys += number[np.repeat(ends, sizes), np.concatenate(after)]
        few = distinct((sources[:, None] + behind)[behind != DEAD])
        found.append(np.stack(np.divmod(np.concatenate((keys, few)), size)))
    dead = np.array([DEAD])
    return ReachedPairs(
        np.concatenate((dead, states)),
        np.concatenate((dead, at)),
        number,
        *found,
    )


def _resumed(tables: NetworkTables) -> NDArray[np.int64]:
    """The states in which something goes on where a call ends."""
    returns, counters = tables.call_returns, tables.counters
    if counters is not None:
        plain, sets = returns[returns < tables.states], counters.sets
        returns = np.concatenate((plain, counters.items, counters.backs))
        if sets is not None:
            between = sets.separators[sets.separators != NO_SEPARATOR]
            returns = np.concatenate((returns, sets.parts, sets.backs, between))
    return np.unique(returns).astype(np.int64)
