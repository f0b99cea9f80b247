"""The summaries of all heads, so that a mask of any text is found by look-ups.

A worklist begins with the head of the empty text. Heads are followed through every lexeme that can
end in them, and summaries in which something is pending are fed every frame that can lie below,
until nothing new is found. Which frame that can be is a local relation of the network: g may lie
below p if p belongs to what is called with g as the place to return to. Stacks are never
enumerated, so a text of any depth meets precomputed summaries only.

    start -> heads after lexemes -> states of the lexer in each -> first(head, state) -> feed(·, g)

This need not end: where one text can be two lexemes and both readings nest (names that may be
keywords, of one priority), heads grow with the depth. Whoever goes on with it stops somewhere, and
the rest is computed lazily.
"""

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush

from constrain.artifacts.maximal_munch.lexer import BETWEEN, NO_ACCEPT
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_heads import REFUSED

from .found_summaries import FoundSummaries
from .frames_below import FramesBelow

# Heads that are visited at most. Where there is an end, it mostly comes sooner (73 in a C-like
# grammar); where there is none, heads grow, and each takes longer than the one before.
MOST_HEADS = 2_000


class _Task(IntEnum):
    """What comes first of those that look at as many frames."""

    FEED = 0
    VISIT = 1
    COMPLETE = 2


class Worklist:
    """All summaries of ``masks``, which are its alone, in the order of how many frames they look
    at, so that a limit leaves out the deepest.

    A task is a summary to be fed, a complete head to be visited, or a head to be made complete,
    each over the frames that can lie below. ``found``: the summaries. ``visited``: how many heads.
    ``seen``: how many tasks there were, those that wait included. ``look``: called where a task
    has many parts, before each; what it raises ends the task, of which no part is kept.
    """

    def __init__(self, masks: MaximalMunchMasks, look: Callable[[], None]) -> None:
        self._runs, self.found = masks.runs, FoundSummaries(masks, look)
        parts = masks.configurations
        self._heads, self._lexer, self._transitions = parts.heads, parts.lexer, parts.transitions
        self._below = FramesBelow(self._heads)
        self._tasks: list[tuple[int, _Task, int, int, frozenset[int]]] = []
        self._seen: set[tuple[_Task, int, frozenset[int]]] = set()
        self.visited = 0
        start = self._heads.start
        self._add(0, _Task.COMPLETE, start, self._below.of_head(start))

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left."""
        return not self._tasks

    @property
    def seen(self) -> int:
        """How many tasks there were so far."""
        return len(self._seen)

    def step(self) -> None:
        """Do the next task."""
        depth, task, _, subject, below = heappop(self._tasks)
        if task is _Task.FEED:
            self._feed(depth, subject, below)
        elif task is _Task.VISIT:
            self._visit(depth, subject, below)
        else:
            self._complete(depth, subject, below)

    def _add(self, depth: int, task: _Task, subject: int, below: frozenset[int]) -> None:
        key = task, subject, below
        if key not in self._seen:
            self._seen.add(key)
            heappush(self._tasks, (depth, task, len(self._seen), subject, below))

    def _complete(self, depth: int, subject: int, below: frozenset[int]) -> None:
        """What becomes of a head over the frames that can lie below it."""
        heads = self._heads
        if not heads.view(subject).needs_frame:
            # A run that is as long as a token can observe may be longer: both are followed.
            short = self._runs.shortened(heads.split_off(subject)[0])
            for head in sorted({short, self._runs.lengthened(short)}):
                self._add(depth, _Task.VISIT, head, self._below.of_head(head))
            return
        for frame in sorted(below):
            self._transitions.by_frame(subject, frame)
            plugged = self._runs.shortened(heads.plug(subject, frame))
            self._add(depth + 1, _Task.COMPLETE, plugged, self._below.of_state[frame])

    def _visit(self, depth: int, head: int, below: frozenset[int]) -> None:
        """All states of the lexer that a head begins, and what follows their ends."""
        self.visited += 1
        start = self._lexer.start(self._heads.view(head).allowed)
        short = self._runs.shortened(head)
        for state in (BETWEEN, *self._lexer.reachable(start)):
            found = self.found.first(short, state)
            if self.found.is_pending(found):
                self._add(depth, _Task.FEED, found, below)
            accept_set = self._lexer.accept_of[state]
            if accept_set != NO_ACCEPT:
                self._transitions.by_lexeme(head, accept_set)
                lexemes = self._lexer.accept_sets[accept_set]
                target = self._heads.read(head, lexemes, self._lexer.ignored)
                if target != REFUSED:
                    self._add(depth, _Task.COMPLETE, target, below)

    def _feed(self, depth: int, summary: int, below: frozenset[int]) -> None:
        """What becomes of a summary over each frame that can lie below it."""
        for frame, found in self.found.feed(summary, below):
            self._add(depth + 1, _Task.FEED, found, self._below.of_state[frame])
