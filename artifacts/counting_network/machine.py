"""The machine that a matcher steps through a network with counters, and its exact masks.

A mask is the union of the rows of a configuration's threads, and of EOS where the text may end. Its
rows are those of procedure summaries down the stack (``summaries``), which depend on a
count through few levels; so masks are cached by the rows that they unite, and not by
configurations, of which each count has its own.
"""

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from ..errors import ArtifactError
from ..network.configurations import REFUSED, Entries
from ..network.summary_tables import SummaryTables
from ..network.tables import DEAD, NetworkTables
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .configurations import COUNT_SHIFT, CountingConfigurations
from .relative_steps import Checked, Effect, Single
from .stored_items import StoredItems
from .summaries import CountingSummaries

# How a budget is divided: summaries with their rows, masks of many rows, steps, and what is
# interned.
_SUMMARIES, _MASKS, _STEPS, _INTERNED = 25, 4, 1, 2

# A mask that unites more rows than this is evicted by itself: where a part of a set begins, there
# is a mask for each set.
_FEW_ROWS = 4

# The bytes of a step, and how many there may be however small the budget is.
_STEP_BYTES, _FEWEST_STEPS = 2 * ENTRY_BYTES, 64

_EOS = -1

# All of a configuration but its counts.
_BELOW_COUNTS = (1 << COUNT_SHIFT) - 1

# A step of all configurations that differ in counts alone: the mask, the least and the most of the
# topmost count, and the others that are checked; by how many bits the counts are made less and more
# in the configuration, and what is then added to it.
_Step = tuple[int, int, int, list[Checked], int, int, int]

# In place of a count, where none is looked at.
_UNCHECKED = (Checked(0, 0, 0, 0),)


def _hold(checked: list[Checked], counts: int) -> bool:
    """Whether all counts are between what they may be."""
    # A generator takes twice as long.
    for shift, mask, least, most in checked:  # noqa: SIM110
        if not least <= counts >> shift & mask <= most:
            return False
    return True


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
        stored: StoredItems | None = None,
    ) -> None:
        budgets = (caches or CacheBudget()).divide(_SUMMARIES, _MASKS, _STEPS, _INTERNED)
        summaries, masks, steps, self._interned = budgets
        # By the numbers of the rows that they unite.
        self._united: BoundedCache[tuple[int, ...], Words] = masks.cache()
        self._most_steps = max(steps.limit // _STEP_BYTES, _FEWEST_STEPS)
        self.summaries = CountingSummaries(tables, trie, vocab_size, precomputed, summaries, stored)
        self._vocabulary, self._vocab_size = vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._first: Words | None = None
        self._begin(CountingConfigurations(tables), lock)

    def _begin(self, configurations: CountingConfigurations, lock: Lock | None) -> None:
        self.configurations = configurations
        self._steps: dict[tuple[int, int], _Step] = {}
        # By what steps are: of which counts a mask is, and the mask.
        self._rows: dict[int, tuple[list[Checked], Words]] = {}
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
        step = self._steps.get((state & _BELOW_COUNTS, token_id))
        if step is not None:
            mask, least, most, others, popped, pushed, added = step
            counts = state >> COUNT_SHIFT
            if least <= counts & mask <= most and (not others or _hold(others, counts)):
                return (counts >> popped << pushed) + added
        return self._read(state, token_id)

    def _read(self, state: int, token_id: int) -> int | None:
        """``take`` of a step that is not known."""
        vocabulary = self._vocabulary
        if not 0 <= token_id < self._vocab_size or not vocabulary.is_text(token_id):
            return None
        text = vocabulary.token(token_id)
        if not text:
            return None
        with self.lock:
            target, effect = self.configurations.read(state, text)
            if effect is not None:
                if len(self._steps) >= self._most_steps:
                    self._steps.clear()
                self._steps[state & _BELOW_COUNTS, token_id] = self._step_of(effect)
            self.look()
        return None if target == REFUSED else target

    def _step_of(self, effect: Effect) -> _Step:
        first, *others = effect.checked or _UNCHECKED
        below = self.configurations.packed(effect.state, effect.node, 0)
        added = (effect.added << COUNT_SHIFT) + below
        pushed = effect.pushed + COUNT_SHIFT
        return first.mask, first.least, first.most, others, effect.popped, pushed, added

    def row(self, state: int) -> Words:
        """The mask of a configuration, uint32 (W,), read-only."""
        if state == self.start and self._first is not None:
            return self._first
        known = self._rows.get(state & _BELOW_COUNTS)
        if known is not None and _hold(known[0], state >> COUNT_SHIFT):
            return known[1]
        with self.lock:
            return self._computed(state)

    def _computed(self, state: int) -> Words:
        summaries, configurations = self.summaries, self.configurations
        if summaries.is_full:
            self._rows.clear()
            self._united.clear()
            summaries.forget()
        rows, checked = set[int](), list[Checked]()
        single = configurations.single(state)
        apart = configurations.apart(state)
        if apart is None:
            self._add_rows(rows, configurations.threads(state))
        for thread in apart or ():
            self._add_rows_of_stack(rows, checked, thread)
        # subtle: where what ends may end the text depends on the same counts by the same levels.
        if configurations.may_end(state):
            rows.add(summaries.rows.constant(_EOS, self._eos))
        if len(rows) > _FEW_ROWS:
            return self._unite(tuple(sorted(rows)))
        row = summaries.rows[summaries.rows.union(rows)]
        if single is not None:
            if len(self._rows) >= self._most_steps:
                self._rows.clear()
            self._rows[state & _BELOW_COUNTS] = checked, row
        return row

    def _unite(self, key: tuple[int, ...]) -> Words:
        """A mask of many rows."""
        found = self._united.get(key)
        if found is not None:
            return found
        rows = self.summaries.rows
        row = rows[key[0]] | rows[key[1]]
        for number in key[2:]:
            np.bitwise_or(row, rows[number], out=row)
        row.flags.writeable = False
        return self._united.keep(key, row, row.nbytes + ENTRY_BYTES)

    def row_via_stacks(self, state: int) -> Words:
        """The same by the sets of stacks, whose frames hold the counts."""
        rows = set[int]()
        self._add_rows(rows, self.configurations.threads(state))
        if self.configurations.may_end(state):
            rows.add(self.summaries.rows.constant(_EOS, self._eos))
        return self.summaries.rows[self.summaries.rows.union(rows)]

    def _add_rows_of_stack(self, rows: set[int], checked: list[Checked], thread: Single) -> None:
        """row(e0, p) | row(e1, g1) | … down one stack, until nothing is suspended; and of which
        counts these are the rows."""
        summaries, states = self.summaries, self._states
        entries = self.configurations.stacks.entries
        state, node, counts = thread
        shift = 0
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
                mask = (1 << width) - 1
                begun = counts >> shift & mask
                if self._counters.set_rule(counter) is not None:
                    checked.append(Checked(shift, mask, begun, begun))
                    suspended = summaries.add_rows_of_set(rows, suspended, counter, (begun,))
                    shift += width
                    continue
                row, still = summaries.below(suspended, counter, begun)
                checked.append(Checked(shift, mask, *summaries.alike(suspended, counter, begun)))
                suspended, shift = still, shift + width
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
            # The values of each set that is over the same rest.
            sets: dict[tuple[int, int], list[int]] = {}
            reached = []
            for frame, lower in entries[node] if suspended != NOTHING else ():
                if frame == DEAD:
                    continue
                counter, value = (-1, 0) if frame < self._states else self._counters.split(frame)
                if counter >= 0 and self._counters.set_rule(counter) is not None:
                    sets.setdefault((counter, lower), []).append(value)
                    continue
                row, still = self.summaries.summary(suspended, frame)
                rows.add(row)
                reached.append((still, lower))
            for (counter, lower), values in sets.items():
                still = self.summaries.add_rows_of_set(rows, suspended, counter, values)
                reached.append((still, lower))
            for found in reached:
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
