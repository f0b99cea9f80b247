"""Which tokens are live at a place of a network: certificates first, then an exact search.

A *place* is a state, a pre-tokenizer state and a set of stacks. Where a pre-token may start or the
text may end every token is live. Elsewhere the next token u must continue the pre-token, and

    t is live at a place  iff  some u may follow t there, and u is live where it leads

the least solution. ``Certificates`` are such u that decide nearly all t at once; ``DeadEnds``
searches the pairs (place, token) that the others lead to for one that is decided: if there is none,
all that were met are dead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..errors import ArtifactError
from ..network.configurations import BOTTOM, Network
from ..network.tables import DEAD
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.distinct import first_places
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, bottom_up
from ..tokens.search import Trail, search_alive
from ..tokens.trie import Trie
from .contexts import ReturnContexts, StackContexts
from .distances import distances
from .stack_walks import StackWalks
from .trie_walk import Group, TokenWalks

# State, pre-tokenizer state, set of stacks.
Place = tuple[int, int, int]

# Certificates of one place, each by another first byte.
_CERTIFICATES = 6

# Places from which the end of the text is farther have no certificates.
_LONGEST = 24

# Bytes of a place's certificates and of the search that goes on with them, about.
_SEARCH_BYTES = 1 << 10


class Certificates:
    """First tokens of encodings, by place.

    Let v be a text that leads, without a boundary in it, to a place where a pre-token may start or
    the text may end. The encoding of v does not depend on what comes after, and by the bigram
    property a token t may stand before it iff t may stand before its first token. So the first
    token of v is a *certificate*: every token that it may follow is live.
    """

    def __init__(
        self,
        network: Network,
        pretokenizer: PretokenizerDfa,
        contexts: ReturnContexts,
        stack_contexts: StackContexts,
        forbidden: ForbiddenPairs,
        trie: Trie,
        caches: CacheBudget,
    ) -> None:
        self._network, self._contexts, self._forbidden = network, contexts, forbidden
        self._stack_contexts = stack_contexts
        self._tables = network.tables
        self._pre_rows: list[list[int]] = pretokenizer.table[:, 0].tolist()
        self._pre_classes: list[int] = pretokenizer.classes.tolist()
        self._distance = distances(network.tables)
        self._below: dict[int, int] = {BOTTOM: 0}
        self._trie = trie
        searches, steps = caches.divide(3, 1)
        self._found: BoundedCache[Place, tuple[list[int], Iterator[int]]] = searches.cache(
            _SEARCH_BYTES
        )
        self._stepped: BoundedCache[int, Sequence[tuple[int, int, int, int]]] = steps.cache()
        # One byte for each class that neither automaton divides.
        keys = network.tables.classes.astype(np.int64) * 256 + pretokenizer.classes
        self._octets: list[int] = first_places(keys).tolist()

    def forget(self) -> None:
        """Find certificates again: searches that are not at their end refer to this object, which
        would have to wait for the collector of cycles."""
        self._found.clear()

    @property
    def nbytes(self) -> int:
        """About the size of the distances of sets of stacks."""
        return ENTRY_BYTES // 2 * len(self._below)

    def of(self, place: Place, steps: int) -> Iterator[int]:
        """The certificates of a place that is not at a boundary; found lazily, each in at most
        so many ``steps`` (the same for a place each time)."""
        if self.distance(place) > _LONGEST:
            return
        cached = self._found.get(place)
        if cached is None:
            cached = self._found.keep(place, ([], self._search(place, steps)))
        found, more = cached
        yield from found
        for token in more:
            found.append(token)
            yield token

    def _search(self, place: Place, steps: int) -> Iterator[int]:
        begin: dict[Place, int] = {}
        for octet, after in self._after(place):
            begin.setdefault(after, octet)
        seen = {-1}
        for after in sorted(begin, key=self.distance)[:_CERTIFICATES]:
            text = self._shortest(after, bytes([begin[after]]), steps)
            token = self.first_token(text) if text else -1
            if token not in seen:
                seen.add(token)
                yield token

    def _after(self, place: Place) -> Iterator[tuple[int, Place]]:
        """The bytes that may come next in the pre-token, one of each class, and where they lead."""
        state, pre_state, node = place
        is_live, of_node = self._contexts.is_live, self._stack_contexts.of_node
        for p, below in self._network.unfolded([(state, node)]):
            context = of_node(below)
            for octet, target, after, pair in self._steps(p, pre_state):
                if is_live(pair, context):
                    yield octet, (target, after, below)

    def _steps(self, state: int, pre_state: int) -> Sequence[tuple[int, int, int, int]]:
        """The bytes that two states read, the first that leads to each pair, and that pair: its
        states and its number."""
        key = state * len(self._pre_rows) + pre_state
        found = self._stepped.get(key)
        if found is None:
            row, pre_row, pre_classes = (
                self._tables.rows[state],
                self._pre_rows[pre_state],
                self._pre_classes,
            )
            first: dict[tuple[int, int], int] = {}
            for octet in self._octets:
                target, after = row[octet], pre_row[pre_classes[octet]]
                if target != DEAD and after != DEAD:
                    first.setdefault((target, after), octet)
            number = self._contexts.number
            found = [
                (octet, *pair, numbered)
                for pair, octet in first.items()
                if (numbered := number(*pair))
            ]
            self._stepped.keep(key, found, ENTRY_BYTES * (1 + len(found)))
        return found

    def _shortest(self, place: Place, text: bytes, steps: int) -> bytes:
        """``text`` and what leads from a place to one at a boundary, or nothing: A*."""
        contexts, of_node = self._contexts, self._stack_contexts.of_node
        texts = {place: text}
        ends: list[Place] = []

        def expand(place: Place) -> list[tuple[int, Place]] | None:
            context = of_node(place[2])
            if contexts.at_boundary(contexts.number(place[0], place[1]), context):
                ends.append(place)
                return None
            found = []
            for octet, after in self._after(place):
                if after not in texts:
                    texts[after] = texts[place] + bytes([octet])
                    found.append((len(texts[after]) + self.distance(after), after))
            return found

        search_alive(place, expand, lambda expanded, _found: expanded >= steps)
        return texts[ends[0]] if ends else b""

    def comes_to_boundary(self, place: Place, steps: int) -> bool:
        """Whether so many steps of a search lead from a place to one at a boundary."""
        return bool(self._shortest(place, b"-", steps))

    def distance(self, place: Place) -> int:
        """At least so many bytes lead to the end of the text."""
        return int(self._distance[place[0]]) + self._distance_below(place[2])

    def _distance_below(self, node: int) -> int:
        cached = self._below.get(node)
        if cached is not None:
            return cached
        stacks = self._network.stacks
        for current in bottom_up([node], stacks.below, self._below):
            entries = [(f, r) for f, r in stacks.entries[current] if f > DEAD]
            lengths = [self._distance_of(f) + self._below[r] for f, r in entries]
            if len(entries) < len(stacks.entries[current]):
                lengths.append(0)
            self._below[current] = min(lengths)
        return self._below[node]

    def _distance_of(self, frame: int) -> int:
        """At least so many bytes lead from a frame to the end of its call."""
        if frame < self._tables.states:
            return int(self._distance[frame])
        counters = self._tables.some_counters
        counter, begun = counters.split(frame)
        if (rule := counters.set_rule(counter)) is not None:
            # What is left of many parts says little about the end of a piece.
            return int(self._distance[rule.back])
        item, least, _, back = counters.rows[counter]
        return max(least - begun, 0) * int(self._distance[item]) + int(self._distance[back])

    def first_token(self, text: bytes) -> int:
        """The first token of the encoding of ``text``, -1 if its letters have no tokens.

        Of the tokens that end a prefix of the text exactly one may follow the encoding of
        what is before it (van Antwerpen and Neubeck, "So many tokens, so little time", 2024).
        """
        last: list[tuple[int, int]] = [(-1, -1)] + [(-1, -1)] * len(text)
        reached = [True] + [False] * len(text)
        for begin in range(len(text)):
            if not reached[begin]:
                continue
            before, first = last[begin]
            for end, token in self._tokens_at(text, begin):
                if not reached[end] and (before < 0 or not self._forbidden.forbids(before, token)):
                    last[end] = token, token if before < 0 else first
                    reached[end] = True
        return last[-1][1]

    def _tokens_at(self, text: bytes, begin: int) -> Iterator[tuple[int, int]]:
        trie, node = self._trie, 0
        for end in range(begin, len(text)):
            low, high = int(trie.first[node]), int(trie.first[node + 1])
            place = low + int(np.searchsorted(trie.octets[low:high], text[end]))
            if place == high or trie.octets[place] != text[end]:
                return
            node = place
            for token in trie.ids[trie.held[node] : trie.held[node + 1]].tolist():
                yield end + 1, token


@dataclass(frozen=True, slots=True)
class _Effort:
    """``whole``: all of the stacks is given. ``budget``: pairs of a place and a token that a search
    may find and expand. ``steps``: of the search for a certificate."""

    whole: bool
    budget: int
    steps: int


# A search in whole stacks may take more steps the farther the end is, up to so many bytes.
STEPS_ABOVE, _FARTHEST = 24, 10_000
_WHOLE, _ABOVE = _Effort(True, 20_000, 400), _Effort(False, 1, STEPS_ABOVE)

# Frames that are looked at one by one, before the whole stacks are.
_FRAMES = 2

# Tokens that are tried to sieve others.
_FOLLOWERS = 8

# A place and the row class of the token that led there: tokens of one class are live together.
_Claim: TypeAlias = tuple[Place, int]


class _Entry(NamedTuple):
    """Tokens that lead to a place, ``left`` bytes from the end, behind those of a claim."""

    left: int
    before: _Claim
    place: Place
    ids: NDArray[np.int32]


# In place of tokens: not decided.
_UNDECIDED = np.zeros(0, dtype=np.int32)


class DeadEnds:
    """Decides tokens at places."""

    def __init__(
        self,
        network: Network,
        contexts: ReturnContexts,
        stack_contexts: StackContexts,
        walks: TokenWalks,
        certificates: Certificates,
        forbidden: ForbiddenPairs,
        caches: CacheBudget,
    ) -> None:
        results, decisions = caches.divide(2, 1)
        self._network, self._contexts, self._walks = network, contexts, walks
        self._stack_walks = StackWalks(network, walks)
        self._stack_contexts = stack_contexts
        self._certificates, self._forbidden = certificates, forbidden
        self._classes = forbidden.row_class.data
        self._flags = np.zeros(len(forbidden.part), dtype=np.bool_)
        self._live: BoundedCache[_Claim, bool] = results.cache()
        self._decisions: BoundedCache[tuple[int, int], NDArray[np.int32]] = decisions.cache()
        # Whether the last search came to stacks that are not given, or took too much.
        self._needs_frame = False

    def groups(self, place: Place, plane: int) -> Iterator[tuple[Group, int]]:
        """The tokens that may be read at a place, with the stacks below their frames."""
        stacks = self._network.stacks
        for _, walk, below in self._stack_walks.of(*place, plane):
            for group in walk.groups:
                yield group, below
            if walk.suspended and stacks.entries[below][0][0] < DEAD:
                self._needs_frame = True

    def place(self, group: Group, node: int) -> Place:
        """Where the tokens of a group lead above the stacks of ``node``."""
        return group.state, group.pre_state, self.push_all(group.frames, node)

    def push_all(self, frames: Sequence[int], node: int) -> int:
        """The stacks of ``node`` with ``frames`` on top, the lowest first."""
        for frame in frames:
            node = self._network.stacks.push(frame, node)
        return node

    def at_boundary(self, place: Place) -> bool:
        """Whether a pre-token may start at a place, or the text may end."""
        context = self._stack_contexts.of_node(place[2])
        return self._contexts.at_boundary(self._contexts.number(place[0], place[1]), context)

    def live_above(self, group: Group, context: int) -> NDArray[np.int32] | None:
        """``live_tokens`` over all stacks of a context; None if that is not found out."""
        return self._decided(group, self._stack_contexts.unknown(context), _ABOVE)

    def live_tokens(self, group: Group, below: int) -> NDArray[np.int32]:
        """The tokens of a group, at a place that is not at a boundary, that are live there.

        Few of the frames below decide: they are looked at one by one. Raises
        ``ArtifactError`` where the search meets too much.
        """
        stacks, contexts = self._network.stacks, self._stack_contexts
        frames, lower = list[int](), below
        while True:
            node = contexts.unknown(contexts.of_node(lower))
            found = self._decided(group, self.push_all(frames[::-1], node), _ABOVE)
            if found is not None:
                return found
            entries = stacks.entries[lower]
            if len(entries) > 1 or entries[0][0] <= DEAD or len(frames) == _FRAMES:
                break
            frames.append(entries[0][0])
            lower = entries[0][1]
        found = self._decided(group, below, _WHOLE)
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

    def _decided(self, group: Group, node: int, effort: _Effort) -> NDArray[np.int32] | None:
        key = group.number, node
        found = self._decisions.get(key)
        if found is None:
            live = self._sieved(self.place(group, node), group.ids, effort)
            found = _UNDECIDED if live is None else live
            self._decisions.keep(key, found, ENTRY_BYTES + found.nbytes)
        return None if found is _UNDECIDED else found

    def _sieved(
        self, place: Place, ids: NDArray[np.int32], effort: _Effort
    ) -> NDArray[np.int32] | None:
        left = np.arange(len(ids))
        for certificate in self._certificates.of(place, effort.steps):
            left = left[self._forbidden.preceding(ids[left], certificate)]
            if not len(left):
                return ids
        most = _FOLLOWERS * len(left) if len(left) > _FOLLOWERS else 0
        whole = effort.whole
        more = self._followers(place, effort) if whole else self._at_boundaries(place, most)
        for follower in more:
            left = left[self._forbidden.preceding(ids[left], follower)]
            if not len(left):
                return ids
        live = np.ones(len(ids), dtype=np.bool_)
        for i in left.tolist():
            found = self._is_live(place, int(ids[i]), effort)
            if found is None:
                return None
            live[i] = found
        return ids[live]

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

    def _followers(self, place: Place, effort: _Effort) -> Iterator[int]:
        """Some tokens that may continue a pre-token at a place and are live where they lead, those
        nearest to the end of the text first."""
        found = [
            (self._certificates.distance(after), group.number, after, group.ids)
            for plane in range(0, self._walks.planes, 2)
            for group, below in self.groups(place, plane)
            for after in [self.place(group, below)]
            if self._may_go_on(after)
        ]
        for _, _, after, ids in sorted(found, key=lambda entry: entry[:2])[:_FOLLOWERS]:
            token = int(ids[0])
            if self.at_boundary(after) or self._is_live(after, token, effort):
                yield token

    def _at_boundaries(self, place: Place, most: int) -> Iterator[int]:
        """At most so many of the tokens that may continue a pre-token and lead to a boundary."""
        for plane in range(0, self._walks.planes, 2) if most else ():
            for group, below in self.groups(place, plane):
                if self.at_boundary(self.place(group, below)):
                    yield from group.ids[:most].tolist()
                    most -= min(most, len(group.ids))

    def _may_go_on(self, place: Place) -> bool:
        context = self._stack_contexts.of_node(place[2])
        return self._contexts.is_live(self._contexts.number(place[0], place[1]), context)

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
                if self.at_boundary(after):
                    following = None
                    break
                left = self._certificates.distance(after)
                found.append((left, _Entry(left, claim, after, ids)))
            if following is None:
                trail.mark_live(claim, self._live)
                return None
            return found

        far = min(self._certificates.distance(place), _FARTHEST) if effort.whole else 0
        budget = effort.budget + 8 * far
        start = _Entry(0, origin, place, np.array([token], dtype=np.int32))
        # The start counts neither as found nor as expanded.
        found = search_alive(start, expand, lambda expanded, found: expanded + found > budget + 2)
        if found is None:
            if effort.whole:
                raise ArtifactError(
                    f"what may come next was not decided within {budget:,} steps (behind a "
                    f"token of class {origin[1]}); compile with --tokenization any"
                )
            self._needs_frame = True
        elif not found and not self._needs_frame:
            trail.mark_dead(self._live)
        return bool(found)

    def _following(self, place: Place, token: int) -> list[tuple[Place, NDArray[np.int32]]]:
        """The tokens that continue the pre-token and may follow ``token``, and where they lead."""
        forbidden = self._forbidden.ids(token)
        self._flags[forbidden] = True
        found = []
        for plane in range(0, self._walks.planes, 2):
            for group, below in self.groups(place, plane):
                ids = group.ids[~self._flags[group.ids]]
                if len(ids) and self._may_go_on(after := self.place(group, below)):
                    found.append((after, ids))
        self._flags[forbidden] = False
        return found

    def _is_certain(self, place: Place, token: int, effort: _Effort) -> bool:
        if self._live.get((place, self._classes[token])):
            return True
        certificates = self._certificates.of(place, effort.steps)
        return any(not self._forbidden.forbids(token, u) for u in certificates)
