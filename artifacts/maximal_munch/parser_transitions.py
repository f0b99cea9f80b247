"""What a lexeme does to a closed head and the frames below it.

Behind a lexeme a head may be open; then frames are taken from below until it is closed, and
what it does not need of them is put back (``heads.py``). Which frames it takes depends on the
head alone, so a *move* is told by a head and a lexeme, or by an open head and a frame, and
serves stacks of any depth:

    (head, lexeme)       -> (closed head, frames to be put below it)  |  open head
    (open head, frame)   -> (closed head, frames to be put below it)  |  open head
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from .lexer import Lexer
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import BELOW_ALL, REFUSED, Heads
from .summaries import NO_FRAMES

_PREFIX = "moves."

# A key is a head, and the number of a set of lexemes or a frame.
HEAD, _FRAME = 32, 1 << 31

# The node of ``BELOW_ALL`` alone.
BOTTOM_ONLY = 1


class ParserTransition(NamedTuple):
    """The head that is reached, and whether it is open. ``short``:
    the head whose masks are those of ``head`` (``runs.py``). ``start``: where the lexer begins.
    ``ends``: whether the text may end between two lexemes. ``pushed``: frames, the lowest
    first."""

    head: int
    is_open: bool
    short: int
    start: int
    ends: bool
    pushed: tuple[int, ...]


_REFUSAL = ParserTransition(REFUSED, False, REFUSED, DEAD, False, ())


@dataclass(frozen=True, eq=False)
class ParserTransitionTables:
    """Moves that were worked out ahead. ``keys``: int64 (n,), ascending, head · 2³² + number of
    the lexer's winners or + 2³¹ + frame; ``targets``: int32 (n,), the move
    of each. ``moves``: int32 (m, 5), the numbers of ``ParserTransition``; its frames are
    ``frames[offsets[i]:offsets[i + 1]]`` (int32, int64 (m + 1,))."""

    keys: NDArray[np.int64]
    targets: NDArray[np.int32]
    moves: NDArray[np.int32]
    frames: NDArray[np.int32]
    frames_offsets: NDArray[np.int64]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "ParserTransitionTables":
        """The sections of an artifact."""
        return cls(**{field.name: arrays[_PREFIX + field.name] for field in fields(cls)})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {_PREFIX + field.name: getattr(self, field.name) for field in fields(self)}


class ParserTransitions:
    """Moves of heads, and the frames below them, which are a tree that grows upwards.

    ``below``: (top frame, what lies below) of each node of that tree. ``at``: by closed head a
    move that leads to it. ``known``: moves by their keys (``ParserTransitionTables``). ``tables``:
    moves to
    begin with.
    """

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        runs: NullableFrameRuns,
        tables: ParserTransitionTables | None = None,
    ) -> None:
        self._heads, self._lexer, self._runs = heads, lexer, runs
        self.below: list[tuple[int, int]] = [(BELOW_ALL, NO_FRAMES), (BELOW_ALL, NO_FRAMES)]
        # The end of all frames lies on nothing that counts.
        self._nodes = {(BELOW_ALL, node): BOTTOM_ONLY for node in (NO_FRAMES, BOTTOM_ONLY)}
        self.known: dict[int, ParserTransition] = {}
        self.at = {REFUSED: _REFUSAL}
        if tables is not None:
            found = _unpacked(tables)
            targets = map(found.__getitem__, tables.targets.tolist())
            self.known = dict(zip(tables.keys.tolist(), targets, strict=True))
            self.at |= {move.head: move for move in self.known.values()}
        move, self.start_frames = self.closed(self._settled(heads.start), BOTTOM_ONLY)
        self.start_head = move.head

    def after(self, head: int, frames: int, winners: int) -> tuple[ParserTransition, int]:
        """The move by a lexeme, one of the lexer's ``winners``, to a closed head, and the frames
        below that."""
        move = self.known.get(head << HEAD | winners) or self.behind(head, winners)
        if move.is_open or move.pushed:
            return self.closed(move, frames)
        return move, frames

    def ends_after(self, head: int, frames: int, winners: int) -> bool:
        """Whether the text may end behind a lexeme."""
        move = self.known.get(head << HEAD | winners) or self.behind(head, winners)
        return self.closed(move, frames)[0].ends if move.is_open else move.ends

    def behind(self, head: int, winners: int) -> ParserTransition:
        """The move of a closed head by a lexeme."""
        key = head << HEAD | winners
        known = self.known.get(key)
        if known is None:
            lexer = self._lexer
            read = self._heads.read(head, lexer.winners[winners], lexer.ignored)
            known = self.known[key] = self._settled(read)
        return known

    def plugged(self, head: int, frame: int) -> ParserTransition:
        """The move of an open head by the frame below it."""
        key = head << HEAD | _FRAME | frame
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = self._settled(self._heads.plug(head, frame))
        return known

    def tables(self) -> ParserTransitionTables:
        """The moves that are known."""
        numbers: dict[ParserTransition, int] = {}
        known = sorted(self.known.items())
        targets = [numbers.setdefault(move, len(numbers)) for _, move in known]
        frames = [frame for move in numbers for frame in move.pushed]
        return ParserTransitionTables(
            np.array([key for key, _ in known], dtype=np.int64),
            np.array(targets, dtype=np.int32),
            np.array([move[:5] for move in numbers], dtype=np.int32).reshape(-1, 5),
            np.array(frames, dtype=np.int32),
            np.cumsum([0, *(len(move.pushed) for move in numbers)]).astype(np.int64),
        )

    def _settled(self, head: int) -> ParserTransition:
        if head == REFUSED:
            return _REFUSAL
        if self._heads.view(head).is_open:
            return ParserTransition(head, True, REFUSED, DEAD, False, ())
        closed, cut = self._heads.cut(head)
        view = self._heads.view(closed)
        start = self._lexer.start(view.allowed)
        move = ParserTransition(closed, False, self._runs.shortened(closed), start, view.ends, cut)
        self.at.setdefault(closed, move)
        return move

    def closed(self, move: ParserTransition, frames: int) -> tuple[ParserTransition, int]:
        """The move to a closed head, and the frames below that."""
        while move.is_open:
            frame, frames = self.below[frames]
            key = move.head << HEAD | _FRAME | frame
            move = self.known.get(key) or self.plugged(move.head, frame)
        return move, self.pushed(move.pushed, frames) if move.pushed else frames

    def pushed(self, pushed: Iterable[int], frames: int) -> int:
        """The node of ``below`` with more frames on top of a node's."""
        for frame in pushed:
            key = frame, frames
            node = self._nodes.get(key)
            if node is None:
                node = self._nodes[key] = len(self.below)
                self.below.append(key)
            frames = node
        return frames


def below_all(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which keys of moves are those of open heads that lie on the end of all frames."""
    found: NDArray[np.bool_] = keys & ((1 << HEAD) - 1) == _FRAME | BELOW_ALL
    return found


def _unpacked(tables: ParserTransitionTables) -> list[ParserTransition]:
    spans = pairwise(tables.frames_offsets.tolist())
    frames = tables.frames.tolist()
    return [
        ParserTransition(head, bool(is_open), short, start, bool(ends), tuple(frames[a:b]))
        for (head, is_open, short, start, ends), (a, b) in zip(
            tables.moves.tolist(), spans, strict=True
        )
    ]
