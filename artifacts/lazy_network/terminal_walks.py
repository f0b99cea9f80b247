"""What tokens make of states inside terminals: procedure summaries, from their ends and exits.

from the root       any state inside: rows and exits by cached walks
from other nodes    the state before a terminal, which is called there: one walk for each set
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy_dfa.reader import Reader, Thread, Threads
from ..lazy_dfa.tables import DEAD, UNBOUNDED, Conjunction
from ..lazy_dfa.token_rows import TokenRows
from ..lazy_dfa.token_walks import TrieParts, tries_of
from ..lazy_dfa.walked import Allowed, Walked
from ..network.tables import NetworkTables
from ..summaries.node_sets import Nodes
from ..tokens import tokenset
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from .exits import Exits, following

# How a budget is divided: rows and exits.
_ROWS, _EXITS = 3, 2


class TerminalWalks:
    """Of the ``terminals``, whose states are behind those of a network (``called_tables``).
    ``readers``: of each. Nothing is interned."""

    def __init__(
        self,
        tables: NetworkTables,
        terminals: Sequence[Sequence[Conjunction]],
        trie: Callable[[], Trie],
        vocab_size: int,
        caches: CacheBudget,
    ) -> None:
        rows, exits = caches.divide(_ROWS, _EXITS)
        self.readers = [Reader(each) for each in terminals]
        self._trie, self._vocab_size = trie, vocab_size
        walked = [reader.walked for reader in self.readers]
        self._rows = TokenRows([each for some in walked for each in some], trie, vocab_size, rows)
        self._firsts = np.cumsum([0, *map(len, walked)]).tolist()
        starts = [_begins(reader) for reader in self.readers]
        follows = following(tables, tables.states - len(terminals), starts)
        self._exits = Exits(walked, follows, exits)

    @cached_property
    def _parts(self) -> TrieParts:
        return tries_of(self._trie()).whole

    def from_root(self, terminal: int, threads: Threads, ends_now: bool) -> tuple[Words, Nodes]:
        """The tokens that end inside the terminal, uint32 (W,), and the exits to which tokens lead
        from ``threads``, ascending. ``ends_now``: whether the terminal may end before."""
        first = self._firsts[terminal]
        row, *others = [
            self._rows.row(first + number, state, sets, characters)
            for number, state, sets, characters in threads
        ]
        for other in others:
            row = row | other
        return row, self._exits.from_root(terminal, threads, ends_now, self._parts)

    def from_nodes(self, suspended: Nodes, terminal: int, threads: Threads) -> tuple[Words, Nodes]:
        """The same for tokens that come to a terminal's beginning at some nodes."""
        trie = self._parts.trie
        inside: list[Nodes] = []
        ending: list[Nodes] = []
        for thread in threads:
            walked = self.readers[terminal].walked[thread.conjunction]
            met = _met(suspended, thread, walked, self._parts)
            live, accepts = _live(walked, met, thread.characters)
            inside.append(met.nodes[live[met.ends]])
            ending.append(met.nodes[accepts[met.ends]])
        nodes = np.concatenate(inside)
        held = trie.held.take(nodes)
        ids = trie.ids[ranges(held, trie.held.take(nodes + 1) - held)]
        left = np.unique(np.concatenate(ending))
        left = left[self._exits.is_one(terminal, self._parts)[left]]
        return tokenset.from_ids(ids, self._vocab_size), left


def _begins(reader: Reader) -> NDArray[np.bool_]:
    """The bytes that a terminal begins with, bool (256,), or some more."""
    found = np.zeros(256, dtype=np.bool_)
    for walked in reader.walked:
        c = walked.conjunction
        found |= c.table[c.start, c.classes] != DEAD
    return found


class _Met(NamedTuple):
    """What a walk meets: ``nodes``, int32 (n,), and ``ends``, int32, the place of each one's end
    in ``states`` (or, with operands, cores) and ``characters``, int64 (m,)."""

    nodes: Nodes
    ends: NDArray[np.int32]
    states: NDArray[np.int64]
    characters: NDArray[np.int64]


def _met(suspended: NDArray[np.int32], thread: Thread, walked: Walked, parts: TrieParts) -> _Met:
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
) -> _Met:
    """The nodes with the numbers of their ends."""
    width = parts.most + 1
    codes = states * width + characters
    flags = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    flags[codes] = True
    ends = np.flatnonzero(flags)
    places = np.zeros(len(flags), dtype=np.int32)
    places[ends] = np.arange(len(ends), dtype=np.int32)
    return _Met(nodes, places[codes], ends // width, ends % width)


def _live(walked: Walked, met: _Met, characters: int) -> tuple[Allowed, Allowed]:
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
