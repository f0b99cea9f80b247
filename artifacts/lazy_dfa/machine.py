"""The machine that a matcher steps through conjunctions, and its exact masks.

row(q)       for each conjunction that q is still a beginning of: the tokens whose ends are live
take(q, t)   the bytes of t, operand by operand; None where no conjunction is live behind it

A state is a set of threads, each a conjunction, a state of its DFA, sets of its operands and the
number of characters so far.
"""

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .reader import Reader, Thread, Threads
from .tables import DEAD, Conjunction
from .token_walks import Ends, TokenWalks, tries_of
from .walked import Allowed, Walked

# How a budget is divided: walks, rows by their ends, masks of states, steps, states with sets that
# walks have met, and what is interned.
_WALKS, _ROWS, _MASKS, _STEPS, _CORES, _INTERNED = 12, 10, 2, 2, 3, 3

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
        parts = (caches or CacheBudget()).divide(_WALKS, _ROWS, _MASKS, _STEPS, _CORES, _INTERNED)
        walks, rows, masks, steps, self._core_budget, self._interned = parts
        self._reader = Reader(conjunctions)
        self._walked = self._reader.walked
        self._trie, self._vocabulary, self._vocab_size = trie, vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._walks: list[TokenWalks] | None = None
        self._ends: BoundedCache[tuple[int, int, bool], Ends] = walks.cache()
        self._rows: BoundedCache[tuple[int, int, bytes], Words] = rows.cache()
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
                rows = [self._row(thread) for thread in self._threads[state]]
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

    def _row(self, thread: Thread) -> Words:
        number, state, sets, characters = thread
        walked = self._walked[number]
        ends = self._walks_of(number).ends(state)
        live = walked.live_ends(ends, characters)
        sure = walked.surely_live(ends, live, characters)
        undecided = live & ~sure
        if not undecided.any():
            key = number, state, sure.tobytes()
            found = self._rows.get(key)
            if found is None:
                row = tokenset.from_flags(_flags(ends, sure))
                found = self._rows.keep(key, row, row.nbytes + ENTRY_BYTES)
            return found
        tokens = np.flatnonzero(_flags(ends, undecided))
        flags = _flags(ends, sure)
        if walked.cores.nbytes > self._core_budget.limit:
            walked.begin_cores()
        core = walked.cores.number(state, sets)
        cores, further = self._walks_of(number).cores_of(core, tokens, walked.cores)
        flags[tokens] = self._live(walked, cores, further, characters)
        return tokenset.from_flags(flags)

    def _live(
        self,
        walked: Walked,
        cores: NDArray[np.int64],
        further: NDArray[np.int64],
        characters: int,
    ) -> Allowed:
        """Whether each of ``cores`` is live behind so many further characters."""
        width = int(further.max(initial=0)) + 1
        codes, inverse = np.unique(cores * width + further, return_inverse=True)
        found = np.zeros(len(codes), dtype=np.bool_)
        for i, code in enumerate(codes.tolist()):
            core, begun = divmod(code, width)
            if core != DEAD:
                so_far = walked.clipped(characters + begun)
                state, sets = walked.cores.parts[core]
                found[i] = walked.is_live(state, sets, so_far)
        live: Allowed = found[inverse]
        return live

    def _walks_of(self, number: int) -> TokenWalks:
        if self._walks is None:
            tries = tries_of(self._trie())
            self._walks = [
                TokenWalks(each.conjunction, each.lengths, tries, self._vocab_size, i, self._ends)
                for i, each in enumerate(self._walked)
            ]
        return self._walks[number]

    def _number(self, threads: Threads) -> int:
        found = self._numbers.setdefault(threads, len(self._threads))
        if found == len(self._threads):
            self._threads.append(threads)
        return found


def _flags(ends: Ends, allowed: Allowed) -> NDArray[np.bool_]:
    """The tokens whose ends are ``allowed``, as flags."""
    found: NDArray[np.bool_] = np.append(False, allowed).take(ends.of_token)
    return found
