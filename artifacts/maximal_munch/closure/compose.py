"""Summaries composed of parts that they share, many at a time.

A summary (``summaries.py``) is a row and what is pending; its row is what
the lexer's walk gives, and what follows each of its ends, which is the same behind many walks:

    F(e, p, s)  = W(e, s) and G(e', p') over its ends A -> e', p' being behind p by A
    feed(P, g)  = G(e, plug(p, g)) over the pairs (p, e) of P

What is wanted is followed until walks are missing everywhere; then these are made together
(``lexer_walks.py``), and all that waited for one goes on. ``feed`` takes pending pairs alone: heads
are pending beside many rows, which are added to what becomes of them.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...summaries.rows import EMPTY
from ..lexer import BETWEEN, Lexer
from ..nullable_frame_runs import NullableFrameRuns
from ..parser_heads import REFUSED, Heads
from ..summary_tables import Pairs
from .lexer_walks import LexerWalks

# The kinds of keys: W(nodes, state), F(nodes, head, state), and feed(pending, frame).
WALK, FIRST, FEED = range(3)

Key = tuple[int, ...]

# A row's number, and that of a set of (head, suspended nodes) pairs.
Composed = tuple[int, int]

# The set of no pairs.
DECIDED = 0

_Steps = Generator[Iterable[Key], None, Composed]


class _Head(NamedTuple):
    """What follows a shortened head: whether it needs a frame, or the smallest complete head, the
    frames split off it, the top first, and the state in which the lexer begins."""

    needs_frame: bool
    short: int = REFUSED
    frames: tuple[int, ...] = ()
    start: int = BETWEEN


class _Task:
    """A result that waits for ``missing`` others."""

    __slots__ = ("key", "missing", "steps")

    def __init__(self, key: Key, steps: _Steps) -> None:
        self.key, self.steps, self.missing = key, steps, 0


class Composer:
    """``known``: results by key. ``pending``: sets of (head, suspended nodes) pairs, by number."""

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        runs: NullableFrameRuns,
        walks: LexerWalks,
    ) -> None:
        self.heads, self.lexer, self.runs, self.walks = heads, lexer, runs, walks
        self.known: dict[Key, Composed] = {}
        self.pending: list[Pairs] = [()]
        self._pending_numbers: dict[Pairs, int] = {(): DECIDED}
        self._heads: dict[int, _Head] = {}
        self._behind: dict[tuple[int, int], int] = {}
        self._unions: dict[tuple[int, int], int] = {}

    def solve(self, keys: Iterable[Key]) -> Iterator[None]:
        """Find these results, and what they need; now and then yields, and may be left there."""
        known = self.known
        ready = [_Task(key, self._steps(key)) for key in dict.fromkeys(keys) if key not in known]
        waiting: dict[Key, list[_Task]] = {task.key: [] for task in ready}
        wanted: list[Key] = []
        while ready or wanted:
            yield
            if not ready:
                yield from self.walks.walk([(nodes, state) for _, nodes, state in wanted])
                for key in wanted:
                    _release(waiting.pop(key), ready)
                wanted = []
            while ready:
                task = ready.pop()
                try:
                    missing = dict.fromkeys(next(task.steps))
                except StopIteration as done:
                    known[task.key] = done.value
                    _release(waiting.pop(task.key), ready)
                    continue
                task.missing = len(missing)
                for key in missing:
                    others = waiting.get(key)
                    if others is not None:
                        others.append(task)
                        continue
                    waiting[key] = [task]
                    if key[0] == WALK:
                        wanted.append(key)
                    else:
                        ready.append(_Task(key, self._steps(key)))

    def _steps(self, key: Key) -> _Steps:
        if key[0] == FEED:
            _, pending, frame = key
            return self._fed(pending, frame)
        _, nodes, head, state = key
        return self._first(nodes, head, state)

    def _first(self, nodes: int, head: int, state: int) -> _Steps:
        """Yields the keys of results that are missing before it can go on."""
        begin = state if state != BETWEEN else self._of(head).start
        if (nodes, begin) not in self.walks.walked:
            yield ((WALK, nodes, begin),)
        row, ends = self.walks.walked[nodes, begin]
        behind = self._behind
        after = []
        for accept_set, inner in ends:
            target = behind.get((head, accept_set))
            if target is None:
                target = self._read(head, accept_set)
            after.append((target, inner))
        return (yield from self._composed(row, after))

    def _fed(self, pending: int, frame: int) -> _Steps:
        plug, shortened = self.heads.plug, self.runs.shortened
        after = [(shortened(plug(head, frame)), nodes) for head, nodes in self.pending[pending]]
        return (yield from self._composed(EMPTY, after))

    def _composed(self, row: int, behind: Sequence[tuple[int, int]]) -> _Steps:
        """A row and all that follows (shortened head, suspended nodes) pairs."""
        walked, known, union = self.walks.walked, self.known, self.walks.rows.union
        nodes_by_head: dict[int, int] = {}
        for head, nodes in behind:
            other = nodes_by_head.get(head)
            nodes_by_head[head] = nodes if other is None else self._united(other, nodes)
        pending: dict[int, int] = {}
        parts = []
        for head, nodes in nodes_by_head.items():
            if head == REFUSED:
                continue
            found = self._heads.get(head) or self._of(head)
            if found.needs_frame:
                pending[head] = nodes
            else:
                parts.append((nodes, found))
        missing: list[Key] = [
            (WALK, nodes, found.start)
            for nodes, found in parts
            if (nodes, found.start) not in walked
        ]
        if missing:
            yield missing
        # The small rows first, so that few large ones are made.
        rest = EMPTY
        chains: list[tuple[Key, tuple[int, ...]]] = []
        for nodes, found in parts:
            walk = walked[nodes, found.start]
            if walk.ends:
                chains.append(((FIRST, nodes, found.short, BETWEEN), found.frames))
            else:
                rest = union(rest, walk.row)
        while chains:
            missing = [key for key, _ in chains if key not in known]
            if missing:
                yield missing
            longer: list[tuple[Key, tuple[int, ...]]] = []
            for key, frames in chains:
                inner, waiting = known[key]
                rest = union(rest, inner)
                if waiting == DECIDED:
                    continue
                if frames:
                    longer.append(((FEED, waiting, frames[0]), frames[1:]))
                    continue
                for head, nodes in self.pending[waiting]:
                    other = pending.get(head)
                    pending[head] = nodes if other is None else self._united(other, nodes)
            chains = longer
        return union(row, rest), self._number(
            tuple(sorted(pending.items()))
        ) if pending else DECIDED

    def _read(self, head: int, accept_set: int) -> int:
        """The shortened head behind a lexeme."""
        lexer = self.lexer
        target = self.heads.read(head, lexer.accept_sets[accept_set], lexer.ignored)
        found = self._behind[head, accept_set] = self.runs.shortened(target)
        return found

    def _of(self, head: int) -> _Head:
        found = self._heads.get(head)
        if found is None:
            if self.heads.view(head).needs_frame:
                found = _Head(True)
            else:
                short, frames = self.heads.split_off(head)
                start = self.lexer.start(self.heads.view(short).allowed)
                found = _Head(False, short, tuple(reversed(frames)), start)
            self._heads[head] = found
        return found

    def _united(self, left: int, right: int) -> int:
        """The set that holds the suspended nodes of two disjoint ones."""
        key = (left, right) if left < right else (right, left)
        found = self._unions.get(key)
        if found is None:
            sets = self.walks.suspended
            nodes = np.sort(np.concatenate((sets[left], sets[right])))
            found = self._unions[key] = self.walks.suspended.number(nodes)
        return found

    def _number(self, pairs: Pairs) -> int:
        number = self._pending_numbers.get(pairs)
        if number is None:
            number = self._pending_numbers[pairs] = len(self.pending)
            self.pending.append(pairs)
        return number


def _release(waiting: Iterable[_Task], ready: list[_Task]) -> None:
    """Those that waited for nothing else."""
    for task in waiting:
        task.missing -= 1
        if not task.missing:
            ready.append(task)
