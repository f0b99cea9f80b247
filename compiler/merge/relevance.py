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
from heapq import heapify, heappop, heappush
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.trie import ranges

from .lift import Lift
from .marked_dfa import DEAD
from .product import Product
from .tables import CutTables, PairTables

# Tokens u that sieve before the others are compared one by one, if these are not more than
# there are tokens u.
_SIEVES = 8
# So few tokens are compared one by one without that.
_FEW = 64


# Rows of forbidden tokens that are remembered.
_KEPT_ROWS = 64


class Relevance:
    """Which of the transitions of a lift that are not sure are relevant.

    An entry is a product state that is not open: a state and the token that enters it.
    ``state_of``, ``token_of``: int64 (n,), of each entry, by state. ``alive``: bool (n,), which
    are relevant.
    """

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
        self.bounds = np.searchsorted(self.state_of, np.arange(product.states + 1))
        self.by_ward = np.argsort(self.ward_of, kind="stable")
        self.ward_bounds = np.searchsorted(self.ward_of[self.by_ward], np.arange(len(wards) + 1))
        self.row_bounds = np.searchsorted(unsure.rows, np.arange(2 * product.states + 1))
        self.is_open = product.is_open
        # Nothing goes on with a piece behind a token that is given for whole pieces alone.
        self.alive = self.least(~np.isin(self.token_of, cuts.whole))

    def is_so_by(self, usable: NDArray[np.bool_]) -> bool:
        """Whether all relevant entries are so by the tokens ``usable``, bool (V,), alone."""
        return bool(self.least(self.alive, usable)[self.alive].all())

    def least(
        self, among: NDArray[np.bool_], usable: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """The least solution among some entries, bool (n,); ``usable``: the tokens u."""
        search = _Search(self, among, usable)
        search.by_bytes()
        search.by_states()
        return search.alive

    def dead(self) -> NDArray[np.int32]:
        """Row and token of each transition to an entry that is not alive."""
        has_dead = np.zeros(len(self.ward_bounds), dtype=np.bool_)
        has_dead[self.ward_of_entry[~self.alive]] = True
        rows, tokens, targets = self.lift.unsure.each(has_dead[self.ward_of])
        gone = ~self.held(self.alive, targets, tokens)
        return np.stack([rows[gone], tokens[gone]])

    def held(
        self,
        entries: NDArray[np.bool_],
        states: NDArray[np.integer],
        tokens: NDArray[np.integer] | int,
    ) -> NDArray[np.bool_]:
        """Which states with the tokens that enter them are among ``entries``, bool (n,)."""
        if not len(self.keys):
            return np.zeros(len(states), dtype=np.bool_)
        wanted = states * np.int64(self.lift.size) + tokens
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: NDArray[np.bool_] = (self.keys[place] == wanted) & entries[place]
        return found


class _Search:
    """``alive``: what is known to be of the solution. ``waiting``: the others that may be."""

    def __init__(
        self, entries: Relevance, among: NDArray[np.bool_], usable: NDArray[np.bool_] | None
    ) -> None:
        self.entries, self.usable = entries, usable
        self.product, self.lift, self.pairs = entries.product, entries.lift, entries.pairs
        self.state_of, self.token_of = entries.state_of, entries.token_of
        self.is_open = entries.is_open
        self.alive, self.waiting = np.zeros(len(among), dtype=np.bool_), among.copy()
        self.flags = np.zeros(self.lift.size, dtype=np.bool_)
        self.forbidden: dict[int, NDArray[np.bool_]] = {}

    def settle(self, living: NDArray[np.int64]) -> None:
        """Some entries are alive."""
        self.alive[living] = True
        self.waiting[living] = False

    def by_bytes(self) -> None:
        """Settle all entries at once that a token of one byte may follow."""
        singles = [
            single for single in self.singles() if self.usable is None or self.usable[single[0]]
        ]
        columns = self.pairs.rectangles.columns
        count = -1
        while count != (count := int(np.count_nonzero(self.waiting))):
            for token, plane, octet in singles:
                waiting = np.flatnonzero(self.waiting)
                column = self.product.classes[octet]
                targets = self.product.table[self.state_of[waiting], plane, column]
                read = targets != DEAD
                if not read.any():
                    continue
                waiting, targets = waiting[read], targets[read]
                leads = self.is_open[targets] | self.entries.held(self.alive, targets, token)
                waiting = waiting[leads]
                stuck = self.marked(columns.ids(token), self.token_of[waiting])
                self.settle(waiting[~stuck])

    def singles(self) -> Iterator[tuple[int, int, int]]:
        """The tokens of one byte that may continue a piece, their planes and their bytes."""
        trie, cuts = self.pairs.trie, self.entries.cuts
        for node in range(1, int(trie.first[1])):
            for token in trie.ids[trie.held[node] : trie.held[node + 1]].tolist():
                yield token, 0, int(trie.octets[node])
        if self.product.table.shape[1] > 2 and not len(cuts.whole):
            for octet, token in enumerate(cuts.fallback.tolist()):
                yield token, 2, octet

    def by_states(self) -> None:
        """State by state: what waits there becomes alive once something alive may follow."""
        fresh: defaultdict[int, list[NDArray[np.int32]]] = defaultdict(list)
        for state in np.unique(self.state_of[self.waiting]).tolist():
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
            waiting = self.waiting_at(state)
            following = np.concatenate(fresh.pop(state))
            living = waiting[~self.stuck(self.token_of[waiting], following)]
            self.settle(living)
            for before, tokens in self.leading(living):
                if not len(self.waiting_at(before)):
                    continue
                if before not in fresh:
                    heappush(heap, (distance[before], before))
                fresh[before].append(tokens)

    def waiting_at(self, state: int) -> NDArray[np.int64]:
        """The entries of a state that are waiting."""
        low, high = self.entries.bounds[state : state + 2]
        found: NDArray[np.int64] = low + np.flatnonzero(self.waiting[low:high])
        return found

    def following(self, state: int) -> NDArray[np.int32]:
        """The tokens that continue a piece at ``state`` and lead to what is alive."""
        row = 2 * state
        low, high = self.entries.row_bounds[row : row + 2].tolist()
        _, tokens, targets = self.lift.unsure.each(slice(low, high))
        unsure = tokens[~self.entries.held(self.alive, targets, tokens)]
        if row in self.lift.bits:
            flags = self.lift.bits[row].copy()
            flags[unsure] = False
            found = np.flatnonzero(flags).astype(np.int32)
        else:
            found = self.lift.lists.get(row, np.zeros(0, dtype=np.int32))
            found = np.setdiff1d(found, unsure, assume_unique=True)
        return found if self.usable is None else found[self.usable[found]]

    def leading(self, living: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int32]]]:
        """The states that a token leads from into one of some entries, with these tokens,
        where it continues a piece (a token that starts one makes no difference: a state where
        it may is open)."""
        if self.usable is not None:
            living = living[self.usable[self.token_of[living]]]
        entries = self.entries
        wards = entries.ward_of_entry[living]
        first = entries.ward_bounds[wards]
        counts = entries.ward_bounds[wards + 1] - first
        rows = self.lift.unsure.rows[entries.by_ward[ranges(first, counts)]]
        tokens = np.repeat(self.token_of[living], counts).astype(np.int32)
        kept = (rows % 2 == 0) & ~self.is_open[rows // 2]
        rows, tokens = rows[kept], tokens[kept]
        if not len(rows):
            return []
        order = np.argsort(rows, kind="stable")
        before, bounds = np.unique(rows[order], return_index=True)
        parts = np.split(tokens[order], bounds[1:])
        return list(zip((before // 2).tolist(), parts, strict=True))

    def stuck(self, tokens: NDArray[np.int64], following: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tokens none of ``following`` may follow."""
        left = np.arange(len(tokens))
        step = max(1, len(following) // _SIEVES)
        result = np.zeros(len(tokens), dtype=np.bool_)
        for tried, u in enumerate(chain(following[::step], following)):
            if len(left) <= _FEW or (tried >= _SIEVES and len(left) < len(following)):
                break
            left = left[self.marked(self.pairs.rectangles.columns.ids(int(u)), tokens[left])]
        else:
            result[left] = True
            return result
        for i in left.tolist():
            result[i] = self.forbidden_after(int(tokens[i]))[following].all()
        return result

    def forbidden_after(self, token: int) -> NDArray[np.bool_]:
        """Which tokens may not follow ``token``, bool (V,)."""
        if token not in self.forbidden:
            if len(self.forbidden) >= _KEPT_ROWS:
                self.forbidden.clear()
            flags = np.zeros(self.lift.size, dtype=np.bool_)
            flags[self.pairs.rectangles.rows.ids(token)] = True
            self.forbidden[token] = flags
        return self.forbidden[token]

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
