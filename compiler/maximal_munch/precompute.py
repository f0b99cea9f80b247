"""Precomputes the summaries of all heads, so that a mask of any text is found by look-ups.

A worklist begins with the head of the empty text. Heads are followed through every lexeme that can
end in them, and summaries in which something is pending are fed every frame that can lie below,
until nothing new is found. Which frame that can be is a local relation of the network: g may lie
below p if p belongs to what is called with g as the place to return to. Stacks are never
enumerated, so a text of any depth meets precomputed summaries only.

    start -> heads behind lexemes -> states of the lexer in each -> first(head, state) -> feed(·, g)

This need not end: where one text can be two lexemes and both readings nest (names that may be
keywords, of one priority), heads grow with the depth. Then it stops at a limit, and the rest is
computed lazily.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.lexer import BETWEEN, NO_ACCEPT
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_heads import REFUSED
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.subtrees import subtrees_of
from constrain.artifacts.tokens.trie import Trie, trie_arrays

from ..limits import Effort, Limits
from ..options import PREWARM_OVER_LEXEMES, ArtifactRequest
from ..progress import Progress, silent
from .compose import Composer
from .emptiness import FramesBelow
from .feeding import SummaryArrays
from .lexer_walks import LexerWalks

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

# Rows that are precomputed at most; at 150,000 tokens a row has 19 kB.
MOST_ROWS = 1 << 14

# How often a row is in memory at most: by itself, in a table, as hashes, and as blocks.
_COPIES = 4

_STAGE = "the masks of the lexemes"

# How many heads are visited and how many summaries fed together, and about how many results each
# of them has.
_VISITED_AT_ONCE, _FED_AT_ONCE = 32, 4096
_FIRSTS_OF_A_HEAD, _FEEDS_OF_A_SUMMARY = 64, 8

# Heads that are visited at most. Where there is an end, it mostly comes sooner (199 in a C-like
# grammar); where there is none, heads grow, and each takes longer than the one before.
MOST_HEADS = 2_000


@dataclass(frozen=True)
class Precomputed:
    """``complete``: every mask of every text is precomputed. ``heads``: how many were visited.
    ``summaries``: those that masks begin or go on with: from the root of the token trie, and on by
    frames. ``found``: how many results of ``first`` and ``feed`` were found for them."""

    complete: bool
    heads: int
    found: int
    summaries: HeadSummaryTables

    @property
    def results(self) -> int:
        """How many of ``first`` and ``feed`` there are."""
        return len(self.summaries.firsts) + len(self.summaries.feeds)


def precompute(
    masks: MaximalMunchMasks,
    limits: Limits | None = None,
    most_rows: int = MOST_ROWS,
    most_results: int | None = None,
    effort: Effort | None = None,
) -> Precomputed:
    """The summaries of ``masks`` until all are there or there are too many.

    ``effort``: raises ``LimitError`` for time and memory. ``most_results``: of ``first`` and
    ``feed``; what has begun when there are so many is finished.
    """
    limits = (limits or Limits()).started()
    effort = effort or Effort(limits, masks.configurations.heads.tables.names[:1])
    return _Worklist(masks, limits, most_rows, most_results, effort).run()


class _Task(IntEnum):
    VISIT = 0
    COMPLETE = 1


class _Worklist:
    """Tasks in the order of how many frames they look at, so that a limit leaves out the deepest.

    A task is a complete head to be visited, or a head to be made complete; and summaries are fed
    (``feeding.py``). Of those that look at as many frames some are done together.
    """

    def __init__(
        self,
        masks: MaximalMunchMasks,
        limits: Limits,
        most_rows: int,
        most_results: int | None,
        effort: Effort,
    ) -> None:
        self.effort = effort
        self.masks, self.limits, self.most_rows = masks, limits, most_rows
        self.most_results = most_results
        self.runs = masks.runs
        self.heads, self.lexer = masks.configurations.heads, masks.configurations.lexer
        self.transitions = masks.configurations.transitions
        self.below = FramesBelow(self.heads)
        trie = masks.walks.trie()
        walks = LexerWalks(
            self.lexer, trie, subtrees_of(trie), masks.vocab_size, lambda: effort.spend(1)
        )
        composer = Composer(self.heads, self.lexer, self.runs, walks, lambda: effort.spend(1))
        self.found = SummaryArrays(composer, self.below)
        self.tasks: list[tuple[int, int, _Task, int, frozenset[int]]] = []
        self.seen: set[tuple[_Task, int, frozenset[int]]] = set()
        self.visited = 0

    def run(self) -> Precomputed:
        """Until no task is left."""
        heads, found = self.heads, self.found
        self._add(0, _Task.COMPLETE, heads.start, self.below.of_head(heads.start))
        while self.tasks or found.depth is not None:
            self._report()
            if self.visited > MOST_HEADS or self._is_over():
                break
            depth = self.tasks[0][0] if self.tasks else None
            if found.depth is not None and (depth is None or found.depth <= depth):
                found.feed(self._room(_FED_AT_ONCE, _FEEDS_OF_A_SUMMARY))
            else:
                self._follow()
        complete = not self.tasks and found.depth is None
        tables = found.tables(self.masks.configurations)
        return Precomputed(complete, self.visited, found.results, tables)

    def _room(self, most: int, results: int) -> int:
        """How many tasks with about so many results each are done together."""
        if self.most_results is None:
            return most
        return max(1, min(most, (self.most_results - self.found.results) // results))

    def _follow(self) -> None:
        """Follow some heads that look at as many frames, through the lexemes that end there."""
        depth = self.tasks[0][0]
        most = self._room(_VISITED_AT_ONCE, _FIRSTS_OF_A_HEAD)
        begun: list[tuple[int, int, frozenset[int]]] = []
        end = min(MOST_HEADS + 1, self.visited + most)
        while self.tasks and self.tasks[0][0] == depth and self.visited < end:
            _, _, task, subject, below = heappop(self.tasks)
            self.effort.spend(1)
            if task is _Task.VISIT:
                self.visited += 1
                begun += self._visit(depth, subject, below)
            else:
                self._complete(depth, subject, below)
        self.found.begin(depth, begun)

    def _report(self) -> None:
        """How far the furthest of its counts is."""
        done = max(
            self.visited / MOST_HEADS,
            self.found.rows / max(1, self.most_rows),
            self.found.results / (self.most_results or PREWARM_OVER_LEXEMES),
        )
        self.effort.progress(_STAGE, min(100, int(100 * done)), 100)

    def _is_over(self) -> bool:
        return (
            (self.most_results is not None and self.found.results >= self.most_results)
            or len(self.seen) + self.found.tasks > self.limits.states
            or self.found.rows > self.most_rows
        )

    def _add(self, depth: int, task: _Task, subject: int, below: frozenset[int]) -> None:
        key = task, subject, below
        if key not in self.seen:
            self.seen.add(key)
            heappush(self.tasks, (depth, len(self.seen), *key))

    def _complete(self, depth: int, subject: int, below: frozenset[int]) -> None:
        """What becomes of a head over the frames that can lie below it."""
        heads = self.heads
        if not heads.view(subject).needs_frame:
            # A run that is as long as a token can observe may be longer: both are followed.
            short = self.runs.shortened(heads.split_off(subject)[0])
            for head in sorted({short, self.runs.lengthened(short)}):
                self._add(depth, _Task.VISIT, head, self.below.of_head(head))
            return
        for frame in sorted(below):
            self.transitions.by_frame(subject, frame)
            plugged = self.runs.shortened(heads.plug(subject, frame))
            self._add(depth + 1, _Task.COMPLETE, plugged, self.below.of_state[frame])

    def _visit(
        self, depth: int, head: int, below: frozenset[int]
    ) -> Iterator[tuple[int, int, frozenset[int]]]:
        """All states of the lexer that a head begins, beside the shortened head and the frames
        below; and what follows their ends."""
        start = self.lexer.start(self.heads.view(head).allowed)
        short = self.runs.shortened(head)
        for state in (BETWEEN, *self.lexer.reachable(start)):
            self.effort.spend(1)
            yield short, state, below
            accept_set = self.lexer.accept_of[state]
            if accept_set != NO_ACCEPT:
                self.transitions.by_lexeme(head, accept_set)
                lexemes = self.lexer.accept_sets[accept_set]
                target = self.heads.read(head, lexemes, self.lexer.ignored)
                if target != REFUSED:
                    self._add(depth, _Task.COMPLETE, target, below)


@dataclass(frozen=True, eq=False)
class StoredMasks:
    """What an artifact stores of its masks. ``reached``: how far they are precomputed.
    ``lexer_states``: of the lexer, without the dead one. ``trie``: to compute the rest with, None
    if there is none."""

    reached: Precomputed
    summaries: HeadSummaryTables
    transitions: ParserTransitionTables
    lexer_states: int
    trie: Trie | None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The sections of an artifact."""
        arrays = self.summaries.arrays() | self.transitions.arrays()
        return arrays if self.trie is None else arrays | trie_arrays(self.trie, "trie.")


def precompute_within(
    tables: MaximalMunchTables,
    request: ArtifactRequest["Tokenizer"],
    taken: int,
    progress: Progress = silent,
) -> StoredMasks:
    """The masks of a grammar over a vocabulary, precomputed as far as the artifact has room.

    ``taken``: bytes of its other sections. Where all together are too many, half as many results
    are computed once more: those that are found first are those about the fewest frames. Raises
    ``LimitError`` for the time.
    """
    options, limits, size = request.options, request.limits, request.vocab_size
    most_results = PREWARM_OVER_LEXEMES if options.prewarm is None else options.prewarm
    vocabulary, trie = request.vocabulary, request.trie
    most_rows = min(MOST_ROWS, limits.memory // (_COPIES * 4 * tokenset.word_count(size)))
    effort = Effort(limits, tables.network.names[:1], progress, _STAGE)
    while True:
        masks = MaximalMunchMasks(tables, lambda: trie, vocabulary, request.eos, size)
        reached = precompute(masks, limits, most_rows, most_results, effort)
        configurations = masks.configurations
        found = StoredMasks(
            reached,
            reached.summaries,
            configurations.transitions.tables(),
            configurations.lexer.states - 1,
            None if reached.complete else trie,
        )
        most = options.max_artifact_bytes
        # The trie may be built while decoding, too.
        for stored in (found, replace(found, trie=None)):
            if taken + sum(array.nbytes for array in stored.arrays().values()) <= most or not most:
                return stored
        if not most_results:
            return stored
        most_results = min(most_results, reached.found) // 2
