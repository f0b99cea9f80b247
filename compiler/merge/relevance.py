"""Algorithm 5, line 4: which transitions lead to relevant product states.

A product state here is (state p, last token t). If p is open, the text may end there or a
piece may start, whatever t is: what follows is encoded by itself, so (p, t) is relevant.
Otherwise the next token u continues the piece, and

    (p, t) is relevant  iff  some u at p may follow t and leads to a relevant product state,

the least solution. The breadth-first search of the source over product states is not needed:
the tokens that enter p are sieved by a few u (each u leaves only the tokens that may not
precede it), and the rest, mostly none, is compared with all of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from .lift import Lift
from .marked_dfa import DEAD
from .product import Product
from .rectangles import Rectangles

# Tokens u that sieve before the others are compared one by one.
_SIEVES = 8
# So many tokens left are compared one by one; more are sieved on.
_FEW = 64


def dead_transitions(
    product: Product, lift: Lift, rectangles: Rectangles, whole: Sequence[int] = ()
) -> NDArray[np.bool_]:
    """Which of the transitions of ``lift`` that are not sure lead to a dead end, bool (n,).

    ``whole``: the tokens of whole pieces; nothing goes on with a piece behind those.
    """
    return _Search(product, lift, rectangles).run() | np.isin(
        lift.tokens, np.array(whole, dtype=np.int32)
    )


class _Search:
    def __init__(self, product: Product, lift: Lift, rectangles: Rectangles) -> None:
        self.product, self.lift, self.rectangles = product, lift, rectangles
        size = len(rectangles.rows.part)
        keys = lift.targets.astype(np.int64) * size + lift.tokens
        # An entry is a product state that is not open: a state and the token that enters it.
        entries, self.entry_of = np.unique(keys, return_inverse=True)
        self.state_of, self.token_of = np.divmod(entries, size)
        self.alive = np.zeros(len(entries), dtype=np.bool_)
        self.bounds = np.searchsorted(self.state_of, np.arange(product.states + 1))
        by_entry = np.argsort(self.entry_of, kind="stable")
        self.edges = by_entry
        self.edge_bounds = np.searchsorted(self.entry_of[by_entry], np.arange(len(entries) + 1))
        self.row_bounds = np.searchsorted(
            lift.rows, np.arange(2 * product.states + 1, dtype=np.int32)
        )
        self.flags = np.zeros(size, dtype=np.bool_)
        self.is_open = product.is_open
        self.distance = _distances(product.table.reshape(product.states, -1), self.is_open)

    def run(self) -> NDArray[np.bool_]:
        """The least solution: tokens become alive at a state once something alive follows."""
        fresh: defaultdict[int, list[NDArray[np.int32]]] = defaultdict(list)
        entered = np.flatnonzero(np.diff(self.bounds))
        for state in entered.tolist():
            sure = self.sure_tokens(state)
            if len(sure):
                fresh[state].append(sure)
        # States that lie nearer to the end are settled first: fewer are seen twice.
        heap = [(self.distance[state], state) for state in fresh]
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
                    heappush(heap, (self.distance[before], before))
                fresh[before].append(token)
        return ~self.alive[self.entry_of]

    def waits(self, state: int) -> bool:
        """Whether some token enters ``state`` that is not alive there yet."""
        return not self.alive[self.bounds[state] : self.bounds[state + 1]].all()

    def sure_tokens(self, state: int) -> NDArray[np.int32]:
        """The tokens that continue a piece at ``state`` and lead to open states."""
        row = 2 * state
        unsure = self.lift.tokens[self.row_bounds[row] : self.row_bounds[row + 1]]
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
        starts = self.edge_bounds[living]
        counts = self.edge_bounds[living + 1] - starts
        shift = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        edges = self.edges[np.arange(int(counts.sum())) + shift]
        rows, tokens = self.lift.rows[edges], self.lift.tokens[edges]
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
        for tried, u in enumerate((*following[::step].tolist(), *following.tolist())):
            if not len(left) or (len(left) <= _FEW and tried >= _SIEVES):
                break
            left = left[self.marked(self.rectangles.columns.ids(u), tokens[left])]
        else:
            following = following[:0]
        result = np.zeros(len(tokens), dtype=np.bool_)
        result[left] = True
        if len(following):
            for i in left.tolist():
                forbidden = self.rectangles.rows.ids(int(tokens[i]))
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
