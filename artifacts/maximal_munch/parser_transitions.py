"""Transitions of the parser: what a lexeme, or a frame from below, does to a head.

After a lexeme a head may need a frame; then frames are popped until it is complete, and what it
does not need of them is pushed back (``parser_heads.py``). Which frames it pops depends on the head
alone, so a *transition* has as its key a head and an accept set, or a head and a frame, and serves
stacks of any depth:

    complete head           --accept set->   complete head, frames to push  |  head needing a frame
    head needing a frame    --frame->        complete head, frames to push  |  head needing a frame
"""

from bisect import bisect_left
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..container.section_tables import SectionTables
from ..dfa.stacked_dfas import DEAD
from ..tokens.memo import ENTRY_BYTES
from .lexer import Lexer
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import BELOW_ALL, BOTTOM_ONLY, REFUSED, FrameTree, Heads

# A key is head << HEAD_SHIFT | accept set, or head << HEAD_SHIFT | _FRAME | frame.
HEAD_SHIFT, _FRAME = 32, 1 << 31

# Frames have smaller numbers.
MOST_FRAMES = _FRAME


class ParserTransition(NamedTuple):
    """``head``: the one that is reached. ``needs_frame``: whether it needs a frame before anything
    is known of it; then only these two fields count.

    ``mask_head``: the head that has the same masks (``nullable_frame_runs.py``). ``lexer_start``:
    the state in which the lexer begins the next lexeme. ``may_end``: whether the text may end
    between two lexemes. ``pushed``: frames to push below the head, the lowest first.
    """

    head: int
    needs_frame: bool
    mask_head: int
    lexer_start: int
    may_end: bool
    pushed: tuple[int, ...]


_REFUSAL = ParserTransition(REFUSED, False, REFUSED, DEAD, False, ())


@dataclass(frozen=True, eq=False)
class ParserTransitionTables(SectionTables):
    """Precomputed transitions, as an artifact's sections ``transitions.*`` of these names.

    ``keys``: int64 (n,), ascending, head · 2³² + number of an accept set, or + 2³¹ + frame.
    ``targets``: int32 (n,), the transition of each. ``table``: int32 (m, 5), the numbers and flags
    of each different ``ParserTransition``; its frames are ``frames[offsets[i]:offsets[i + 1]]``
    (int32, int64 (m + 1,)).
    """

    PREFIX = "transitions."

    keys: NDArray[np.int64]
    targets: NDArray[np.int32]
    table: NDArray[np.int32]
    frames: NDArray[np.int32]
    frames_offsets: NDArray[np.int64]

    @cached_property
    def views(self) -> tuple[memoryview, memoryview, memoryview]:
        """``keys``, ``targets`` and ``frames_offsets``; a single number is faster to get from a
        view than from an array."""
        return self.keys.data, self.targets.data, self.frames_offsets.data

    @classmethod
    def empty(cls) -> "ParserTransitionTables":
        """No transitions."""
        none, targets = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        table, offsets = np.zeros((0, 5), dtype=np.int32), np.zeros(1, dtype=np.int64)
        return cls(none, targets, table, targets, offsets)


class ParserTransitions:
    """Transitions, made lazily, and the stacks of frames that they push and pop.

    ``by_key``: transitions by the keys of ``ParserTransitionTables``. ``to_head``: for each
    complete head that was reached a transition that leads to it. ``frames``: the stacks.
    ``tables``: transitions that are there, each of which is decoded when it is first needed.
    ``counted``: how many transitions so far may have changed a count (``counted_transitions.py``).
    """

    # The bits of what lies below a head that say which node of frames it is.
    node_mask = -1
    counted = 0

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        runs: NullableFrameRuns,
        tables: ParserTransitionTables | None = None,
    ) -> None:
        self._heads, self._lexer, self._runs = heads, lexer, runs
        self.frames = FrameTree()
        self.by_key: dict[int, ParserTransition] = {}
        self.to_head = {REFUSED: _REFUSAL}
        self._tables = tables
        # Those of the tables that are not in ``by_key`` yet.
        self._undecoded = 0 if tables is None else len(tables.keys)
        self._begin()

    def _begin(self) -> None:
        begin, self.start_frames = self.completed(self._to(self._heads.start), BOTTOM_ONLY)
        self.start_head = begin.head

    @property
    def nbytes(self) -> int:
        """About the size of all transitions."""
        return 2 * ENTRY_BYTES * (len(self.by_key) + self._undecoded)

    def following(self) -> "ParserTransitions":
        """The same transitions, with no stacks of frames."""
        found = copy(self)
        found.frames = FrameTree()
        found._begin()
        return found

    def after(self, head: int, frames: int, accept_set: int) -> tuple[ParserTransition, int]:
        """The transition of a complete head by a lexeme of an accept set, with pops done: to a
        complete head, and the node of the frames below that."""
        key = head << HEAD_SHIFT | accept_set
        transition = self.by_key.get(key) or self.by_lexeme(head, accept_set)
        if transition.needs_frame or transition.pushed:
            return self.completed(transition, frames)
        return transition, frames

    def may_end_after(self, head: int, frames: int, accept_set: int) -> bool:
        """Whether the text may end after a lexeme of an accept set."""
        return self.after(head, frames, accept_set)[0].may_end

    def by_lexeme(self, head: int, accept_set: int) -> ParserTransition:
        """The transition of a complete head by a lexeme, whichever of the accept set it was."""
        read, lexer = self._heads.read, self._lexer
        return self._known(
            head << HEAD_SHIFT | accept_set,
            lambda: read(head, lexer.accept_sets[accept_set], lexer.ignored),
        )

    def by_frame(self, head: int, frame: int) -> ParserTransition:
        """The transition of a head that needs a frame by the frame below it."""
        key = head << HEAD_SHIFT | _FRAME | frame
        return self._known(key, lambda: self._heads.plug(head, frame))

    def _known(self, key: int, head: Callable[[], int]) -> ParserTransition:
        """The transition of a key, which leads to ``head``."""
        cached = self.by_key.get(key)
        if cached is None:
            cached = self.by_key[key] = self._decoded(key) or self._to(head())
        return cached

    def _decoded(self, key: int) -> ParserTransition | None:
        """The transition that the tables have for a key."""
        tables = self._tables
        if tables is None:
            return None
        keys, targets, offsets = tables.views
        place = bisect_left(keys, key)
        if place == len(keys) or keys[place] != key:
            return None
        target = targets[place]
        head, needs_frame, mask_head, start, ends = tables.table[target].tolist()
        pushed = tuple(tables.frames[offsets[target] : offsets[target + 1]].tolist())
        self._undecoded -= 1
        found = ParserTransition(head, bool(needs_frame), mask_head, start, bool(ends), pushed)
        self.to_head.setdefault(head, found)
        return found

    def completed(self, transition: ParserTransition, frames: int) -> tuple[ParserTransition, int]:
        """The transition to a complete head that follows from popping frames of a node, and the
        node of the frames that then lie below."""
        while transition.needs_frame:
            frame, frames = self.frames.entries[frames]
            key = transition.head << HEAD_SHIFT | _FRAME | frame
            transition = self.by_key.get(key) or self.by_frame(transition.head, frame)
        if transition.pushed:
            frames = self.frames.push(transition.pushed, frames)
        return transition, frames

    def tables(self) -> ParserTransitionTables:
        """All transitions so far, of grammars of which none were there before."""
        assert self._tables is None
        numbers: dict[ParserTransition, int] = {}
        items = sorted(self.by_key.items())
        targets = [numbers.setdefault(found, len(numbers)) for _, found in items]
        frames = [frame for found in numbers for frame in found.pushed]
        return ParserTransitionTables(
            np.array([key for key, _ in items], dtype=np.int64),
            np.array(targets, dtype=np.int32),
            np.array([found[:5] for found in numbers], dtype=np.int32).reshape(-1, 5),
            np.array(frames, dtype=np.int32),
            np.cumsum([0, *(len(found.pushed) for found in numbers)]).astype(np.int64),
        )

    def _to(self, head: int) -> ParserTransition:
        """The transition that leads to a head, split into what it needs and frames to push."""
        if head == REFUSED:
            return _REFUSAL
        if self._heads.view(head).needs_frame:
            return ParserTransition(head, True, REFUSED, DEAD, False, ())
        short, pushed = self._heads.split_off(head)
        view = self._heads.view(short)
        start, mask_head = self._lexer.start(view.allowed), self._runs.shortened(short)
        found = ParserTransition(short, False, mask_head, start, view.may_end, pushed)
        self.to_head.setdefault(short, found)
        return found


def over_bottom(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which keys are those of a head that pops the frame below all others."""
    found: NDArray[np.bool_] = keys & ((1 << HEAD_SHIFT) - 1) == _FRAME | BELOW_ALL
    return found
