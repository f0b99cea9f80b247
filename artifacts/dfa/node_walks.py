"""What walks from some nodes of a token trie come to: for terminals within a grammar.

    nodes of "a", "b"      ->   nodes that the terminal reads, and the end of each: a state and how
                                many characters lead to it, of which some hundred are different

The walk is one for all numbers of characters before it; of its ends it is decided then whether a
member is reached, and whether the terminal may end.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tokens.distinct import numbered_below
from ..tokens.trie import ranges
from .conjunctions import DEAD, UNBOUNDED
from .lazy_reader import Thread
from .token_walks import TrieParts, TrieWalk
from .walked import Allowed, Walked


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


def place_of(thread: Thread, walked: Walked) -> object:
    """What a walk of a thread depends on, besides its conjunction."""
    return (thread.state, thread.sets) if walked.operands else thread.state


def from_root(walk: TrieWalk, state: int, parts: TrieParts) -> Met:
    """The nodes below the root, by a DFA alone."""
    nodes, states = walk.reached(state)
    return _numbered(nodes, states, walk.characters(state)[nodes], parts)


def from_nodes(
    nodes: NDArray[np.int32], thread: Thread, walked: Walked, parts: TrieParts, *, own: bool
) -> Met:
    """The nodes below ``nodes``, or with ``own`` these too, whose bytes are then read first. By the
    DFA, or with operands by states that have sets."""
    trie = parts.trie
    first = thread.state
    if walked.operands:
        walked.begin_cores()
        first = walked.cores.number(thread.state, thread.sets)
    begun, states = np.zeros(len(nodes), dtype=np.int64), np.full(len(nodes), first)
    fan_out = None if own else trie.fan_out[nodes]
    met, ends, characters = [nodes[:0]], [states[:0]], [begun[:0]]
    while len(nodes):
        if fan_out is not None:
            nodes = ranges(trie.first[nodes], fan_out)
            states, begun = states.repeat(fan_out), begun.repeat(fan_out)
        columns = walked.conjunction.classes[trie.octets[nodes]]
        begins = walked.conjunction.begins[columns]
        if walked.conjunction.has_escapes:
            begins &= _outside(walked, states)
        targets = _targets(walked, states, columns)
        read = targets != DEAD
        nodes, states, begun = nodes[read], targets[read], (begun + begins)[read]
        met.append(nodes)
        ends.append(states)
        characters.append(begun)
        fan_out = trie.fan_out[nodes]
    return _numbered(np.concatenate(met), np.concatenate(ends), np.concatenate(characters), parts)


def _targets(
    walked: Walked, states: NDArray[np.int64], columns: NDArray[np.uint8]
) -> NDArray[np.int64]:
    if walked.operands:
        return walked.cores.targets(states, columns).astype(np.int64)
    return walked.conjunction.table[states, columns].astype(np.int64)


def _outside(walked: Walked, states: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which states, or cores, are inside no escape."""
    phases, parts = walked.conjunction.phases, walked.cores.parts
    of = [parts[s][0] for s in states.tolist()] if walked.operands else states.tolist()
    return np.array([not phases[state] for state in of], dtype=np.bool_)


def _numbered(
    nodes: NDArray[np.int32],
    states: NDArray[np.integer],
    characters: NDArray[np.integer],
    parts: TrieParts,
) -> Met:
    """The nodes with the numbers of their ends."""
    width = parts.most + 1
    codes = states * width + characters
    ends, places = numbered_below(codes, int(codes.max(initial=0)) + 1)
    return Met(nodes, places, ends // width, ends % width)


def decided(walked: Walked, met: Met, characters: int) -> tuple[Allowed, Allowed]:
    """Which ends are live after so many characters, and at which a text of the terminal ends."""
    c = walked.conjunction
    if walked.operands:
        places = [walked.cores.parts[core] for core in met.states.tolist()]
        numbers = [walked.clipped(characters + n) for n in met.characters.tolist()]
        both = list(zip(places, numbers, strict=True))
        live = [walked.is_live(state, sets, n) for (state, sets), n in both]
        accepts = [walked.accepts(state, sets, n) for (state, sets), n in both]
        return np.array(live, dtype=np.bool_), np.array(accepts, dtype=np.bool_)
    so_far = met.characters + characters
    accepting: Allowed = c.accepts[met.states] & (so_far >= c.least)
    if c.most != UNBOUNDED:
        accepting &= so_far <= c.most
    return walked.live_places(met.states, so_far), accepting
