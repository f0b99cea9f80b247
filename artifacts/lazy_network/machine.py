"""The machine that a matcher steps through a network with lazy DFAs, and its exact masks.

A mask is the union of the rows of a configuration's threads down their stacks, and of EOS where the
text may end (``artifacts/network/summaries.py``).
"""

from collections.abc import Callable, Sequence
from copy import copy

from ..errors import ArtifactError
from ..lazy_dfa.tables import Conjunction
from ..network.configurations import REFUSED
from ..network.tables import DEAD, NetworkTables
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .configurations import CallingNetwork
from .summaries import CallingSummaries
from .terminal_walks import TerminalWalks
from .terminals import Terminals, called_tables

# How a budget is divided: summaries with their rows, walks inside terminals, steps, and what is
# interned.
_SUMMARIES, _WALKS, _STEPS, _INTERNED = 14, 12, 2, 4

_EOS = -1


class CallingMasks(InterningMachine):
    """``tables``: a network with a terminal symbol for each of ``terminals``, the conjunctions of
    lazy DFAs. States are configurations."""

    def __init__(
        self,
        tables: NetworkTables,
        terminals: Sequence[Sequence[Conjunction]],
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        budget = caches or CacheBudget()
        self._summary_budget, walks, self._step_budget, self._interned = budget.divide(
            _SUMMARIES, _WALKS, _STEPS, _INTERNED
        )
        self._tables = called_tables(tables)
        self._walks = TerminalWalks(self._tables, terminals, trie, vocab_size, walks)
        self._trie, self._vocabulary, self._vocab_size = trie, vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._begin(lock)

    def _begin(self, lock: Lock | None) -> None:
        tables, terminals = self._tables, Terminals(self._tables, self._walks.readers)
        self._network = CallingNetwork(tables, terminals)
        self._summaries = CallingSummaries(
            tables, terminals, self._walks, self._trie, self._vocab_size, self._summary_budget
        )
        self._steps: BoundedCache[tuple[int, int], int] = self._step_budget.cache()
        self.start = self._network.start
        self.begin_interning(self._interned, lock)

    def following(self) -> "CallingMasks":
        """The next machine: with the same walks inside terminals, which has read nothing."""
        following = copy(self)
        following._begin(self.lock)
        return following

    @property
    def interned_bytes(self) -> int:
        """About the size of all configurations, and of all states inside terminals."""
        return self._network.nbytes

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        with self.lock:
            return self._network.may_end(state)

    def step(self, state: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.take(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def take(self, state: int, token_id: int) -> int | None:
        """The configuration after a token, or None if it may not come next."""
        found = self._steps.get((state, token_id))
        if found is None:
            vocabulary = self._vocabulary
            if not 0 <= token_id < self._vocab_size or not vocabulary.is_text(token_id):
                return None
            text = vocabulary.token(token_id)
            if not text:
                return None
            with self.lock:
                found = self._steps.keep((state, token_id), self._network.read(state, text))
                self.look()
        return None if found == REFUSED else found

    def row(self, state: int) -> Words:
        """The mask of a configuration, uint32 (W,), read-only."""
        with self.lock:
            summaries, network = self._summaries, self._network
            if summaries.is_full:
                summaries.forget()
            rows = set[int]()
            pending = [
                (ROOT, thread, node) for thread, node in network.threads[state] if thread != DEAD
            ]
            seen = set(pending)
            for suspended, reached, node in pending:
                row, left = summaries.summary(suspended, reached)
                rows.add(row)
                for frame, below in network.stacks.entries[node] if left != NOTHING else ():
                    key = left, frame, below
                    if frame != DEAD and key not in seen:
                        seen.add(key)
                        pending.append(key)
            if network.may_end(state):
                rows.add(summaries.rows.constant(_EOS, self._eos))
            return summaries.rows[summaries.rows.union(rows)]

    def row_via_texts(self, state: int) -> Words:
        """The same, token by token."""
        ids = self._vocabulary.text_ids().tolist()
        fits = [i for i in ids if self.take(state, i) is not None]
        row = tokenset.from_ids(fits, self._vocab_size)
        return row | self._eos if self.is_accepting(state) else row
