"""Certificates of a place: tokens that show which others are live there, of shortest texts.

A *place* is a state, a pre-tokenizer state and a set of stacks. In a string of JSON, after ``a``,
a quotation mark ends the pre-token: its token shows that every token is live that it may follow.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM, Network
from ..network.tables import DEAD, NetworkTables
from ..tokenizer_steps.pretokenizer import PretokenizerDfa
from ..tokens.distinct import distinct, first_places
from ..tokens.forbidden_pairs import ForbiddenPairs
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, bottom_up
from ..tokens.search import search_alive
from ..tokens.trie import Trie
from .contexts import Contexts, StackContexts

# State, pre-tokenizer state, set of stacks.
Place: TypeAlias = tuple[int, int, int]

# Certificates of one place, each by another first byte.
_CERTIFICATES = 6

# Places from which the end of the text is farther have no certificates.
_LONGEST = 24

# Of all texts that may follow a place so many bytes are looked at.
_MOST_STEPS = 100

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
        contexts: Contexts,
        stack_contexts: StackContexts,
        forbidden: ForbiddenPairs,
        trie: Trie,
        caches: CacheBudget,
    ) -> None:
        self._network, self._contexts, self._forbidden = network, contexts, forbidden
        self._stack_contexts = stack_contexts
        self._tables = network.tables
        self._pre_table = pretokenizer.table[:, 0]
        self._has_apart = len(pretokenizer.apart) > 0
        self._pre_classes: list[int] = pretokenizer.classes.tolist()
        self._distance = distances(network.tables)
        self._below: dict[int, int] = {BOTTOM: 0}
        self._trie = trie
        searches, steps = caches.divide(3, 1)
        self._found: BoundedCache[Place, tuple[list[int], Iterator[int]]] = searches.cache(
            _SEARCH_BYTES
        )
        self._stepped: BoundedCache[int, Sequence[tuple[int, int, int, int, bool]]] = steps.cache()
        # One byte for each class that neither automaton divides.
        keys = network.tables.classes.astype(np.int64) * 256 + pretokenizer.classes
        self._octets: list[int] = first_places(keys).tolist()
        # Of these the ones that are alone in their class.
        sizes = np.bincount(np.searchsorted(distinct(keys), keys))
        self._alone = {octet for octet, size in zip(self._octets, sizes, strict=True) if size == 1}

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

    def of_all_texts(self, place: Place) -> set[int] | None:
        """The first tokens of all texts that may follow a place, whose stacks are given, up to
        where a pre-token must start or the text end: no token is live there but those that one of
        them may follow. None if there are many texts, or some that are long."""
        if self._has_apart:
            # Some texts go on by tokens that merging does not give.
            return None
        found, pending, steps = set[int](), [(place, b"")], 0
        while pending:
            at, text = pending.pop()
            after, steps = list(self._after(at)), steps + 1
            is_end = bool(text) and self._is_at_boundary(at)
            if len(text) > _LONGEST or steps > _MOST_STEPS or (is_end and after):
                return None
            if is_end:
                found.add(self.first_token(text))
            for octet, behind, is_only in after:
                if not is_only:
                    return None
                pending.append((behind, text + bytes([octet])))
        return found - {-1}

    def _search(self, place: Place, steps: int) -> Iterator[int]:
        begin: dict[Place, int] = {}
        for octet, after, _ in self._after(place):
            begin.setdefault(after, octet)
        seen = {-1}
        for after in sorted(begin, key=self.distance)[:_CERTIFICATES]:
            text = self._shortest(after, bytes([begin[after]]), steps)
            token = self.first_token(text) if text else -1
            if token not in seen:
                seen.add(token)
                yield token

    def _after(self, place: Place) -> Iterator[tuple[int, Place, bool]]:
        """The bytes that may come next in the pre-token, one for each place that they lead to, that
        place, and whether no other byte leads there."""
        state, pre_state, node = place
        is_live, of_node = self._contexts.is_live, self._stack_contexts.of_node
        for p, below in self._network.unfolded([(state, node)]):
            context = of_node(below)
            for octet, target, after, pair, is_only in self._steps(p, pre_state):
                if is_live(pair, context):
                    yield octet, (target, after, below), is_only

    def _steps(self, state: int, pre_state: int) -> Sequence[tuple[int, int, int, int, bool]]:
        """The bytes that two states read, the first that leads to each pair, and that pair: its
        states and its number; and whether no other byte leads there."""
        key = state * len(self._pre_table) + pre_state
        found = self._stepped.get(key)
        if found is None:
            row, pre_row, pre_classes = (
                self._tables.rows[state],
                self._pre_table[pre_state].tolist(),
                self._pre_classes,
            )
            first: dict[tuple[int, int], int] = {}
            only: dict[tuple[int, int], bool] = {}
            for octet in self._octets:
                target, after = row[octet], pre_row[pre_classes[octet]]
                if target != DEAD and after != DEAD:
                    pair = target, after
                    only[pair] = pair not in first and octet in self._alone
                    first.setdefault(pair, octet)
            number = self._contexts.number
            found = [
                (octet, *pair, numbered, only[pair])
                for pair, octet in first.items()
                if (numbered := number(*pair))
            ]
            self._stepped.keep(key, found, ENTRY_BYTES * (1 + len(found)))
        return found

    def _shortest(self, place: Place, text: bytes, steps: int) -> bytes:
        """``text`` and what leads from a place to one at a boundary, or nothing: A*."""
        texts = {place: text}
        ends: list[Place] = []

        def expand(place: Place) -> list[tuple[int, Place]] | None:
            if self._is_at_boundary(place):
                ends.append(place)
                return None
            found = []
            for octet, after, _ in self._after(place):
                if after not in texts:
                    texts[after] = texts[place] + bytes([octet])
                    found.append((len(texts[after]) + self.distance(after), after))
            return found

        search_alive(place, expand, lambda expanded, _found: expanded >= steps)
        return texts[ends[0]] if ends else b""

    def _is_at_boundary(self, place: Place) -> bool:
        pair = self._contexts.number(place[0], place[1])
        return self._contexts.at_boundary(pair, self._stack_contexts.of_node(place[2]))

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


# In place of the distance where there is no end.
_FAR = 1 << 40


def distances(tables: NetworkTables) -> NDArray[np.int64]:
    """Bytes from each state to the end of its call, at least; int64 (S,).

    From the ends backwards: what leads to states that came nearer is looked at again, so that each
    edge is looked at a few times, however long texts are.
    """
    size = tables.states
    distance = np.where(tables.accepting != 0, 0, np.int64(_FAR))
    distance[DEAD] = _FAR
    rows, columns = np.nonzero(tables.table)
    # Edges by target, each once.
    targets, sources = np.divmod(
        np.unique(tables.table[rows, columns].astype(np.int64) * size + rows), size
    )
    offsets = np.searchsorted(targets, np.arange(size + 1))
    calls = _all_least_calls(tables)
    by_start, by_back = (_ByState(calls[row], size) for row in (1, 2))
    nearer = np.flatnonzero(distance < _FAR)
    while len(nearer):
        counts = offsets[nearer + 1] - offsets[nearer]
        places = np.repeat(offsets[nearer + 1] - np.cumsum(counts), counts)
        led, far = sources[places + np.arange(len(places))], np.repeat(distance[nearer] + 1, counts)
        callers, starts, behind, times = calls[:, [*by_start.of(nearer), *by_back.of(nearer)]]
        # A product that is too large is far.
        fits = distance[starts] <= (_FAR - distance[behind]) // np.maximum(times, 1)
        through = np.where(fits, times * distance[starts] + distance[behind], _FAR)
        met, lengths = np.concatenate((led, callers)), np.concatenate((far, through))
        better = (lengths < distance[met]) & (met != DEAD)
        met = met[better]
        np.minimum.at(distance, met, lengths[better])
        nearer = np.unique(met)
    return distance


class _ByState:
    """Calls by one of their states."""

    def __init__(self, states: NDArray[np.int64], size: int) -> None:
        self._order = np.argsort(states, kind="stable")
        self._offsets = np.searchsorted(states[self._order], np.arange(size + 1)).tolist()

    def of(self, states: NDArray[np.int64]) -> Iterator[int]:
        """The numbers of those of some states."""
        for state in states.tolist() if len(self._order) else ():
            yield from self._order[self._offsets[state] : self._offsets[state + 1]].tolist()


def _all_least_calls(tables: NetworkTables) -> NDArray[np.int64]:
    """The calls of all states: int64 (4, n), the caller, and as ``_least_calls`` has them."""
    found = [
        (state, *call)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist()
        for call in _least_calls(tables, state)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 4).T


def _least_calls(tables: NetworkTables, state: int) -> Iterator[tuple[int, int, int]]:
    """The calls of a state: where each starts, the state after it, and how often it is made at
    least."""
    for start, frame in tables.calls[state]:
        if frame < tables.states:
            yield start, frame, 1
        else:
            counters = tables.some_counters
            counter, _ = counters.split(frame)
            is_set = counter >= len(counters.rows)
            yield start, counters.ends[counter], 1 if is_set else counters.rows[counter][1]
