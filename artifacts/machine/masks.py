"""The machine of matchers over states that are made when they are met.

A mask is the union of the rows of a configuration's threads down their stacks
(``artifacts/network/summaries.py``), and of EOS where the text may end. What texts lead to is
numbered (``artifacts/tokens/interning.py``), and the states that were made count with it: the next
machine, when this one is full, begins with none.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from types import TracebackType
from typing import TypeAlias

from ..errors import ArtifactError
from ..network.configurations import REFUSED, Texts
from ..network.lazy_token_effects import LazyTokenEffects
from ..network.machine import named_rows, readings_of
from ..network.summaries import Summaries, TrieWalk
from ..network.tables import DEAD
from ..summaries.node_sets import NOTHING, ROOT, Nodes
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .repetitions import ENDLESS
from .states import StateMaker, States
from .walk import StateWalk

# How a budget is divided: summaries with their rows; effects of tokens that are read; steps; masks;
# and what is interned, states among it.
_SUMMARIES, _EFFECTS, _STEPS, _MASKS, _INTERNED = 20, 7, 1, 1, 3

# Masks and steps that are cached, however small the budget is.
_FEWEST = 256

# Steps between two looks at the limits.
_BETWEEN_LOOKS = 256

_EOS = -1

# The row of the tokens that fit, and the set of nodes where the call ends, by their numbers.
_Summary: TypeAlias = tuple[int, int]


class StateSummaries(Summaries):
    """Summaries by walks that make states on the way."""

    def __init__(
        self, states: States, trie: Callable[[], Trie], vocab_size: int, caches: CacheBudget
    ) -> None:
        super().__init__(states, trie, vocab_size, None, caches, compact=True)
        self._states = states

    def _made_walk(self, trie: Trie) -> StateWalk:
        self._by_states = StateWalk(self._states, trie, self._vocab_size, self._children)
        return self._by_states

    def _steps(self, key: tuple[int, int]) -> Generator[tuple[int, int], _Summary, _Summary]:
        """By its twin, a state with bounds: alone where no text is longer than there is room. Else
        texts that are longer are walked by themselves, if they are whole tokens; and if not, the
        nodes with longer ones below."""
        suspended, state = key
        room, begun = self._states.rooms[state], self.sets[suspended]
        walk = self._by_states
        low = walk.within(begun, room) if room < ENDLESS else None
        if low is None or not (suspended == ROOT or low.any()):
            return (yield from super()._steps(key))
        twin = self._states.twin(state)
        if low.all():
            return self._found(key, (yield suspended, twin))
        if suspended == ROOT:
            row, left = yield key[0], twin
            longer, after = yield from super()._steps(key)
            words = self.rows[row] & ~walk.longer(room) | self.rows[longer]
            parts = [walk.up_to(self.sets[left], room), self.sets[after]]
            return self._found(key, (self.rows.number(words), self.sets.number(walk.merged(parts))))
        rows, lefts = set[int](), list[Nodes]()
        for nodes, each in ((begun[low], twin), (begun[~low], state)):
            row, left = yield self.sets.number(nodes), each
            rows.add(row)
            lefts.append(self.sets[left])
        return self._found(key, (self.rows.union(rows), self.sets.number(walk.merged(lefts))))

    def _read_from(
        self, walk: TrieWalk, number: int, suspended: Nodes, state: int
    ) -> tuple[Words, list[tuple[int, Nodes]], int]:
        room = self._states.rooms[state] if number == ROOT else ENDLESS
        if room < ENDLESS:
            return self._by_states.walk_longer(suspended, state, room)
        return super()._read_from(walk, number, suspended, state)


class MetMasks(InterningMachine):
    """``maker``: what states are made of, begun again. States of the machine are configurations.
    ``named``: the tokens of each terminal that names some."""

    # Errors that leave nothing half made.
    harmless: tuple[type[Exception], ...] = ()

    def __init__(
        self,
        maker: StateMaker,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
        named: Sequence[Words] = (),
    ) -> None:
        self._named = named
        summaries, effects, steps, masks, interned = (caches or CacheBudget()).divide(
            _SUMMARIES, _EFFECTS, _STEPS, _MASKS, _INTERNED
        )
        self.states, self.summaries = self._begun(maker, trie, vocab_size, summaries)
        self._vocabulary, self._vocab_size = vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._most_steps = max(steps.limit // ENTRY_BYTES, _FEWEST)
        self._most_masks = max(masks.limit // ENTRY_BYTES, _FEWEST)
        self.network = Texts(self.states)
        self._effects = LazyTokenEffects(self.network, self._readings, effects)
        self._steps: dict[tuple[int, int], int] = {}
        self._masks: dict[int, Words] = {}
        self.begin_interning(interned, lock)
        self._making = _Making(self)

    def _begun(
        self, maker: StateMaker, trie: Callable[[], Trie], vocab_size: int, caches: CacheBudget
    ) -> tuple[States, StateSummaries]:
        states = States(maker)
        return states, StateSummaries(states, trie, vocab_size, caches)

    def _readings(self, token_id: int) -> Sequence[Iterable[int]]:
        """The symbols of a token."""
        is_known = 0 <= token_id < self._vocab_size
        return readings_of(self._vocabulary, self._named, token_id) if is_known else ()

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.network.start

    @property
    def interned_bytes(self) -> int:
        """About the size of all configurations, sets of stacks and states."""
        return self.network.nbytes + self.states.nbytes

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

    def take(self, state: int, token_id: int) -> int | None:
        """The configuration after a token, or None if it may not come next."""
        key = state, token_id
        target = self._steps.get(key)
        if target is None:
            with self._making:
                target = self._stepped(state, token_id)
                count = len(self._steps)
                if not count % _BETWEEN_LOOKS:
                    self.look()
                    if count >= self._most_steps:
                        self._steps.clear()
                self._steps[key] = target
        return None if target == REFUSED else target

    def _stepped(self, state: int, token_id: int) -> int:
        return self._effects.step(state, token_id)

    def row(self, state: int) -> Words:
        """The mask of a configuration, uint32 (W,), read-only; computed when it is first met."""
        mask = self._masks.get(state)
        if mask is None:
            with self._making:
                if self.summaries.is_full:
                    self._masks.clear()
                    self.summaries.forget()
                if len(self._masks) >= self._most_masks:
                    self._masks.clear()
                mask = self._masks[state] = self.summaries.rows[self._row(state)]
        return mask

    def _row(self, configuration: int) -> int:
        summaries, entries = self.summaries, self.network.stacks.entries
        rows = set[int]()
        threads = self.network.threads[configuration]
        pending = [(ROOT, state, node) for state, node in threads if state != DEAD]
        seen = set(pending)
        for suspended, state, node in pending:
            row, left = summaries.summary(suspended, state)
            rows.add(row)
            for frame, below in entries[node] if left != NOTHING else ():
                key = left, frame, below
                if frame != DEAD and key not in seen:
                    seen.add(key)
                    pending.append(key)
        if self._named:
            rows.update(named_rows(self.network, configuration, self._named, summaries))
        if self.network.may_end(configuration):
            rows.add(summaries.rows.constant(_EOS, self._eos))
        return summaries.rows.union(rows)


class _Making:
    """Inside it states of a machine are made, by one thread at a time. Where that is broken off, as
    by a limit, some are half made: nothing is looked up in them again, and new texts begin without.
    """

    def __init__(self, machine: MetMasks) -> None:
        self._machine = machine
        self._broken_off: BaseException | None = None

    def __enter__(self) -> None:
        self._machine.lock.__enter__()
        if self._broken_off is not None:
            self._machine.lock.__exit__(None, None, None)
            raise self._broken_off
        self._machine.states.begin_turn()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, self._machine.harmless):
            self._broken_off, self._machine.is_full = error, True
        self._machine.lock.__exit__(kind, error, traceback)
