"""Byte edges of a network beside a pre-tokenizer DFA: where states lead, and by which bytes.

reading_of    the edges of all states
reached       what they lead to beside the pre-tokenizer DFA, with calls and returns
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..network.sets import NO_SEPARATOR
from ..network.tables import DEAD, NetworkTables
from ..tokenizer_steps.byte_sets import ByteSets
from ..tokenizer_steps.pretokenizer import PretokenizerDfa
from ..tokens.distinct import distinct
from ..tokens.watch import Watch, unwatched

# By state of a network where bytes lead, and which, as columns of the pre-tokenizer's table, int64.
Reading: TypeAlias = Sequence[Sequence[tuple[int, bytes]]]

# Work between two times that it is told.
_BETWEEN_LOOKS = 1 << 12


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


def reading_of(tables: NetworkTables, pretokenizer: PretokenizerDfa) -> Reading:
    """The byte edges of all states, those to one target together."""
    columns, pre_columns = _joint_columns(tables, pretokenizer)
    edges = ByteEdges.over(tables, columns)
    sources = np.repeat(np.arange(tables.states), np.diff(edges.offsets))
    width = np.int64(len(pretokenizer.classes))
    targets = sources * tables.states + edges.targets
    targets, read = np.divmod(distinct(targets * width + pre_columns[edges.places]), width)
    firsts = np.flatnonzero(np.diff(targets, prepend=-1))
    sources, leads = (each.tolist() for each in np.divmod(targets[firsts], tables.states))
    octets, size = read.tobytes(), read.itemsize
    found: list[list[tuple[int, bytes]]] = [[] for _ in range(tables.states)]
    bounds = pairwise([*(firsts * size).tolist(), len(octets)])
    for source, target, (begin, end) in zip(sources, leads, bounds, strict=True):
        found[source].append((target, octets[begin:end]))
    return found


def reached(
    tables: NetworkTables,
    reading: Reading,
    sets: ByteSets,
    begun: Mapping[int, int],
    watch: Watch = unwatched,
) -> list[int]:
    """Of each state the set of pre-tokenizer states that texts lead to, by bytes, calls and
    returns; ``begun``: in which texts begin.

    After a call that may end in q each frame is taken beside q, whoever called: so there are pairs
    among them that no text leads to.
    """
    frames = _resumed(tables).tolist()
    # Of each state what is reached, and what of that is new.
    found, new = [0] * tables.states, [0] * tables.states
    todo, ended, work = deque[int](), 0, 0

    def reach(state: int, more: int) -> None:
        more &= ~found[state]
        if more:
            found[state] |= more
            if not new[state]:
                todo.append(state)
            new[state] |= more

    for state, pre_states in begun.items():
        reach(state, pre_states)
    while todo:
        state = todo.popleft()
        fresh, new[state] = new[state], 0
        work += fresh.bit_count() * (1 + len(reading[state]))
        if work > _BETWEEN_LOOKS:
            watch(work, 0)
            work = 0
        for target, columns in reading[state]:
            reach(target, sets.after(columns, fresh))
        for start, _ in tables.calls[state]:
            reach(start, fresh)
        if tables.accepting[state] and (ending := fresh & ~ended):
            ended |= ending
            for frame in frames:
                reach(frame, ending)
    watch(work, 0)
    return found


def _joint_columns(
    tables: NetworkTables, pretokenizer: PretokenizerDfa
) -> tuple[NDArray[np.int64], ...]:
    """The columns of both tables for a byte of each joint class, for bytes that lead somewhere."""
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = tables.classes.astype(np.int64) * 256 + pretokenizer.classes
    _, octets = np.unique(np.where(used, keys, -1), return_index=True)
    octets = octets[used[octets]]
    return tables.classes[octets].astype(np.int64), pretokenizer.classes[octets].astype(np.int64)


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
