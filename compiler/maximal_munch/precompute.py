"""What of a closed memo a text can ask for.

Closing works out answers in the middle of tokens, which are then part of others. Where nothing
is left to be worked out, no text asks for them: a mask begins with the root of the token trie
and goes on with the frames below.

Work out the masks of all heads before a text is read.

Which frame can lie below which is told by the network alone: g may lie below p if p belongs to
what is called with g as the place to return to. So heads are followed through every lexeme that
can end, and residuals are fed every frame that can lie below, until nothing new comes. Then a
text of any depth meets known residuals only: stacks are never enumerated.

It need not end: where one text can be two lexemes and both readings nest (names that may be
keywords, of one priority), heads grow with the depth. What is found until a limit is kept, and
the rest is worked out when a text comes to it.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.lexer import NONE
from constrain.artifacts.maximal_munch.lexer_walk import NOTHING, ROOT
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_heads import BELOW_ALL, REFUSED
from constrain.artifacts.maximal_munch.summaries import BETWEEN
from constrain.artifacts.maximal_munch.summary_tables import (
    HeadSummaryTables,
    exits_of,
    feed_key,
    split_feeds,
)
from constrain.artifacts.network.tables import DEAD

from ..limits import Limits
from ..network.precompute import frames_below, states_inside


def reachable(memo: HeadSummaryTables) -> HeadSummaryTables:
    """A memo without the answers, residuals, rows and exits that no mask begins or goes on with."""
    begun = exits_of(memo.first_keys) == ROOT
    owners, frames = split_feeds(memo.feed_keys)
    met = np.zeros(len(memo.known), dtype=np.bool_)
    met[memo.firsts[begun]] = True
    count = -1
    while count != (count := int(met.sum())):
        met[memo.feeds[met[owners]]] = True
    fed = met[owners]
    counts = np.diff(memo.pending_offsets)
    pending = memo.pending[np.repeat(met, counts)]
    rows, known = np.unique(np.append(0, memo.known[met]), return_inverse=True)
    exits, waiting = np.unique(
        np.concatenate(([NOTHING, ROOT], pending[:, 1])), return_inverse=True
    )
    numbers = np.cumsum(met) - 1
    kept = memo.rows.only(rows)
    sizes = np.diff(memo.exits_offsets)
    return replace(
        memo,
        codes=kept.codes,
        blocks=kept.blocks,
        block_offsets=kept.offsets,
        exits=memo.exits[np.repeat(np.isin(np.arange(len(sizes)), exits), sizes)],
        exits_offsets=_ends(sizes[exits]),
        known=known[1:].astype(np.int32),
        pending=np.stack((pending[:, 0], waiting[2:]), axis=1).astype(np.int32),
        pending_offsets=_ends(counts[met]),
        first_keys=memo.first_keys[begun],
        firsts=numbers[memo.firsts[begun]].astype(np.int32),
        # subtle: numbers keep their order, and so do the keys.
        feed_keys=feed_key(numbers[owners[fed]], frames[fed]),
        feeds=numbers[memo.feeds[fed]].astype(np.int32),
    )


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(np.append(0, sizes)).astype(np.int64)


# Rows that are worked out ahead of time at most; at 150,000 tokens a row has 19 kB.
MOST_ROWS = 1 << 14

# Heads that are gone through at most. Where there is an end, it mostly comes sooner (199 in a
# C-like grammar); where there is none, heads grow, and each takes longer than the one before.
MOST_HEADS = 2_000


@dataclass(frozen=True)
class Closure:
    """``complete``: no text leads to a mask that is not known. ``heads``: how many were met.

    ``answers``: of the residual automaton, all that are known.
    """

    complete: bool
    heads: int
    answers: int


def close(
    masks: MaximalMunchMasks,
    limits: Limits | None = None,
    most_rows: int = MOST_ROWS,
    answers: int | None = None,
) -> Closure:
    """Fill the memo of ``masks``, until it is complete or a limit is met (none is raised).

    ``answers``: the most that are known then; the last one is finished.
    """
    # All are wanted, so what they have in common is kept.
    single, masks.residual.single = masks.residual.single, None
    closure = _Precomputation(masks, (limits or Limits()).started(), most_rows, answers).run()
    masks.residual.single = single
    masks.keep()
    return closure


class _Task(IntEnum):
    VISIT = 0
    CLOSE = 1
    FEED = 2


class _Precomputation:
    """Tasks in the order of how many frames they look at, so that a limit leaves out the rest.

    A task is a head to be gone through, an open head to be closed, or a residual to be fed.
    """

    def __init__(
        self, masks: MaximalMunchMasks, limits: Limits, most_rows: int, most_answers: int | None
    ) -> None:
        self.masks, self.limits, self.most_rows = masks, limits, most_rows
        self.most_answers = most_answers
        self.heads, self.lexer, self.residual = masks.heads, masks.lexer, masks.residual
        self.runs = masks.runs
        tables = masks.heads.tables
        self.below = [frozenset(frames) for frames in frames_below(tables)]
        for state in states_inside(tables, tables.start) - {DEAD}:
            self.below[state] |= {BELOW_ALL}
        self.tasks: list[tuple[int, int, _Task, int, frozenset[int]]] = []
        self.seen: set[tuple[_Task, int, frozenset[int]]] = set()

    def run(self) -> Closure:
        """Until no task is left."""
        heads = self.heads
        self._add(0, _Task.CLOSE, heads.start, self._below_hole(heads.start))
        met = 0
        while self.tasks:
            if met > MOST_HEADS or self._is_over():
                return Closure(False, met, self.residual.answered)
            depth, _, task, subject, below = heappop(self.tasks)
            if task is _Task.VISIT:
                met += 1
                self._visit(depth, subject, below)
            elif task is _Task.FEED:
                for frame in sorted(below):
                    self._pend(depth + 1, self.residual.feed(subject, frame), frame)
            elif not heads.view(subject).is_open:
                # A run that is as long as a token can tell may be longer: both are followed.
                short = self.runs.shortened(heads.cut(subject)[0])
                for head in sorted({short, self.runs.lengthened(short)}):
                    self._add(depth, _Task.VISIT, head, self._below_hole(head))
            else:
                for frame in sorted(below):
                    self.masks.moves.plugged(subject, frame)
                    plugged = self.runs.shortened(heads.plug(subject, frame))
                    self._add(depth + 1, _Task.CLOSE, plugged, self.below[frame])
        return Closure(True, met, self.residual.answered)

    def _is_over(self) -> bool:
        return (
            self.limits.is_over()
            or (self.most_answers is not None and self.residual.answered >= self.most_answers)
            or len(self.seen) > self.limits.states
            or self.masks.walks.row_count > self.most_rows
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
            self._pend(depth, self.residual.first(short, state), None, below)
            winners = self.lexer.wins[state]
            if winners != NONE:
                self.masks.moves.behind(head, winners)
                target = self.heads.read(head, self.lexer.winners[winners], self.lexer.ignored)
                if target != REFUSED:
                    self._add(depth, _Task.CLOSE, target, below)

    def _pend(
        self, depth: int, residual: int, frame: int | None, below: frozenset[int] = frozenset()
    ) -> None:
        """Feed a residual next, if anything is pending in it."""
        if self.residual.known(residual).pending:
            frames = below if frame is None else self.below[frame]
            self._add(depth, _Task.FEED, residual, frames)

    def _below_hole(self, head: int) -> frozenset[int]:
        """The frames that can stand in a head's hole."""
        above = self.heads.above_hole(head) - {DEAD}
        if not above:
            return frozenset([BELOW_ALL])
        return frozenset.intersection(*(self.below[p] for p in above))
