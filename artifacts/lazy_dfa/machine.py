"""The machine that a matcher steps through conjunctions, and its exact masks.

row(q)       for each conjunction that q is still a beginning of: the tokens whose ends are live
take(q, t)   the bytes of t, operand by operand; None where no conjunction is live behind it

A state is a set of threads, each a conjunction, a state of its DFA, sets of its operands and the
number of characters so far.
"""

from collections.abc import Callable, Sequence
from copy import copy

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .reader import Reader, Threads
from .tables import DEAD, Conjunction
from .token_rows import TokenRows

# How a budget is divided: rows of conjunctions, masks of states, steps, and what is interned.
_ROWS, _MASKS, _STEPS, _INTERNED = 25, 2, 2, 3

# Bytes of a state, roughly.
_STATE_BYTES = 600


class LazyDfaMachine(InterningMachine):
    """Reads whole tokens, and gives the masks that they lead to.

    ``trie``: makes the token trie when a mask is first computed. ``caches``: what is computed may
    take, and what is interned; for ``caches`` of None the usual.
    """

    def __init__(
        self,
        conjunctions: Sequence[Conjunction],
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        parts = (caches or CacheBudget()).divide(_ROWS, _MASKS, _STEPS, _INTERNED)
        rows, masks, steps, self._interned = parts
        self._reader = Reader(conjunctions)
        self._rows = TokenRows(self._reader.walked, trie, vocab_size, rows)
        self._vocabulary, self._vocab_size = vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._mask_budget, self._step_budget = masks, steps
        self._begin(lock)

    def _begin(self, lock: Lock | None) -> None:
        self._threads: list[Threads] = [()]
        self._numbers: dict[Threads, int] = {(): DEAD}
        self._masks: BoundedCache[int, Words] = self._mask_budget.cache()
        self._steps: BoundedCache[tuple[int, int], int] = self._step_budget.cache()
        self.start = self._number(self._reader.start)
        self.begin_interning(self._interned, lock)

    def following(self) -> "LazyDfaMachine":
        """The next machine: with the same walks and rows, which has read nothing."""
        following = copy(self)
        following._begin(self.lock)
        return following

    @property
    def interned_bytes(self) -> int:
        """About the size of all states."""
        return len(self._threads) * _STATE_BYTES

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self._reader.accepts(self._threads[state])

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if it may not come next."""
        found = self._steps.get((state, token_id))
        if found is None:
            vocabulary = self._vocabulary
            if not 0 <= token_id < self._vocab_size or not vocabulary.is_text(token_id):
                return None
            text = vocabulary.token(token_id)
            with self.lock:
                found = self._steps.keep((state, token_id), self.read(state, text) if text else 0)
                self.look()
        return None if found == DEAD else found

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask has. Raises ``ArtifactError`` if it has not."""
        target = self.take(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def read(self, state: int, text: bytes | memoryview) -> int:
        """The state behind a text, ``DEAD`` if no member begins so."""
        return self._number(self._reader.read(self._threads[state], text))

    def row(self, state: int) -> Words:
        """The mask, uint32 (W,), read-only."""
        found = self._masks.get(state)
        if found is None:
            with self.lock:
                rows = [self._rows.row(*thread) for thread in self._threads[state]]
                found = rows[0] if rows else tokenset.from_ids([], self._vocab_size)
                for row in rows[1:]:
                    found = found | row
                if self.is_accepting(state):
                    found = found | self._eos
                found.flags.writeable = False
                self._masks.keep(state, found, found.nbytes + ENTRY_BYTES)
                self.look()
        return found

    def row_via_texts(self, state: int) -> Words:
        """The same, token by token."""
        trie_ids = self._vocabulary.text_ids().tolist()
        fits = [i for i in trie_ids if self._vocabulary.token(i) and self.take(state, i)]
        row = tokenset.from_ids(fits, self._vocab_size)
        return row | self._eos if self.is_accepting(state) else row

    def _number(self, threads: Threads) -> int:
        found = self._numbers.setdefault(threads, len(self._threads))
        if found == len(self._threads):
            self._threads.append(threads)
        return found
