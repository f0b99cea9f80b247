"""The machine that a matcher steps through a recursive transition network, and its exact masks.

A mask is the union of the rows of a configuration's threads, of the token terminals that they
read, and of EOS where the text may end. The row of a thread is found by the precomputed mask
automaton (``mask_automaton``), or frame by frame from procedure summaries (``summaries``). A step
is looked up in precomputed token effects (``token_steps``), or computed lazily
(``lazy_token_effects``).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .configurations import Entries, Network, Texts
from .lazy_token_effects import LazyTokenEffects
from .mask_automaton import UNKNOWN, MaskAutomaton, frames_of
from .summaries import Summaries
from .summary_tables import SummaryTables
from .tables import DEAD, NetworkTables
from .token_steps import TokenEffects, TokenSteps

# In place of the number of a row: it was not precomputed.
MISSING = -1


class StackRows:
    """The tokens that fit a thread, a state over a set of stacks, as rows of ``summaries``.

    ``entries``: those of ``Stacks``. ``automaton``: over the rows and sets that ``summaries`` began
    with.
    """

    def __init__(
        self,
        tables: NetworkTables,
        summaries: Summaries,
        entries: Sequence[Entries],
        automaton: MaskAutomaton,
    ) -> None:
        self._summaries, self._entries = summaries, entries
        frames = frames_of(tables)
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        self._initial = automaton.initial.data
        self._outputs = automaton.outputs.ravel().data
        self._transitions = automaton.transitions.ravel().data
        # States of the automaton below this one still have nodes suspended.
        self._suspended = len(automaton.transitions)
        columns = np.zeros(tables.states, dtype=np.int64)
        columns[frames] = np.arange(len(frames))
        self._columns: list[int] = columns.tolist()
        self._width = len(frames)

    def precomputed(self, state: int, node: int) -> int:
        """The row of a thread that has one stack, if the automaton leads there; else
        ``MISSING``."""
        entries, columns = self._entries, self._columns
        transitions, width = self._transitions, self._width
        reached = self._initial[state]
        while reached < self._suspended:
            below = entries[node]
            if reached == UNKNOWN or len(below) > 1:
                return MISSING
            frame, node = below[0]
            reached = transitions[reached * width + columns[frame]]
        return self._outputs[2 * reached]

    def row(self, state: int, node: int) -> int:
        """The row of a thread."""
        return self._summaries.rows.union(self.rows([(state, node)]))

    def rows(self, threads: Iterable[tuple[int, int]]) -> set[int]:
        """The rows that are those of some threads if united: by the automaton as far as it goes,
        else by summaries. What several threads come to is followed once, and uniting the rows of
        all takes less than one by one."""
        rows = set[int]()
        unknown: list[tuple[int, int]] = []
        waiting: list[tuple[int, int]] = []
        for state, node in threads:
            reached = self._initial[state]
            if reached == UNKNOWN:
                row, suspended = self._summaries.summary(ROOT, state)
                rows.add(row)
                unknown.append((suspended, node))
            else:
                waiting.append((reached, node))
        seen = set(waiting)
        for current, below in waiting:
            if current >= self._suspended:
                rows.add(self._outputs[2 * current])
                continue
            place = current * self._width
            following = [
                (self._transitions[place + self._columns[frame]], lower)
                for frame, lower in self._entries[below]
            ]
            if any(after == UNKNOWN for after, _ in following):
                rows.add(self._outputs[2 * current])
                unknown.append((self._outputs[2 * current + 1], below))
                continue
            for thread in following:
                if thread not in seen:
                    seen.add(thread)
                    waiting.append(thread)
        self._add_below(rows, unknown)
        return rows

    def row_via_summaries(self, state: int, node: int) -> int:
        """row(e0, p) | row(e1, g1) | … down the stacks, until nothing is suspended."""
        row, suspended = self._summaries.summary(ROOT, state)
        rows = {row}
        self._add_below(rows, [(suspended, node)])
        return self._summaries.rows.union(rows)

    def _add_below(self, rows: set[int], begun: Iterable[tuple[int, int]]) -> None:
        """Add the rows of what is suspended over stacks, sets by their numbers."""
        waiting = list(dict.fromkeys(pair for pair in begun if pair[0] != NOTHING))
        seen = set(waiting)
        for nodes, below in waiting:
            for frame, lower in self._entries[below]:
                if frame == DEAD:
                    continue
                more, still = self._summaries.summary(nodes, frame)
                rows.add(more)
                if still != NOTHING and (still, lower) not in seen:
                    seen.add((still, lower))
                    waiting.append((still, lower))


# How a budget is divided: summaries with their rows; effects of tokens that are read; steps; masks;
# and what is interned, configurations and sets of stacks.
_SUMMARIES, _EFFECTS, _STEPS, _MASKS, _INTERNED = 22, 7, 1, 1, 1

# Masks that are cached, however small the budget is.
_FEWEST_MASKS = 64

FIRST_TERMINAL = 256

_EOS = -1


class _LazySteps:
    """The steps by tokens that are not tabulated, which are read. ``named``: the tokens of each
    terminal."""

    def __init__(
        self, network: Network, vocabulary: Vocabulary, named: Sequence[Words], caches: CacheBudget
    ) -> None:
        self._network, self._vocabulary, self._named = network, vocabulary, named
        self._caches = caches
        self.effects: LazyTokenEffects | None = None

    def __call__(self, configuration: int, token_id: int) -> int:
        effects = self.effects
        if effects is None:
            readings = partial(readings_of, self._vocabulary, self._named)
            effects = self.effects = LazyTokenEffects(self._network, readings, self._caches)
        return effects.step(configuration, token_id)


def readings_of(
    vocabulary: Vocabulary, named: Sequence[Words], token_id: int
) -> list[Iterable[int]]:
    """The symbols of a token: its bytes, and each of the terminals that name it."""
    found: list[Iterable[int]] = []
    for number, tokens in enumerate(named):
        if tokenset.contains(tokens, token_id):
            found.append([FIRST_TERMINAL + number])
    if vocabulary.is_text(token_id) and (text := vocabulary.token(token_id)):
        found.append(text)
    return found


def named_by(network: Texts, configuration: int, terminals: int) -> Iterator[int]:
    """Which of the token terminals a configuration reads."""
    threads = network.unfolded(network.threads[configuration])
    rows = network.tables.rows
    for number in range(terminals):
        if any(rows[state][FIRST_TERMINAL + number] != DEAD for state, _ in threads):
            yield number


class NetworkMasks(InterningMachine):
    """Reads whole tokens, and gives the masks that they lead to. States are configurations.

    Without the lock are read: what was precomputed, with the configurations and stacks it is about,
    of which none is ever taken out; and steps and masks that were found before.

    ``trie``: makes the token trie where a summary is missing; ``automaton`` is over the rows and
    sets of ``precomputed``. ``effects``: of all tokens, terminals included; without them tokens
    are read. ``take``: the configuration after a token, or None where the mask lacks it.
    ``terminals``: the ids of each token terminal, ascending; a token may be in several.
    ``summaries``: of a machine before this one.
    """

    def __init__(
        self,
        tables: NetworkTables,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        terminals: Sequence[NDArray[np.int32]] = (),
        precomputed: SummaryTables | None = None,
        automaton: MaskAutomaton | None = None,
        effects: TokenEffects | None = None,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        budgets = (caches or CacheBudget()).divide(_SUMMARIES, _EFFECTS, _STEPS, _MASKS, _INTERNED)
        summaries, self._effect_budget, self._step_budget, masks, self._interned = budgets
        # Sets are compared with those that were precomputed.
        compact = precomputed is None or not len(precomputed.keys)
        self.summaries = Summaries(
            tables, trie, vocab_size, precomputed, summaries, compact=compact
        )
        self._automaton = automaton or MaskAutomaton.of(tables, {}, {})
        self._effects = effects or TokenEffects.empty()
        self._vocabulary = vocabulary
        self._named = [tokenset.from_ids(ids, vocab_size) for ids in terminals]
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._ends = tables.ends
        # The greatest last word of a mask: what is above it is no token.
        self._last_word = (1 << (vocab_size - 1) % 32 + 1) - 1
        # One look-up is a whole mask, so these are in a plain dict.
        self._most_masks = max(masks.limit // ENTRY_BYTES, _FEWEST_MASKS)
        self._begin(Network(tables), lock)

    def _begin(self, network: Network, lock: Lock | None) -> None:
        """All that is about one network."""
        self.network = network
        self.begin_interning(self._interned, lock)
        entries = network.stacks.entries
        self._stacks = StackRows(network.tables, self.summaries, entries, self._automaton)
        self._masks: dict[int, Words] = {}
        self._lazy_steps = _LazySteps(network, self._vocabulary, self._named, self._effect_budget)
        steps = TokenSteps(
            network, self._effects, self._lazy_steps, self._step_budget, self.lock, self.look
        )
        self.take = steps.step if steps.classes else steps.read

    def following(self) -> "NetworkMasks":
        """The next machine: with the same summaries, and a network that has read nothing."""
        following = copy(self)
        following._begin(self.network.following(), self.lock)
        following.look()
        return following

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.network.start

    @property
    def interned_bytes(self) -> int:
        """About the size of all configurations and sets of stacks."""
        return self.network.nbytes

    def begin_with(self, row: Words) -> None:
        """The mask before any token is known: read-only."""
        self._masks[self.start] = row

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self.network.may_end(state)

    def step(self, state: int, token_id: int) -> int:
        """The configuration after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.take(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def row(self, state: int) -> Words:
        """The mask of a configuration, uint32 (W,), read-only; computed when it is first met."""
        mask = self._masks.get(state)
        if mask is None:
            number = MISSING if self._named else self._precomputed_row(state)
            mask = self._computed(state) if number == MISSING else self.summaries.rows[number]
            if mask.item(-1) > self._last_word:
                raise ArtifactError("section 'memo.rows' is damaged: it allows what is no token")
            if len(self._masks) >= self._most_masks:
                self._masks.clear()
            self._masks[state] = mask
        return mask

    def _computed(self, state: int) -> Words:
        with self.lock:
            if self.summaries.is_full:
                self.forget()
            return self.summaries.rows[self._row(state)]

    def forget(self) -> None:
        """Go back to the rows that were precomputed; the others are recomputed when needed."""
        self._masks.clear()
        self.summaries.forget()

    def _precomputed_row(self, configuration: int) -> int:
        """The row of a single thread if it was precomputed and the text may not end there, else
        ``MISSING``; nothing is added."""
        threads = self.network.threads[configuration]
        if len(threads) > 1:
            return MISSING
        [(state, node)] = threads
        if state == DEAD or (self._ends[state] and self.network.may_return(node)):
            return MISSING
        return self._stacks.precomputed(state, node)

    def _row(self, configuration: int) -> int:
        network = self.network
        rows, others = set[int](), list[tuple[int, int]]()
        for state, node in network.threads[configuration]:
            if state == DEAD:  # The text may end; nothing is read.
                continue
            row = self._stacks.precomputed(state, node)
            if row == MISSING:
                others.append((state, node))
            else:
                rows.add(row)
        if others:
            rows |= self._stacks.rows(others)
        if self._named:
            constant = self.summaries.rows.constant
            read = named_by(network, configuration, len(self._named))
            rows.update(constant(number, self._named[number]) for number in read)
        if network.may_end(configuration):
            rows.add(self.summaries.rows.constant(_EOS, self._eos))
        return self.summaries.rows.union(rows)
