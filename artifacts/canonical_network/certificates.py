"""Some tokens that surely continue a piece, for a state of the network, the cuts and a stack.

Let v be a text that leads to a place where a piece may start or the text may end, without a
cut in it. The encoding of v does not depend on what comes after, and by the bigram property a
token t may stand before it iff t may stand before its first token. So the first token of v is
a *certificate*: whatever token the text before ends with, unless it may not precede this one,
is no dead end.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..network.configurations import BOTTOM, Network
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.trie import Trie
from .contexts import ReturnContexts

# Certificates of one place, each by another first byte.
_CERTIFICATES = 6

# Places from which the end of the text is farther have no certificates.
_LONGEST = 24

# Remembered places; when there are more, they are looked at anew.
_KEPT = 1 << 18

# State, cut state, set of stacks.
Place = tuple[int, int, int]


class Certificates:
    """Certificates, remembered by place."""

    def __init__(
        self,
        network: Network,
        cuts: PretokenizerDfa,
        endings: ReturnContexts,
        pairs: ForbiddenPairs,
        trie: Trie,
    ) -> None:
        self._network, self._endings, self._pairs = network, endings, pairs
        self._tables = network.tables
        self._cut_rows: list[list[int]] = cuts.table[:, 0].tolist()
        self._cut_classes: list[int] = cuts.classes.tolist()
        self._distance = _distances(network.tables)
        self._rests: dict[int, int] = {BOTTOM: 0}
        self._trie = trie
        self._known: dict[Place, tuple[list[int], Iterator[int]]] = {}
        # One byte for each class that neither automaton divides.
        keys = network.tables.classes.astype(np.int64) * 256 + cuts.classes
        self._octets: list[int] = np.unique(keys, return_index=True)[1].tolist()

    def of(self, place: Place, steps: int) -> Iterator[int]:
        """The certificates of a place that is not open; found as they are asked for,
        each in at most so many ``steps`` (the same for a place each time)."""
        if self.left(place) > _LONGEST:
            return
        known = self._known.get(place)
        if known is None:
            if len(self._known) > _KEPT:
                self._known.clear()
            known = self._known[place] = [], self._found(place, steps)
        found, more = known
        yield from found
        for token in more:
            found.append(token)
            yield token

    def _found(self, place: Place, steps: int) -> Iterator[int]:
        begin: dict[Place, int] = {}
        for octet, after in self._after(place):
            begin.setdefault(after, octet)
        seen = {-1}
        for after in sorted(begin, key=self.left)[:_CERTIFICATES]:
            text = self._shortest(after, bytes([begin[after]]), steps)
            token = self.first_token(text) if text else -1
            if token not in seen:
                seen.add(token)
                yield token

    def _after(self, place: Place) -> Iterator[tuple[int, Place]]:
        """The bytes that may come next in the piece, one of each class, and where they lead."""
        state, cut, node = place
        rows, endings, stacks = self._tables.rows, self._endings, self._network.stacks
        cut_row, cut_classes = self._cut_rows[cut], self._cut_classes
        moves = [
            (octet, after)
            for octet in self._octets
            if (after := cut_row[cut_classes[octet]]) != DEAD
        ]
        if not moves:
            return
        for p, below in self._network.unfolded([(state, node)]):
            row, context = rows[p], endings.of_node(stacks, below)
            for octet, after in moves:
                target = row[octet]
                if target != DEAD and endings.is_live(endings.number(target, after), context):
                    yield octet, (target, after, below)

    def _shortest(self, place: Place, text: bytes, steps: int) -> bytes:
        """``text`` and what leads from a place to one that is open, or nothing: A*."""
        endings, stacks = self._endings, self._network.stacks
        order = count()
        heap = [(self.left(place), next(order), place, text)]
        seen = {place}
        for _ in range(steps):
            if not heap:
                break
            _, _, (state, cut, node), text = heappop(heap)
            context = endings.of_node(stacks, node)
            if endings.is_open(endings.number(state, cut), context):
                return text
            for octet, after in self._after((state, cut, node)):
                if after not in seen:
                    seen.add(after)
                    longer = text + bytes([octet])
                    heappush(heap, (len(longer) + self.left(after), next(order), after, longer))
        return b""

    def left(self, place: Place) -> int:
        """At least so many bytes lead to the end of the text."""
        return int(self._distance[place[0]]) + self._rest(place[2])

    def _rest(self, node: int) -> int:
        known = self._rests.get(node)
        if known is not None:
            return known
        pending = [node]
        while pending:
            current = pending[-1]
            entries = [(f, r) for f, r in self._network.stacks.entries[current] if f > DEAD]
            missing = [rest for _, rest in entries if rest not in self._rests]
            if missing and current not in self._rests:
                pending.extend(missing)
                continue
            pending.pop()
            lengths = [int(self._distance[f]) + self._rests[r] for f, r in entries]
            if len(entries) < len(self._network.stacks.entries[current]):
                lengths.append(0)
            self._rests[current] = min(lengths)
        return self._rests[node]

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
                if not reached[end] and (before < 0 or not self._pairs.forbids(before, token)):
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


def _distances(tables: NetworkTables) -> NDArray[np.int64]:
    """Bytes from each state to the end of its call, at least; int64 (S,)."""
    far = np.int64(1) << 40
    distance = np.where(tables.accepting != 0, 0, far)
    distance[DEAD] = far
    while True:
        nearer: NDArray[np.int64] = np.minimum(distance, distance[tables.table].min(axis=1) + 1)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist():
            through = [distance[start] + distance[frame] for start, frame in tables.calls[state]]
            nearer[state] = min(nearer[state], *through)
        np.minimum(nearer, far, out=nearer)
        nearer[DEAD] = far
        if (nearer == distance).all():
            return nearer
        distance = nearer
