"""Which pairs of states are live above stacks of one context, and by which certificates.

ContextStatus      of pairs: dead, live (at a boundary), or undecided; and tokens that show
                   which others are live at an undecided pair (certificates), by shortest texts
                   to a boundary, for many pairs at once, when they are first needed
StatusByContext    these, by context
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...bpe.forbidden_pairs import ForbiddenPairs
from ...network.tables import DEAD
from ...tokens.watch import Watch
from ..contexts import ReturnContexts
from ..pretokenized import PretokenizedNetwork
from ..trie_walk import Frames
from .joint_walks import Joint, joint_table

IS_DEAD, IS_LIVE, IS_UNDECIDED = 0, 1, 2

# Certificates of one pair; pairs from which a boundary is farther have none.
_CERTIFICATES, _LONGEST = 6, 24
_FAR = 1 << 20

# What finding the certificates of a pair costs in trie nodes that are met.
_CERTIFICATE_WORK = 300


@dataclass(frozen=True, eq=False)
class ContextStatus:
    """Pairs in one context. ``first_token``: of the encoding of a text. ``watch``: bounds it."""

    joint: Joint
    contexts: ReturnContexts
    context: int
    forbidden: ForbiddenPairs
    first_token: Callable[[bytes], int]
    watch: Watch

    @cached_property
    def status(self) -> NDArray[np.int8]:
        """Of each pair, int8 (n,); live are those at a boundary."""
        live = self.contexts.live(self.context)
        found = np.where(live, IS_UNDECIDED, IS_DEAD).astype(np.int8)
        found[live & self.contexts.boundaries(self.context)] = IS_LIVE
        found[DEAD] = IS_DEAD
        return found

    def has_certificate(
        self, pairs: NDArray[np.integer], tokens: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Which tokens some certificate of the undecided pair that each leads to may follow."""
        found: NDArray[np.bool_] = np.zeros(len(pairs), dtype=np.bool_)
        self._find(np.unique(pairs[self._kinds[pairs] < 0]).astype(np.int64))
        kinds = self._kinds[pairs]
        certificates = list(self._certificates)
        for kind in np.unique(kinds).tolist():
            places = np.flatnonzero(kinds == kind)
            found[places] = True
            for certificate in certificates[kind]:
                if not len(places):
                    break
                places = places[self.forbidden.preceding(tokens[places], certificate)]
            found[places] = False
        return found

    def _find(self, pairs: NDArray[np.int64]) -> None:
        """Find the certificates of pairs, of which only the undecided ones have any."""
        size, kinds = self.joint.pairs, self._kinds
        own, distance = self.joint.table[:size], self._distance
        kinds[pairs] = 0
        for part in _blocks(pairs[self.status[pairs] == IS_UNDECIDED], own.shape[1]):
            self.watch(_CERTIFICATE_WORK * len(part), 0)
            # By distance and target; of the bytes that lead to one target the first.
            after = own[part].astype(np.int64)
            keys = (distance[after] * size + after) * 256 + np.arange(own.shape[1])
            nearest = min(2 * _CERTIFICATES, own.shape[1])
            keys = np.sort(np.partition(keys, nearest - 1, axis=1)[:, :nearest], axis=1)
            content = [row.tobytes() for row in keys]
            for pair, row, key in zip(part.tolist(), keys, content, strict=True):
                if key not in self._numbers:
                    found = self._first_tokens(row.tolist())
                    self._numbers[key] = self._certificates.setdefault(
                        found, len(self._certificates)
                    )
                kinds[pair] = self._numbers[key]

    def _first_tokens(self, keys: list[int]) -> tuple[int, ...]:
        """Of the texts to a boundary by some bytes: keys of distance, target and column."""
        size, tokens = self.joint.pairs, self._tokens
        found: list[int] = []
        seen: set[int] = set()
        for key in keys:
            target, column = key // 256 % size, key % 256
            if key // 256 // size >= _FAR or len(seen) == _CERTIFICATES:
                break
            if target in seen:
                continue
            seen.add(target)
            text = self._octet[column] + self._text(target)
            if text not in tokens:
                tokens[text] = self.first_token(text)
            if tokens[text] >= 0 and tokens[text] not in found:
                found.append(tokens[text])
        return tuple(found)

    def _text(self, pair: int) -> bytes:
        """A shortest text from a pair, which is not far, to a boundary."""
        way = []
        while self._distance[pair]:
            column = int(self._distance[self.joint.table[pair]].argmin())
            way.append(self._octet[column])
            pair = int(self.joint.table[pair, column])
        return b"".join(way)

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """A number for each pair, -1 before it is found; pairs that share it have the same
        certificates."""
        return np.full(self.joint.pairs, -1, dtype=np.int64)

    @cached_property
    def _certificates(self) -> dict[tuple[int, ...], int]:
        """By number; 0 is for pairs that have none."""
        return {(): 0}

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        """The kinds of pairs by what they lead to."""
        return {}

    @cached_property
    def _tokens(self) -> dict[bytes, int]:
        return {}

    @cached_property
    def _distance(self) -> NDArray[np.int64]:
        own = self.joint.table[: self.joint.pairs]
        return self._distances(own, np.flatnonzero(self.status == IS_UNDECIDED))

    def _distances(self, own: NDArray[np.int32], undecided: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bytes to the nearest boundary, at most ``_LONGEST``, else ``_FAR``; int64 (n,)."""
        is_near = self.status == IS_LIVE
        distance = np.where(is_near, 0, _FAR).astype(np.int64)
        left = undecided
        for length in range(1, _LONGEST + 1):
            nearer = [pairs[is_near[own[pairs]].any(axis=1)] for pairs in _blocks(left, len(own.T))]
            found = np.concatenate([left[:0], *nearer])
            if not len(found):
                break
            distance[found] = length
            is_near[found] = True
            left = left[distance[left] == _FAR]
        return distance

    @cached_property
    def _octet(self) -> list[bytes]:
        return [bytes([octet]) for octet in self.joint.octets]


# Cells of a table that are looked at in one step.
_STEP = 1 << 20


def _blocks(pairs: NDArray[np.int64], width: int) -> Iterator[NDArray[np.int64]]:
    """``pairs`` in parts whose rows of ``width`` cells can be gathered at once."""
    step = max(1, _STEP // width)
    return (pairs[begin : begin + step] for begin in range(0, len(pairs), step))


class StatusByContext:
    """``ContextStatus`` of a network, by context."""

    def __init__(self, network: PretokenizedNetwork) -> None:
        self.joint = joint_table(network)
        self._network = network
        self._found: dict[int, ContextStatus] = {}

    def of(self, context: int) -> ContextStatus:
        """The pairs in a context."""
        if context not in self._found:
            network = self._network
            first_token = network.certificates.first_token
            self._found[context] = ContextStatus(
                self.joint,
                network.contexts,
                context,
                network.forbidden,
                first_token,
                network.watch,
            )
        return self._found[context]

    def above(self, frames: Frames, context: int) -> ContextStatus:
        """The pairs above ``frames``, the lowest first."""
        return self.of(self._network.contexts.push_all(frames, context))
