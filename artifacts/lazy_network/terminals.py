"""States of lazy DFAs as states of a network, by number, and what tokens make of them.

states of the network | one for each terminal, before it | states inside terminals, as met
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy_dfa.reader import Reader, Thread, Threads
from ..lazy_dfa.tables import DEAD, UNBOUNDED, Conjunction
from ..lazy_dfa.token_walks import TrieParts, TrieWalk
from ..lazy_dfa.walked import Allowed, Walked
from ..network.tables import NetworkTables
from ..summaries.node_sets import ROOT
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.trie import ranges

# Bytes of a state inside a terminal, and of a step, roughly.
_STATE_BYTES, _STEP_BYTES = 700, 200


class Met(NamedTuple):
    """What a walk meets: ``nodes``, int32 (n,), and ``ends``, int32, the place of each one's end
    in ``states`` (or, with operands, cores) and ``characters``, int64 (m,)."""

    nodes: NDArray[np.int32]
    ends: NDArray[np.int32]
    states: NDArray[np.int64]
    characters: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self)


class Walks(NamedTuple):
    """``key``: equal for walks that come to the same. ``begun``: the nodes at which the terminal
    may end at once. ``found``: of each thread what it meets, and of its ends which are live and at
    which the terminal may end."""

    key: tuple[object, ...]
    begun: NDArray[np.int32]
    found: list[tuple[Met, Allowed, Allowed]]

    def tokens(self, parts: TrieParts) -> NDArray[np.int32]:
        """The tokens that end inside the terminal, in any order."""
        trie = parts.trie
        nodes = np.concatenate([met.nodes[live[met.ends]] for met, live, _ in self.found])
        ids: NDArray[np.int32] = trie.ids[
            ranges(trie.held[nodes], trie.held[nodes + 1] - trie.held[nodes])
        ]
        return ids

    def suspended(self, parts: TrieParts) -> NDArray[np.int32]:
        """The nodes with children at which the terminal may end, ascending."""
        ending = [met.nodes[accepts[met.ends]] for met, _, accepts in self.found]
        nodes: NDArray[np.int32] = np.concatenate([self.begun, *ending])
        nodes = nodes[parts.trie.fan_out[nodes] > 0]
        return nodes if (nodes[1:] > nodes[:-1]).all() else np.unique(nodes)


def called_tables(tables: NetworkTables) -> NetworkTables:
    """A network whose terminal symbols are calls of procedures that have a state each, without
    edges, behind those of the network."""
    columns = int(tables.classes.max()) + 1
    states, terminals = tables.states, tables.terminals
    table = np.zeros((states + terminals, columns), dtype=np.int32)
    table[:states] = tables.table[:, :columns]
    sources, which = np.nonzero(tables.table[:, columns:])
    counts = np.diff(tables.call_offsets)
    callers = np.concatenate((np.arange(states).repeat(counts), sources))
    order = np.argsort(callers, kind="stable")
    starts = np.concatenate((tables.call_starts, which.astype(np.int32) + np.int32(states)))
    returns = np.concatenate((tables.call_returns, tables.table[sources, columns + which]))
    offsets = np.zeros(states + terminals + 1, dtype=np.int64)
    offsets[1:] = np.cumsum(np.bincount(callers, minlength=states + terminals))
    return replace(
        tables,
        table=table,
        accepting=np.append(tables.accepting, np.zeros(terminals, dtype=np.uint8)),
        call_offsets=offsets,
        call_starts=starts[order].astype(np.int32),
        call_returns=returns[order].astype(np.int32),
    )


class Terminals:
    """``first``: the number of the first one's state. ``ends``: whether each state may end its
    call, those of the network first."""

    def __init__(
        self, tables: NetworkTables, terminals: Sequence[Sequence[Conjunction]], caches: CacheBudget
    ) -> None:
        self.readers = [Reader(each) for each in terminals]
        self.first = tables.states - len(terminals)
        self._parts = [(i, reader.start) for i, reader in enumerate(self.readers)]
        self._numbers: dict[tuple[int, Threads], int] = {}
        self.ends = list(tables.ends)
        self._steps: dict[tuple[int, int], int] = {}
        self._met: BoundedCache[tuple[int, int, object, int], Met] = caches.cache()
        self._walks: dict[tuple[int, int], TrieWalk] = {}

    @property
    def nbytes(self) -> int:
        """About what all states and steps take."""
        return _STATE_BYTES * len(self._parts) + _STEP_BYTES * len(self._steps)

    def step(self, state: int, octet: int) -> int:
        """The state behind a byte, ``DEAD`` if no text of the terminal begins so."""
        found = self._steps.get((state, octet))
        if found is None:
            terminal, threads = self._parts[state - self.first]
            reached = self.readers[terminal].read(threads, bytes([octet]))
            found = self._steps[state, octet] = self._number(terminal, reached)
        return found

    def _number(self, terminal: int, threads: Threads) -> int:
        if not threads:
            return DEAD
        key = terminal, threads
        number = self._numbers.setdefault(key, self.first + len(self._parts))
        if number == self.first + len(self._parts):
            self._parts.append(key)
            self.ends.append(self.readers[terminal].accepts(threads))
        return number

    def forget(self) -> None:
        """Drop walks from sets whose numbers are given again."""
        self._met.clear()

    def walks(
        self, number: int, suspended: NDArray[np.int32], state: int, parts: TrieParts
    ) -> "Walks":
        """What tokens come to from ``suspended``, set ``number``, in a state of a terminal."""
        terminal, threads = self._parts[state - self.first]
        found, key = [], list[object]((number, terminal, self.ends[state]))
        for thread in threads:
            walked = self.readers[terminal].walked[thread.conjunction]
            met = self._walk(number, suspended, terminal, thread, walked, parts)
            live, accepts = _live(walked, met, thread.characters)
            found.append((met, live, accepts))
            key += [thread.conjunction, _place(thread, walked), live.tobytes(), accepts.tobytes()]
        # Where nothing more is read it may end, too.
        return Walks(tuple(key), suspended if self.ends[state] else suspended[:0], found)

    def _walk(
        self,
        number: int,
        suspended: NDArray[np.int32],
        terminal: int,
        thread: Thread,
        walked: Walked,
        parts: TrieParts,
    ) -> Met:
        key = terminal, thread.conjunction, _place(thread, walked), number
        found = self._met.get(key)
        if found is None:
            if number == ROOT and not walked.operands:
                walk = self._walks.get((terminal, thread.conjunction))
                if walk is None:
                    walk = TrieWalk(walked.conjunction, parts, parts.most + 1)
                    self._walks[terminal, thread.conjunction] = walk
                nodes, states = walk.reached(thread.state)
                found = _numbered(nodes, states, parts.characters[nodes], parts)
            else:
                found = _met(suspended, thread, walked, parts)
            if not walked.operands:
                self._met.keep(key, found, found.nbytes + ENTRY_BYTES)
        return found


def _place(thread: Thread, walked: Walked) -> object:
    """What a walk of a thread depends on, besides its terminal."""
    return (thread.state, thread.sets) if walked.operands else thread.state


def _met(suspended: NDArray[np.int32], thread: Thread, walked: Walked, parts: TrieParts) -> Met:
    """A walk by the DFA, or with operands by states that have sets."""
    trie, table = parts.trie, walked.conjunction.table
    columns = walked.conjunction.classes
    first = thread.state
    if walked.operands:
        walked.begin_cores()
        first = walked.cores.number(thread.state, thread.sets)
    nodes, before = suspended, parts.characters[suspended].astype(np.int64)
    states = np.full(len(nodes), first, dtype=np.int64)
    all_nodes, all_states, all_characters = [nodes[:0]], [states[:0]], [before[:0]]
    while len(nodes):
        fan_out = trie.fan_out[nodes]
        children = ranges(trie.first[nodes], fan_out)
        by, before = columns[trie.octets[children]], before.repeat(fan_out)
        if walked.operands:
            targets = walked.cores.targets(states.repeat(fan_out), by).astype(np.int64)
        else:
            targets = table[states.repeat(fan_out), by].astype(np.int64)
        read = targets != DEAD
        nodes, states, before = children[read], targets[read], before[read]
        all_nodes.append(nodes)
        all_states.append(states)
        all_characters.append(parts.characters[nodes] - before)
    nodes, states = np.concatenate(all_nodes), np.concatenate(all_states)
    return _numbered(nodes, states, np.concatenate(all_characters), parts)


def _numbered(
    nodes: NDArray[np.int32],
    states: NDArray[np.integer],
    characters: NDArray[np.integer],
    parts: TrieParts,
) -> Met:
    """The nodes with the numbers of their ends."""
    width = parts.most + 1
    codes = states * width + characters
    flags = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    flags[codes] = True
    ends = np.flatnonzero(flags)
    places = np.zeros(len(flags), dtype=np.int32)
    places[ends] = np.arange(len(ends), dtype=np.int32)
    return Met(nodes, places[codes], ends // width, ends % width)


def _live(walked: Walked, met: Met, characters: int) -> tuple[Allowed, Allowed]:
    """Which ends are live, and at which a text of the terminal ends."""
    c = walked.conjunction
    if walked.operands:
        places = [walked.cores.parts[core] for core in met.states.tolist()]
        numbers = [walked.clipped(characters + n) for n in met.characters.tolist()]
        both = list(zip(places, numbers, strict=True))
        live = [walked.is_live(state, sets, n) for (state, sets), n in both]
        accepts = [walked.accepts(state, sets, n) for (state, sets), n in both]
        return np.array(live, dtype=np.bool_), np.array(accepts, dtype=np.bool_)
    so_far = met.characters + characters
    accepting: Allowed = (c.accepting[met.states] != 0) & (so_far >= c.least)
    if c.most != UNBOUNDED:
        accepting &= so_far <= c.most
    return walked.live_places(met.states, so_far), accepting
