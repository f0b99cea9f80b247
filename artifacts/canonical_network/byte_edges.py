"""Byte edges of a network beside a pre-tokenizer DFA: where states lead, and by which bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.distinct import distinct

# By state of a network where bytes lead, and which, as columns of the pre-tokenizer's table, int64.
Reading: TypeAlias = Sequence[Sequence[tuple[int, bytes]]]


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
    firsts = np.flatnonzero(np.diff(targets, prepend=-1)).tolist()
    found: list[list[tuple[int, bytes]]] = [[] for _ in range(tables.states)]
    for first, last in pairwise([*firsts, len(targets)]):
        source, target = divmod(int(targets[first]), tables.states)
        found[source].append((target, read[first:last].tobytes()))
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
