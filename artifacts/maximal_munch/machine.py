"""The machine that a matcher steps over a grammar read by maximal munch.

A state of the machine is a configuration: a head of the parser, the frames below it and a state of
the lexer (``configurations.py``).

    step  (configuration, token) -> configuration   its bytes are read once, then it is looked up
    row   configuration -> summary of its head and lexer state, fed the frames below -> mask row

Frames, heads and states of the lexer stay as long as the machine, which is replaced when they are
too many; rows, summaries and steps are cached up to limits. What was precomputed in a file is never
evicted.
"""

from collections.abc import Callable, Sequence
from copy import copy

from ..network.configurations import Stacks
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.sharing import weakly
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .configurations import Configurations
from .counted_transitions import CountedTransitions
from .lazy_masks import LazyMasks
from .lexer import Lexer
from .lexer_reads import LexerReads
from .lexer_trie import LexerTrie
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import Heads
from .parser_transitions import ParserTransitions, ParserTransitionTables
from .summaries import HeadSummaries
from .summary_tables import HeadSummaryTables, decoded_pairs
from .tables import ReadTables

# How a budget is divided: rows that were not precomputed; summaries and walks; places of walks;
# heads, states of the lexer and transitions; steps; rows by configuration; and what texts intern,
# stacks of frames.
_ROWS, _SUMMARIES, _PLACES, _HEADS, _STEPS, _MASKS, _INTERNED = 8, 8, 4, 9, 1, 1, 1

# New steps between two looks at these limits, and new rows.
_STEPS_BETWEEN_LOOKS, _ROWS_BETWEEN_LOOKS = 256, 16

# Heads, states of the lexer and transitions may take so many bytes, however small the budget is.
_FEWEST_HEAD_BYTES = 1 << 22


class MaximalMunchMasks(InterningMachine):
    """Steps tokens and makes mask rows; texts of one grammar share it, and threads: steps and rows
    that were found before are read without the lock.

    ``trie`` is called when a row is first computed by a walk. ``stored`` and
    ``transitions``: what was precomputed.
    """

    parts: tuple[int, ...] = _ROWS, _SUMMARIES, _PLACES, _HEADS, _STEPS, _MASKS, _INTERNED

    def __init__(
        self,
        tables: ReadTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        stored: HeadSummaryTables | None = None,
        transitions: ParserTransitionTables | None = None,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        rows, summaries, places, heads_budget, steps, masks, interned, *more = (
            caches or CacheBudget()
        ).divide(*self.parts)
        self._summary_bytes = summaries.limit
        self._most_steps = max(steps.limit // ENTRY_BYTES, _STEPS_BETWEEN_LOOKS)
        self._most_rows = max(masks.limit // ENTRY_BYTES, _ROWS_BETWEEN_LOOKS)
        self._interned = interned
        if stored is None:
            heads, lexer = Heads(tables.network), tables.lexer.lexer()
        else:
            stacks = Stacks(decoded_pairs(stored.stacks, stored.stacks_offsets))
            threads = decoded_pairs(stored.heads, stored.heads_offsets)
            heads = Heads(tables.network, stacks, threads)
            lexer = tables.lexer.lexer(stored.lexer_sets, stored.steps)
        self.runs = NullableFrameRuns(heads, tables.lexer, vocabulary)
        kind = ParserTransitions if heads.counters is None else CountedTransitions
        self.configurations = self.configurations_of(
            heads, lexer, kind(heads, lexer, self.runs, transitions)
        )
        # What rows and steps are found by.
        self._shared = self.configurations.shared
        self._vocabulary, self.vocab_size = vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._steps: dict[tuple[int, int], int] = {}
        self._rows: dict[int, Words] = {}
        self._next_look = self._read = 0
        self._most_head_bytes = self.head_bytes + max(heads_budget.limit, _FEWEST_HEAD_BYTES)
        self.walks = LexerTrie(trie, vocab_size, stored, rows.limit)
        self.summaries = HeadSummaries(heads, lexer, self.walks, self.runs, stored)
        reads = self.reads_of(tables, lexer, *more)
        self.lazy = LazyMasks(self.summaries, vocab_size, places, reads)
        self.summaries.compute = weakly(self.lazy.compute)
        self.begin_interning(interned, lock)

    def configurations_of(
        self, heads: Heads, lexer: Lexer, transitions: ParserTransitions
    ) -> Configurations:
        """How texts are read."""
        return Configurations(heads, lexer, transitions)

    def reads_of(self, _tables: ReadTables, _lexer: Lexer, *_more: CacheBudget) -> LexerReads:
        """What a lexer reads without rows, in a machine of these walks. ``_more``: budgets beyond
        those that all machines have."""
        return LexerReads()

    def alike(self, state: int) -> int:
        """A state of the lexer with the same masks; the same one for many."""
        return state

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.configurations.start

    def is_accepting(self, configuration: int) -> bool:
        """Whether the text so far is a member."""
        with self.lock:
            return self.configurations.is_accepting(configuration)

    def take(self, configuration: int, token_id: int) -> int | None:
        """The configuration after a token; None if it does not fit."""
        shared = self._shared
        key = configuration & shared, token_id
        target = self._steps.get(key)
        if target is not None:
            return target | configuration & ~shared
        if not self._vocabulary.is_text(token_id):
            return None
        text = self._vocabulary.token(token_id)
        with self.lock:
            transitions = self.configurations.transitions
            counted = transitions.counted
            target = self.configurations.read(configuration, text) if text else None
            if not self._read % _STEPS_BETWEEN_LOOKS:
                self._look_at_steps()
            self._read += 1
            if target is not None and counted == transitions.counted:
                self._steps[key] = target & shared
        return target

    def _look_at_steps(self) -> None:
        self.look()
        if len(self._steps) >= self._most_steps:
            self._steps.clear()

    def row(self, configuration: int) -> Words:
        """The allowed tokens: uint32 (W,), read-only, computed once for each configuration."""
        configuration &= self._shared
        row = self._rows.get(configuration)
        if row is None:
            with self.lock:
                if len(self._rows) >= self._next_look:
                    self._evict_if_full()
                row = self._rows[configuration] = self._row(configuration)
        return row

    def _row(self, configuration: int) -> Words:
        head, frames, state = self.configurations.parts(configuration)
        transitions = self.configurations.transitions
        mask_head = transitions.to_head[head].mask_head
        entries = transitions.frames.entries
        number = self.summaries.row(mask_head, self.alike(state), frames, entries)
        row = self.walks.rows[number]
        if self.configurations.may_end(head, frames, state):
            row = row | self._eos
            row.flags.writeable = False
        return row

    @property
    def interned_bytes(self) -> int:
        """About the size of all stacks of frames."""
        return self.configurations.transitions.frames.nbytes

    @property
    def head_bytes(self) -> int:
        """About the size of all heads, states of the lexer and transitions."""
        parts = self.configurations
        return parts.heads.nbytes + parts.lexer.nbytes + parts.transitions.nbytes + self.runs.nbytes

    def look(self) -> None:
        """Find out whether it is full, of stacks of frames or of heads."""
        super().look()
        self.is_full = self.is_full or self.head_bytes > self._most_head_bytes

    def following(self) -> "MaximalMunchMasks | None":
        """The next machine, with the same heads and summaries and no stacks of frames; None where
        heads are what fills this one."""
        if self.head_bytes > self._most_head_bytes // 2:
            return None
        found, parts = copy(self), self.configurations
        found.configurations = self.configurations_of(
            parts.heads, parts.lexer, parts.transitions.following()
        )
        found._steps, found._rows, found._next_look = {}, {}, 0
        found.begin_interning(self._interned, self.lock)
        found.look()
        return found

    def _evict_if_full(self) -> None:
        walks, summaries = self.walks, self.summaries
        if walks.rows.is_full or summaries.nbytes + walks.suspended.nbytes > self._summary_bytes:
            self._rows.clear()
            walks.rows.forget()
            walks.suspended.forget()
            summaries.forget()
        elif len(self._rows) >= self._most_rows:
            self._rows.clear()
        self._next_look = len(self._rows) + _ROWS_BETWEEN_LOOKS
