"""The summaries of all heads, so that a mask of any text is found by look-ups.

A worklist begins with the head of the empty text. Heads are followed through every lexeme that can
end in them, and summaries in which something is pending are fed every frame that can lie below,
until nothing new is found. Which frame that can be is a local relation of the network: g may lie
below p if p belongs to what is called with g as the place to return to. Stacks are never
enumerated, so a text of any depth meets precomputed summaries only.

    start -> heads behind lexemes -> states of the lexer in each -> first(head, state) -> feed(·, g)

This need not end: where one text can be two lexemes and both readings nest (names that may be
keywords, of one priority), heads grow with the depth. Whoever goes on with it stops somewhere, and
the rest is computed lazily.
"""

from collections.abc import Callable, Iterator
from enum import IntEnum
from heapq import heappop, heappush

from ...tokens.subtrees import subtrees_of
from ...tokens.trie import Trie
from ...tokens.vocabulary import Vocabulary
from ..lexer import BETWEEN, NO_ACCEPT
from ..machine import MaximalMunchMasks
from ..nullable_frame_runs import NullableFrameRuns
from ..parser_heads import REFUSED, Heads
from ..parser_transitions import ParserTransitionTables
from ..summary_tables import HeadSummaryTables
from ..tables import MaximalMunchTables
from .compose import Composer
from .feeding import SummaryArrays
from .frames_below import FramesBelow
from .lexer_walks import LexerWalks

# How many heads are visited and how many summaries fed together, and about how many results each
# of them has.
_VISITED_AT_ONCE, _FED_AT_ONCE = 32, 4096
_FIRSTS_OF_A_HEAD, _FEEDS_OF_A_SUMMARY = 64, 8

# Heads that are visited at most. Where there is an end, it mostly comes sooner (199 in a C-like
# grammar); where there is none, heads grow, and each takes longer than the one before.
MOST_HEADS = 2_000

# A shortened head, a state of the lexer in it, and the frames that can lie below.
Begun = tuple[int, int, frozenset[int]]


class _Task(IntEnum):
    VISIT = 0
    COMPLETE = 1


class HeadTasks:
    """Heads in the order of how many frames they look at, so that a limit leaves out the deepest.

    A task is a complete head to be visited, or a head to be made complete. ``seen``: how many tasks
    there were. ``visited``: how many heads.
    """

    def __init__(self, masks: MaximalMunchMasks, check: Callable[[], None]) -> None:
        self._check, self._runs = check, masks.runs
        self._heads, self._lexer = masks.configurations.heads, masks.configurations.lexer
        self._transitions = masks.configurations.transitions
        self.below = FramesBelow(self._heads)
        self._tasks: list[tuple[int, int, _Task, int, frozenset[int]]] = []
        self._seen: set[tuple[_Task, int, frozenset[int]]] = set()
        self.visited = 0
        start = self._heads.start
        self._add(0, _Task.COMPLETE, start, self.below.of_head(start))

    @property
    def seen(self) -> int:
        """How many tasks there were so far."""
        return len(self._seen)

    @property
    def depth(self) -> int | None:
        """How many frames the next ones look at, None if there are none."""
        return self._tasks[0][0] if self._tasks else None

    def follow(self, most: int) -> list[Begun]:
        """Follow some heads that look at as many frames, through the lexemes that end there; up to
        ``most`` are visited."""
        depth, begun, end = self.depth, list[Begun](), min(MOST_HEADS + 1, self.visited + most)
        while self.depth == depth is not None and self.visited < end:
            _, _, task, subject, below = heappop(self._tasks)
            self._check()
            if task is _Task.VISIT:
                self.visited += 1
                begun += self._visit(depth, subject, below)
            else:
                self._complete(depth, subject, below)
        return begun

    def _add(self, depth: int, task: _Task, subject: int, below: frozenset[int]) -> None:
        key = task, subject, below
        if key not in self._seen:
            self._seen.add(key)
            heappush(self._tasks, (depth, len(self._seen), *key))

    def _complete(self, depth: int, subject: int, below: frozenset[int]) -> None:
        """What becomes of a head over the frames that can lie below it."""
        heads = self._heads
        if not heads.view(subject).needs_frame:
            # A run that is as long as a token can observe may be longer: both are followed.
            short = self._runs.shortened(heads.split_off(subject)[0])
            for head in sorted({short, self._runs.lengthened(short)}):
                self._add(depth, _Task.VISIT, head, self.below.of_head(head))
            return
        for frame in sorted(below):
            self._transitions.by_frame(subject, frame)
            plugged = self._runs.shortened(heads.plug(subject, frame))
            self._add(depth + 1, _Task.COMPLETE, plugged, self.below.of_state[frame])

    def _visit(self, depth: int, head: int, below: frozenset[int]) -> Iterator[Begun]:
        """All states of the lexer that a head begins, beside the shortened head and the frames
        below; and what follows their ends."""
        start = self._lexer.start(self._heads.view(head).allowed)
        short = self._runs.shortened(head)
        for state in (BETWEEN, *self._lexer.reachable(start)):
            self._check()
            yield short, state, below
            accept_set = self._lexer.accept_of[state]
            if accept_set != NO_ACCEPT:
                self._transitions.by_lexeme(head, accept_set)
                lexemes = self._lexer.accept_sets[accept_set]
                target = self._heads.read(head, lexemes, self._lexer.ignored)
                if target != REFUSED:
                    self._add(depth, _Task.COMPLETE, target, below)


class Worklist:
    """All summaries of ``masks``, which are its alone. ``check``: called often, may raise."""

    def __init__(self, masks: MaximalMunchMasks, check: Callable[[], None]) -> None:
        self._configurations = masks.configurations
        self.heads = HeadTasks(masks, check)
        trie, lexer = masks.walks.trie(), masks.configurations.lexer
        walks = LexerWalks(lexer, trie, subtrees_of(trie), masks.vocab_size, check)
        composer = Composer(masks.configurations.heads, lexer, masks.runs, walks)
        self.found = SummaryArrays(composer, self.heads.below.of_state)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left, between two steps."""
        return self.heads.depth is None and self.found.depth is None

    @property
    def tasks(self) -> int:
        """How many heads were followed and summaries fed, or are to be."""
        return self.heads.seen + self.found.tasks

    def step(self, results: int | None = None) -> Iterator[None]:
        """Go on with some heads or summaries of those that look at the fewest frames, with about so
        many ``results`` at most. Yields now and then, and must be gone through to its end."""
        depth = self.heads.depth
        if self.found.depth is not None and (depth is None or self.found.depth <= depth):
            yield from self.found.feed(_room(results, _FED_AT_ONCE, _FEEDS_OF_A_SUMMARY))
        elif depth is not None:
            begun = self.heads.follow(_room(results, _VISITED_AT_ONCE, _FIRSTS_OF_A_HEAD))
            yield from self.found.begin(depth, begun)

    def tables(self) -> HeadSummaryTables:
        """What was found."""
        return self.found.tables(self._configurations.heads, self._configurations.lexer)


def nothing(
    tables: MaximalMunchTables, vocabulary: Vocabulary, trie: Trie
) -> tuple[HeadSummaryTables, ParserTransitionTables]:
    """What a machine begins with that has met no head but that of the empty text."""
    heads, lexer = Heads(tables.network), tables.lexer.lexer()
    runs = NullableFrameRuns(heads, tables.lexer, vocabulary)
    walks = LexerWalks(lexer, trie, subtrees_of(trie), vocabulary.size, lambda: None)
    found = SummaryArrays(Composer(heads, lexer, runs, walks), ())
    return found.tables(heads, lexer), ParserTransitionTables.empty()


def _room(results: int | None, most: int, each: int) -> int:
    """How many tasks with about so many results each are done together."""
    return most if results is None else max(1, min(most, results // each))
