"""What follows each pair in a context: open, dead, or tokens that show that others are alive.

The certificates of ``constrain.artifacts.canonical_network.certificates``, for all pairs at once:
shortest ways
to an open pair by own edges that no cut interrupts.

Whether tokens are alive at a place: asked for together, and kept one by one.

Which tokens in doubt are alive: decided with as little as possible known of the stacks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.canonical_network.certificates import Place
from constrain.artifacts.canonical_network.contexts import ReturnContexts
from constrain.artifacts.canonical_network.dead_ends import DeadEnds
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.network.tables import DEAD

from .trie_walks import Joint

IS_DEAD, IS_OPEN, IS_DOUBTFUL = 0, 1, 2

# Certificates of one pair; pairs from which an open one is farther have none.
_CERTIFICATES, _LONGEST = 6, 24
_FAR = 1 << 20


@dataclass(frozen=True, eq=False)
class ContextStatus:
    """Pairs in one context. ``first_token``: of the encoding of a text."""

    joint: Joint
    endings: ReturnContexts
    context: int
    pairs: ForbiddenPairs
    first_token: Callable[[bytes], int]

    @cached_property
    def status(self) -> NDArray[np.int8]:
        """Of each pair, int8 (n,)."""
        live = self.endings.live(self.context)
        found = np.where(live, IS_DOUBTFUL, IS_DEAD).astype(np.int8)
        opened = [
            self.endings.is_open(pair, self.context) for pair in np.flatnonzero(live).tolist()
        ]
        found[np.flatnonzero(live)[np.array(opened, dtype=np.bool_)]] = IS_OPEN
        found[DEAD] = IS_DEAD
        return found

    def dead_ends(
        self, pairs: NDArray[np.integer], tokens: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Which tokens no certificate of the doubtful pair that each leads to may follow."""
        left: NDArray[np.bool_] = np.ones(len(pairs), dtype=np.bool_)
        kinds = self._kinds[pairs]
        for kind in np.unique(kinds).tolist():
            places = np.flatnonzero(kinds == kind)
            for certificate in self._certificates[kind]:
                if not len(places):
                    break
                places = places[self.pairs.preceding(tokens[places], certificate)]
            left[kinds == kind] = False
            left[places] = True
        return left

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """A number for each pair; doubtful pairs that share it have the same certificates."""
        return self._found[0]

    @cached_property
    def _certificates(self) -> list[tuple[int, ...]]:
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
        size = self.joint.pairs
        own = self.joint.table[:size]
        distance = self._distances(own)
        ways: dict[int, bytes] = {}
        nearest = distance[own].argmin(axis=1)
        doubtful = np.flatnonzero(self.status == IS_DOUBTFUL)
        order = doubtful[np.argsort(distance[doubtful], kind="stable")]
        for pair in order[distance[order] < _FAR].tolist():
            column = int(nearest[pair])
            ways[pair] = self._octet[column] + ways.get(int(own[pair, column]), b"")
        kinds = np.zeros(size, dtype=np.int64)
        numbers: dict[tuple[int, ...], int] = {(): 0}
        tokens: dict[bytes, int] = {}
        # By distance and target; of the bytes that lead to one target the first.
        after = own[doubtful].astype(np.int64)
        keys = np.sort((distance[after] * size + after) * 256 + np.arange(own.shape[1]), axis=1)
        rows = keys[:, : 2 * _CERTIFICATES]
        for pair, row in zip(doubtful.tolist(), rows.tolist(), strict=True):
            found: list[int] = []
            seen: set[int] = set()
            for key in row:
                target, column = key // 256 % size, key % 256
                if key // 256 // size >= _FAR or len(seen) == _CERTIFICATES:
                    break
                if target in seen:
                    continue
                seen.add(target)
                text = self._octet[column] + ways.get(target, b"")
                if text not in tokens:
                    tokens[text] = self.first_token(text)
                if tokens[text] >= 0 and tokens[text] not in found:
                    found.append(tokens[text])
            kinds[pair] = numbers.setdefault(tuple(found), len(numbers))
        return kinds, list(numbers)

    def _distances(self, own: NDArray[np.int32]) -> NDArray[np.int64]:
        """Bytes to the nearest open pair, at most ``_LONGEST``; int64 (n,)."""
        distance = np.where(self.status == IS_OPEN, 0, _FAR).astype(np.int64)
        dead = self.status == IS_DEAD
        for _ in range(_LONGEST):
            nearer = np.minimum(distance, distance[own].min(axis=1) + 1)
            nearer[dead] = _FAR
            if (nearer == distance).all():
                break
            distance = nearer
        return np.minimum(distance, _FAR)

    @cached_property
    def _octet(self) -> list[bytes]:
        return [bytes([octet]) for octet in self.joint.octets]


# Steps of a search above frames that are not known; and searches that may come to nothing. Where
# more do, the rest is left to decoding, which knows the stacks.
_BUDGET, _MOST_FAILED = 50, 500

# Whether tokens are alive at a place; None, or nothing, where that was not decided.
Known: TypeAlias = dict[int, bool | None]


class LivenessCache:
    """The answers of ``canonical_network.dead_ends``. ``has_given_up``: no more searches are
    made."""

    def __init__(self, dead_ends: DeadEnds) -> None:
        self._dead_ends = dead_ends
        self._known: dict[Place, Known] = {}
        self._failed = 0

    @property
    def has_given_up(self) -> bool:
        """Whether too many searches came to nothing."""
        return self._failed > _MOST_FAILED

    def of(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> Known:
        """Of each of ``ids``, and of others; the place is not open."""
        known = self._known.setdefault(place, {})
        if self.has_given_up:
            return known
        new = [token for token in ids.tolist() if token not in known]
        # Tokens are sieved together, and one by one only where some depend on more.
        for asked in ([new], [[token] for token in new]):
            for some in asked:
                if self.has_given_up:
                    return known
                if some and some[0] not in known:
                    found = self._asked(place, np.array(some, dtype=np.int32), whole=whole)
                    if found is not None:
                        known.update(dict.fromkeys(some, False) | dict.fromkeys(found, True))
                    elif len(some) == 1:
                        known[some[0]] = None
        return known

    def _asked(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> list[int] | None:
        try:
            found = self._dead_ends.alive(place, ids, whole=whole, budget=_BUDGET)
        except ArtifactError:
            found = None
        self._failed += found is None
        return None if found is None else found.tolist()
