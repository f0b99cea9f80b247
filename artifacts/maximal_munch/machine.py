"""The machine that a matcher steps over a grammar read by maximal munch.

A state of the machine is a configuration: a head of the parser, the frames below it and a state of
the lexer (``configurations.py``).

    step  (configuration, token) -> configuration   its bytes are read once, then it is looked up
    row   configuration -> summary of its head and lexer state, fed the frames below -> mask row

Frames, heads and states of the lexer stay as long as the machine; rows, summaries and steps are
cached up to limits. What was precomputed in a file is never evicted.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import ArtifactError
from ..network.configurations import Stacks
from ..tokens import tokenset
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .block_rows import shared_blocks
from .configurations import Configurations
from .lazy_masks import LazyMasks
from .lexer import Lexer
from .lexer_walk import LexerWalks
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import Heads
from .parser_transitions import ParserTransitions, ParserTransitionTables
from .slices import Slices
from .summaries import HeadSummaries
from .summary_tables import FEED, FIRST, HeadSummaryTables, decoded_pairs, encoded, encoded_results
from .tables import MaximalMunchTables

# Cached steps; when there are more, all are evicted.
_MOST_STEPS = 1 << 20

# Cached summaries, or rows by configuration, from which on all are evicted.
_MOST_CACHED = 1 << 20

# How a budget is divided: rows that were not precomputed, and everything else.
_ROWS, _OTHERS = 1, 3

# New rows between two looks at these limits.
_ROWS_BETWEEN_LOOKS = 16

# Precomputed rows of at most so many bytes are decoded at once, in less than half a millisecond.
_MOST_BYTES_DECODED_AT_ONCE = 1 << 22

# Frames, heads or states of the lexer from which on the next matcher is given a new machine.
_MOST_CONFIGURATIONS = 1 << 20


class MaximalMunchMasks:
    """Steps tokens and makes mask rows; texts of one grammar share it, but not threads.

    ``trie`` and ``slices`` are called when a row is first computed by a walk. ``stored`` and
    ``transitions``: what was precomputed.
    """

    def __init__(
        self,
        tables: MaximalMunchTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        slices: Callable[[], Slices] | None = None,
        stored: HeadSummaryTables | None = None,
        transitions: ParserTransitionTables | None = None,
        caches: CacheBudget | None = None,
    ) -> None:
        rows, _ = (caches or CacheBudget()).divide(_ROWS, _OTHERS)
        self._row_bytes = rows.limit
        if stored is None:
            heads, lexer = Heads(tables.network), Lexer(tables.lexer)
        else:
            stacks = Stacks(decoded_pairs(stored.stacks, stored.stacks_offsets))
            threads = decoded_pairs(stored.heads, stored.heads_offsets)
            heads = Heads(tables.network, stacks, threads)
            lexer = Lexer(tables.lexer, stored.lexer_sets, stored.steps)
        self.runs = NullableFrameRuns(heads, tables.lexer, vocabulary)
        self.configurations = Configurations(
            heads, lexer, ParserTransitions(heads, lexer, self.runs, transitions)
        )
        self._vocabulary, self._vocab_size = vocabulary, vocab_size
        self._trie, self._slices, self._stored = trie, slices, stored
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._steps: dict[tuple[int, int], int] = {}
        self._rows: dict[int, Words] = {}
        self._next_look = 0
        self._decoded: Sequence[Words] = ()
        if stored is not None:
            size = len(stored.codes) * self._eos.nbytes
            if size <= _MOST_BYTES_DECODED_AT_ONCE:
                self._decoded = list(stored.rows.rows(slice(None), vocab_size))
        self._evict()

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.configurations.start

    def is_accepting(self, configuration: int) -> bool:
        """Whether the text so far is a member."""
        return self.configurations.is_accepting(configuration)

    def step(self, configuration: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.take(configuration, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def take(self, configuration: int, token_id: int) -> int | None:
        """The configuration after a token; None if it does not fit."""
        key = configuration, token_id
        target = self._steps.get(key)
        if target is None:
            if not self._vocabulary.is_text(token_id):
                return None
            text = self._vocabulary.token(token_id)
            target = self.configurations.read(configuration, text) if text else None
            if target is not None:
                if len(self._steps) >= _MOST_STEPS:
                    self._steps.clear()
                self._steps[key] = target
        return target

    def row(self, configuration: int) -> Words:
        """The allowed tokens: uint32 (W,), read-only, computed once for each configuration."""
        row = self._rows.get(configuration)
        if row is None:
            if len(self._rows) >= self._next_look:
                self._evict_if_full()
            head, frames, state = self.configurations.parts(configuration)
            transitions, decoded = self.configurations.transitions, self._decoded
            mask_head = transitions.to_head[head].mask_head
            number = self.summaries.row(mask_head, state, frames, transitions.frames.entries)
            row = decoded[number] if number < len(decoded) else self.walks.rows.row(number)
            if self.configurations.may_end(head, frames, state):
                row = row | self._eos
                row.flags.writeable = False
            self._rows[configuration] = row
        return row

    @property
    def is_full(self) -> bool:
        """Whether it has met so many configurations that the next text should have its own."""
        parts = self.configurations
        met = len(parts.transitions.frames.entries), len(parts.heads.threads), parts.lexer.states
        return max(met) > _MOST_CONFIGURATIONS

    def pin(self) -> None:
        """Count the rows so far as precomputed, so that they are not evicted."""
        self._pinned_rows = self.walks.rows.in_memory

    def summary_tables(self) -> HeadSummaryTables:
        """All summaries so far, for a file or another machine to begin with."""
        summaries, walks = self.summaries, self.walks
        heads, lexer = self.configurations.heads, self.configurations.lexer
        found = [summaries.summary(number) for number in range(len(summaries))]
        feeds, firsts = summaries.results
        if (stored := self._stored) is not None:
            feeds, firsts = stored.results(FEED) | feeds, stored.results(FIRST) | firsts
        rows = shared_blocks(np.array([walks.rows.row(i) for i in range(len(walks.rows))]))
        return HeadSummaryTables(
            rows.codes,
            rows.blocks,
            rows.offsets,
            *encoded(heads.stacks.entries, 2),
            *encoded(heads.threads, 2),
            *encoded(lexer.sets),
            lexer.table,
            *encoded([nodes.tolist() for nodes in walks.suspended.sets]),
            np.array([summary.row for summary in found], dtype=np.int32),
            *encoded([summary.pending for summary in found], 2),
            *encoded_results(firsts),
            *encoded_results(feeds),
        )

    def _evict_if_full(self) -> None:
        added = (self.walks.rows.in_memory - self._pinned_rows) * self._eos.nbytes
        cached = max(len(self._rows), self.summaries.cached)
        if cached >= _MOST_CACHED or added > self._row_bytes:
            self._evict()
        self._next_look = len(self._rows) + _ROWS_BETWEEN_LOOKS

    def _evict(self) -> None:
        """Evict all rows and summaries but the precomputed ones."""
        heads, lexer = self.configurations.heads, self.configurations.lexer
        self._rows.clear()
        self.walks = LexerWalks(lexer, self._trie, self._vocab_size, self._slices, self._stored)
        self.summaries = HeadSummaries(heads, lexer, self.walks, self.runs, self._stored)
        self.summaries.compute_alone = LazyMasks(self.summaries, self._vocab_size).compute
        self.pin()
