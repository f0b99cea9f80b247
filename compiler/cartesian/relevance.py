"""Algorithm 5, line 4: which transitions lead to relevant (co-accessible) product states.

A product state of Algorithm 5 is a *claim* (p, t): a state p of the grammar's automaton over tokens
and the last token t. If p is at a free boundary, the text may end there or a pre-token may start,
whatever t is: what follows is encoded by itself, so (p, t) is relevant. Otherwise the next token u
continues the pre-token, and

    (p, t) is relevant  iff  some u at p may follow t and leads to a relevant claim,

the least solution. The source searches the product states breadth first; that is not needed here:

    by_bytes     the tokens u of one byte are tried for all claims at once, again and again until
                 nothing changes, which decides nearly all
    by_states    a work list from the end backwards; at each state the tokens t are sieved by a few
                 u (each leaves only those t that it may not follow), and the rest is compared

Tokens that lead the same rows to the same state are not distinguished before they have to be: they
are kept together as a *bundle*, a state and a group of tokens (``lift.Bundles``).

*Relevant*, the source's word, is *live* in the glossary; what is not relevant is a dead end.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.distinct import distinct, numbered, stable_order
from constrain.artifacts.tokens.trie import ranges

from ..bpe.forbidden_pairs import PairTables
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import distances
from ..progress import Progress, silent
from .lift import Lift
from .product import Product

_STAGE = "the dead ends"

# States that are visited between two steps of the progress bar.
_BETWEEN = 64

# The first tokens u by which all t of a state are sieved; after them a t left over is compared with
# all u at once where there are fewer t than u.
_SIEVES = 8
# Up to so many t are compared with all u at once without sieving.
_FEW_TOKENS = 64

# Rows of forbidden tokens that the cache holds before it is cleared.
_MAX_CACHED_ROWS = 64


class RelevanceClaims:
    """The claims (state, last token) at states that are not at a free boundary, numbered by state.

    ``state_of``, ``token_of``: int64 (n,), of each claim. ``bounds``: int64, the claims of state p
    are ``bounds[p]`` to ``bounds[p + 1] - 1``.
    """

    def __init__(self, product: Product, lift: Lift) -> None:
        self.undecided = undecided = lift.undecided
        self._at_boundary, self._size = product.at_boundary, lift.size
        self._width = np.int64(len(undecided.bounds))
        keys = undecided.targets * self._width + undecided.groups
        self._bundle_of = numbered(keys)
        self._bundles = np.empty(int(self._bundle_of.max(initial=-1)) + 1, dtype=np.int64)
        self._bundles[self._bundle_of] = keys
        states, groups = np.divmod(self._bundles, self._width)
        self._sizes, tokens = undecided.tokens_of(groups)
        self._first = np.cumsum(self._sizes) - self._sizes
        self.state_of, self.token_of = np.repeat(states, self._sizes), tokens.astype(np.int64)
        self.bounds = np.searchsorted(self.state_of, np.arange(product.states + 1))
        self._bundle_of_claim = np.repeat(np.arange(len(states)), self._sizes)
        self._row_bounds = np.searchsorted(undecided.rows, np.arange(2 * product.states + 1))
        self._by_bundle = stable_order(self._bundle_of)
        self._bundle_bounds = np.searchsorted(
            self._bundle_of[self._by_bundle], np.arange(len(states) + 1)
        )

    def continuing(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens that continue a pre-token at a state and lead to claims, int32, and the claims
        of these, int64."""
        low, high = self._row_bounds[2 * state : 2 * state + 2]
        _, tokens = self.undecided.tokens_of(self.undecided.groups[low:high])
        bundles = self._bundle_of[low:high]
        return tokens, ranges(self._first[bundles], self._sizes[bundles]).astype(np.int64)

    def places_of(self, tokens: NDArray[np.integer]) -> dict[int, list[tuple[int, int]]]:
        """For each of some tokens the groups that hold it, and its index in each."""
        wanted = np.zeros(self._size, dtype=np.bool_)
        wanted[tokens] = True
        places = np.flatnonzero(wanted[self.undecided.tokens])
        groups = np.searchsorted(self.undecided.bounds, places, side="right") - 1
        found: dict[int, list[tuple[int, int]]] = {token: [] for token in tokens.tolist()}
        held = zip(places.tolist(), groups.tolist(), strict=True)
        for token, (place, group) in zip(self.undecided.tokens[places].tolist(), held, strict=True):
            found[token].append((group, place - int(self.undecided.bounds[group])))
        return found

    def among(
        self,
        wanted: NDArray[np.bool_],
        states: NDArray[np.integer],
        places: list[tuple[int, int]],
    ) -> NDArray[np.bool_]:
        """Which of some states make a claim of ``wanted`` together with one token.

        ``wanted``: bool (n,), claims. ``places``: of the token, as of ``places_of``.
        """
        found = np.zeros(len(states), dtype=np.bool_)
        for group, place in places if len(wanted) else ():
            keys = states * self._width + group
            bundles = np.minimum(np.searchsorted(self._bundles, keys), len(self._bundles) - 1)
            claims = np.minimum(self._first[bundles] + place, len(wanted) - 1)
            found |= (self._bundles[bundles] == keys) & wanted[claims]
        return found

    def transitions(self, wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Row and token of each transition to one of the claims ``wanted``, int32 (2, m)."""
        held = np.zeros(len(self._bundles), dtype=np.bool_)
        held[self._bundle_of_claim[wanted]] = True
        chosen = held[self._bundle_of]
        bundles = self._bundle_of[chosen]
        rows, tokens, _ = self.undecided.each(chosen)
        leads = wanted[ranges(self._first[bundles], self._sizes[bundles])]
        return np.stack([rows[leads], tokens[leads]])

    def leading(
        self, claims: NDArray[np.int64], wanted: NDArray[np.bool_]
    ) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """The states before some claims with the tokens that lead there, in parts.

        Only tokens that continue a pre-token, at the states ``wanted``, bool (S,), that are not at
        a free boundary: the claims of others are relevant anyway.
        """
        bundles, tokens = self._bundle_of_claim[claims], self.token_of[claims].astype(np.int32)
        begins = np.append(np.flatnonzero(np.diff(bundles, prepend=-1)), len(claims))
        bundles = bundles[begins[:-1]]
        first = self._bundle_bounds[bundles]
        counts = self._bundle_bounds[bundles + 1] - first
        rows = self.undecided.rows[self._by_bundle[ranges(first, counts)]]
        places = np.flatnonzero((rows % 2 == 0) & (wanted & ~self._at_boundary)[rows // 2])
        parts = np.repeat(np.arange(len(bundles)), counts)[places]
        lows, highs = begins[parts].tolist(), begins[parts + 1].tolist()
        for state, low, high in zip((rows[places] // 2).tolist(), lows, highs, strict=True):
            yield state, tokens[low:high]


class Relevance:
    """Which of the undecided transitions of a lift are relevant.

    ``live``: bool (n,), the relevant ones of ``claims``. ``by_usable``: those that are so with the
    next tokens ``usable``, bool (V,), alone; all of them where that is None.
    """

    def __init__(
        self,
        product: Product,
        lift: Lift,
        pretokenizer: PretokenizerTables,
        pairs: PairTables,
        progress: Progress = silent,
        usable: NDArray[np.bool_] | None = None,
    ) -> None:
        self.progress = progress
        self.product, self.lift, self.pretokenizer, self.pairs = product, lift, pretokenizer, pairs
        self.claims, self.at_boundary = RelevanceClaims(product, lift), product.at_boundary
        # No token continues a pre-token after one that stands for whole pre-tokens only.
        among = ~np.isin(self.claims.token_of, pretokenizer.whole)
        self.live = np.zeros(len(among), dtype=np.bool_)
        if usable is not None:
            self.live = self._least(among, usable)
        by_usable = self.live
        self.live = self._least(among, None)
        self.by_usable = self.live if usable is None else by_usable

    def _least(
        self, among: NDArray[np.bool_], usable: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_]:
        """The least solution within the claims ``among``, bool (n,), and with all that are live;
        ``usable``: the tokens u, bool (V,), None for all."""
        search = _Search(self, among, usable)
        search.by_bytes()
        search.by_states()
        search.show(0)
        return search.live

    @cached_property
    def distance(self) -> list[int]:
        """The number of bytes from each state to the nearest one at a free boundary."""
        found = distances(self.product.table, self.at_boundary)
        return [count if count >= 0 else self.product.states for count in found.tolist()]

    def dead(self) -> NDArray[np.int32]:
        """Row and token of each transition to a dead end, int32 (2, m)."""
        return self.claims.transitions(~self.live)


class _Search:
    """One computation of the least solution.

    ``live``: the claims found to be in it so far. ``undecided``: the others that may be.
    """

    def __init__(
        self, whole: Relevance, among: NDArray[np.bool_], usable: NDArray[np.bool_] | None
    ) -> None:
        self.product, self.lift, self.claims = whole.product, whole.lift, whole.claims
        self.pretokenizer, self.pairs, self.usable = whole.pretokenizer, whole.pairs, usable
        self.at_boundary, self.whole = whole.at_boundary, whole
        self.live, self.undecided = whole.live.copy(), among & ~whole.live
        self.flags = np.zeros(self.lift.size, dtype=np.bool_)
        self.forbidden: dict[int, NDArray[np.bool_]] = {}

    def decide(self, found: NDArray[np.int64]) -> None:
        """Some claims are live."""
        self.live[found] = True
        self.undecided[found] = False

    def show(self, left: int) -> None:
        """So many claims are undecided."""
        self.whole.progress(_STAGE, len(self.undecided) - left, len(self.undecided))

    def by_bytes(self) -> None:
        """Decide all claims at once that a token of one byte may follow, until nothing changes."""
        singles = [s for s in self.singles() if self.usable is None or self.usable[s[0]]]
        places = self.claims.places_of(np.array([s[0] for s in singles], dtype=np.int64))
        columns, state_of = self.pairs.forbidden.columns, self.claims.state_of
        # What leads to free boundaries is tried once, then what leads to claims that are live.
        count, is_first = -1, True
        while count != (count := int(np.count_nonzero(self.undecided))):
            self.show(count)
            states = distinct(state_of[self.undecided])
            for token, mark, octet in singles if len(states) else ():
                if not (is_first or places[token]):
                    continue
                targets = self.product.table[states, mark, self.product.classes[octet]]
                leads = self.at_boundary[targets] & is_first
                if places[token] and targets.any():
                    leads |= self.claims.among(self.live, targets, places[token])
                if not leads.any():
                    continue
                is_before = np.zeros(self.product.states, dtype=np.bool_)
                is_before[states[leads]] = True
                tried = np.flatnonzero(self.undecided & is_before[state_of])
                stuck = self.marked(columns.ids(token), self.claims.token_of[tried])
                self.decide(tried[~stuck])
            is_first = False

    def singles(self) -> Iterator[tuple[int, int, int]]:
        """The tokens of one byte that may continue a pre-token, with their mark and their byte."""
        trie = self.pairs.trie
        for node in range(1, int(trie.first[1])):
            for token in trie.ids[trie.held[node] : trie.held[node + 1]].tolist():
                yield token, 0, int(trie.octets[node])
        if self.product.table.shape[1] > 2 and not len(self.pretokenizer.whole):
            for octet, token in enumerate(self.pretokenizer.fallback.tolist()):
                if token >= 0:
                    yield token, 2, octet

    def by_states(self) -> None:
        """State by state: a claim becomes live once something live may follow, by a work list."""
        fresh: defaultdict[int, list[NDArray[np.int32]]] = defaultdict(list)
        for state in distinct(self.claims.state_of[self.undecided]).tolist():
            following = self.following(state)
            if len(following):
                fresh[state].append(following)
        if not fresh:
            return
        distance = self.whole.distance
        left = np.bincount(self.claims.state_of[self.undecided], minlength=self.product.states)
        # States nearer to a free boundary come first: fewer are visited twice.
        heap = [(distance[state], state) for state in fresh]
        heapify(heap)
        visited = 0
        while heap:
            _, state = heappop(heap)
            visited += 1
            if visited % _BETWEEN == 0:
                self.show(int(np.count_nonzero(self.undecided)))
            if state not in fresh:
                continue
            tried = self.undecided_at(state)
            following = np.concatenate(fresh.pop(state))
            found = tried[~self.stuck(self.claims.token_of[tried], following)]
            self.decide(found)
            left[state] -= len(found)
            if self.usable is not None:
                found = found[self.usable[self.claims.token_of[found]]]
            for before, tokens in self.claims.leading(found, left > 0):
                if before not in fresh:
                    heappush(heap, (distance[before], before))
                fresh[before].append(tokens)

    def undecided_at(self, state: int) -> NDArray[np.int64]:
        """The undecided claims of a state."""
        low, high = self.claims.bounds[state : state + 2]
        found: NDArray[np.int64] = low + np.flatnonzero(self.undecided[low:high])
        return found

    def following(self, state: int) -> NDArray[np.int32]:
        """The tokens that continue a pre-token at ``state`` and lead to a live claim, int32."""
        tokens, claims = self.claims.continuing(state)
        excluded = tokens[~self.live[claims]]
        row = 2 * state
        if row in self.lift.bits:
            flags = tokenset.to_flags(self.lift.bits[row])
            flags[excluded] = False
            found = np.flatnonzero(flags).astype(np.int32)
        else:
            found = self.lift.lists.get(row, np.zeros(0, dtype=np.int32))
            found = np.setdiff1d(found, excluded, assume_unique=True)
        return found if self.usable is None else found[self.usable[found]]

    def stuck(self, tokens: NDArray[np.int64], following: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of ``tokens`` none of ``following`` may follow, bool (len(tokens),)."""
        left = np.arange(len(tokens))
        step = max(1, len(following) // _SIEVES)
        result = np.zeros(len(tokens), dtype=np.bool_)
        for tried, u in enumerate(chain(following[::step], following)):
            if len(left) <= _FEW_TOKENS or (tried >= _SIEVES and len(left) < len(following)):
                break
            left = left[self.marked(self.pairs.forbidden.columns.ids(int(u)), tokens[left])]
        else:
            result[left] = True
            return result
        for i in left.tolist():
            result[i] = self.forbidden_after(int(tokens[i]))[following].all()
        return result

    def forbidden_after(self, token: int) -> NDArray[np.bool_]:
        """Which tokens may not follow ``token``, bool (V,), cached."""
        if token not in self.forbidden:
            if len(self.forbidden) >= _MAX_CACHED_ROWS:
                self.forbidden.clear()
            flags = np.zeros(self.lift.size, dtype=np.bool_)
            flags[self.pairs.forbidden.rows.ids(token)] = True
            self.forbidden[token] = flags
        return self.forbidden[token]

    def marked(self, ids: NDArray[np.int32], wanted: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of ``wanted`` are among ``ids``, bool (len(wanted),)."""
        self.flags[ids] = True
        found: NDArray[np.bool_] = self.flags[wanted]
        self.flags[ids] = False
        return found
