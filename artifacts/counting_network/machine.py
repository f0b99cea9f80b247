"""The machine that a matcher steps through a network with counters, and its exact masks.

A mask is the union of the rows of a configuration's threads, and of EOS where the text may end. Its
rows are those of procedure summaries down the stack (``summaries``), which depend on a
count through few levels; so masks are cached by the rows that they unite, and not by
configurations, of which each count has its own.
"""

from collections.abc import Callable, Sequence
from copy import copy

from ..errors import ArtifactError
from ..network.configurations import REFUSED, Entries
from ..network.summary_tables import SummaryTables
from ..network.tables import DEAD, NetworkTables
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .configurations import CountingConfigurations, Single
from .summaries import CountingSummaries

# How a budget is divided: summaries with their rows, and what is interned.
_SUMMARIES, _INTERNED = 30, 2

_EOS = -1


class CountingMasks(InterningMachine):
    """Reads whole tokens, and gives the masks that they lead to. States are configurations.

    ``trie``: makes the token trie when a summary is first computed. ``take``: the configuration
    after a token, or None where the mask lacks it.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        precomputed: SummaryTables | None = None,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        summaries, self._interned = (caches or CacheBudget()).divide(_SUMMARIES, _INTERNED)
        self.summaries = CountingSummaries(tables, trie, vocab_size, precomputed, summaries)
        self._vocabulary, self._vocab_size = vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._first: Words | None = None
        self._begin(CountingConfigurations(tables), lock)

    def _begin(self, configurations: CountingConfigurations, lock: Lock | None) -> None:
        self.configurations = configurations
        self.begin_interning(self._interned, lock)
        self._states, self._counters = configurations.tables.states, configurations.counters

    def following(self) -> "CountingMasks":
        """The next machine: with the same summaries, and a network that has read nothing."""
        following = copy(self)
        following._begin(CountingConfigurations(self.configurations.tables), self.lock)
        following.look()
        return following

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.configurations.start

    @property
    def interned_bytes(self) -> int:
        """About the size of all configurations of several threads, and of all sets of stacks."""
        return self.configurations.nbytes

    def begin_with(self, row: Words) -> None:
        """The mask before any token is known: read-only."""
        self._first = row

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        with self.lock:
            return self.configurations.may_end(state)

    def step(self, state: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.take(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def take(self, state: int, token_id: int) -> int | None:
        """The configuration after a token, or None if it may not come next."""
        vocabulary = self._vocabulary
        if not 0 <= token_id < self._vocab_size or not vocabulary.is_text(token_id):
            return None
        text = vocabulary.token(token_id)
        if not text:
            return None
        with self.lock:
            target = self.configurations.read(state, text)
            self.look()
        return None if target == REFUSED else target

    def row(self, state: int) -> Words:
        """The mask of a configuration, uint32 (W,), read-only."""
        if state == self.start and self._first is not None:
            return self._first
        with self.lock:
            summaries, configurations = self.summaries, self.configurations
            if summaries.is_full:
                summaries.forget()
            rows = set[int]()
            single = configurations.single(state)
            if single is None:
                self._add_rows(rows, configurations.threads(state))
            else:
                self._add_rows_of_stack(rows, single)
            if configurations.may_end(state):
                rows.add(summaries.rows.constant(_EOS, self._eos))
            return summaries.rows[summaries.rows.union(rows)]

    def row_via_stacks(self, state: int) -> Words:
        """The same by the sets of stacks, whose frames hold the counts."""
        rows = set[int]()
        self._add_rows(rows, self.configurations.threads(state))
        if self.configurations.may_end(state):
            rows.add(self.summaries.rows.constant(_EOS, self._eos))
        return self.summaries.rows[self.summaries.rows.union(rows)]

    def _add_rows_of_stack(self, rows: set[int], thread: Single) -> None:
        """row(e0, p) | row(e1, g1) | … down one stack, until nothing is suspended."""
        summaries, states = self.summaries, self._states
        entries = self.configurations.stacks.entries
        state, node, counts = thread
        row, suspended = summaries.summary(ROOT, state)
        rows.add(row)
        while suspended != NOTHING:
            frame, node = entries[node][0]
            if frame == DEAD:
                break
            if frame < states:
                row, suspended = summaries.summary(suspended, frame)
            else:
                counter = frame - states
                width = self.configurations.widths[counter]
                begun = counts & ((1 << width) - 1)
                counts >>= width
                row, suspended = summaries.below(suspended, counter, begun)
            rows.add(row)

    def _add_rows(self, rows: set[int], threads: Sequence[tuple[int, int]]) -> None:
        """The same down all stacks of several threads."""
        entries: Sequence[Entries] = self.configurations.network.stacks.entries
        waiting = []
        for state, node in threads:
            if state == DEAD:  # The text may end; nothing is read.
                continue
            row, suspended = self.summaries.summary(ROOT, state)
            rows.add(row)
            waiting.append((suspended, node))
        seen = set(waiting)
        for suspended, node in waiting:
            for frame, lower in entries[node] if suspended != NOTHING else ():
                if frame == DEAD:
                    continue
                row, still = self.summaries.summary(suspended, frame)
                rows.add(row)
                if (still, lower) not in seen:
                    seen.add((still, lower))
                    waiting.append((still, lower))
