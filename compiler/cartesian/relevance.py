"""Product states of Algorithm 5 that may be dead ends: a state that is not open, a last token.

Tokens that lead the same rows to the same state are not told apart before they have to be: a
*ward* is a state and a group of tokens that enters it (``lift.Bundles``).

Algorithm 5, line 4: which transitions lead to relevant product states.

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
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import ranges

from ..bpe.forbidden_pairs import PairTables
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD
from .lift import Lift
from .product import Product


class RelevanceClaims:
    """``state_of``, ``token_of``: int64 (n,), of each entry, by state. ``bounds``: int64, the
    entries of state p are ``bounds[p]`` to ``bounds[p + 1] - 1``.
    """

    def __init__(self, product: Product, lift: Lift) -> None:
        self.unsure = unsure = lift.unsure
        self._is_open, self._size = product.is_open, lift.size
        self._width = np.int64(len(unsure.bounds))
        keys = unsure.targets * self._width + unsure.groups
        self._wards, self._ward_of = np.unique(keys, return_inverse=True)
        states, groups = np.divmod(self._wards, self._width)
        self._sizes, tokens = unsure.tokens_of(groups)
        self._first = np.cumsum(self._sizes) - self._sizes
        self.state_of, self.token_of = np.repeat(states, self._sizes), tokens.astype(np.int64)
        self.bounds = np.searchsorted(self.state_of, np.arange(product.states + 1))
        self._ward_of_entry = np.repeat(np.arange(len(states)), self._sizes)
        self._row_bounds = np.searchsorted(unsure.rows, np.arange(2 * product.states + 1))
        self._by_ward = np.argsort(self._ward_of, kind="stable")
        self._ward_bounds = np.searchsorted(
            self._ward_of[self._by_ward], np.arange(len(states) + 1)
        )

    def continuing(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens that continue a piece at a state and lead to an entry, and the entries."""
        low, high = self._row_bounds[2 * state : 2 * state + 2]
        _, tokens = self.unsure.tokens_of(self.unsure.groups[low:high])
        wards = self._ward_of[low:high]
        return tokens, ranges(self._first[wards], self._sizes[wards]).astype(np.int64)

    def places_of(self, tokens: NDArray[np.integer]) -> dict[int, list[tuple[int, int]]]:
        """For each of some tokens the groups that hold it, and its place in each."""
        wanted = np.zeros(self._size, dtype=np.bool_)
        wanted[tokens] = True
        places = np.flatnonzero(wanted[self.unsure.tokens])
        groups = np.searchsorted(self.unsure.bounds, places, side="right") - 1
        found: dict[int, list[tuple[int, int]]] = {token: [] for token in tokens.tolist()}
        held = zip(places.tolist(), groups.tolist(), strict=True)
        for token, (place, group) in zip(self.unsure.tokens[places].tolist(), held, strict=True):
            found[token].append((group, place - int(self.unsure.bounds[group])))
        return found

    def among(
        self,
        wanted: NDArray[np.bool_],
        states: NDArray[np.integer],
        places: list[tuple[int, int]],
    ) -> NDArray[np.bool_]:
        """Which states, entered by the token of ``places``, are entries of ``wanted``."""
        found = np.zeros(len(states), dtype=np.bool_)
        for group, place in places if len(wanted) else ():
            keys = states * self._width + group
            wards = np.minimum(np.searchsorted(self._wards, keys), len(self._wards) - 1)
            entries = np.minimum(self._first[wards] + place, len(wanted) - 1)
            found |= (self._wards[wards] == keys) & wanted[entries]
        return found

    def transitions(self, wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Row and token of each transition to one of the entries ``wanted``, int32 (2, m)."""
        held = np.zeros(len(self._wards), dtype=np.bool_)
        held[self._ward_of_entry[wanted]] = True
        chosen = held[self._ward_of]
        wards = self._ward_of[chosen]
        rows, tokens, _ = self.unsure.each(chosen)
        kept = wanted[ranges(self._first[wards], self._sizes[wards])]
        return np.stack([rows[kept], tokens[kept]])

    def leading(self, entries: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int32]]]:
        """The states that a token leads from into some entries, with these tokens, where it
        continues a piece and the state is not open (where one may start, none is needed)."""
        wards = self._ward_of_entry[entries]
        first = self._ward_bounds[wards]
        counts = self._ward_bounds[wards + 1] - first
        rows = self.unsure.rows[self._by_ward[ranges(first, counts)]]
        tokens = np.repeat(self.token_of[entries], counts).astype(np.int32)
        kept = (rows % 2 == 0) & ~self._is_open[rows // 2]
        rows, tokens = rows[kept], tokens[kept]
        if not len(rows):
            return []
        order = np.argsort(rows, kind="stable")
        before, bounds = np.unique(rows[order], return_index=True)
        parts = np.split(tokens[order], bounds[1:])
        return list(zip((before // 2).tolist(), parts, strict=True))


# Tokens u that sieve before the others are compared one by one, if these are not more than
# there are tokens u.
_SIEVES = 8
# So few tokens are compared one by one without that.
_FEW = 64


# Rows of forbidden tokens that are remembered.
_KEPT_ROWS = 64


class Relevance:
    """Which of the transitions of a lift that are not sure are relevant.

    ``alive``: bool (n,), which ``entries`` are.
    """

    def __init__(
        self, product: Product, lift: Lift, cuts: PretokenizerTables, pairs: PairTables
    ) -> None:
        self.product, self.lift, self.cuts, self.pairs = product, lift, cuts, pairs
        self.entries, self.is_open = RelevanceClaims(product, lift), product.is_open
        # Nothing goes on with a piece behind a token that is given for whole pieces alone.
        self.alive = self.least(~np.isin(self.entries.token_of, cuts.whole))

    def is_so_by(self, usable: NDArray[np.bool_]) -> bool:
        """Whether all that is relevant is so by the tokens ``usable``, bool (V,), alone."""
        return bool(self.least(self.alive, usable)[self.alive].all())

    def least(
        self, among: NDArray[np.bool_], usable: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """The least solution among some entries, bool (n,); ``usable``: the tokens u."""
        search = _Search(self, among, usable)
        search.by_bytes()
        search.by_states()
        return search.alive

    @cached_property
    def distance(self) -> list[int]:
        """Bytes from each state to the nearest that is open."""
        return _distances(self.product.table.reshape(self.product.states, -1), self.is_open)

    def dead(self) -> NDArray[np.int32]:
        """Row and token of each transition to a dead end, int32 (2, m)."""
        return self.entries.transitions(~self.alive)


class _Search:
    """``alive``: what is known to be of the solution. ``waiting``: the others that may be."""

    def __init__(
        self, whole: Relevance, among: NDArray[np.bool_], usable: NDArray[np.bool_] | None
    ) -> None:
        self.product, self.lift, self.entries = whole.product, whole.lift, whole.entries
        self.cuts, self.pairs, self.usable = whole.cuts, whole.pairs, usable
        self.is_open, self.whole = whole.is_open, whole
        self.alive, self.waiting = np.zeros(len(among), dtype=np.bool_), among.copy()
        self.flags = np.zeros(self.lift.size, dtype=np.bool_)
        self.forbidden: dict[int, NDArray[np.bool_]] = {}

    def settle(self, living: NDArray[np.int64]) -> None:
        """Some entries are alive."""
        self.alive[living] = True
        self.waiting[living] = False

    def by_bytes(self) -> None:
        """Settle all entries at once that a token of one byte may follow."""
        singles = [s for s in self.singles() if self.usable is None or self.usable[s[0]]]
        places = self.entries.places_of(np.array([s[0] for s in singles], dtype=np.int64))
        columns, state_of = self.pairs.forbidden.columns, self.entries.state_of
        count = -1
        while count != (count := int(np.count_nonzero(self.waiting))):
            states = np.unique(state_of[self.waiting])
            for token, plane, octet in singles if len(states) else ():
                targets = self.product.table[states, plane, self.product.classes[octet]]
                leads = self.entries.among(self.alive, targets, places[token])
                leads |= self.is_open[targets]
                if not leads.any():
                    continue
                is_before = np.zeros(self.product.states, dtype=np.bool_)
                is_before[states[leads]] = True
                waiting = np.flatnonzero(self.waiting & is_before[state_of])
                stuck = self.marked(columns.ids(token), self.entries.token_of[waiting])
                self.settle(waiting[~stuck])

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
        """State by state: what waits there becomes alive once something alive may follow."""
        fresh: defaultdict[int, list[NDArray[np.int32]]] = defaultdict(list)
        for state in np.unique(self.entries.state_of[self.waiting]).tolist():
            following = self.following(state)
            if len(following):
                fresh[state].append(following)
        if not fresh:
            return
        distance = self.whole.distance
        # States that lie nearer to the end are settled first: fewer are seen twice.
        heap = [(distance[state], state) for state in fresh]
        heapify(heap)
        while heap:
            _, state = heappop(heap)
            if state not in fresh:
                continue
            waiting = self.waiting_at(state)
            following = np.concatenate(fresh.pop(state))
            living = waiting[~self.stuck(self.entries.token_of[waiting], following)]
            self.settle(living)
            if self.usable is not None:
                living = living[self.usable[self.entries.token_of[living]]]
            for before, tokens in self.entries.leading(living):
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
        tokens, entries = self.entries.continuing(state)
        unsure = tokens[~self.alive[entries]]
        row = 2 * state
        if row in self.lift.bits:
            flags = self.lift.bits[row].copy()
            flags[unsure] = False
            found = np.flatnonzero(flags).astype(np.int32)
        else:
            found = self.lift.lists.get(row, np.zeros(0, dtype=np.int32))
            found = np.setdiff1d(found, unsure, assume_unique=True)
        return found if self.usable is None else found[self.usable[found]]

    def stuck(self, tokens: NDArray[np.int64], following: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tokens none of ``following`` may follow."""
        left = np.arange(len(tokens))
        step = max(1, len(following) // _SIEVES)
        result = np.zeros(len(tokens), dtype=np.bool_)
        for tried, u in enumerate(chain(following[::step], following)):
            if len(left) <= _FEW or (tried >= _SIEVES and len(left) < len(following)):
                break
            left = left[self.marked(self.pairs.forbidden.columns.ids(int(u)), tokens[left])]
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
            flags[self.pairs.forbidden.rows.ids(token)] = True
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
