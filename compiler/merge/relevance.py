"""Algorithm 5, line 4: which transitions lead to relevant product states.

A product state here is (state p, last token t). If p is open, the text may end there or a
piece may start, whatever t is: what follows is encoded by itself, so (p, t) is relevant.
Otherwise the next token u continues the piece, and

    (p, t) is relevant  iff  some u at p may follow t and leads to a relevant product state,

the least solution. The breadth-first search of the source over product states is not needed.
First the tokens u of one byte are tried for all (p, t) at once, which settles nearly all. Then,
state by state, the tokens that enter p are sieved by a few u (each u leaves only the tokens that
may not precede it), and the rest, mostly none, is compared with all of them.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.trie import ranges

from .lift import Lift
from .marked_dfa import DEAD
from .product import Product
from .tables import CutTables, PairTables

# Tokens u that sieve before the others are compared one by one.
_SIEVES = 8
# So many tokens left are compared one by one; more are sieved on.
_FEW = 64


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """``states``, ``tokens``: int64, parallel, by state: the product states that are relevant
    and not open. ``dead``: int32 (2, n), row and token of each transition to a dead end.
    """

    states: NDArray[np.int64]
    tokens: NDArray[np.int64]
    dead: NDArray[np.int32]


def relevance(product: Product, lift: Lift, cuts: CutTables, pairs: PairTables) -> Relevance:
    """Which of the transitions of ``lift`` that are not sure are relevant."""
    search = _Search(product, lift, cuts, pairs)
    search.by_bytes()
    search.by_states()
    # Nothing goes on with a piece behind a token that is given for whole pieces alone.
    search.alive &= ~np.isin(search.token_of, cuts.whole)
    alive = search.alive
    return Relevance(search.state_of[alive], search.token_of[alive], search.dead())


class _Search:
    """An entry is a product state that is not open: a state and the token that enters it."""

    def __init__(self, product: Product, lift: Lift, cuts: CutTables, pairs: PairTables) -> None:
        self.product, self.lift, self.cuts, self.pairs = product, lift, cuts, pairs
        unsure = lift.unsure
        # A ward is a state and a group of tokens that enters it.
        width = np.int64(len(unsure.bounds))
        wards, self.ward_of = np.unique(unsure.targets * width + unsure.groups, return_inverse=True)
        states, groups = np.divmod(wards, width)
        sizes, tokens = unsure.tokens_of(groups)
        keys = np.repeat(states, sizes) * lift.size + tokens
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.ward_of_entry = np.repeat(np.arange(len(wards)), sizes)[order]
        self.state_of, self.token_of = np.divmod(self.keys, lift.size)
        self.alive = np.zeros(len(self.keys), dtype=np.bool_)
        self.bounds = np.searchsorted(self.state_of, np.arange(product.states + 1))
        self.by_ward = np.argsort(self.ward_of, kind="stable")
        self.ward_bounds = np.searchsorted(self.ward_of[self.by_ward], np.arange(len(wards) + 1))
        self.row_bounds = np.searchsorted(unsure.rows, np.arange(2 * product.states + 1))
        self.flags = np.zeros(lift.size, dtype=np.bool_)
        self.is_open = product.is_open

    def dead(self) -> NDArray[np.int32]:
        """Row and token of each transition to an entry that is not alive."""
        has_dead = np.zeros(len(self.ward_bounds), dtype=np.bool_)
        has_dead[self.ward_of_entry[~self.alive]] = True
        rows, tokens, targets = self.lift.unsure.each(has_dead[self.ward_of])
        gone = ~self.is_alive(targets.astype(np.int64), tokens)
        return np.stack([rows[gone], tokens[gone]])

    def is_alive(
        self, states: NDArray[np.int64], tokens: NDArray[np.integer] | int
    ) -> NDArray[np.bool_]:
        """Which states with the tokens that enter them are entries known to be alive."""
        if not len(self.keys):
            return np.zeros(len(states), dtype=np.bool_)
        wanted = states * self.lift.size + tokens
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: NDArray[np.bool_] = (self.keys[place] == wanted) & self.alive[place]
        return found

    def by_bytes(self) -> None:
        """Settle all entries at once that a token of one byte may follow."""
        singles = list(self.singles())
        columns = self.pairs.rectangles.columns
        count = -1
        while count != (count := int(self.alive.sum())):
            for token, plane, octet in singles:
                waiting = np.flatnonzero(~self.alive)
                if not len(waiting):
                    return
                column = self.product.classes[octet]
                targets = self.product.table[self.state_of[waiting], plane, column]
                waiting, targets = waiting[targets != DEAD], targets[targets != DEAD]
                if len(waiting):
                    leads = self.is_open[targets] | self.is_alive(targets.astype(np.int64), token)
                    waiting = waiting[leads]
                    stuck = self.marked(columns.ids(token), self.token_of[waiting])
                    self.alive[waiting[~stuck]] = True

    def singles(self) -> Iterator[tuple[int, int, int]]:
        """The tokens of one byte that may continue a piece, their planes and their bytes."""
        trie = self.pairs.trie
        for node in range(1, int(trie.first[1])):
            for token in trie.ids[trie.held[node] : trie.held[node + 1]].tolist():
                yield token, 0, int(trie.octets[node])
        if self.product.table.shape[1] > 2 and not len(self.cuts.whole):
            for octet, token in enumerate(self.cuts.fallback.tolist()):
                yield token, 2, octet

    def by_states(self) -> None:
        """The least solution: tokens become alive at a state once something alive follows."""
        fresh: defaultdict[int, list[NDArray[np.int32]]] = defaultdict(list)
        for state in np.unique(self.state_of[~self.alive]).tolist():
            following = self.following(state)
            if len(following):
                fresh[state].append(following)
        if not fresh:
            return
        distance = _distances(self.product.table.reshape(self.product.states, -1), self.is_open)
        # States that lie nearer to the end are settled first: fewer are seen twice.
        heap = [(distance[state], state) for state in fresh]
        heapify(heap)
        while heap:
            _, state = heappop(heap)
            if state not in fresh:
                continue
            following = np.concatenate(fresh.pop(state))
            for before, token in self.settle(state, following):
                if not self.waits(before):
                    continue
                if before not in fresh:
                    heappush(heap, (distance[before], before))
                fresh[before].append(token)

    def waits(self, state: int) -> bool:
        """Whether some token enters ``state`` that is not alive there yet."""
        return not self.alive[self.bounds[state] : self.bounds[state + 1]].all()

    def following(self, state: int) -> NDArray[np.int32]:
        """The tokens that continue a piece at ``state`` and lead to what is relevant."""
        row = 2 * state
        _, tokens, targets = self.lift.unsure.each(
            slice(int(self.row_bounds[row]), int(self.row_bounds[row + 1]))
        )
        unsure = tokens[~self.is_alive(targets.astype(np.int64), tokens)]
        if row in self.lift.bits:
            flags = self.lift.bits[row].copy()
            flags[unsure] = False
            return np.flatnonzero(flags).astype(np.int32)
        found = self.lift.lists.get(row, np.zeros(0, dtype=np.int32))
        return np.setdiff1d(found, unsure, assume_unique=True)

    def settle(
        self, state: int, following: NDArray[np.int32]
    ) -> list[tuple[int, NDArray[np.int32]]]:
        """Find who becomes alive at ``state`` by new tokens that may come next there.

        Returns the states that a token leads from into a new product state, with the token,
        where it continues a piece (a token that starts one makes no difference: a state where
        it may is open).
        """
        low, high = self.bounds[state], self.bounds[state + 1]
        waiting = low + np.flatnonzero(~self.alive[low:high])
        living = waiting[~self.stuck(self.token_of[waiting], following)]
        self.alive[living] = True
        wards = self.ward_of_entry[living]
        counts = self.ward_bounds[wards + 1] - self.ward_bounds[wards]
        rows = self.lift.unsure.rows[self.by_ward[ranges(self.ward_bounds[wards], counts)]]
        tokens = np.repeat(self.token_of[living], counts).astype(np.int32)
        kept = (rows % 2 == 0) & ~self.is_open[rows // 2]
        rows, tokens = rows[kept], tokens[kept]
        order = np.argsort(rows, kind="stable")
        before, bounds = np.unique(rows[order], return_index=True)
        parts = np.split(tokens[order], bounds[1:])
        return list(zip((before // 2).tolist(), parts, strict=False))

    def stuck(self, tokens: NDArray[np.int64], following: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tokens none of ``following`` may follow."""
        left = np.arange(len(tokens))
        step = max(1, len(following) // _SIEVES)
        for tried, u in enumerate(chain(following[::step], following)):
            if not len(left) or (len(left) <= _FEW and tried >= _SIEVES):
                break
            left = left[self.marked(self.pairs.rectangles.columns.ids(int(u)), tokens[left])]
        else:
            following = following[:0]
        result = np.zeros(len(tokens), dtype=np.bool_)
        result[left] = True
        if len(following):
            for i in left.tolist():
                forbidden = self.pairs.rectangles.rows.ids(int(tokens[i]))
                result[i] = self.marked(forbidden, following).all()
        return result

    def marked(self, ids: NDArray[np.int32], wanted: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of ``wanted`` are among ``ids``."""
        self.flags[ids] = True
        found: NDArray[np.bool_] = self.flags[wanted]
        self.flags[ids] = False
        return found


def _distances(table: NDArray[np.int32], ends: NDArray[np.bool_]) -> list[int]:
    """Bytes from each state to the nearest of ``ends``."""
    distance = np.where(ends, 0, len(table))
    while True:
        nearer = np.minimum(distance, distance[table].min(axis=1, initial=len(table)) + 1)
        nearer[DEAD] = len(table)
        if (nearer == distance).all():
            found: list[int] = distance.tolist()
            return found
        distance = nearer
