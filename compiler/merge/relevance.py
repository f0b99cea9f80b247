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

from functools import cached_property
from heapq import heappop, heappush
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import distinct, numbered, stable_order
from constrain.artifacts.tokens.trie import ranges

from ..bpe.forbidden_pairs import PairTables
from ..progress import Progress, silent
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.marked_dfa import DEAD
from .lift import Lift
from .octet_tokens import meets, octet_tokens, packed
from .product import Product

_STAGE = "the dead ends"

# States that are visited before bytes are tried again, and twice as many before the next time,
# while so many claims are undecided.
_BETWEEN, _MANY_CLAIMS = 8, 1_000

# The first tokens u by which all t of a state are sieved; after them a t left over is compared with
# all u at once where there are fewer t than u.
_SIEVES = 8
# Up to so many t are compared with all u at once without sieving.
_FEW_TOKENS = 64


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
        # By bundle the states at which its tokens continue a pre-token.
        continuing = np.flatnonzero(undecided.rows % 2 == 0)
        by_bundle = continuing[stable_order(self._bundle_of[continuing])]
        self._before = undecided.rows[by_bundle] // 2
        counts = np.bincount(self._bundle_of[continuing], minlength=len(states))
        self._before_bounds = np.append(0, np.cumsum(counts))

    def continuing(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens that continue a pre-token at a state and lead to claims, int32, and the claims
        of these, int64."""
        low, high = self._row_bounds[2 * state : 2 * state + 2]
        _, tokens = self.undecided.tokens_of(self.undecided.groups[low:high])
        bundles = self._bundle_of[low:high]
        return tokens, ranges(self._first[bundles], self._sizes[bundles]).astype(np.int64)

    def places_of(self, tokens: NDArray[np.integer]) -> list[NDArray[np.int64]]:
        """Where some tokens stand in groups: arrays, int64 (2, K), of a group and the index in it,
        -1 for none; as many as a token has groups."""
        held = np.flatnonzero(np.isin(self.undecided.tokens, tokens))
        groups = np.searchsorted(self.undecided.bounds, held, side="right") - 1
        order = np.argsort(tokens)
        owners = order[np.searchsorted(tokens, self.undecided.tokens[held], sorter=order)]
        by_owner = np.argsort(owners, kind="stable")
        counts = np.bincount(owners, minlength=len(tokens))
        first = np.cumsum(counts) - counts
        found = []
        for number in range(int(counts.max(initial=0))):
            some = np.flatnonzero(counts > number)
            at = by_owner[first[some] + number]
            found.append(np.full((2, len(tokens)), -1))
            found[-1][:, some] = groups[at], held[at] - self.undecided.bounds[groups[at]]
        return found

    def among(
        self,
        wanted: NDArray[np.bool_],
        states: NDArray[np.integer],
        tokens: NDArray[np.integer],
        places: list[NDArray[np.int64]],
    ) -> NDArray[np.bool_]:
        """Which of some states make a claim of ``wanted`` together with a token each.

        ``wanted``: bool (n,), claims. ``tokens``: places in what ``places`` were found for.
        """
        found = np.zeros(len(states), dtype=np.bool_)
        for groups, indices in places if len(wanted) else ():
            keys = states * self._width + groups[tokens]
            bundles = np.minimum(np.searchsorted(self._bundles, keys), len(self._bundles) - 1)
            is_one = (self._bundles[bundles] == keys) & (groups[tokens] >= 0)
            found[is_one] |= wanted[(self._first[bundles] + indices[tokens])[is_one]]
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

    def before(self, claims: NDArray[np.int64]) -> NDArray[np.bool_]:
        """At which states tokens that continue a pre-token lead to some of ``claims``, (S,)."""
        bundles = distinct(self._bundle_of_claim[claims])
        first = self._before_bounds[bundles]
        is_one = np.zeros(len(self._row_bounds) // 2, dtype=np.bool_)
        is_one[self._before[ranges(first, self._before_bounds[bundles + 1] - first)]] = True
        return is_one

    def followed(
        self, states: NDArray[np.integer], live: NDArray[np.bool_], lift: Lift
    ) -> NDArray[np.bool_]:
        """At which of some states a token continues a pre-token that leads to a claim of ``live``,
        bool (n,), or to a free boundary."""
        found: NDArray[np.bool_] = self.before(np.flatnonzero(live))[states]
        counts = np.bincount(
            self.undecided.rows, self._sizes[self._bundle_of], minlength=len(lift.numbers)
        )
        numbers = lift.numbers[2 * states]
        different = distinct(numbers)
        sizes = np.array([lift.size_of(number) for number in different.tolist()], dtype=np.int64)
        found |= sizes[np.searchsorted(different, numbers)] > counts[2 * states]
        return found


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
        self.octets = octet_tokens(pairs, pretokenizer)
        # No token continues a pre-token after one that stands for whole pre-tokens only.
        among = ~np.isin(self.claims.token_of, pretokenizer.whole)
        self.live = np.zeros(len(among), dtype=np.bool_)
        # By state the tokens u that were tried: what they show does not depend on which are usable.
        self.tried_with: dict[int, NDArray[np.int32]] = {}
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
    def places(self) -> list[NDArray[np.int64]]:
        """Where the tokens of one byte stand in the groups of claims."""
        return self.claims.places_of(self.octets.tokens)

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

    def decide(self, found: NDArray[np.int64]) -> None:
        """Some claims are live."""
        self.live[found] = True
        self.undecided[found] = False

    def show(self, left: int) -> None:
        """So many claims are undecided."""
        self.whole.progress(_STAGE, len(self.undecided) - left, len(self.undecided))

    def by_bytes(self) -> NDArray[np.int64]:
        """Decide all claims at once that tokens of one byte show to be live, until nothing changes;
        the claims that were decided."""
        self.show(int(np.count_nonzero(self.undecided)))
        octets, table = self.whole.octets, self.product.table
        states = distinct(self.claims.state_of[self.undecided])
        place = np.full(self.product.states, -1)
        place[states] = np.arange(len(states))
        # Of each state the tokens u that lead from it to what is live.
        leads = np.zeros((len(states), len(octets.tokens)), dtype=np.bool_)
        columns = octets.marks * table.shape[2] + self.product.classes[octets.octets]
        # Rows first and then columns: several times faster than both at once.
        rows = table.reshape(len(table), table.shape[1] * table.shape[2])[states]
        targets = rows.take(columns, axis=1)
        if self.usable is not None:
            targets[:, ~self.usable[octets.tokens]] = DEAD
        at, tokens = np.nonzero(targets)
        targets = targets[at, tokens]
        found = self.at_boundary[targets]
        if self.live.any():
            found |= self.claims.among(self.live, targets, tokens, self.whole.places)
        inside, words = place[targets], packed(leads)
        while found.any():
            leads[at[found], tokens[found]] = True
            changed = np.flatnonzero(np.bincount(at[found], minlength=len(states)))
            words[changed] = packed(leads[changed])
            left = ~found & (inside >= 0)
            at, tokens, inside = at[left], tokens[left], inside[left]
            found = np.isin(inside, changed)
            found[found] = meets(octets.after, octets.tokens[tokens[found]], words, inside[found])
        tried = np.flatnonzero(self.undecided)
        last, at = self.claims.token_of[tried], place[self.claims.state_of[tried]]
        decided = tried[meets(octets.after, last, words, at)]
        self.decide(decided)
        return decided

    def by_states(self) -> None:
        """State by state: a claim becomes live once something live may follow, by a work list."""
        if not self.undecided.any():
            return
        state_of = self.claims.state_of
        left = np.bincount(state_of[self.undecided], minlength=self.product.states)
        # States are numbered from the start on. Those nearer to the end come first: fewer are
        # visited twice.
        heap: list[int] = []
        is_waiting = np.zeros(self.product.states, dtype=np.bool_)

        def wait(states: NDArray[np.integer]) -> None:
            for state in states[(left[states] > 0) & ~is_waiting[states]].tolist():
                is_waiting[state] = True
                heappush(heap, -state)

        states, tried_with = np.flatnonzero(left), self.whole.tried_with
        wait(states[self.claims.followed(states, self.live, self.lift)])
        visited, again = 0, _BETWEEN
        while heap:
            state = -heappop(heap)
            is_waiting[state] = False
            if not left[state]:
                continue
            visited += 1
            tried, following = self.undecided_at(state), self.following(state)
            before = tried_with.get(state, following[:0])
            fresh, tried_with[state] = following[~self.marked(before, following)], following
            found = tried[:0]
            if len(fresh):
                found = tried[~self.stuck(self.claims.token_of[tried], fresh)]
            self.decide(found)
            if visited == again:
                again *= 2
                if np.count_nonzero(self.undecided) > _MANY_CLAIMS:
                    found = np.append(found, self.by_bytes())
            np.subtract.at(left, state_of[found], 1)
            if self.usable is not None:
                found = found[self.usable[self.claims.token_of[found]]]
            if len(found):
                wait(np.flatnonzero(self.claims.before(found)))

    def undecided_at(self, state: int) -> NDArray[np.int64]:
        """The undecided claims of a state."""
        low, high = self.claims.bounds[state : state + 2]
        found: NDArray[np.int64] = low + np.flatnonzero(self.undecided[low:high])
        return found

    def following(self, state: int) -> NDArray[np.int32]:
        """The tokens that continue a pre-token at ``state`` and lead to a live claim, int32."""
        tokens, claims = self.claims.continuing(state)
        held = self.lift.ids(2 * state)
        found = held[~self.marked(tokens[~self.live[claims]], held)].astype(np.int32)
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
            result[i] = self.pairs.forbidden.rows.forbidden_after(int(tokens[i]), following).all()
        return result

    def marked(self, ids: NDArray[np.int32], wanted: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of ``wanted`` are among ``ids``, bool (len(wanted),)."""
        self.flags[ids] = True
        found: NDArray[np.bool_] = self.flags[wanted]
        self.flags[ids] = False
        return found
