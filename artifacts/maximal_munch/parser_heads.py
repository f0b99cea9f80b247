"""Configurations of the network over lexemes, split into a head and the frames below it.

What the parser allows depends on all threads of a configuration at once, and on as many frames as
can return without reading a lexeme. A *head* is a configuration whose stacks end in a *hole*, which
stands for the frames that they share. For ``start: "(" start ")" | "x"`` after ``((x``, with f the
frame after the call:

    stack  f f (bottom)    ->    head  {(final state, hole)}    frames  f, f, bottom

This head *needs a frame*: its thread can return into the hole, so what is allowed depends on the
frame below. ``plug`` puts that frame into the hole and a new hole below it; where no thread can
return into the hole a head is *complete*, and says what is allowed over any frames. ``split_off``
takes shared frames off a complete head as long as it stays complete. So a head holds what the
parser's next step depends on and little more, and there are few of them: in JSON ten, at any depth.

Source: heads of pushdown configurations, Schwoon, *Model-Checking Pushdown Systems* (2002), where a
head is a control state and one stack symbol; here it is all threads and as many symbols as decide.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from ..network.configurations import BOTTOM, Entries, Stacks
from ..network.counts import Counters, InternedSets
from ..network.tables import DEAD, NetworkTables
from ..tokens.memo import ENTRY_BYTES, Numbered, bottom_up, memoised, top_down
from .tables import FIRST_LEXEME

if TYPE_CHECKING:
    from ..machine.states import States

# The frame below all others, to which the text's own call returns.
BELOW_ALL = 0

# The entry that is the hole.
_HOLE = -1

# Entries that lie on nothing: the two ends of a stack.
MARKS = (_HOLE, BELOW_ALL)

# How many entries below nullable frames are compared at most to find redundant stacks.
_MOST_COMPARED = 64

# The head without threads.
REFUSED = 0

# Nodes of a tree of frames: below the first nothing is known, the second is ``BELOW_ALL`` alone.
NO_FRAMES, BOTTOM_ONLY = 0, 1

Threads = tuple[tuple[int, int], ...]


class View(NamedTuple):
    """What a head shows: the ``allowed`` lexemes, whether the text may end (``may_end``), and
    whether some thread can return into the hole, so that this is not all (``needs_frame``).
    ``threads``: its (state, node) pairs, with those inside the calls that begin there."""

    allowed: frozenset[int]
    may_end: bool
    needs_frame: bool
    threads: list[tuple[int, int]]


class Heads:
    """Heads are integers, equal ones the same; ``start`` is that of the empty text.

    ``tables``: the network, or states of it that are made when they are met, without counters.
    State ``DEAD`` in the start's threads stands for the empty text where it is a member: it
    reads nothing, and may end. ``stacks`` and ``threads``: the nodes and heads to begin with.
    """

    def __init__(
        self,
        tables: "NetworkTables | States",
        stacks: Stacks | None = None,
        threads: Sequence[Threads] = ((),),
    ) -> None:
        counters = tables.counters if isinstance(tables, NetworkTables) else None
        if isinstance(tables, NetworkTables) and tables.has_sets:
            # Frames are parts of keys of 64 bits.
            counters = InternedSets(*(getattr(counters, f.name) for f in fields(Counters)))
            tables = replace(tables, counters=counters)
        self.tables = tables
        self.stacks = stacks or Stacks()
        self.hole = self.stacks.push(_HOLE, BOTTOM)
        self._rows, self._calls, self._ends = tables.rows, tables.calls, tables.ends
        self._states, self.counters = tables.states, counters
        self.threads = Numbered(threads)
        self._views: dict[int, View] = {}
        self._reductions = {BOTTOM: BOTTOM, self.hole: self.hole}
        self._read: dict[tuple[int, frozenset[int]], int] = {}
        self._plugged: dict[tuple[int, int], int] = {}
        self._split: dict[int, tuple[int, tuple[int, ...]]] = {}
        begin = {tables.start: self.hole}
        if tables.nullable_start:
            begin[DEAD] = self.hole
        self.start = self.head_of(begin.items())

    @property
    def network(self) -> NetworkTables:
        """All states, where they are there."""
        assert isinstance(self.tables, NetworkTables)
        return self.tables

    @property
    def nbytes(self) -> int:
        """About the size of all heads, and of what is known of them."""
        known = len(self.threads) + len(self._views) + len(self._read) + len(self._plugged)
        known += len(self._split) + len(self._reductions)
        made = 0 if isinstance(self.tables, NetworkTables) else self.tables.nbytes
        return self.stacks.nbytes + 2 * ENTRY_BYTES * known + made

    def view(self, head: int) -> View:
        """What a head allows before its next lexeme; see ``View``."""
        cached = self._views.get(head)
        if cached is not None:
            return cached
        # This ends: no callee matches ε, and no first call leads back to its own state.
        threads = list(top_down(self.threads[head], self._become))
        allowed = frozenset[int]().union(*(self._lexemes(state) for state, _ in threads))
        ends = {frame for thread in threads for frame, _ in self._ended(*thread)}
        view = self._views[head] = View(allowed, BELOW_ALL in ends, _HOLE in ends, threads)
        return view

    def _ended(self, state: int, node: int) -> Entries:
        """What a thread returns to, if it may end its call."""
        return self.stacks.entries[node] if self._ends[state] or state == DEAD else ()

    def _become(self, thread: tuple[int, int]) -> list[tuple[int, int]]:
        """What a thread becomes by calls and returns, before any lexeme."""
        state, node = thread
        # With the row of a state come its calls.
        self._lexemes(state)
        new = [(start, self.stacks.push(frame, node)) for start, frame in self._calls[state]]
        for frame, rest in self._ended(state, node):
            if frame >= self._states:
                new.extend(self._popped(frame, rest))
            elif frame > BELOW_ALL:
                new.append((frame, rest))
        return new

    def _popped(self, frame: int, rest: int) -> list[tuple[int, int]]:
        """The threads that go on where a call on a counter's frame ends."""
        assert self.counters is not None
        pops, push = self.counters.pops(frame), self.stacks.push
        return [(state, push(again, rest) if again else rest) for state, again in pops]

    @memoised
    def _lexemes(self, state: int) -> frozenset[int]:
        """The lexemes that lead out of a state, whose row, and with it its calls, is then there."""
        targets = self._rows[state][FIRST_LEXEME:]
        return frozenset(i for i, target in enumerate(targets) if target != DEAD)

    def read(self, head: int, lexemes: frozenset[int], ignored: frozenset[int]) -> int:
        """The head after one of ``lexemes``, whichever it was; ``head`` must be complete."""
        cached = self._read.get((head, lexemes))
        if cached is None:
            threads = list(self.threads[head]) if lexemes & ignored else []
            symbols = [FIRST_LEXEME + lexeme for lexeme in lexemes]
            for state, node in self.view(head).threads:
                row = self._rows[state]
                threads.extend((row[s], node) for s in symbols if row[s] != DEAD)
            cached = self._read[head, lexemes] = self.head_of(threads)
        return cached

    def plug(self, head: int, frame: int) -> int:
        """The head with ``frame`` in its hole and a new hole below; no hole below the last."""
        cached = self._plugged.get((head, frame))
        if cached is None:
            below = BOTTOM if frame == BELOW_ALL else self.stacks.push(frame, self.hole)
            images = self._images(head, {self.hole: below})
            cached = self.head_of((state, images[node]) for state, node in self.threads[head])
            self._plugged[head, frame] = cached
        return cached

    def split_off(self, head: int) -> tuple[int, tuple[int, ...]]:
        """The smallest complete head, and the frames that were split off it, the lowest first."""
        cached = self._split.get(head)
        if cached is None:
            frames = []
            current = head
            while (shorter := self._shorter(current)) is not None:
                current, frame = shorter
                frames.append(frame)
            cached = self._split[head] = current, tuple(frames)
        return cached

    def above_hole(self, head: int) -> set[int]:
        """The states and frames that lie directly on the hole."""
        entries = self.stacks.entries

        def ends_here(node: int) -> bool:
            return any(frame == _HOLE for frame, _ in entries[node])

        on_it = {state for state, node in self.threads[head] if ends_here(node)}
        lies_on = [pair for node in self._nodes(head) for pair in entries[node]]
        return on_it | {f for f, rest in lies_on if f > BELOW_ALL and ends_here(rest)}

    def counters_of(self, head: int) -> list[tuple[int, int]] | None:
        """The (frame, rest) pairs of a head whose frames are counters, the topmost first; None if
        not each of them lies on all after it."""
        found: dict[int, frozenset[tuple[int, int]]] = {BOTTOM: frozenset(), self.hole: frozenset()}
        begun = [node for _, node in self.threads[head]]
        for node in bottom_up(begun, self.stacks.below, found):
            entries = self.stacks.entries[node]
            counted = frozenset(entry for entry in entries if self._is_count(entry[0]))
            found[node] = counted.union(*(found[rest] for _, rest in entries))
        pairs = frozenset[tuple[int, int]]().union(*(found[node] for node in begun))
        chain = sorted(pairs, key=lambda pair: -len(found[pair[1]]))
        for place, (_, rest) in enumerate(chain, start=1):
            if found[rest] != set(chain[place:]):
                return None
        return chain

    def _is_count(self, frame: int) -> bool:
        return self.counters is not None and self.counters.is_count(frame)

    def with_frames(self, head: int, frames: Mapping[tuple[int, int], int]) -> int:
        """A head with other frames in place of those of some (frame, rest) pairs."""
        stacks = self.stacks
        images = {BOTTOM: BOTTOM, self.hole: self.hole}
        for node in bottom_up((node for _, node in self.threads[head]), stacks.below, images):
            images[node] = stacks.of(
                (frames.get((frame, rest), frame), images[rest])
                for frame, rest in stacks.entries[node]
            )
        return self.head_of((state, images[node]) for state, node in self.threads[head])

    def _shorter(self, head: int) -> tuple[int, int] | None:
        """The head without the lowest frame of all its stacks, and that frame; None if they do not
        share it, or the head would need it."""
        nodes = self._nodes(head)
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
        shorter = self.head_of((state, images[node]) for state, node in self.threads[head])
        # subtle: the head without threads would be split for ever.
        return None if shorter == head or self.view(shorter).needs_frame else (shorter, lowest)

    def _images(
        self, head: int, images: dict[int, int], removed: int | None = None
    ) -> dict[int, int]:
        """Where the nodes of a head go if some go to ``images``, from the bottom up.

        ``removed``: a frame that is left out where it lies on the hole.
        """
        stacks = self.stacks
        images = {self.hole: self.hole, BOTTOM: BOTTOM, **images}
        for node in bottom_up((node for _, node in self.threads[head]), stacks.below, images):
            parts = []
            for frame, rest in stacks.entries[node]:
                if frame in MARKS:
                    parts.append(images[self.hole if frame == _HOLE else BOTTOM])
                elif frame == removed and rest == self.hole:
                    parts.append(self.hole)
                else:
                    parts.append(stacks.push(frame, images[rest]))
            images[node] = stacks.joined(parts)
        return images

    def _nodes(self, head: int) -> set[int]:
        """All nodes that the stacks of a head hold."""
        return set(top_down((node for _, node in self.threads[head]), self.stacks.below))

    def is_nullable(self, frame: int) -> bool:
        """Whether a frame may return without reading a lexeme."""
        if frame < self._states:
            return frame > BELOW_ALL and self._ends[frame]
        counters = self.counters
        assert counters is not None
        counter, value = counters.split(frame)
        return counters.may_return(counter, value) and self._ends[counters.ends[counter]]

    def first_lexemes(self, frame: int) -> frozenset[int]:
        """The lexemes that can be read first after a frame or in what is called there (FIRST)."""
        states = {frame}
        if frame >= self._states:
            assert self.counters is not None
            states = {state for state, _ in self.counters.pops(frame)}
        callers = top_down(states, lambda caller: [start for start, _ in self._calls[caller]])
        return frozenset().union(*map(self._lexemes, callers))

    def _reduced(self, node: int) -> int:
        """The stacks of a node without those that others have under nullable frames.

        ``{g, f g, f f g} -> {f f g}`` where f is nullable: what follows g may follow f g, too.
        """
        reductions, stacks = self._reductions, self.stacks
        for current in bottom_up([node], stacks.below, reductions):
            parts = [(frame, reductions[rest]) for frame, rest in stacks.entries[current]]
            if self.counters is not None and len(parts) > 1:
                parts = self.counters.undominated(parts)
            covered = self._covered(parts)
            reductions[current] = stacks.of(part for part in parts if part not in covered)
        return reductions[node]

    def _covered(self, parts: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """The (frame, rest) pairs below the nullable frames, up to ``_MOST_COMPARED``."""
        covered: set[tuple[int, int]] = set()
        pending = [part for part in parts if self.is_nullable(part[0])] if len(parts) > 1 else []
        for count, (_, rest) in enumerate(pending):
            if count == _MOST_COMPARED:
                break
            new = set(self.stacks.entries[rest]) - covered
            covered |= new
            pending.extend(sorted(part for part in new if self.is_nullable(part[0])))
        return covered

    def head_of(self, threads: Iterable[tuple[int, int]]) -> int:
        """The head of these (state, node) threads, without redundant stacks."""
        by_state: dict[int, list[int]] = {}
        for state, node in threads:
            by_state.setdefault(state, []).append(node)
        # Not pair by pair: each of thousands would be a node of its own.
        joined = self.stacks.joined
        key = tuple(sorted((state, self._reduced(joined(n))) for state, n in by_state.items()))
        return self.threads.number(key)


class FrameTree:
    """Stacks of frames below heads, hash-consed: a tree that grows upwards from its two roots.

    ``entries``: by node (top frame, node of the frames below it).
    """

    def __init__(self) -> None:
        self.entries: list[tuple[int, int]] = [(BELOW_ALL, NO_FRAMES), (BELOW_ALL, NO_FRAMES)]
        # What lies below all frames counts for nothing.
        self._numbers = {(BELOW_ALL, node): BOTTOM_ONLY for node in (NO_FRAMES, BOTTOM_ONLY)}

    @property
    def nbytes(self) -> int:
        """About the size of all nodes."""
        return ENTRY_BYTES * len(self.entries)

    def push(self, frames: Iterable[int], node: int) -> int:
        """The node with more frames on top of a node's, the lowest first."""
        for frame in frames:
            key = frame, node
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self.entries)
                self.entries.append(key)
            node = number
        return node
