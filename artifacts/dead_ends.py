"""Which tokens of a group lead to dead ends: an exact search, on demand.

Where a piece may start or the text may end, no token is one. Elsewhere the next token u must
continue the piece, and

    t is alive at a place  iff  some u may follow t there, and u is alive where it leads

the least solution. Certificates decide nearly all t at once. For the others the pairs (place,
token) that they lead to are searched for one that is decided: if there is none, all that were
met are dead.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .endings import Endings
from .errors import ArtifactError
from .first_tokens import FirstTokens, Place
from .network import Network
from .network_tables import DEAD
from .piece_walk import ROOT, Frames, Group, PieceWalks
from .rectangles import ForbiddenPairs

# Pairs of a place and a token that one search may meet.
_BUDGET = 20_000

# Remembered answers; when there are more, they are worked out anew.
_KEPT = 1 << 20


class DeadEnds:
    """Decides tokens at places (state, cut state, set of stacks)."""

    def __init__(
        self,
        network: Network,
        endings: Endings,
        walks: PieceWalks,
        firsts: FirstTokens,
        pairs: ForbiddenPairs,
    ) -> None:
        self._network, self._endings, self._walks = network, endings, walks
        self._firsts, self._pairs = firsts, pairs
        self._classes = pairs.row_class.data
        self._flags = np.zeros(len(pairs.part), dtype=np.bool_)
        self._alive: dict[tuple[Place, int], bool] = {}

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
                    if frame != DEAD and more not in seen:
                        seen.add(more)
                        waiting.append(more)

    def place(self, group: Group, node: int) -> Place:
        """Where the tokens of a group lead above the stacks of ``node``."""
        return group.state, group.cut, self.pushed(group.frames, node)

    def pushed(self, frames: Frames, node: int) -> int:
        """The stacks of ``node`` with ``frames`` on top."""
        for frame in frames:
            node = self._network.stacks.push(frame, node)
        return node

    def is_open(self, place: Place) -> bool:
        """Whether a piece may start at a place, or the text may end."""
        context = self._endings.of_node(self._network.stacks, place[2])
        return self._endings.is_open(self._endings.number(place[0], place[1]), context)

    def survivors(self, place: Place, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of ``ids`` that are alive at a place which is not open. Raises
        ``ArtifactError`` where the search meets too much."""
        doubtful = np.arange(len(ids))
        for certificate in self._firsts.of(place):
            doubtful = doubtful[self._pairs.preceding(ids[doubtful], certificate)]
            if not len(doubtful):
                return ids
        alive = np.ones(len(ids), dtype=np.bool_)
        alive[doubtful] = [self.is_alive(place, int(token)) for token in ids[doubtful]]
        return ids[alive]

    def is_alive(self, place: Place, token: int) -> bool:
        """Whether something may follow ``token`` at a place that is not open."""
        key = place, self._classes[token]
        known = self._alive.get(key)
        if known is None:
            if len(self._alive) > _KEPT:
                self._alive.clear()
            known = self._search(place, token)
        return known

    def _search(self, place: Place, token: int) -> bool:
        """Breadth first; the tokens that may come next are sieved together."""
        origin = place, self._classes[token]
        pending = [(place, token)]
        seen = {origin}
        for current, last in pending:
            if self._is_certain(current, last):
                self._alive[origin] = True
                return True
            forbidden = self._pairs.ids(last)
            self._flags[forbidden] = True
            following = []
            for plane in range(0, self._walks.planes, 2):
                for group, below in self.groups(current, plane):
                    kept = group.ids[~self._flags[group.ids]]
                    if len(kept):
                        following.append((self.place(group, below), kept))
            self._flags[forbidden] = False
            for after, ids in following:
                if not self._endings.is_live(
                    self._endings.number(after[0], after[1]),
                    self._endings.of_node(self._network.stacks, after[2]),
                ):
                    continue
                if self.is_open(after) or self._any_certain(after, ids):
                    self._alive[origin] = True
                    return True
                for u in ids.tolist():
                    key = after, self._classes[u]
                    if key not in seen and self._alive.get(key) is not False:
                        seen.add(key)
                        pending.append((after, u))
            if len(pending) > _BUDGET:
                raise ArtifactError(
                    f"whether token {token} may come next was not decided within {_BUDGET:,} steps; "
                    "compile with --tokenization any"
                )
        self._alive.update(dict.fromkeys(seen, False))
        return False

    def _is_certain(self, place: Place, token: int) -> bool:
        if self._alive.get((place, self._classes[token])):
            return True
        return any(not self._pairs.forbids(token, u) for u in self._firsts.of(place))

    def _any_certain(self, place: Place, ids: NDArray[np.int32]) -> bool:
        return any(
            not self._pairs.preceding(ids, u).all() for u in self._firsts.of(place)
        ) or any(self._alive.get((place, self._classes[u])) for u in ids.tolist())
