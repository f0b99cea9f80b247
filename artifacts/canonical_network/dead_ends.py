"""Which tokens of a group lead to dead ends: an exact search, on demand.

Where a piece may start or the text may end, no token is one. Elsewhere the next token u must
continue the piece, and

    t is alive at a place  iff  some u may follow t there, and u is alive where it leads

the least solution. Certificates decide nearly all t at once. For the others the pairs (place,
token) that they lead to are searched for one that is decided: if there is none, all that were
met are dead.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..errors import ArtifactError
from ..network.configurations import Network
from ..network.tables import DEAD
from .certificates import Certificates, Place
from .contexts import ReturnContexts
from .trie_walk import ROOT, Group, PieceWalks

# Pairs of a place and a token that one search may meet; above frames that are not known, it
# tries the tokens that come next and no more.
_BUDGET, _BUDGET_ABOVE = 20_000, 1

# Steps of the search for a certificate, in the same two cases.
_STEPS, _STEPS_ABOVE = 400, 24

# Frames that are looked at one by one, before the whole stacks are.
_FRAMES = 2

# Tokens that are tried to sieve others.
_FOLLOWERS = 8

# Remembered answers; when there are more, they are worked out anew.
_KEPT = 1 << 20


# A place and the class of the token that led there.
_Claim: TypeAlias = tuple[Place, int]


class DeadEnds:
    """Decides tokens at places (state, cut state, set of stacks)."""

    def __init__(
        self,
        network: Network,
        endings: ReturnContexts,
        walks: PieceWalks,
        firsts: Certificates,
        pairs: ForbiddenPairs,
    ) -> None:
        self._network, self._endings, self._walks = network, endings, walks
        self._firsts, self._pairs = firsts, pairs
        self._classes = pairs.row_class.data
        self._flags = np.zeros(len(pairs.part), dtype=np.bool_)
        self._alive: dict[_Claim, bool] = {}
        self._survivors: dict[tuple[int, int], NDArray[np.int32] | None] = {}
        # Whether the last search came to stacks that are not known, and what it might take.
        self._needs_frame, self._whole = False, True
        self._budget, self._steps = _BUDGET, _STEPS

    def groups(self, place: Place, plane: int) -> Iterator[tuple[Group, int]]:
        """The tokens that may be read at a place, with the stacks below their frames."""
        state, cut, node = place
        entries = self._network.stacks.entries
        waiting = [(ROOT, state, cut, plane, node)]
        seen = set(waiting)
        for exits, at, cut, plane, below in waiting:
            walk = self._walks.walk(exits, at, cut, plane)
            for group in walk.groups:
                yield group, below
            for after, left, left_plane in walk.pending:
                for frame, rest in entries[below]:
                    more = (left, frame, after, left_plane, rest)
                    if frame < DEAD:
                        self._needs_frame = True
                    elif frame != DEAD and more not in seen:
                        seen.add(more)
                        waiting.append(more)

    def place(self, group: Group, node: int) -> Place:
        """Where the tokens of a group lead above the stacks of ``node``."""
        return group.state, group.cut, self.pushed(group.frames, node)

    def pushed(self, frames: Sequence[int], node: int) -> int:
        """The stacks of ``node`` with ``frames`` on top."""
        for frame in frames:
            node = self._network.stacks.push(frame, node)
        return node

    def is_open(self, place: Place) -> bool:
        """Whether a piece may start at a place, or the text may end."""
        context = self._endings.of_node(self._network.stacks, place[2])
        return self._endings.is_open(self._endings.number(place[0], place[1]), context)

    def survivors(self, group: Group, below: int) -> NDArray[np.int32]:
        """The tokens of a group, at a place that is not open, that are alive there.

        Few of the frames below decide: they are looked at one by one. Raises
        ``ArtifactError`` where the search meets too much.
        """
        stacks, endings = self._network.stacks, self._endings
        known: list[int] = []
        rest = below
        while True:
            node = endings.unknown(stacks, endings.of_node(stacks, rest))
            found = self._decided(group, self.pushed(known[::-1], node), whole=False)
            if found is not None:
                return found
            entries = stacks.entries[rest]
            if len(entries) > 1 or entries[0][0] <= DEAD or len(known) == _FRAMES:
                break
            known.append(entries[0][0])
            rest = entries[0][1]
        found = self._decided(group, below, whole=True)
        assert found is not None
        return found

    def alive(
        self, place: Place, ids: NDArray[np.int32], *, whole: bool, budget: int = _BUDGET_ABOVE
    ) -> NDArray[np.int32] | None:
        """The tokens of ``ids`` that are alive at a place that is not open; None if that depends
        on frames not known, or takes more than ``budget`` steps. Where the ``whole`` stacks are
        known it raises ``ArtifactError`` for too many steps."""
        self._whole, self._budget = whole, _BUDGET if whole else budget
        self._steps = _STEPS if whole else _STEPS_ABOVE
        return self._sieved(place, ids)

    def _decided(self, group: Group, node: int, *, whole: bool) -> NDArray[np.int32] | None:
        key = group.number, node
        if key not in self._survivors:
            if len(self._survivors) > _KEPT:
                self._survivors.clear()
            place = self.place(group, node)
            self._survivors[key] = self.alive(place, group.ids, whole=whole)
        return self._survivors[key]

    def _sieved(self, place: Place, ids: NDArray[np.int32]) -> NDArray[np.int32] | None:
        doubtful = np.arange(len(ids))
        for certificate in self._firsts.of(place, self._steps):
            doubtful = doubtful[self._pairs.preceding(ids[doubtful], certificate)]
            if not len(doubtful):
                return ids
        most = _FOLLOWERS if len(doubtful) > _FOLLOWERS else 0
        more = self._followers(place) if self._whole else self._certain(place, most * len(doubtful))
        for follower in more:
            doubtful = doubtful[self._pairs.preceding(ids[doubtful], follower)]
            if not len(doubtful):
                return ids
        alive = np.ones(len(ids), dtype=np.bool_)
        for i in doubtful.tolist():
            found = self._is_alive(place, int(ids[i]))
            if found is None:
                return None
            alive[i] = found
        return ids[alive]

    def _is_alive(self, place: Place, token: int) -> bool | None:
        key = place, self._classes[token]
        if key not in self._alive:
            if len(self._alive) > _KEPT:
                self._alive.clear()
            self._needs_frame = False
            found = self._search(place, token)
            if not found and self._needs_frame:
                return None
            self._alive[key] = found
        return self._alive[key]

    def _followers(self, place: Place) -> Iterator[int]:
        """Some tokens that may continue a piece at a place and are alive where they lead, by
        the way that is shortest first."""
        found = [
            (self._firsts.left(after), group.number, after, group.ids)
            for plane in range(0, self._walks.planes, 2)
            for group, below in self.groups(place, plane)
            for after in [self.place(group, below)]
            if self._is_live(after)
        ]
        for _, _, after, ids in sorted(found, key=lambda entry: entry[:2])[:_FOLLOWERS]:
            token = int(ids[0])
            if self.is_open(after) or self._is_alive(after, token):
                yield token

    def _certain(self, place: Place, most: int) -> Iterator[int]:
        """At most so many of the tokens that may continue a piece and lead to open places."""
        for plane in range(0, self._walks.planes, 2) if most else ():
            for group, below in self.groups(place, plane):
                if self.is_open(self.place(group, below)):
                    yield from group.ids[:most].tolist()
                    most -= min(most, len(group.ids))

    def _is_live(self, place: Place) -> bool:
        context = self._endings.of_node(self._network.stacks, place[2])
        return self._endings.is_live(self._endings.number(place[0], place[1]), context)

    def _search(self, place: Place, token: int) -> bool:
        """By the way that is shortest to the end of the text first. What is found to be alive
        makes all alive that led to it."""
        origin = place, self._classes[token]
        led: dict[_Claim, _Claim] = {origin: origin}
        budget = self._budget
        if self._whole:
            budget += 8 * self._firsts.left(place)
        order = count()
        heap: list[tuple[int, int, _Claim, Place, NDArray[np.int32]]] = []
        claim = origin
        while True:
            if self._is_certain(place, token):
                return self._found_alive(claim, led)
            for after, ids in self._following(place, token):
                if self.is_open(after):
                    return self._found_alive(claim, led)
                heappush(heap, (self._firsts.left(after), next(order), claim, after, ids))
            while True:
                if next(order) > budget and heap:
                    return self._given_up(origin)
                if not heap:
                    if not self._needs_frame:
                        self._alive.update(dict.fromkeys(led, False))
                    return False
                left, _, before, place, ids = heappop(heap)
                if len(ids) > 1:
                    heappush(heap, (left, next(order), before, place, ids[1:]))
                token = int(ids[0])
                claim = place, self._classes[token]
                if claim not in led and self._alive.get(claim) is not False:
                    led[claim] = before
                    break

    def _following(self, place: Place, token: int) -> list[tuple[Place, NDArray[np.int32]]]:
        """The tokens that continue the piece and may follow ``token``, and where they lead."""
        forbidden = self._pairs.ids(token)
        self._flags[forbidden] = True
        found = []
        for plane in range(0, self._walks.planes, 2):
            for group, below in self.groups(place, plane):
                ids = group.ids[~self._flags[group.ids]]
                if len(ids) and self._is_live(after := self.place(group, below)):
                    found.append((after, ids))
        self._flags[forbidden] = False
        return found

    def _found_alive(self, claim: _Claim, led: dict[_Claim, _Claim]) -> bool:
        self._alive[claim] = True
        while led[claim] != claim:
            claim = led[claim]
            self._alive[claim] = True
        return True

    def _given_up(self, origin: _Claim) -> bool:
        if not self._whole:
            self._needs_frame = True
            return False
        raise ArtifactError(
            f"what may come next was not decided within {_BUDGET:,} steps (behind a token of "
            f"class {origin[1]}); compile with --tokenization any"
        )

    def _is_certain(self, place: Place, token: int) -> bool:
        if self._alive.get((place, self._classes[token])):
            return True
        return any(not self._pairs.forbids(token, u) for u in self._firsts.of(place, self._steps))
