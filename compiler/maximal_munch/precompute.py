"""Precomputes the summaries of all heads, so that a mask of any text is found by look-ups.

A worklist begins with the head of the empty text. Heads are followed through every lexeme that can
end in them, and summaries in which something is pending are fed every frame that can lie below,
until nothing new is found. Which frame that can be is a local relation of the network: g may lie
below p if p belongs to what is called with g as the place to return to. Stacks are never
enumerated, so a text of any depth meets precomputed summaries only.

    start -> heads behind lexemes -> states of the lexer in each -> first(head, state) -> feed(·, g)

This need not end: where one text can be two lexemes and both readings nest (names that may be
keywords, of one priority), heads grow with the depth. Then it stops at a limit, and the rest is
computed lazily. Where it ends, ``reachable`` drops the summaries that only helped to compute
others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.interned import NOTHING, ROOT
from constrain.artifacts.maximal_munch.lexer import BETWEEN, NO_ACCEPT
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_heads import REFUSED
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.slices import Slice, Slices
from constrain.artifacts.maximal_munch.summary_tables import (
    HeadSummaryTables,
    feed_key,
    split_feeds,
    suspended_of,
)
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.block_rows import BlockRows
from constrain.artifacts.tokens.trie import Trie

from ..limits import Effort, Limits
from ..options import PREWARM_OVER_LEXEMES, ArtifactRequest
from ..progress import Progress, silent
from .emptiness import FramesBelow

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

# Rows that are precomputed at most; at 150,000 tokens a row has 19 kB.
MOST_ROWS = 1 << 14

# How often a row is in memory at most: as itself, as the key of its number, in a table, and as
# blocks.
_COPIES = 4

_STAGE = "the masks of the lexemes"

# Tasks between two steps of the progress bar.
_BETWEEN_REPORTS = 64

# Heads that are visited at most. Where there is an end, it mostly comes sooner (199 in a C-like
# grammar); where there is none, heads grow, and each takes longer than the one before.
MOST_HEADS = 2_000


@dataclass(frozen=True)
class Precomputed:
    """``complete``: every mask of every text is precomputed. ``heads``: how many were visited.
    ``results``: how many of ``first`` and ``feed`` there are."""

    complete: bool
    heads: int
    results: int


def precompute(
    masks: MaximalMunchMasks,
    limits: Limits | None = None,
    most_rows: int = MOST_ROWS,
    most_results: int | None = None,
    effort: Effort | None = None,
) -> Precomputed:
    """Compute the summaries of ``masks`` until all are there or there are too many.

    ``effort``: raises ``LimitError`` for time and memory. ``most_results``: of ``first`` and
    ``feed``; what has begun when there are so many is finished.
    """
    # All are needed, so they are composed of parts that they share.
    alone, masks.summaries.compute_alone = masks.summaries.compute_alone, None
    limits = (limits or Limits()).started()
    effort = effort or Effort(limits, masks.configurations.heads.tables.names[:1])
    found = _Worklist(masks, limits, most_rows, most_results, effort).run()
    masks.summaries.compute_alone = alone
    masks.pin()
    return found


class _Task(IntEnum):
    VISIT = 0
    COMPLETE = 1
    FEED = 2


class _Worklist:
    """Tasks in the order of how many frames they look at, so that a limit leaves out the deepest.

    A task is a complete head to be visited, a head to be made complete, or a summary to be fed.
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
        self.summaries, self.runs = masks.summaries, masks.runs
        self.heads, self.lexer = masks.configurations.heads, masks.configurations.lexer
        self.transitions = masks.configurations.transitions
        self.below = FramesBelow(self.heads)
        self.tasks: list[tuple[int, int, _Task, int, frozenset[int]]] = []
        self.done = 0
        self.seen: set[tuple[_Task, int, frozenset[int]]] = set()

    def run(self) -> Precomputed:
        """Until no task is left."""
        heads = self.heads
        self._add(0, _Task.COMPLETE, heads.start, self.below.of_head(heads.start))
        visited = 0
        while self.tasks:
            self._report(visited)
            if visited > MOST_HEADS or self._is_over():
                return Precomputed(False, visited, self.summaries.cached)
            depth, _, task, subject, below = heappop(self.tasks)
            if task is _Task.VISIT:
                visited += 1
                self._visit(depth, subject, below)
            elif task is _Task.FEED:
                frames = sorted(below)
                for frame, fed in zip(
                    frames, self.summaries.feed_each(subject, frames), strict=True
                ):
                    self._pend(depth + 1, fed, self.below.of_state[frame])
            elif not heads.view(subject).needs_frame:
                # A run that is as long as a token can observe may be longer: both are followed.
                short = self.runs.shortened(heads.split_off(subject)[0])
                for head in sorted({short, self.runs.lengthened(short)}):
                    self._add(depth, _Task.VISIT, head, self.below.of_head(head))
            else:
                for frame in sorted(below):
                    self.transitions.by_frame(subject, frame)
                    plugged = self.runs.shortened(heads.plug(subject, frame))
                    self._add(depth + 1, _Task.COMPLETE, plugged, self.below.of_state[frame])
        return Precomputed(True, visited, self.summaries.cached)

    def _report(self, visited: int) -> None:
        """How far the furthest of its counts is: at the first task, and every now and then."""
        self.effort.spend(1)
        self.done += 1
        if self.done % _BETWEEN_REPORTS != 1:
            return
        done = max(
            visited / MOST_HEADS,
            len(self.masks.walks.rows) / max(1, self.most_rows),
            self.summaries.cached / (self.most_results or PREWARM_OVER_LEXEMES),
        )
        self.effort.progress(_STAGE, min(100, int(100 * done)), 100)

    def _is_over(self) -> bool:
        return (
            (self.most_results is not None and self.summaries.cached >= self.most_results)
            or len(self.seen) > self.limits.states
            or len(self.masks.walks.rows) > self.most_rows
        )

    def _add(self, depth: int, task: _Task, subject: int, below: frozenset[int]) -> None:
        key = task, subject, below
        if key not in self.seen:
            self.seen.add(key)
            heappush(self.tasks, (depth, len(self.seen), *key))

    def _visit(self, depth: int, head: int, below: frozenset[int]) -> None:
        """All states of the lexer that a head begins, and what follows their ends."""
        start = self.lexer.start(self.heads.view(head).allowed)
        short = self.runs.shortened(head)
        for state in (BETWEEN, *self.lexer.reachable(start)):
            self.effort.spend(1)
            self._pend(depth, self.summaries.first(short, state), below)
            accept_set = self.lexer.accept_of[state]
            if accept_set != NO_ACCEPT:
                self.transitions.by_lexeme(head, accept_set)
                lexemes = self.lexer.accept_sets[accept_set]
                target = self.heads.read(head, lexemes, self.lexer.ignored)
                if target != REFUSED:
                    self._add(depth, _Task.COMPLETE, target, below)

    def _pend(self, depth: int, summary: int, below: frozenset[int]) -> None:
        """Feed a summary these frames next, if anything is pending in it."""
        if self.summaries.summary(summary).pending:
            self._add(depth, _Task.FEED, summary, below)


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
        trie = self.trie
        arrays = self.summaries.arrays() | self.transitions.arrays()
        return (
            arrays
            if trie is None
            else arrays
            | {
                "trie.first": trie.first,
                "trie.held": trie.held,
                "trie.ids": trie.ids,
                "trie.octets": trie.octets,
            }
        )


def precompute_within(
    tables: MaximalMunchTables,
    slices: Sequence[Slice],
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
    shared = Slices(slices, trie, size)
    most_rows = min(MOST_ROWS, limits.memory // (_COPIES * 4 * tokenset.word_count(size)))
    effort = Effort(limits, tables.network.names[:1], progress, _STAGE)
    while True:
        masks = MaximalMunchMasks(
            tables, lambda: trie, vocabulary, request.eos, size, lambda: shared
        )
        reached = precompute(masks, limits, most_rows, most_results, effort)
        configurations = masks.configurations
        found = StoredMasks(
            reached,
            reachable(masks.summary_tables(with_rows=False), masks.block_rows)
            if reached.complete
            else masks.summary_tables(),
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
        most_results = min(most_results, reached.results) // 2


def reachable(
    tables: HeadSummaryTables, block_rows: Callable[[Sequence[int]], BlockRows] | None = None
) -> HeadSummaryTables:
    """The tables with the results, summaries, rows and suspended nodes that masks begin or go on
    with: from the root of the token trie, and on by frames. The others are parts of these.

    ``block_rows``: makes the rows of some numbers, where ``tables`` are without.
    """
    begun = suspended_of(tables.first_keys) == ROOT
    owners, frames = split_feeds(tables.feed_keys)
    met = np.zeros(len(tables.known), dtype=np.bool_)
    met[tables.firsts[begun]] = True
    count = -1
    while count != (count := int(met.sum())):
        met[tables.feeds[met[owners]]] = True
    fed = met[owners]
    counts = np.diff(tables.pending_offsets)
    pending = tables.pending[np.repeat(met, counts)]
    rows, known = np.unique(np.append(0, tables.known[met]), return_inverse=True)
    needed = np.concatenate(([NOTHING, ROOT], pending[:, 1]))
    sets, numbers_of_sets = np.unique(needed, return_inverse=True)
    numbers = np.cumsum(met) - 1
    fewer = tables.rows.only(rows) if block_rows is None else block_rows(rows.tolist())
    sizes = np.diff(tables.exits_offsets)
    return replace(
        tables,
        codes=fewer.codes,
        blocks=fewer.blocks,
        block_offsets=fewer.offsets,
        exits=tables.exits[np.repeat(np.isin(np.arange(len(sizes)), sets), sizes)],
        exits_offsets=_offsets(sizes[sets]),
        known=known[1:].astype(np.int32),
        pending=np.stack((pending[:, 0], numbers_of_sets[2:]), axis=1).astype(np.int32),
        pending_offsets=_offsets(counts[met]),
        first_keys=tables.first_keys[begun],
        firsts=numbers[tables.firsts[begun]].astype(np.int32),
        # subtle: numbers keep their order, and so do the keys.
        feed_keys=feed_key(numbers[owners[fed]], frames[fed]),
        feeds=numbers[tables.feeds[fed]].astype(np.int32),
    )


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(np.append(0, sizes)).astype(np.int64)
