"""Masks of a grammar read by longest matches: the machine that a matcher steps, and its rows."""

from collections.abc import Callable, Sequence

import numpy as np

from ..network.configurations import Stacks
from ..tokens import tokenset
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .block_rows import shared_blocks
from .lazy_masks import LazyMasks
from .lexer import NONE, Lexer
from .lexer_actions import TokenActions
from .lexer_walk import LexerWalks
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import Heads
from .parser_transitions import ParserTransitions, ParserTransitionTables
from .slices import Slices
from .steps import BITS, FRAMES, PART, MaximalMunchSteps
from .summaries import BETWEEN, HeadSummaries
from .summary_tables import FEED, FIRST, HeadSummaryTables, laid_out, laid_out_answers, pairs_of
from .tables import MaximalMunchTables

# Remembered answers and rows by state; when there are more, they are worked out anew.
_KEPT = 1 << 20

# Bytes of rows beyond those that were given.
_KEPT_BYTES = 1 << 26

# How a budget is divided: rows beside the file's, and everything else.
_ROWS, _OTHERS = 1, 3

# New rows between two looks at these bounds.
_UNCHECKED = 16

# Bytes of given rows that are put together at once: so many cost less than half a millisecond.
_AT_ONCE = 1 << 22

# Frames, heads and states of the lexer from which on a new matcher is given a new machine.
_STATES = 1 << 20


class MaximalMunchMasks(MaximalMunchSteps):
    """Reads whole tokens, and answers the rows that they lead to.

    A state is a number for (head, frames below it, state of the lexer). ``trie`` and ``slices``,
    which make walks shorter: made where ``memo`` lacks something. ``moves`` and ``actions``:
    what was worked out ahead for the steps.
    """

    def __init__(
        self,
        tables: MaximalMunchTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        slices: Callable[[], Slices] | None = None,
        memo: HeadSummaryTables | None = None,
        moves: ParserTransitionTables | None = None,
        actions: TokenActions | None = None,
        caches: CacheBudget | None = None,
    ) -> None:
        self._row_bytes = _KEPT_BYTES
        if caches is not None:
            self._row_bytes = caches.divide(_ROWS, _OTHERS)[0].limit
        if memo is None:
            self.heads, lexer = Heads(tables.network), Lexer(tables.lexer)
        else:
            stacks = Stacks(pairs_of(memo.stacks, memo.stacks_offsets))
            self.heads = Heads(tables.network, stacks, pairs_of(memo.heads, memo.heads_offsets))
            lexer = Lexer(tables.lexer, memo.lexer_sets, memo.steps)
        self.runs = NullableFrameRuns(self.heads, tables.lexer, vocabulary)
        super().__init__(
            ParserTransitions(self.heads, lexer, self.runs, moves), lexer, vocabulary, actions
        )
        self._trie, self._vocab_size, self._slices = trie, vocab_size, slices
        self._memo = memo
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._row_of: dict[int, Words] = {}
        self._checked = 0
        self._ahead: Sequence[Words] = ()
        if memo is not None and len(memo.codes) * self._eos.nbytes <= _AT_ONCE:
            self._ahead = list(memo.rows.rows(slice(None), vocab_size))
        self._forget()

    def row(self, state: int) -> Words:
        """The allowed tokens; worked out once for each state."""
        row = self._row_of.get(state)
        if row is None:
            if len(self._row_of) >= self._checked:
                self._make_room()
            head, inside, moves = state >> BITS & PART, state & PART, self.moves
            at, frames, winners = moves.at[head], state >> FRAMES, self.lexer.wins[inside]
            number = self.residual.row(at.short, inside, frames, moves.below)
            row = self._ahead[number] if number < len(self._ahead) else self.walks.row(number)
            # As ``is_accepting`` has it.
            if (inside == BETWEEN and at.ends) or (
                winners != NONE and moves.ends_after(head, frames, winners)
            ):
                row = row | self._eos
                row.flags.writeable = False
            self._row_of[state] = row
        return row

    @property
    def is_full(self) -> bool:
        """Whether it has met so much that the next text should have its own."""
        met = len(self.moves.below), len(self.heads.threads), self.lexer.states
        return max(met) > _STATES

    def keep(self) -> None:
        """Count what was worked out so far as given, so that it is not forgotten."""
        self._given = self.walks.held_rows

    def memo(self) -> HeadSummaryTables:
        """What was worked out so far, for another machine to begin with."""
        residual, walks, lexer = self.residual, self.walks, self.lexer
        known = [residual.known(number) for number in range(len(residual))]
        feeds, firsts = residual.answers
        if self._memo is not None:
            feeds, firsts = self._memo.answers(FEED) | feeds, self._memo.answers(FIRST) | firsts
        rows = shared_blocks(np.array([walks.row(i) for i in range(walks.row_count)]))
        return HeadSummaryTables(
            rows.codes,
            rows.blocks,
            rows.offsets,
            *laid_out(self.heads.stacks.entries, 2),
            *laid_out(self.heads.threads, 2),
            *laid_out(lexer.sets),
            lexer.table,
            *laid_out([exits.tolist() for exits in walks.exits]),
            np.array([one.row for one in known], dtype=np.int32),
            *laid_out([one.pending for one in known], 2),
            *laid_out_answers(firsts),
            *laid_out_answers(feeds),
        )

    def _make_room(self) -> None:
        """Forget what was worked out, if it is too much; looked at every few rows."""
        held = (self.walks.held_rows - self._given) * self._eos.nbytes
        kept = max(len(self._row_of), self.residual.answered)
        if kept >= _KEPT or held > self._row_bytes:
            self._forget()
        self._checked = len(self._row_of) + _UNCHECKED

    def _forget(self) -> None:
        """Go back to the rows that were given; states, heads and frames stay."""
        self._row_of.clear()
        rest = self._vocab_size, self._slices, self._memo
        self.walks = LexerWalks(self.lexer, self._trie, *rest)
        self.residual = HeadSummaries(self.heads, self.lexer, self.walks, self.runs, self._memo)
        self.residual.single = LazyMasks(self.residual, self._vocab_size).answer
        self.keep()
