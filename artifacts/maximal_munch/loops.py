"""What is read from trie nodes in a lexer's state that loops, such as that inside a name, a number,
a string or white space: the same in each state of each grammar that loops on the same characters.

    nodes of "a", "b", looping on a-z 0-9   ->   the tokens that are names from there on; the nodes
                                                 at which a name may end, or something else follow

The walks are kept with the trie, for all grammars of a tokenizer, the last used of them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..summaries.node_sets import Nodes, merged
from ..tokens.memo import ENTRY_BYTES, BoundedCache
from ..tokens.subtrees import BROKEN, CLASS_BITS, OUTSIDE, loops_outside_ascii, subtrees_of
from ..tokens.subtrees import UTF8_BETWEEN as BETWEEN
from ..tokens.subtrees import UTF8_ILL as ILL
from ..tokens.subtrees import UTF8_STEPS as STEPS
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges

# What is kept for one trie, in bytes.
_MOST_BYTES = 1 << 24

# So few nodes are read node by node: runs of what is repeated leave one for a hundred levels.
_FEW = 24

# About the size of a walk for each of its single nodes, and each of its inner ones.
_SINGLE_BYTES, _INNER_BYTES = 64, 4


class Loop(NamedTuple):
    """Characters: ``ascii``, 128 flags; ``others``: and all outside ASCII."""

    ascii: bytes
    others: bool


def loop_of(
    table: NDArray[np.int32],
    columns: NDArray[np.integer],
    stops: NDArray[np.bool_],
    state: int,
) -> Loop | None:
    """The characters that lead a state back to itself; None for fewer than two. All characters
    outside ASCII are among them or, as far as this says, none.

    ``table``: int32 (S, C), next state by column. ``columns``: (256,), the column of each byte.
    ``stops``: bool (S,), the states that are no loop if they are in the middle of a character."""
    inside = table[state].take(columns[:128]) == state
    if state == DEAD or np.count_nonzero(inside) < 2:
        return None
    return Loop(inside.tobytes(), loops_outside_ascii(table, columns, state, stops))


@dataclass(frozen=True, eq=False)
class LoopWalk:
    """What is read from nodes by a loop's characters.

    ``row``: uint32 (W,), the tokens below the nodes. ``single``: int32, ascending, the nodes and
    those below them, behind whole characters, where something else may follow; ``whole``: roots of
    subtrees in which nothing else does. ``met``: how many nodes were.
    """

    row: Words
    single: Nodes
    whole: Nodes
    met: int
    _octets: NDArray[np.uint8]
    _first: NDArray[np.int32]

    @cached_property
    def _by_octet(self) -> tuple[Nodes, NDArray[np.int64]]:
        """The children of single nodes by the byte that leads to them, and where each begins."""
        starts = self._first.take(self.single)
        children = ranges(starts, self._first.take(self.single + 1) - starts)
        read = self._octets.take(children)
        order = np.argsort(read, kind="stable")
        return children[order], np.searchsorted(read[order], np.arange(257))

    def following(self, targets: NDArray[np.int32], loop: Loop) -> tuple[Nodes, NDArray[np.int32]]:
        """The nodes behind a byte that is none of the loop's, and the states there; ``targets``:
        int32 (256,), where each byte leads."""
        leads = targets != DEAD
        leads[:128] &= ~np.frombuffer(loop.ascii, dtype=np.bool_)
        if loop.others:
            leads[128:] = False
        octets = np.flatnonzero(leads)
        nodes, counts = self.children_by(octets)
        return nodes, targets[octets].repeat(counts)

    def children_by(self, octets: NDArray[np.int64]) -> tuple[Nodes, NDArray[np.int64]]:
        """The children of single nodes by some bytes, and how many there are by each."""
        nodes, starts = self._by_octet
        counts = starts[octets + 1] - starts[octets]
        return nodes[ranges(starts[octets], counts)], counts


class LoopWalks:
    """The walks of one trie."""

    def __init__(self, trie: Trie) -> None:
        # subtle: not the trie, by which this is found, and which would so live as long.
        self._octets, self._first = trie.octets, trie.first
        self._subtrees = subtrees_of(trie)
        self._kept: BoundedCache[tuple[Loop, bytes, int], LoopWalk] = BoundedCache(_MOST_BYTES)

    def walk(self, nodes: Nodes, loop: Loop, vocab_size: int) -> LoopWalk:
        """What is read from nodes, ascending, by a loop's characters."""
        key = loop, nodes.tobytes(), vocab_size
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        walk = self._walked(nodes, loop, vocab_size)
        inner = self._subtrees.end.take(walk.whole) - self._subtrees.begin.take(walk.whole)
        size = _SINGLE_BYTES * len(walk.single) + _INNER_BYTES * int(inner.sum())
        size += walk.row.nbytes + len(key[1]) + ENTRY_BYTES
        return self._kept.keep(key, walk, size)

    def _walked(self, nodes: Nodes, loop: Loop, vocab_size: int) -> LoopWalk:
        tokens, first = self._subtrees, self._first
        inside = np.frombuffer(loop.ascii, dtype=np.bool_)
        steps = STEPS.copy()
        steps[BETWEEN, :128][~inside] = ILL
        leaving = np.bitwise_or.reduce(CLASS_BITS[:128][~inside], initial=np.uint64(1 << BROKEN))
        if not loop.others:
            steps[BETWEEN, 128:] = ILL
            leaving |= np.uint64(OUTSIDE)
        flat = steps.ravel()
        single, whole, within = [nodes], [nodes[:0]], [nodes[:0]]
        met = 0
        read = np.full(len(nodes), BETWEEN, dtype=np.uint8)
        while len(nodes):
            if len(nodes) <= _FEW:
                nodes, read, *more = self._few(nodes, read, leaving, steps.tobytes())
                for parts, found in zip((single, whole, within), more, strict=True):
                    parts.append(found)
                met += sum(map(len, more))
                continue
            starts = first.take(nodes)
            fan_out = first.take(nodes + 1) - starts
            nodes, read = ranges(starts, fan_out), read.repeat(fan_out)
            # A character of several bytes is read before its bytes are.
            fits = (tokens.within.take(nodes) & leaving) == 0
            whole.append(nodes[fits])
            nodes, read = nodes[~fits], read[~fits]
            read = flat.take(read.astype(np.intp) << 8 | self._octets.take(nodes))
            live = read != ILL
            nodes, read = nodes[live], read[live]
            fits = (tokens.below.take(nodes) & leaving) == 0
            whole.append(nodes[fits])
            met += len(nodes)
            nodes, read = nodes[~fits], read[~fits]
            between = read == BETWEEN
            single.append(nodes[between])
            within.append(nodes[~between])
        below, taken = np.concatenate(single[1:] + within), np.concatenate(whole)
        begins = tokens.begin.take(below), tokens.begin.take(taken)
        ends = begins[0] + tokens.own.take(below), tokens.end.take(taken)
        row = tokens.row(np.concatenate(begins), np.concatenate(ends), vocab_size)
        row.flags.writeable = False
        return LoopWalk(row, merged(single, len(first)), taken, met, self._octets, first)

    def _few(
        self, nodes: Nodes, read: NDArray[np.uint8], leaving: np.uint64, steps: bytes
    ) -> tuple[Nodes, NDArray[np.uint8], Nodes, Nodes, Nodes]:
        """The walk node by node as long as few are left, which are given with what was read; and
        the nodes that were met: single ones, whole ones, and those within characters."""
        tokens, left = self._subtrees, int(leaving)
        octets, first = self._octets.data, self._first.data
        below, within = tokens.below.data, tokens.within.data
        single: list[int] = []
        whole: list[int] = []
        inside: list[int] = []
        pending = list(zip(nodes.tolist(), read.tolist(), strict=True))
        while 0 < len(pending) <= _FEW:
            frontier, pending = pending, []
            for node, before in frontier:
                for child in range(first[node], first[node + 1]):
                    # A character of several bytes is read before its bytes are.
                    if not within[child] & left:
                        whole.append(child)
                        continue
                    after = steps[before << 8 | octets[child]]
                    if after == ILL:
                        continue
                    if not below[child] & left:
                        whole.append(child)
                        continue
                    (single if after == BETWEEN else inside).append(child)
                    pending.append((child, after))
        rest = np.array(pending, dtype=np.int32).reshape(-1, 2)
        left_read = rest[:, 1].astype(np.uint8)
        return rest[:, 0], left_read, _nodes(single), _nodes(whole), _nodes(inside)


def _nodes(found: list[int]) -> Nodes:
    return np.array(found, dtype=np.int32)


_MADE: WeakKeyDictionary[Trie, LoopWalks] = WeakKeyDictionary()


def loop_walks_of(trie: Trie) -> LoopWalks:
    """The walks of a trie, which are made when they are first needed."""
    found = _MADE.get(trie)
    if found is None:
        found = _MADE[trie] = LoopWalks(trie)
    return found
