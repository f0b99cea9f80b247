"""Configurations of a network over lexemes, cut in two: a head with a hole, and frames below.

What the parser allows, and so what the lexer reads, depends on all threads of a configuration
at once, and on as many frames as can return without reading a lexeme. A *head* is a
configuration whose stacks end in a hole that stands for the frames they share. It is *open*
while some thread can return into the hole; then the next frame has to be put there (``plug``)
before it is known what is allowed. ``cut`` takes shared frames off a head as long as it stays
closed: so a head holds what the parser's next step depends on and little more, and what is
worked out for a head is right for any stack below it.

Heads with the frames that lie below them, as far as these are known.

Frames are a tree that grows upwards: (top frame, what lies below). It has two roots: what lies
below all frames, and a hole, below which nothing is known. A head that needs a frame out of the
hole stays open.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

from ..network.configurations import BOTTOM, Stacks
from ..network.tables import DEAD, NetworkTables
from .tables import FIRST_LEXEME

# The frame below all others, to which the text's own call returns.
BELOW_ALL = 0

# On top of the stack of which nothing is known.
_UNKNOWN = -1

# What lies on nothing: the two ends of a stack.
MARKS = (_UNKNOWN, BELOW_ALL)

# How many frames are gone through at most to find stacks that are others without them.
_LOOKED_AT = 64

# A head that no thread is left of.
REFUSED = 0

Threads = tuple[tuple[int, int], ...]


class View(NamedTuple):
    """What can be seen of a head: ``allowed`` lexemes, whether the text may end (``ends``), and
    whether all that is not yet known, because a thread returns into the hole (``is_open``)."""

    allowed: frozenset[int]
    ends: bool
    is_open: bool
    threads: list[tuple[int, int]]


class Heads:
    """Heads are integers, equal ones the same; ``start`` is that of the empty text.

    State ``DEAD`` in the start's threads stands for the empty text where it is a member: it
    reads nothing, and may end. ``stacks`` and ``known``: those that were numbered ahead.
    """

    def __init__(
        self,
        tables: NetworkTables,
        stacks: Stacks | None = None,
        known: Sequence[Threads] = ((),),
    ) -> None:
        self.tables = tables
        self.stacks = stacks or Stacks()
        self.hole = self.stacks.push(_UNKNOWN, BOTTOM)
        self._rows, self._calls, self._ends = tables.rows, tables.calls, tables.ends
        self.threads: list[Threads] = list(known)
        self._numbers = {threads: number for number, threads in enumerate(known)}
        self._views: dict[int, View] = {}
        self._first: dict[int, frozenset[int]] = {}
        self._reductions = {BOTTOM: BOTTOM, self.hole: self.hole}
        self._read: dict[tuple[int, frozenset[int]], int] = {}
        self._plugged: dict[tuple[int, int], int] = {}
        self._cut: dict[int, tuple[int, tuple[int, ...]]] = {}
        begin = {tables.start: self.hole}
        if tables.nullable_start:
            begin[DEAD] = self.hole
        self.start = self.of(begin.items())

    def view(self, head: int) -> View:
        """What a head allows before its next lexeme; see ``View``."""
        known = self._views.get(head)
        if known is not None:
            return known
        # No callee matches ε, and no chain of first calls leads back to its beginning.
        pending = list(self.threads[head])
        found = set(pending)
        ends = is_open = False
        for state, node in pending:
            new = [(start, self.stacks.push(frame, node)) for start, frame in self._calls[state]]
            if self._ends[state] or state == DEAD:
                for frame, rest in self.stacks.entries[node]:
                    is_open |= frame == _UNKNOWN
                    ends |= frame == BELOW_ALL
                    if frame > BELOW_ALL:
                        new.append((frame, rest))
            for thread in new:
                if thread not in found:
                    found.add(thread)
                    pending.append(thread)
        allowed: frozenset[int] = frozenset().union(*(self._lexemes(state) for state, _ in pending))
        view = self._views[head] = View(allowed, ends, is_open, pending)
        return view

    def _lexemes(self, state: int) -> frozenset[int]:
        """The lexemes that lead out of a state."""
        known = self._first.get(state)
        if known is None:
            targets = self._rows[state][FIRST_LEXEME:]
            known = frozenset(i for i, target in enumerate(targets) if target != DEAD)
            self._first[state] = known
        return known

    def read(self, head: int, lexemes: frozenset[int], ignored: frozenset[int]) -> int:
        """The head after one of ``lexemes``, whichever it was; ``head`` must be closed."""
        known = self._read.get((head, lexemes))
        if known is None:
            threads = list(self.threads[head]) if lexemes & ignored else []
            symbols = [FIRST_LEXEME + lexeme for lexeme in lexemes]
            for state, node in self.view(head).threads:
                row = self._rows[state]
                threads.extend((row[s], node) for s in symbols if row[s] != DEAD)
            known = self._read[head, lexemes] = self.of(threads)
        return known

    def plug(self, head: int, frame: int) -> int:
        """The head with ``frame`` in its hole and a new hole below; no hole below the last."""
        known = self._plugged.get((head, frame))
        if known is None:
            below = BOTTOM if frame == BELOW_ALL else self.stacks.push(frame, self.hole)
            images = self._images(head, {self.hole: below})
            known = self.of((state, images[node]) for state, node in self.threads[head])
            self._plugged[head, frame] = known
        return known

    def cut(self, head: int) -> tuple[int, tuple[int, ...]]:
        """The smallest closed head, and the frames that were cut off it, the lowest first."""
        known = self._cut.get(head)
        if known is None:
            frames = []
            current = head
            while (shorter := self._shorter(current)) is not None:
                current, frame = shorter
                frames.append(frame)
            known = self._cut[head] = current, tuple(frames)
        return known

    def above_hole(self, head: int) -> set[int]:
        """The states and frames that lie directly on the hole."""
        entries = self.stacks.entries

        def ends_here(node: int) -> bool:
            return any(frame == _UNKNOWN for frame, _ in entries[node])

        on_it = {state for state, node in self.threads[head] if ends_here(node)}
        lies_on = [pair for node in self._below(head) for pair in entries[node]]
        return on_it | {f for f, rest in lies_on if f > BELOW_ALL and ends_here(rest)}

    def _shorter(self, head: int) -> tuple[int, int] | None:
        """The head without the lowest frame of all its stacks, and that frame."""
        nodes = self._below(head)
        entries = self.stacks.entries
        removed: int | None = None
        images: dict[int, int] = {}
        if self.hole not in nodes:
            lowest, images = BELOW_ALL, {BOTTOM: self.hole}
        else:
            lies_on = [pair for node in nodes - {self.hole} for pair in entries[node]]
            above = {frame for frame, rest in lies_on if rest == self.hole}
            marked = any(frame in MARKS for frame, _ in lies_on)
            if len(above) != 1 or marked or (self.hole in {n for _, n in self.threads[head]}):
                return None
            (removed,) = above
            lowest = removed
        images = self._images(head, images, removed)
        shorter = self.of((state, images[node]) for state, node in self.threads[head])
        # subtle: a head that no thread is left of would be cut for ever.
        return None if shorter == head or self.view(shorter).is_open else (shorter, lowest)

    def _images(
        self, head: int, images: dict[int, int], removed: int | None = None
    ) -> dict[int, int]:
        """Where the nodes of a head go if some go to ``images``, from the bottom up.

        ``removed``: frames over the hole that are left out.
        """
        stacks = self.stacks
        images = {self.hole: self.hole, BOTTOM: BOTTOM, **images}
        pending = [node for _, node in self.threads[head]]
        while pending:
            node = pending[-1]
            missing = [rest for _, rest in stacks.entries[node] if rest not in images]
            if node not in images and missing:
                pending.extend(missing)
                continue
            pending.pop()
            if node in images:
                continue
            parts = []
            for frame, rest in stacks.entries[node]:
                if frame in MARKS:
                    parts.append(images[self.hole if frame == _UNKNOWN else BOTTOM])
                elif frame == removed and rest == self.hole:
                    parts.append(self.hole)
                else:
                    parts.append(stacks.push(frame, images[rest]))
            images[node] = reduce(stacks.union, parts)
        return images

    def _below(self, head: int) -> set[int]:
        """All nodes that the stacks of a head hold."""
        pending = [node for _, node in self.threads[head]]
        found = set(pending)
        while pending:
            node = pending.pop()
            if node in (self.hole, BOTTOM):
                continue
            for frame, rest in self.stacks.entries[node]:
                if frame > BELOW_ALL and rest not in found:
                    found.add(rest)
                    pending.append(rest)
        return found

    def returns(self, frame: int) -> bool:
        """Whether a frame may return without reading."""
        return frame > BELOW_ALL and self._ends[frame]

    def begins(self, state: int) -> frozenset[int]:
        """The lexemes that can be read first in a state or in what it calls."""
        states = {state}
        pending = [state]
        for caller in pending:
            new = {start for start, _ in self._calls[caller]} - states
            states |= new
            pending.extend(new)
        return frozenset().union(*map(self._lexemes, states))

    def _reduced(self, node: int) -> int:
        """The stacks of a node without those that others have under frames that may return.

        ``{g, f g, f f g} -> {f f g}`` where f may return: what follows g may follow f g, too.
        """
        reductions, stacks = self._reductions, self.stacks
        pending = [node]
        while pending:
            current = pending[-1]
            missing = [rest for _, rest in stacks.entries[current] if rest not in reductions]
            if current not in reductions and missing:
                pending.extend(missing)
                continue
            pending.pop()
            if current not in reductions:
                parts = [(frame, reductions[rest]) for frame, rest in stacks.entries[current]]
                covered = self._covered(parts)
                kept = [stacks.push(*part) for part in parts if part not in covered]
                reductions[current] = reduce(stacks.union, kept)
        return reductions[node]

    def _covered(self, parts: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """The (frame, rest) pairs below the frames that may return, as far as is looked."""
        covered: set[tuple[int, int]] = set()
        pending = [part for part in parts if self.returns(part[0])] if len(parts) > 1 else []
        for looked, (_, rest) in enumerate(pending):
            if looked == _LOOKED_AT:
                break
            new = set(self.stacks.entries[rest]) - covered
            covered |= new
            pending.extend(sorted(part for part in new if self.returns(part[0])))
        return covered

    def of(self, threads: Iterable[tuple[int, int]]) -> int:
        """The head of these threads; what adds nothing to a stack above it is left out."""
        merged: dict[int, int] = {}
        for state, node in threads:
            known = merged.get(state)
            merged[state] = node if known is None else self.stacks.union(known, node)
        key = tuple(sorted((state, self._reduced(node)) for state, node in merged.items()))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.threads)
            self.threads.append(key)
        return number


# The roots: nothing is known of what lies there; and nothing lies below all frames.
HOLE, LOWEST = 0, 1


class Frames:
    """Frames are integers, equal ones the same; ``entries``: (frame, frames below it)."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self.entries: list[tuple[int, int]] = [(BELOW_ALL, HOLE), (BELOW_ALL, HOLE)]
        self._numbers: dict[tuple[int, int], int] = {}

    def settled(self, head: int, frames: int) -> tuple[int, int]:
        """The closed and shortest head, with the frames that then lie below it; or an open one
        over the hole."""
        if head == REFUSED:
            return REFUSED, HOLE
        while self._heads.view(head).is_open:
            if frames == HOLE:
                return head, HOLE
            frame, frames = self.entries[frames]
            head = self._heads.plug(head, frame)
        head, cut = self._heads.cut(head)
        for frame in cut:
            frames = self._pushed(frame, frames)
        return head, frames

    def _pushed(self, frame: int, frames: int) -> int:
        if frame == BELOW_ALL:
            return LOWEST
        key = frame, frames
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.entries)
            self.entries.append(key)
        return number
