"""Where tokens may end a growing terminal: the trie nodes after which what follows it reads on.

    '"' host '"', inside a host name     of all nodes those that a quote follows

F of a set of nodes is about the children that are read from it. What is called nowhere but before
a quote may leave all other nodes out: of Qwen 2.5's 333,081 nodes 291 are left, and of what leads
to them a small trie is made, whose *tokens* they are. So the walks that find the ends of tokens
find those of exits (``artifacts/dfa/token_walks.py``).

Operands have no states to walk by. But a set of NFA states accepts a text if one of them does, and
which exits one accepts is found once: those that a set accepts are a union of rows of bits.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.conjunctions import UNBOUNDED, Operand
from ..dfa.emptiness import Sets
from ..dfa.lazy_reader import Thread
from ..dfa.token_walks import Ends, TokenTries, TokenWalks, TrieParts
from ..dfa.walked import Walked
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, memoised
from ..tokens.trie import ranges
from ..walk.node_sets import Nodes

# How a budget is divided: walks, exits by their ends, and rows of NFA states.
_WALKS, _NODES, _ROWS = 6, 2, 4

_NOWHERE = np.zeros(0, dtype=np.int32)


class _Place(NamedTuple):
    """The nodes that may end a terminal, and walks to them. ``tries``: of the paths to ``nodes``,
    int32 (M,), ascending, without the root; ``at_root``: whether the root is one, too."""

    nodes: Nodes
    at_root: bool
    tries: TokenTries
    walks: list[TokenWalks]


class Exits:
    """Of all terminals. ``walked``: the conjunctions of each; ``follows``: gives for each terminal
    the bytes that may follow it, bool (256,), when a token first ends one; ``caches``: for what is
    computed."""

    def __init__(
        self,
        walked: Sequence[Sequence[Walked]],
        follows: Callable[[], Sequence[NDArray[np.bool_]]],
        caches: CacheBudget,
    ) -> None:
        self._walked, self._make_follows = walked, follows
        walks, nodes, rows = caches.divide(_WALKS, _NODES, _ROWS)
        self._walk_budget = CacheBudget(walks.limit // max(len(walked), 1))
        self._nodes: BoundedCache[tuple[int, int, int, bytes], Nodes] = nodes.cache()
        self._rows: BoundedCache[tuple[int, int, int, int], NDArray[np.uint8]] = rows.cache()

    @cached_property
    def _follows(self) -> Sequence[NDArray[np.bool_]]:
        return self._make_follows()

    @cached_property
    def _leaving(self) -> list[frozenset[int]]:
        return [frozenset(np.flatnonzero(each).tolist()) for each in self._follows]

    def may_leave(self, terminal: int, text: Iterable[int]) -> bool:
        """Whether a byte of a text may follow a terminal."""
        return not self._leaving[terminal].isdisjoint(text)

    def is_one(self, terminal: int, parts: TrieParts) -> NDArray[np.bool_]:
        """Whether each node of the trie is an exit of a terminal, bool (N,)."""
        place = self._place(terminal, parts)
        found = np.zeros(len(parts.trie.octets), dtype=np.bool_)
        found[place.nodes] = True
        found[0] = place.at_root
        return found

    def from_root(
        self, terminal: int, threads: Sequence[Thread], ends_now: bool, parts: TrieParts
    ) -> Nodes:
        """The exits to which tokens lead, ascending; the root where the terminal may end at once
        (``ends_now``)."""
        if not self._leaving[terminal]:
            return _NOWHERE
        place = self._place(terminal, parts)
        found = [self._nodes_of(terminal, place, thread) for thread in threads]
        nodes = found[0] if len(found) == 1 else np.unique(np.concatenate(found))
        if ends_now and place.at_root:
            nodes = np.concatenate((np.zeros(1, dtype=np.int32), nodes))
        return nodes

    @memoised
    def _place(self, terminal: int, parts: TrieParts) -> _Place:
        children = np.flatnonzero(self._follows[terminal][parts.trie.octets])
        is_exit = np.zeros(len(parts.trie.octets), dtype=np.bool_)
        is_exit[parts.trie.above[children[children > 0]]] = True
        at_root, is_exit[0] = bool(is_exit[0]), False
        nodes = np.flatnonzero(is_exit).astype(np.int32)
        tries = TokenTries(parts.trie.leading_to(nodes))
        ends: BoundedCache[tuple[int, int, bool], Ends] = self._walk_budget.cache()
        walks = [
            TokenWalks(each.conjunction, each.lengths, tries, len(nodes), i, ends)
            for i, each in enumerate(self._walked[terminal])
        ]
        return _Place(nodes, at_root, tries, walks)

    def _nodes_of(self, terminal: int, place: _Place, thread: Thread) -> Nodes:
        number, state, sets, characters = thread
        walked = self._walked[terminal][number]
        ends = place.walks[number].ends(state)
        c = walked.conjunction
        so_far = ends.characters + characters
        accepts = c.accepts[ends.states] & (so_far >= c.least)
        if c.most != UNBOUNDED:
            accepts &= so_far <= c.most
        if walked.operands:
            flags = ends.flags(accepts)[: len(place.nodes)]
            return place.nodes[flags & self._accepted(terminal, place, number, sets)]
        key = terminal, number, state, accepts.tobytes()
        found = self._nodes.get(key)
        if found is None:
            found = place.nodes[ends.flags(accepts)[: len(place.nodes)]]
            self._nodes.keep(key, found, found.nbytes + ENTRY_BYTES)
        return found

    def _accepted(self, terminal: int, place: _Place, number: int, sets: Sets) -> NDArray[np.bool_]:
        """Which exits all operands of a conjunction allow, bool (M,)."""
        walked, count = self._walked[terminal][number], len(place.nodes)
        found = np.ones(count, dtype=np.bool_)
        for i, (operand, states) in enumerate(zip(walked.conjunction.operands, sets, strict=True)):
            members = _members(states)
            rows = {s: self._rows.get((terminal, number, i, s)) for s in members}
            missing = [s for s, row in rows.items() if row is None]
            if missing:
                columns = walked.conjunction.classes
                for s, row in zip(
                    missing, _accepted_from(operand, missing, columns, place), strict=True
                ):
                    key = terminal, number, i, s
                    rows[s] = self._rows.keep(key, row, row.nbytes + ENTRY_BYTES)
            bits = np.zeros(-(-count // 8), dtype=np.uint8)
            for row in rows.values():
                if row is not None:
                    bits |= row
            accepted = np.unpackbits(bits, count=count, bitorder="little").view(np.bool_)
            found &= accepted != operand.excludes
        return found


def _members(states: int) -> list[int]:
    """The numbers of the bits of a set."""
    found = []
    while states:
        low = states & -states
        found.append(low.bit_length() - 1)
        states ^= low
    return found


def _accepted_from(
    operand: Operand, states: Sequence[int], columns: NDArray[np.uint8], place: _Place
) -> NDArray[np.uint8]:
    """For each of some NFA states the exits that it accepts, packed bits."""
    trie, width = place.tries.whole.trie, (len(operand.offsets) - 1) // len(operand.accepting)
    found = np.zeros((len(states), len(place.nodes)), dtype=np.bool_)
    own, size = np.diff(trie.held), len(operand.accepting)
    begun = np.arange(len(states), dtype=np.int64)
    nodes = np.zeros(len(states), dtype=np.int32)
    reached = np.array(states, dtype=np.int64)
    of_column = columns[trie.octets]
    while len(nodes):
        fan_out = trie.fan_out.take(nodes)
        children = ranges(trie.first.take(nodes), fan_out)
        cells = reached.repeat(fan_out) * width + of_column.take(children)
        begun = begun.repeat(fan_out)
        firsts = operand.offsets.take(cells)
        counts = operand.offsets.take(cells + 1) - firsts
        nodes, begun = children.repeat(counts), begun.repeat(counts)
        reached = operand.targets.take(ranges(firsts, counts)).astype(np.int64)
        if len(counts) and int(counts.max()) > 1:
            # A node that is read in several ways is read on from once.
            codes = np.unique((begun * len(own) + nodes) * size + reached)
            places, reached = codes // size, codes % size
            begun, nodes = places // len(own), (places % len(own)).astype(np.int32)
        ends = np.flatnonzero((operand.accepting.take(reached) != 0) & (own.take(nodes) > 0))
        found[begun.take(ends), trie.ids.take(trie.held.take(nodes.take(ends)))] = True
    return np.packbits(found, axis=1, bitorder="little")
