"""TODO."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.precomputed_rows import DEEPER, UNKNOWN
from constrain.artifacts.canonical_network.trie_walk import Frames
from constrain.artifacts.network.configurations import BOTTOM
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words

from .liveness import LivenessCache
from .normalized_liveness import InertLiveness
from .reachable_pairs import TEXT, Calls

# Frames that are looked at one by one.
_FRAMES = 4


# Tokens in doubt by the place that they lead to: pair and frames.
Doubt: TypeAlias = dict[tuple[int, Frames], NDArray[np.int32]]


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """Where a row is wanted, what its answer leaves pending, and the calls that it can be in."""

    entry: int
    state: int
    pending: int
    calls: Sequence[int]


class Decisions:
    """``answers``: by entry, state and suffix the row (in ``rows``) and the set of pending
    entries. ``suffixes``: numbered, see ``PrecomputedRows``. ``is_complete``: whether all was
    decided.
    """

    def __init__(
        self, masks: CanonicalMasks, calls: Calls, freely: InertLiveness | None = None
    ) -> None:
        self.answers: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.rows = EncodedRows(masks.vocabulary.size)
        self.suffixes: dict[tuple[int, int], int] = {(TEXT, BOTTOM): 0}
        self.is_complete = True
        self._calls, self._stacks, self._freely = calls, masks.network.stacks, freely
        self._endings, self._dead_ends = masks.threads.endings, masks.threads.dead_ends
        self._fates = LivenessCache(self._dead_ends)

    def decide(
        self,
        thread: Thread,
        sure: NDArray[np.int32],
        doubt: Doubt,
        frames: Frames,
        ground: tuple[int, int],
    ) -> None:
        """The answer above ``frames``, the uppermost first, and a stack of which the context is
        known; where that does not decide, those for all frames that can lie below."""
        node, suffix = BOTTOM, 0
        if ground[0] == UNKNOWN:
            node = self._endings.unknown(self._stacks, ground[1])
            suffix = self.suffixes.setdefault(ground, len(self.suffixes))
        for frame in reversed(frames):
            node = self._stacks.push(frame, node)
            suffix = self.suffixes.setdefault((frame, suffix), len(self.suffixes))
        left: Doubt = {}
        alive = [sure]
        for (pair, pushed), ids in doubt.items():
            leads = self._dead_ends.pushed(pushed, node)
            place = int(self._endings.states[pair]), int(self._endings.cut_of[pair]), leads
            fates = self._fates.of(place, ids, whole=ground[0] != UNKNOWN)
            found = [fates.get(token) for token in ids.tolist()] if fates else [None] * len(ids)
            alive.append(ids[[fate is True for fate in found]])
            if self._freely is not None and len(alive[-1]):
                self._freely.search(pair, pushed, alive[-1], frames, ground)
            if None in found:
                left[pair, pushed] = ids[[fate is None for fate in found]]
        sure = np.concatenate(alive)
        key = thread.entry, thread.state, suffix
        if not left:
            self.answers[key] = self.rows.add(sure), thread.pending
            return
        self.answers[key] = DEEPER, thread.pending
        if ground[0] != UNKNOWN or len(frames) == _FRAMES or self._fates.has_given_up:
            self.is_complete = False
            return
        for call in thread.calls:
            if self._calls.contexts[call] != ground[1]:
                continue
            frame, below = self._calls.calls[call]
            callers = sorted(self._calls.callers[call])
            under = Thread(thread.entry, thread.state, thread.pending, callers)
            if frame == TEXT:
                self.decide(under, sure, left, frames, (TEXT, BOTTOM))
            else:
                self.decide(under, sure, left, (*frames, frame), (UNKNOWN, below))


# Rows of more tokens are kept as bits.
LONGEST_LIST = 512


class EncodedRows:
    """``add`` numbers rows, even those of bits and odd those of lists; ``place`` is where a row
    lies among all, which is known in the end."""

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._lists: dict[bytes, int] = {}
        self._bits: dict[bytes, int] = {}
        self.nbytes = 0

    def add(self, ids: NDArray[np.int32]) -> int:
        """The number of the row of ``ids``."""
        if len(ids) <= 2 * LONGEST_LIST:
            ids = np.unique(ids)
        if len(ids) <= LONGEST_LIST:
            content, known = ids.astype("<i4").tobytes(), self._lists
        else:
            content, known = tokenset.from_ids(ids, self._vocab_size).tobytes(), self._bits
        if content not in known:
            self.nbytes += len(content)
            known[content] = len(known)
        return 2 * known[content] + (known is self._lists)

    def held(self, tokens: NDArray[np.int32]) -> dict[int, NDArray[np.bool_]]:
        """Which of ``tokens`` each row holds, by its number."""
        found: dict[int, NDArray[np.bool_]] = {}
        for number, content in enumerate(self._bits):
            words: Words = np.frombuffer(content, dtype="<u4")
            found[2 * number] = tokenset.to_flags(words)[tokens]
        for number, content in enumerate(self._lists):
            found[2 * number + 1] = np.isin(tokens, np.frombuffer(content, dtype="<i4"))
        return found

    def place(self, number: int) -> int:
        """The place of a row among all, those of bits first."""
        return number // 2 + len(self._bits) * (number % 2)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The sections ``closed.rows``, ``closed.ids`` and ``closed.id_offsets``."""
        width = tokenset.word_count(self._vocab_size)
        packed: Words = np.frombuffer(b"".join(self._bits), dtype="<u4").reshape(-1, width)
        ids = np.frombuffer(b"".join(self._lists), dtype="<i4")
        offsets = np.cumsum([0, *(len(content) // 4 for content in self._lists)])
        return {
            "closed.id_offsets": offsets.astype(np.int64),
            "closed.ids": ids,
            "closed.rows": packed,
        }
