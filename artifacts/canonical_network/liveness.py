"""Which tokens are live at a place of a network: certificates first, then an exact search.

A *place* is a state, a pre-tokenizer state and a set of stacks. Where a pre-token may start or the
text may end every token is live. Elsewhere the next token u must continue the pre-token, and

    t is live at a place  iff  some u may follow t there, and u is live where it leads

the least solution. Such u decide nearly all t at once: those of bytes (``live_octets``), then those
of shortest texts (``certificates``). ``DeadEnds`` searches the pairs (place, token) that the others
lead to for one that is decided: if there is none, all that were met are dead.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..network.configurations import BOTTOM, Network
from ..network.tables import DEAD
from ..tokens import tokenset
from ..tokens.forbidden_pairs import ForbiddenPairs
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, top_down
from ..tokens.search import Trail, search_alive
from .certificates import Certificates, Place
from .contexts import Contexts, StackContexts
from .splits import Left, Split, Splits
from .stack_walks import StackWalks, from_root
from .trie_walk import Frames, TokenWalks, Walk


@dataclass(frozen=True, slots=True)
class _Effort:
    """``whole``: all of the stacks is given. ``budget``: pairs of a place and a token that a search
    may find and expand. ``steps``: of the search for a certificate."""

    whole: bool
    budget: int
    steps: int


# A search in whole stacks may take more steps the farther the end is, up to so many bytes.
STEPS_ABOVE, _FARTHEST = 24, 10_000
_WHOLE, _ABOVE = _Effort(True, 20_000, 400), _Effort(False, 64, STEPS_ABOVE)

# Frames that are looked at one by one, before the whole stacks are.
_FRAMES = 2

# So few tokens are looked up one by one.
_FEW = 16

# Tokens that are tried to sieve others.
_FOLLOWERS = 8

# A place and the row class of the token that led there: tokens of one class are live together.
_Claim: TypeAlias = tuple[Place, int]


class _Entry(NamedTuple):
    """Tokens that lead to a place, ``left`` bytes from the end, after those of a claim."""

    left: int
    before: _Claim
    place: Place
    ids: NDArray[np.int32]


# Pairs of tokens that are looked up at once.
_MOST_PAIRS = 1 << 16

# In place of tokens: not decided.
_UNDECIDED = np.zeros(0, dtype=np.int32)


class DeadEnds:
    """Decides tokens at places."""

    def __init__(
        self,
        network: Network,
        contexts: Contexts,
        stack_contexts: StackContexts,
        walks: TokenWalks,
        splits: Splits,
        certificates: Certificates,
        forbidden: ForbiddenPairs,
        caches: CacheBudget,
    ) -> None:
        results, decisions = caches.divide(2, 1)
        self._network, self._contexts, self._walks = network, contexts, walks
        self._splits = splits
        self._stack_walks = StackWalks(network, walks)
        self._stack_contexts = stack_contexts
        self._certificates, self._forbidden = certificates, forbidden
        self._classes = forbidden.row_class.data
        self._live: BoundedCache[_Claim, bool] = results.cache()
        self._decisions: BoundedCache[tuple[Place, bytes], NDArray[np.int32]] = decisions.cache()
        # Where a search in whole stacks met too much; each took its whole budget.
        self._too_far: set[_Claim] = set()
        # Whether the last search came to stacks that are not given, or took too much; the sets of
        # trie nodes at which it came to them at the last place.
        self._needs_frame = False
        self._at_unknown = set[int]()

    def _following_splits(self, place: Place) -> Iterator[tuple[Split, int]]:
        """The tokens that may continue a pre-token at a place, with the stacks after them."""
        stacks, context_of = self._network.stacks, self._stack_contexts.of_node
        walks: list[tuple[Walk, int]] = []
        for plane in range(0, self._walks.planes, 2):
            for key, walk, below in self._stack_walks.of(from_root(*place, plane)):
                walks.append((walk, below))
                frame, kind = stacks.entries[below][0]
                if walk.suspended and frame < DEAD:
                    left = walk.suspended if kind < 0 else self._walks.left_by(walk, key[1])
                    self._at_unknown.update(nodes for _, nodes, _ in left)
        for walk, node in top_down(walks, lambda key: key[0].below(key[1], stacks.push)):
            for landing in walk.landings:
                yield self._splits.of(landing, context_of(node)), node

    def push_all(self, frames: Sequence[int], node: int) -> int:
        """The stacks of ``node`` with ``frames`` on top, the lowest first."""
        for frame in frames:
            node = self._network.stacks.push(frame, node)
        return node

    def at_boundary(self, place: Place) -> bool:
        """Whether a pre-token may start at a place, or the text may end."""
        context = self._stack_contexts.of_node(place[2])
        return self._contexts.at_boundary(self._contexts.number(place[0], place[1]), context)

    def live_above(self, left: Left, frames: Frames, context: int) -> NDArray[np.int32] | None:
        """``live_tokens`` over all stacks of a context, by as few of the frames as decide: contexts
        are fewer than stacks. None if that is not found out."""
        contexts = [context]
        for frame in frames:
            contexts.append(self._contexts.push(frame, contexts[-1]))
        for lower in range(len(frames), -1, -1):
            found = self.live_with(left, frames[lower:], contexts[lower])
            if found is not None:
                return found
        return None

    def live_with(
        self, left: Left, frames: Frames, context: int, *, of_network: bool = True
    ) -> NDArray[np.int32] | None:
        """The same by all of the frames. ``of_network``: over stacks that come about, else also
        over those of other networks."""
        node = self._stack_contexts.unknown(context, of_network=of_network)
        return self._decided(left, frames, node, _ABOVE)

    def live_tokens(self, left: Left, frames: Frames, below: int) -> NDArray[np.int32]:
        """The tokens of what is left that are live with ``frames`` on some stacks, where
        ``live_above`` does not say it.

        Few of the frames below decide: they are looked at one by one. Raises
        ``ArtifactError`` where the search meets too much.
        """
        stacks, known, lower = self._network.stacks, frames, below
        while lower != BOTTOM and len(known) < len(frames) + _FRAMES:
            ((frame, lower), *others) = stacks.entries[lower]
            if others or frame <= DEAD:
                break
            known = (frame, *known)
            context = self._stack_contexts.of_node(lower)
            found = self._decided(left, known, self._stack_contexts.unknown(context), _ABOVE)
            if found is not None:
                return found
        found = self._decided(left, frames, below, _WHOLE)
        assert found is not None
        return found

    def decide(
        self, place: Place, ids: NDArray[np.int32], *, whole: bool, budget: int
    ) -> NDArray[np.int32] | None:
        """The tokens of ``ids`` that are live at a place that is not at a boundary; None if that
        depends on frames that are not given, or takes more than ``budget`` steps. Where the
        ``whole`` stacks are given the budget is decoding's, and ``ArtifactError`` is raised beyond
        it."""
        return self._sieved(place, ids, _WHOLE if whole else _Effort(False, budget, _ABOVE.steps))

    def _decided(
        self, left: Left, frames: Frames, node: int, effort: _Effort
    ) -> NDArray[np.int32] | None:
        place = left.state, left.pre_state, self.push_all(frames, node)
        key = place, left.ids.tobytes()
        found = self._decisions.get(key)
        if found is None:
            live = self._sieved(place, left.ids, effort)
            found = _UNDECIDED if live is None else live
            self._decisions.keep(key, found, ENTRY_BYTES + left.ids.nbytes + found.nbytes)
        return None if found is _UNDECIDED else found

    def _sieved(
        self, place: Place, ids: NDArray[np.int32], effort: _Effort
    ) -> NDArray[np.int32] | None:
        if len(ids) <= _FEW:
            # The same tokens lead to one place from many others.
            claims = [(place, self._classes[token]) for token in ids.tolist()]
            known = [self._live.get(claim) for claim in claims]
            if None not in known:
                return ids[np.array(known, dtype=np.bool_)]
            found = self._sieve(place, ids, effort)
            if found is not None:
                live = set(found.tolist())
                for claim, token in zip(claims, ids.tolist(), strict=True):
                    self._live.keep(claim, token in live)
            return found
        return self._sieve(place, ids, effort)

    def _sieve(
        self, place: Place, ids: NDArray[np.int32], effort: _Effort
    ) -> NDArray[np.int32] | None:
        all_texts = self._certificates.of_all_texts(place) if effort.whole else None
        certificates = all_texts or self._certificates.of(place, effort.steps)
        left = self._not_before(certificates, ids, np.arange(len(ids)))
        if len(left) and all_texts is not None:
            return np.delete(ids, left)
        if len(left):
            left = self._not_before(self._followers(place, effort, len(left)), ids, left)
        live = np.ones(len(ids), dtype=np.bool_)
        for i in left.tolist():
            found = self._is_live(place, int(ids[i]), effort)
            if found is None:
                return None
            live[i] = found
        return ids[live]

    def _not_before(
        self, followers: Iterable[int], ids: NDArray[np.int32], left: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The places of ``left`` in ``ids`` whose tokens none of the followers may follow."""
        followers, most = iter(followers), 1
        while len(left) and (some := list(islice(followers, most))):
            left = left[self._forbidden.forbidden_before(ids[left], some)]
            # Mostly the first ones show all that is live.
            most = min(4 * most, _MOST_PAIRS // max(len(left), 1) + 1)
        return left

    def _is_live(self, place: Place, token: int, effort: _Effort) -> bool | None:
        claim = place, self._classes[token]
        cached = self._live.get(claim)
        if cached is None:
            self._needs_frame = False
            cached = self._search(place, token, effort)
            if not cached and self._needs_frame:
                return None
            self._live.keep(claim, cached)
        return cached

    def _followers(self, place: Place, effort: _Effort, count: int) -> Iterator[int]:
        """Some tokens that may continue a pre-token at a place and are live where they lead, to try
        with so many tokens."""
        most = _FOLLOWERS * count if count > _FOLLOWERS else 0
        found = list[tuple[int, int, Place]]()
        for split, node in self._following_splits(place) if most or effort.whole else ():
            some = split.live()[:most].tolist() if most else []
            yield from some
            most -= len(some)
            for left in split.left if effort.whole else ():
                after = left.state, left.pre_state, node
                found.append((self._certificates.distance(after), int(left.ids[0]), after))
        for _, token, after in sorted(found)[:_FOLLOWERS]:
            if self._is_live(after, token, effort):
                yield token

    def _search(self, place: Place, token: int, effort: _Effort) -> bool:
        """The nearest end of the text first. What is found to be live makes all live that led to
        it."""
        origin = place, self._classes[token]
        trail = Trail[_Claim]()

        def expand(entry: _Entry) -> list[tuple[int, _Entry]] | None:
            left, before, at, ids = entry
            found = [(left, entry._replace(ids=ids[1:]))] if len(ids) > 1 else []
            token = int(ids[0])
            claim = at, self._classes[token]
            if self._live.get(claim) is False or not trail.add(claim, before):
                return found
            certain = self._is_certain(at, token, effort)
            following = None if certain else self._following(at, token)
            for after, ids in following or ():
                left = self._certificates.distance(after)
                found.append((left, _Entry(left, claim, after, ids)))
            if following is None:
                trail.mark_live(claim, self._live)
                return None
            return found

        far = min(self._certificates.distance(place), _FARTHEST) if effort.whole else 0
        budget = effort.budget + 8 * far
        start = _Entry(0, origin, place, np.array([token], dtype=np.int32))
        found = None
        if origin not in self._too_far:
            # The start counts neither as found nor as expanded.
            found = search_alive(
                start, expand, lambda expanded, found: expanded + found > budget + 2
            )
        if found is None:
            if effort.whole:
                self._too_far.add(origin)
                raise ArtifactError(
                    f"what may come next was not decided within {budget:,} steps (after a "
                    f"token of class {origin[1]}); compile with --tokenization any"
                )
            self._needs_frame = True
        elif not found and not self._needs_frame:
            trail.mark_dead(self._live)
        return bool(found)

    def _following(self, place: Place, token: int) -> list[tuple[Place, NDArray[np.int32]]] | None:
        """The tokens that continue the pre-token and may follow ``token``, and where they lead, but
        for those of which something is known; None if one of them is live."""
        allowed = self._forbidden.allowed(token)
        # Many are looked up in them.
        flags = tokenset.to_flags(allowed)
        found = list[tuple[Place, NDArray[np.int32]]]()
        self._at_unknown.clear()
        for split, node in self._following_splits(place):
            if split.many is not None and (split.many & allowed).any():
                return None
            if flags[split.few].any():
                return None
            for left in split.left:
                ids = left.ids[flags[left.ids]]
                if len(ids):
                    found.append(((left.state, left.pre_state, node), ids))
        if not self._needs_frame:
            self._needs_frame = any(
                flags[self._walks.ids_below(nodes)].any() for nodes in self._at_unknown
            )
        return found

    def _is_certain(self, place: Place, token: int, effort: _Effort) -> bool:
        if self._live.get((place, self._classes[token])):
            return True
        certificates = self._certificates.of(place, effort.steps)
        return any(not self._forbidden.forbids(token, u) for u in certificates)
