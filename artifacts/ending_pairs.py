"""The pairs of a network's state and a state of the cuts that texts lead to, and how calls end.

Bar-Hillel's construction (Bar-Hillel, Perles and Shamir 1961), tabulated: see ``endings``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cuts import Cuts, begins_character
from .network_tables import DEAD, NetworkTables

_Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of states by number, 0 for none; ``number``: int32 (S, Q). ``edges`` and
    ``starting``: int64 (2, n), sources and targets of all byte edges, ascending, and of those
    that start a piece."""

    states: NDArray[np.int64]
    cuts: NDArray[np.int64]
    number: NDArray[np.int32]
    edges: NDArray[np.int64]
    starting: NDArray[np.int64]


def _joint_columns(tables: NetworkTables, cuts: Cuts) -> tuple[NDArray[np.int64], ...]:
    """The columns of both tables for a byte of each joint class, for bytes that lead somewhere."""
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = tables.classes.astype(np.int64) * 256 + cuts.classes
    _, octets = np.unique(np.where(used, keys, -1), return_index=True)
    octets = octets[used[octets]]
    return tables.classes[octets].astype(np.int64), cuts.classes[octets].astype(np.int64)


def text_begins(
    tables: NetworkTables, cuts: Cuts, final: _Bits, continued: int
) -> NDArray[np.int64]:
    """The pairs in which texts begin, state · Q + cut state, also behind a prompt."""
    width = len(cuts.table)
    # A prompt ends between characters.
    ends = np.flatnonzero(begins_character(cuts.table, cuts.classes) | final)
    begins = continued * width + ends[ends != DEAD]
    return np.union1d(begins, [tables.start * width + cuts.start])


def reached_pairs(tables: NetworkTables, cuts: Cuts, begins: NDArray[np.int64]) -> Pairs:
    """The pairs that some text leads to from where it begins; and some that none does.

    Behind a call that may end in q each frame is taken beside q, whoever called.
    """
    width = len(cuts.table)
    columns, cut_columns = _joint_columns(tables, cuts)
    frames = np.unique(tables.call_returns).astype(np.int64)
    known = frontier = begins
    edges: list[NDArray[np.int64]] = []
    starting: list[NDArray[np.int64]] = []
    while len(frontier):
        states, at = np.divmod(frontier, width)
        after = tables.table[states[:, None], columns].astype(np.int64)
        reached = [frontier[:0]]
        for plane in range(cuts.table.shape[1]):
            cut_after = cuts.table[at[:, None], plane, cut_columns]
            rows, places = np.nonzero((after != DEAD) & (cut_after != DEAD))
            targets = after[rows, places] * width + cut_after[rows, places]
            found = np.unique(np.stack([frontier[rows], targets]), axis=1)
            edges.append(found)
            if plane % 2:
                starting.append(found)
            reached.append(np.unique(found[1]))
        counts = np.diff(tables.call_offsets)[states]
        callers = np.repeat(np.arange(len(states)), counts)
        numbers = np.arange(len(callers)) - np.repeat(np.cumsum(counts) - counts, counts)
        numbers += tables.call_offsets[states[callers]]
        reached.append(tables.call_starts[numbers].astype(np.int64) * width + at[callers])
        ending = np.unique(at[tables.accepting[states] != 0])
        reached.append((frames[:, None] * width + ending).reshape(-1))
        frontier = np.setdiff1d(np.concatenate(reached), known)
        known = np.union1d(known, frontier)
    number = np.zeros((tables.states, width), dtype=np.int32)
    states, at = np.divmod(known, width)
    number[states, at] = np.arange(1, len(known) + 1)
    flat = number.reshape(-1)
    return Pairs(
        np.concatenate([[DEAD], states]),
        np.concatenate([[DEAD], at]),
        number,
        np.unique(flat[np.concatenate([np.zeros((2, 0), np.int64), *edges], axis=1)], axis=1),
        flat[np.concatenate([np.zeros((2, 0), np.int64), *starting], axis=1)].astype(np.int64),
    )


def call_returns(tables: NetworkTables, pairs: Pairs, exits: NDArray[np.int64]) -> _Bits:
    """For each pair the exits of its call, bool (pairs, exits): the least solution of

    returns(p, q) = {q where p may end} | returns of the pairs that a byte leads to
                  | for calls (s, g): returns(g, q') for each q' of returns(s, q)
    """
    found = np.zeros((len(pairs.states), len(exits)), dtype=np.bool_)
    ending = np.flatnonzero(tables.accepting[pairs.states] != 0)
    found[ending, np.searchsorted(exits, pairs.cuts[ending])] = True
    words = np.packbits(found, axis=1)
    sources, targets = pairs.edges
    firsts = np.flatnonzero(np.diff(sources, prepend=-1))
    heads = sources[firsts]
    calls = [
        (np.flatnonzero(pairs.states == state), start, frame)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist()
        for start, frame in tables.calls[state]
    ]
    while True:
        before = words.copy()
        while len(heads):
            more = words[heads] | np.bitwise_or.reduceat(words[targets], firsts, axis=0)
            if (more == words[heads]).all():
                break
            words[heads] = more
        for callers, start, frame in calls:
            inner = np.unpackbits(words[pairs.number[start, pairs.cuts[callers]]], axis=1)
            behind = np.unpackbits(words[pairs.number[frame, exits]], axis=1)
            inner, behind = inner[:, : len(exits)], behind[:, : len(exits)]
            through = inner.astype(np.float32) @ behind.astype(np.float32) > 0
            words[callers] |= np.packbits(through, axis=1)
        if (words == before).all():
            found = np.unpackbits(words, axis=1)[:, : len(exits)].view(np.bool_)
            found[DEAD] = False
            return found
