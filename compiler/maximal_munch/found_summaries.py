"""The summaries that are precomputed, equal ones one number, and the tables of them for a file.

A summary is a row and what is pending (``constrain.artifacts.maximal_munch.summaries``). What many
have in common is walked once: what is read in the lexeme that a state s is in, whatever the head p;
and what becomes of the same that is pending, beside many rows, by a frame:

    first(p, s)     =  inside(s) and behind(p, A, e) for each accept set A that ends at nodes e
    (row, P) fed g  =  row and (empty, P) fed g
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.lazy_masks import united
from constrain.artifacts.maximal_munch.lexer import BETWEEN, Lexer
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_heads import Heads
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitionTables
from constrain.artifacts.maximal_munch.summaries import Summary
from constrain.artifacts.maximal_munch.summary_tables import (
    HeadSummaryTables,
    Pairs,
    encoded,
    feed_key,
    first_key,
)
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens.memo import Numbered, memoised
from constrain.artifacts.walk.node_sets import NOTHING, ROOT, NodeSets
from constrain.artifacts.walk.summary_rows import EMPTY

from .row_unions import RowUnions

# A row, and the number of the summary of what is pending beside no row.
_Content = tuple[int, int]


class FoundSummaries:
    """Those of ``masks``, by number. ``rows``: the rows that they name."""

    def __init__(self, masks: MaximalMunchMasks, look: Callable[[], None]) -> None:
        self._masks, self._summaries, self._look = masks, masks.summaries, look
        self.rows = RowUnions(masks.vocab_size)
        self._decided = masks.summaries.number(Summary(EMPTY, ()))
        self._contents = Numbered[_Content]()
        self._firsts: dict[int, int] = {}
        self._feeds: dict[int, int] = {}

    @property
    def results(self) -> int:
        """How many results of ``first`` and ``feed`` there are."""
        return len(self._firsts) + len(self._feeds)

    def is_pending(self, summary: int) -> bool:
        """Whether a mask may need more than a summary."""
        return self._contents[summary][1] != self._decided

    def first(self, head: int, state: int) -> int:
        """The summary of a complete and shortened head and a state of the lexer."""
        key = first_key(ROOT, head, state)
        found = self._firsts.get(key)
        if found is None:
            if state == BETWEEN:
                content = self._of_walk(self._summaries.first(head, state))
            else:
                content = self._with_inside(head, state)
            found = self._firsts[key] = self._contents.number(content)
        return found

    def _with_inside(self, head: int, state: int) -> _Content:
        row, ends = self._read_inside(state)
        pending: dict[int, list[int]] = {}
        for accept_set, nodes in ends:
            more, left = self._behind(head, accept_set, nodes)
            row = self.rows.union(row, more)
            for waiting, number in self._pending(left):
                pending.setdefault(waiting, []).append(number)
        each = ((waiting, self._united(parts)) for waiting, parts in sorted(pending.items()))
        return row, self._summaries.number(Summary(EMPTY, tuple(each)))

    @memoised
    def _read_inside(self, state: int) -> tuple[int, list[tuple[int, int]]]:
        """What is read inside of a lexeme, and where it ends, by accept set."""
        words, ends = self._masks.lazy.inside(state)
        return self.rows.number(words), ends

    @memoised
    def _behind(self, head: int, accept_set: int, nodes: int) -> _Content:
        """What a lexeme that has ended at suspended nodes adds."""
        return self._of_walk(self._masks.lazy.behind(head, accept_set, nodes))

    def _united(self, sets: Sequence[int]) -> int:
        """The number of the set of all nodes of some disjoint ones."""
        if len(sets) == 1:
            return sets[0]
        suspended = self._masks.walks.suspended
        return suspended.number(united(suspended[number] for number in sets))

    def feed(self, summary: int, frames: frozenset[int]) -> Iterator[tuple[int, int]]:
        """Feed a summary each of some frames. Yields those frames with which something is still
        pending, and the summaries."""
        feeds, union, decided = self._feeds, self.rows.union, self._decided
        number = self._contents.number
        row, pending = self._contents[summary]
        for frame, (more, left) in self._fed_each(pending, frames):
            key = feed_key(summary, frame)
            found = feeds.get(key)
            if found is None:
                found = feeds[key] = number((union(row, more), left))
            if left != decided:
                yield frame, found

    @memoised
    def _fed_each(self, pending: int, frames: frozenset[int]) -> Sequence[tuple[int, _Content]]:
        """What becomes of what is pending by each of some frames, and the row that it adds."""
        found = []
        for frame in sorted(frames):
            self._look()
            found.append((frame, self._of_walk(self._summaries.feed(pending, frame))))
        return found

    @memoised
    def _of_walk(self, number: int) -> _Content:
        """A summary that walks found, with the number that its row has here."""
        row, pending = self._summaries.summary(number)
        alone = self._summaries.number(Summary(EMPTY, pending))
        return self.rows.number(self._masks.walks.rows[row]), alone

    def _pending(self, alone: int) -> Pairs:
        return self._summaries.summary(alone).pending

    def tables(self) -> HeadSummaryTables:
        """All of them, with the rows and suspended nodes that they name."""
        parts, suspended = self._masks.configurations, self._masks.walks.suspended
        summaries = [Summary(row, self._pending(alone)) for row, alone in self._contents]
        found = summaries, self.rows, suspended, self._firsts, self._feeds
        return _tables(parts.heads, parts.lexer, *found)


def nothing(
    tables: MaximalMunchTables, vocab_size: int
) -> tuple[HeadSummaryTables, ParserTransitionTables]:
    """What a machine begins with that has met no head but that of the empty text."""
    heads, lexer = Heads(tables.network), tables.lexer.lexer()
    found = _tables(heads, lexer, (), RowUnions(vocab_size), NodeSets(), {}, {})
    return found, ParserTransitionTables.empty()


def _tables(
    heads: Heads,
    lexer: Lexer,
    summaries: Sequence[Summary],
    rows: RowUnions,
    suspended: NodeSets,
    firsts: Mapping[int, int],
    feeds: Mapping[int, int],
) -> HeadSummaryTables:
    used, known = np.unique([EMPTY, *(row for row, _ in summaries)], return_inverse=True)
    blocks = rows.blocks(used.tolist())
    pending, offsets = encoded([pairs for _, pairs in summaries], 2)
    sets, numbers_of_sets = np.unique(
        np.concatenate(([NOTHING, ROOT], pending[:, 1])), return_inverse=True
    )
    # Which makes all states of the lexer.
    steps = lexer.table
    return HeadSummaryTables(
        blocks.codes,
        blocks.blocks,
        blocks.offsets,
        *encoded(heads.stacks.entries, 2),
        *encoded(heads.threads, 2),
        *encoded(lexer.sets),
        steps,
        *encoded([suspended[number].tolist() for number in sets.tolist()]),
        known[1:].astype(np.int32),
        np.stack((pending[:, 0], numbers_of_sets[2:]), axis=1).astype(np.int32),
        offsets,
        *_sorted(firsts),
        *_sorted(feeds),
    )


def _sorted(results: Mapping[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Keys, ascending, and what they lead to."""
    keys = sorted(results)
    return np.array(keys, np.int64), np.array([results[key] for key in keys], np.int32)
