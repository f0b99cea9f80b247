"""Canonical masks of a network: the tokens with which the tokenizer's own encoding goes on.

A token is in the mask if the grammar and the pre-tokenizer can read it, if some member goes on
after it (``liveness``), and if it starts a pre-token or the merges allow it after the last token
(``ForbiddenPairs``). So for a configuration c of the network and a pre-tokenizer state q

    First1(c, q)   the tokens that start a pre-token, without dead ends
    First0(c, q)   those that continue one, without dead ends

do not depend on the tokens before, and for the set Q of pre-tokenizer states that these may have
led to

    mask = union over Q of First1(c, q) | (First0(c, q) & allowed after the last token)

with EOS where the text may end in c and in some q. The rows of First1 and First0 are precomputed
(``precomputed_rows``) or else computed lazily (``lazy_rows``), one thread at a time: a state of the
network, a pre-tokenizer state and a set of stacks. ``compiler/canonical_network/README.md`` has the
lemmas.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ..errors import ArtifactError
from ..network.configurations import BOTTOM
from ..network.tables import DEAD
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, Numbered
from ..tokens.tokenset import Words
from ..walk.summary_rows import EMPTY, RowTable
from .certificates import Place
from .lazy_rows import FEWEST_WALKED, LazyRows, Thread
from .precomputed_rows import PrecomputedRows
from .pretokenized import PretokenizedNetwork

# How a budget is divided: rows, masks, steps, what texts intern, walks of the trie with contexts,
# and all else.
_ROWS, _MASKS, _STEPS, _INTERNED, _WALKS, _OTHERS = 5, 5, 2, 1, 2, 1

# Steps that are found between two looks at what there is.
_BETWEEN_LOOKS = 256


class CanonicalMasks(InterningMachine):
    """Both the machine and the rows of a matcher.

    A state is a configuration of the network, a set of pre-tokenizer states, and 1 plus the row
    class of the last token (tokens of a class forbid the same ones after them); 0 before any. Masks
    and steps that were found before, and states, are read without the lock.
    """

    def __init__(
        self,
        pretokenized: PretokenizedNetwork,
        read: Callable[[int, int], int],
        eos: Sequence[int],
        precomputed: PrecomputedRows | None = None,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
        inert: Callable[[], PretokenizedNetwork] | None = None,
    ) -> None:
        """``read``: the configuration after a token, as ``Network.read`` says. ``precomputed``: the
        rows in the file, if there are any. ``inert``: gives the network beside the inert
        pre-tokenizer DFA, if there is one."""
        budgets = (caches or CacheBudget()).divide(
            _ROWS, _MASKS, _STEPS, _INTERNED, _WALKS, _OTHERS
        )
        row_budget, mask_budget, step_budget, interned, walks, others = budgets
        self._most_walked = max(walks.limit, FEWEST_WALKED)
        self.pretokenized, self.precomputed, self._inert = pretokenized, precomputed, inert
        self.network, self.forbidden = pretokenized.network, pretokenized.forbidden
        self.vocabulary, self.final = pretokenized.vocabulary, pretokenized.final
        self.vocab_size = self.vocabulary.size
        self._read, self._eos = read, tokenset.from_ids(list(eos), self.vocab_size)
        # What has been met: read without a lock, as nothing is ever taken out.
        self._states = Numbered[tuple[int, int, int]]()
        self._sets = Numbered[tuple[int, ...]]()
        stored = None if precomputed is None else precomputed.rows
        self.rows = RowTable(self.vocab_size, stored, row_budget.limit)
        # What is cached. Threads without precomputed rows count as interned, since they are looked
        # up for as long as masks are cached.
        row_bytes = 4 * tokenset.word_count(self.vocab_size) + ENTRY_BYTES
        masks, by_rows = mask_budget.divide(2, 1)
        self._masks: BoundedCache[int, Words] = masks.cache(row_bytes)
        # Few states differ in more than their stacks: masks by First1, First0, the last token where
        # First0 has any, and whether the text may end.
        self._by_rows: BoundedCache[tuple[int, int, int, bool], Words] = by_rows.cache(row_bytes)
        self._steps: BoundedCache[tuple[int, int], int] = step_budget.cache()
        pre_steps, first, lazy = others.divide(1, 3, 2)
        self._most_lazy = max(lazy.limit, FEWEST_WALKED)
        self._pre_steps: BoundedCache[tuple[int, int, bool], int] = pre_steps.cache()
        self._firsts: BoundedCache[tuple[int, int, bool], tuple[int, int]] = first.cache()
        self._missing: dict[tuple[int, int, bool], tuple[Thread, ...]] = {}
        self._found = 0
        self.begin_interning(interned, lock)

    @cached_property
    def lazy_rows(self) -> LazyRows:
        """Computes the rows that are not precomputed."""
        inert = None if self._inert is None else self._inert()
        return LazyRows(self.pretokenized, self.rows, inert)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.state_of(self.network.start, (self.pretokenized.pretokenizer.start,), None)

    @property
    def interned_bytes(self) -> int:
        """About the size of all states, and of what is known of each set of stacks."""
        entries = 2 * len(self._states) + len(self._sets) + 2 * len(self._missing)
        precomputed = 0 if self.precomputed is None else self.precomputed.nbytes
        return ENTRY_BYTES * entries + precomputed + self.pretokenized.interned_bytes

    def look(self) -> None:
        """Find out whether it is full, of what texts intern or of walks and contexts."""
        super().look()
        self.is_full = self.is_full or self.pretokenized.walked_bytes > self._most_walked

    def keeps_walks(self) -> bool:
        """Whether the next machine should have its walks and contexts."""
        return self.pretokenized.walked_bytes <= self._most_walked // 2

    def begin_with(self, row: Words) -> None:
        """The mask before any token is known: read-only."""
        self._masks.keep(self.start, row)

    def state_after(self, after: Sequence[int]) -> int:
        """The state after a prompt. Raises ``ArtifactError`` if no member can follow it."""
        pretokenizer, continued = self.pretokenized.pretokenizer, self.pretokenized.continued
        states, last = pretokenizer.after(after, self.vocabulary, self.forbidden)
        if last is None:
            return self.start
        # The network's own start also has the thread of the empty member.
        begin = self.network.start
        if continued is not None and continued != self.network.tables.start:
            with self.lock:
                begin = self.network.configuration({continued: BOTTOM})
        state = self.state_of(begin, states, last)
        if not self.row(state).any():
            raise ArtifactError(
                f"no member of the grammar continues token {last}: the tokenizer would join "
                f"each first token to it"
            )
        return state

    def state_of(self, configuration: int, pre_states: Sequence[int], last: int | None) -> int:
        """The number of a state; ``last``: the token before."""
        after = 0 if last is None else int(self.forbidden.row_class[last]) + 1
        with self.lock:
            sets = self._sets.number(tuple(pre_states))
            return self._states.number((configuration, sets, after))

    def configuration_of(self, state: int) -> int:
        """The configuration of the network at a state."""
        return self._states[state][0]

    def lazy_threads(self, state: int) -> tuple[Thread, ...]:
        """The threads whose rows were not precomputed when the mask of a state was made."""
        configuration, pre_states, after = self._states[state]
        return self._missing.get((configuration, pre_states, after > 0), ())

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member as the tokenizer would."""
        configuration, pre_states, _ = self._states[state]
        return self._may_end(configuration, pre_states)

    def states_around(self, state: int) -> tuple[int, int] | None:
        """The states with usual counts in place of those of a state, if it has any."""
        usual = None if self.network.tables.counters is None else self.lazy_rows.usual
        if usual is None:
            return None
        configuration, pre_states, after = self._states[state]
        threads = self.network.threads[configuration]
        found = [(p, *usual.between(node)) for p, node in threads]
        if all(more == node for (_, _, more), (_, node) in zip(found, threads, strict=True)):
            return None
        less = self.network.configuration({p: node for p, node, _ in found})
        more = self.network.configuration({p: node for p, _, node in found})
        number = self._states.number
        return number((less, pre_states, after)), number((more, pre_states, after))

    def places(self, state: int) -> tuple[list[Place], int | None]:
        """The places that a state stands for, and a token of the row class of the last one."""
        configuration, pre_states, after = self._states[state]
        threads = self.network.threads[configuration]
        found = [(p, q, node) for p, node in threads for q in self._sets[pre_states]]
        return found, self._token_of[after - 1] if after else None

    def following(self, state: int, tokens: Sequence[int]) -> tuple[int, int, list[bool]]:
        """The configuration and the set of pre-tokenizer states of a state, and which of some
        tokens may follow the last one; with the token these decide what comes after it."""
        configuration, pre_states, after = self._states[state]
        ids = np.array(tokens)
        may = tokenset.held(self._allowed_after(after), ids) if after else np.zeros(len(ids), bool)
        return configuration, pre_states, may.tolist()

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if it leads nowhere (an unverified file).
        """
        target = self._steps.get((state, token_id))
        if target is None:
            with self.lock:
                target = self._steps.keep((state, token_id), self._step(state, token_id))
                self._found += 1
                if not self._found % _BETWEEN_LOOKS:
                    self.look()
        return target

    def _step(self, state: int, token_id: int) -> int:
        configuration, pre_states, after = self._states[state]
        follows = after > 0 and not self.forbidden.forbids(self._token_of[after - 1], token_id)
        reached = self._pre_step(pre_states, token_id, follows)
        configuration = self._read(configuration, token_id) if reached >= 0 else -1
        if configuration < 0:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        last = int(self.forbidden.row_class[token_id]) + 1
        return self._states.number((configuration, reached, last))

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        target = self._steps.get((state, token_id))
        if target is None and tokenset.contains(self.row(state), token_id):
            target = self.step(state, token_id)
        return target

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        cached = self._masks.get(state)
        if cached is None:
            with self.lock:
                # Another thread may have found it.
                cached = self._masks.get(state)
                if cached is None:
                    cached = self._masks.keep(state, self._mask(*self._states[state]))
        return cached

    def firsts(self, configuration: int, pre_states: int, *, begun: bool) -> tuple[int, int]:
        """First1 and First0 of a set of pre-tokenizer states, as the numbers of rows; without a
        token before, First1 alone."""
        key = configuration, pre_states, begun
        found = self._firsts.get(key)
        if found is None:
            starting, continuing = set[int](), set[int]()
            missing: list[Thread] = []
            stacks, precomputed = self.network.stacks, self.precomputed
            for state, node in self.network.threads[configuration]:
                for pre_state in self._sets[pre_states]:
                    # Before any token only odd planes, those of tokens that start a pre-token.
                    for plane in range(not begun, self.pretokenized.planes, 2 - begun):
                        thread = state, pre_state, node, plane
                        rows = None if precomputed is None else precomputed.find(stacks, *thread)
                        if rows is None:
                            missing.append(thread)
                            rows = {self.lazy_rows.row(*thread)}
                        (starting if plane % 2 else continuing).update(rows)
            found = self.rows.union(starting), self.rows.union(continuing)
            self._firsts.keep(key, found)
            if missing:
                self._missing[key] = tuple(missing)
        return found

    def _mask(self, configuration: int, pre_states: int, after: int) -> Words:
        lazy_bytes = self.lazy_rows.nbytes if "lazy_rows" in self.__dict__ else 0
        if self.rows.is_full or lazy_bytes > self._most_lazy:
            self._forget()
        starting, continuing = self.firsts(configuration, pre_states, begun=after > 0)
        may_end = self._may_end(configuration, pre_states)
        key = starting, continuing, after if continuing != EMPTY else 0, may_end
        mask = self._by_rows.get(key)
        if mask is None:
            mask = self.rows[starting]
            if continuing != EMPTY:
                mask = mask | (self.rows[continuing] & self._allowed_after(after))
            if may_end:
                mask = mask | self._eos
            mask.flags.writeable = False
            self._by_rows.keep(key, mask)
        return mask

    def _may_end(self, configuration: int, pre_states: int) -> bool:
        ends = any(self.final[q] for q in self._sets[pre_states])
        return ends and self.network.may_end(configuration)

    def _allowed_after(self, after: int) -> Words:
        return self.forbidden.allowed(self._token_of[after - 1])

    def _forget(self) -> None:
        self.rows.forget()
        self._firsts.clear()
        self._by_rows.clear()
        if "lazy_rows" in self.__dict__:
            self.lazy_rows.forget()

    def _pre_step(self, pre_states: int, token_id: int, follows: bool) -> int:
        """The set of pre-tokenizer states after a token, -1 if it is empty."""
        key = pre_states, token_id, follows
        cached = self._pre_steps.get(key)
        if cached is None:
            text = self.vocabulary.is_text(token_id)
            octets = self.vocabulary.token(token_id) if text else b""
            planes = (0, 1) if follows else (1,)
            found = {
                self.pretokenized.pretokenizer.step(state, plane, token_id, octets)
                for state in self._sets[pre_states]
                for plane in planes
            }
            after = tuple(sorted(found - {DEAD}))
            cached = self._pre_steps.keep(key, self._sets.number(after) if after else -1)
        return cached

    @cached_property
    def _token_of(self) -> list[int]:
        """A token of each row class."""
        found = np.zeros(self.forbidden.classes, dtype=np.int64)
        found[self.forbidden.row_class] = np.arange(len(self.forbidden.row_class))
        tokens: list[int] = found.tolist()
        return tokens
