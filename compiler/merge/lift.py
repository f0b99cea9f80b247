"""Algorithm 5, line 2: the automaton over tokens, by walking the trie from every state.

decode⁻¹(L) has a transition by each token whose bytes the byte automaton reads. Here that
automaton is the product with the tokenizer's cuts, and each state has two sets of tokens:

    row 2p      tokens that continue a piece at state p
    row 2p + 1  tokens that start a piece there
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .marked_dfa import DEAD
from .product import Product
from .shared_walk import likeness, walk_pairs
from .tables import CutTables, PairTables

_STAGE = "the tokens of each state"

# Sets of more tokens are kept as bits.
LONGEST_LIST = 512

# Rows that are walked together.
_BLOCK = 32


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """``lists``: row to its token ids, int32, ascending, of short rows that are not empty.
    ``bits``: row to bool (V,), of the others. ``rows``, ``tokens``, ``targets``: int32, the
    transitions into states that are not open, of which some may be dead ends; by row.
    ``size``: V.
    """

    lists: dict[int, NDArray[np.int32]]
    bits: dict[int, NDArray[np.bool_]]
    rows: NDArray[np.int32]
    tokens: NDArray[np.int32]
    targets: NDArray[np.int32]
    size: int


def no_rules(_: int) -> Iterable[str]:
    """Where nothing is known of rules."""
    return ()


def lift(
    product: Product,
    cuts: CutTables,
    pairs: PairTables,
    limits: Limits | None = None,
    rules_of: Callable[[int], Iterable[str]] = no_rules,
) -> Lift:
    """The rows of all states. Raises ``LimitError`` naming the rules behind the longest."""
    limits = (limits or Limits()).started()
    size = len(pairs.rectangles.rows.part)
    lists: dict[int, NDArray[np.int32]] = {}
    bits: dict[int, NDArray[np.bool_]] = {}
    transitions = 0
    shared = _SharedRows(product, cuts, pairs, size)
    for rows, flags in shared.blocks():
        counts = flags.sum(axis=1)
        for place in np.flatnonzero(counts).tolist():
            if counts[place] <= LONGEST_LIST:
                lists[int(rows[place])] = np.flatnonzero(flags[place]).astype(np.int32)
            else:
                bits[int(rows[place])] = flags[place]
        transitions += int(counts.sum())
        memory = len(bits) * size + sum(a.nbytes for a in lists.values())
        if limits.exceeded(0, transitions, memory):
            longest = int(rows[counts.argmax()]) // 2
            limits.check_transitions(transitions, _STAGE, rules_of(longest))
            limits.check_memory(memory, _STAGE, rules_of(longest))
        limits.check_time(_STAGE)
    found, tokens, targets = shared.doubtful()
    return Lift(lists, bits, found, tokens, targets, size)


class _SharedRows:
    """The rows of all states, those of leaders first; what leads to states not open aside."""

    def __init__(self, product: Product, cuts: CutTables, pairs: PairTables, size: int) -> None:
        self.product, self.cuts, self.trie, self.size = product, cuts, pairs.trie, size
        self.is_open = product.is_open
        count = product.states
        # A walk that begins in the second half reads its first byte in plane 1.
        self.table = np.concatenate([product.table[:, 0], product.table[:, 1]])
        kinds = np.where(self.is_open, 1, 2).astype(np.int8)
        kinds[DEAD] = 0
        self.alike = likeness(self.table, np.concatenate([kinds, kinds]), self.trie)
        self.fallback = (
            _whole_tokens(product, cuts) if len(cuts.whole) else _byte_tokens(product, cuts)
        )
        used = (self.table != DEAD).any(axis=1)
        used[np.where(self.fallback[0] % 2, count, 0) + self.fallback[0] // 2] = True
        self.starts = np.flatnonzero(used)
        self.rows = np.where(
            self.starts < count, 2 * self.starts, 2 * (self.starts - count) + 1
        ).astype(np.int32)
        # Tokens that lead from a leader to states that are not open.
        self.unsure: dict[int, NDArray[np.int64]] = {}
        self.of_leaders: dict[int, NDArray[np.bool_]] = {}
        self.walked: list[NDArray[np.int64]] = []

    def blocks(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.bool_]]]:
        """Rows in blocks with their tokens as bool (rows, V); leaders first."""
        # Without cuts nearly all states are not open: where their tokens lead is needed anyway.
        has_cuts = np.count_nonzero((self.product.table[:, 1] != DEAD).any(axis=1)) > 1
        leaders = self.alike.leaders(self.starts) if has_cuts else self.starts
        leads = leaders == self.starts
        followers = np.flatnonzero(~leads)
        order = followers[np.argsort(leaders[followers], kind="stable")]
        for places in (np.flatnonzero(leads), order):
            for first in range(0, len(places), _BLOCK):
                block = places[first : first + _BLOCK]
                starts = self.starts[block]
                others = np.where(leads[block], 0, leaders[block])
                yield self.rows[block], self._block(starts, others, self.rows[block])

    def _block(
        self, starts: NDArray[np.int64], others: NDArray[np.int64], rows: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        flags = np.zeros((len(starts), self.size), dtype=np.bool_)
        unsure = np.zeros_like(flags)
        for place, other in enumerate(others.tolist()):
            if other:
                flags[place] = self.of_leaders[other]
                unsure[place, self.unsure[other]] = True
        columns = self.product.classes[self.trie.octets]
        found = walk_pairs(self.trie, self.table, columns, self.alike, starts, others)
        for places, tokens, targets in found:
            flags[places, tokens] = targets != DEAD
            doubt = (targets != DEAD) & ~self.is_open[targets]
            unsure[places, tokens] = doubt
            doubt &= others[places] == 0
            if doubt.any():
                row = rows[places[doubt]]
                self.walked.append(np.stack([row, tokens[doubt], targets[doubt]]))
        for place, (start, row) in enumerate(zip(starts.tolist(), rows.tolist(), strict=True)):
            self.unsure[start] = np.flatnonzero(unsure[place])
            if not others[place]:
                self.of_leaders[start] = flags[place].copy()
            low, high = np.searchsorted(self.fallback[0], [row, row + 1])
            flags[place, self.fallback[1, low:high]] = True
        return flags

    def doubtful(self) -> NDArray[np.int32]:
        """The transitions to states that are not open: row, token, target; rows ascending."""
        # Those of leaders were walked; the others read such tokens to states of their own.
        starts = np.array([s for s in self.unsure if s not in self.of_leaders], dtype=np.int64)
        counts = np.array([len(self.unsure[s]) for s in starts.tolist()], dtype=np.int64)
        tokens = np.concatenate([np.zeros(0, np.int64), *(self.unsure[s] for s in starts.tolist())])
        states = np.repeat(starts, counts)
        count = self.product.states
        rows = np.where(states < count, 2 * states, 2 * (states - count) + 1)
        targets = self._run(states, tokens)
        byte_tokens = self.fallback[:, ~self.is_open[self.fallback[2]]]
        parts = [np.stack([rows, tokens, targets]), byte_tokens, *self.walked]
        joined = np.concatenate(parts, axis=1)
        found: NDArray[np.int32] = joined[:, np.argsort(joined[0], kind="stable")].astype(np.int32)
        return found

    def _run(self, states: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each token leads from the state beside it."""
        nodes = np.zeros(self.size, dtype=np.int64)
        nodes[self.trie.ids] = np.repeat(np.arange(len(self.trie.octets)), np.diff(self.trie.held))
        above = np.zeros(len(self.trie.octets), dtype=np.int64)
        above[1:] = np.repeat(np.arange(len(self.trie.octets)), np.diff(self.trie.first))
        columns = self.product.classes[self.trie.octets]
        path = [nodes[tokens]]
        while path[-1].any():
            path.append(above[path[-1]])
        for level in reversed(path):
            moved = self.table[states, columns[level]]
            states = np.where(level > 0, moved, states)
        return states


def _byte_tokens(product: Product, cuts: CutTables) -> NDArray[np.int32]:
    """The transitions by byte tokens, int32 (3, n): row, token, target; rows ascending."""
    found = [np.zeros((3, 0), dtype=np.int32)]
    for plane in range(2, product.table.shape[1]):
        by_byte = product.table[:, plane][:, product.classes]
        states, octets = np.nonzero(by_byte)
        targets = by_byte[states, octets]
        rows = 2 * states + (plane - 2)
        found.append(np.stack([rows, cuts.fallback[octets], targets]).astype(np.int32))
    return _by_row(found)


def _whole_tokens(product: Product, cuts: CutTables) -> NDArray[np.int32]:
    """The same by tokens of whole pieces, which begin in plane 3."""
    found = [np.zeros((3, 0), dtype=np.int32)]
    states = np.flatnonzero((product.table[:, 3] != DEAD).any(axis=1))
    for token, octets in cuts.whole_pieces.items():
        targets = product.table[states, 3, product.classes[octets[0]]]
        for octet in octets[1:]:
            targets = product.table[targets, 0, product.classes[octet]]
        kept = targets != DEAD
        rows = 2 * states[kept] + 1
        found.append(np.stack([rows, np.full(len(rows), token), targets[kept]]).astype(np.int32))
    return _by_row(found)


def _by_row(found: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    joined = np.concatenate(found, axis=1)
    return joined[:, np.argsort(joined[0], kind="stable")]
