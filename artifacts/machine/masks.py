"""The machine of matchers over states that are made when they are met.

A mask is the union of the rows of a configuration's threads down their stacks
(``artifacts/walk``), and of EOS where the text may end. What texts lead to is
numbered (``artifacts/tokens/interning.py``), and the states that were made count with it: the next
machine, when this one is full, begins with none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from types import TracebackType
from typing import Protocol

from ..container.sections import Arrays
from ..network.configurations import REFUSED, Entries, Texts
from ..network.tables import DEAD
from ..tokens import tokenset
from ..tokens.interning import InterningMachine, Lock
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from ..walk.rows_by_frames import RowsByFrames, Stored
from .states import States

# How a budget is divided: rows; steps; masks; and what is interned, states among it.
_ROWS, _STEPS, _MASKS, _INTERNED = 24, 2, 2, 4

# Masks and steps that are cached, however small the budget is.
_FEWEST = 256

# Steps between two looks at the limits.
_BETWEEN_LOOKS = 256

FIRST_TERMINAL = 256


class StoredMasks(Stored, Protocol):
    """Rows and masks of a file. ``has_named``: rows have the tokens of terminals with them."""

    @property
    def has_named(self) -> bool: ...

    @property
    def dead(self) -> Set[int]:
        """The states from which no tokens reach the end, though bytes do."""

    def of_stack(self, state: int, node: int, entries: Sequence[Entries]) -> Words | None:
        """The mask of a state over one stack, read-only, EOS with it, if the file has it."""


class MetMasks(InterningMachine):
    """``states``: of which none is made, or those of a file. States of the machine are
    configurations. ``named``: the tokens of each terminal that names some. ``stored``: rows of a
    file that has the states; ``named_rows``: sections of one that names them."""

    # Errors that leave nothing half made.
    harmless: tuple[type[Exception], ...] = ()

    def __init__(
        self,
        states: States,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
        named: Sequence[Words] = (),
        stored: StoredMasks | None = None,
        named_rows: Arrays | None = None,
    ) -> None:
        self._named, self.states, self._named_rows = named, states, named_rows
        rows, steps, masks, interned = (caches or CacheBudget()).divide(
            _ROWS, _STEPS, _MASKS, _INTERNED
        )
        self.vocabulary, self._vocab_size = vocabulary, vocab_size
        self._eos = tokenset.from_ids(list(eos), vocab_size)
        self._most_steps = max(steps.limit // ENTRY_BYTES, _FEWEST)
        self._most_masks = max(masks.limit // ENTRY_BYTES, _FEWEST)
        self.network = Texts(self.states)
        self._begin_walks(trie, rows, stored)
        # Where it has the tokens of all terminals.
        self._stored = stored if stored is not None and (stored.has_named or not named) else None
        self._dead: Set[int] = frozenset() if stored is None else stored.dead
        self._steps: dict[tuple[int, int], int] = {}
        self._masks: dict[int, Words] = {}
        self.begin_interning(interned, lock)
        # What broke off the making of states.
        self.broken_off: BaseException | None = None

    def _begin_walks(
        self, trie: Callable[[], Trie], rows: CacheBudget, stored: StoredMasks | None
    ) -> None:
        """What finds rows and steps."""
        stacks, size, longest = self.network.stacks, self._vocab_size, self.vocabulary.longest
        found: Stored | None = stored
        if self._named_rows is not None:
            from .named_rows import NamedRows

            found = NamedRows(self._named_rows, self.states, size, longest)
        self.walks = RowsByFrames(self.states, stacks, trie, size, rows, longest, found)

    def _readings(self, token_id: int) -> Sequence[Iterable[int]]:
        """The symbols of a token."""
        is_known = 0 <= token_id < self._vocab_size
        return readings_of(self.vocabulary, self._named, token_id) if is_known else ()

    @property
    def vocab_size(self) -> int:
        """Number of bits of a mask."""
        return self._vocab_size

    @property
    def start(self) -> int:
        """The configuration before any token."""
        return self.network.start

    @property
    def interned_bytes(self) -> int:
        """About the size of all configurations, sets of stacks and states."""
        return self.network.nbytes + self.states.nbytes

    @property
    def held_bytes(self) -> int:
        """The same with rows, masks and steps."""
        entries = len(self._steps) + len(self._masks)
        return self.interned_bytes + self.walks.held_bytes + ENTRY_BYTES * entries

    def begin_with(self, row: Words) -> None:
        """The mask before any token is known: read-only."""
        self._masks[self.start] = row

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self.network.may_end(state)

    def take(self, state: int, token_id: int) -> int | None:
        """The configuration after a token, or None if it may not come next."""
        key = state, token_id
        target = self._steps.get(key)
        if target is None:
            with _Making(self):
                target = self._stepped(state, token_id)
                count = len(self._steps)
                if not count % _BETWEEN_LOOKS:
                    self.look()
                    if count >= self._most_steps:
                        self._steps.clear()
                self._steps[key] = target
        return None if target == REFUSED else target

    def _stepped(self, state: int, token_id: int) -> int:
        network, found = self.network, dict[int, int]()
        threads = network.threads[state]
        for symbols in self._readings(token_id):
            if isinstance(symbols, bytes):
                for target, node in self.walks.step(threads, symbols):
                    network.add(found, target, node)
            else:
                behind = network.read(state, symbols)
                for target, node in network.threads[behind] if behind != REFUSED else ():
                    network.add(found, target, node)
        if self._dead:
            found = {target: node for target, node in found.items() if target not in self._dead}
        return network.configuration(found) if found else REFUSED

    def text_of(self, token_id: int) -> bytes:
        """The bytes of a token that is text; of others none."""
        return self.vocabulary.token(token_id) if self.vocabulary.is_text(token_id) else b""

    def read(self, state: int, octets: bytes) -> int | None:
        """The configuration after some bytes, or None; nothing is kept of it."""
        with _Making(self):
            target = self.network.read(state, octets)
        return None if target == REFUSED else target

    def row(self, state: int) -> Words:
        """The mask of a configuration, uint32 (W,), read-only; computed when it is first met."""
        mask = self._masks.get(state)
        if mask is None:
            if len(self._masks) >= self._most_masks:
                self._masks.clear()
            threads = self.network.threads[state]
            stored = self._stored
            if stored is not None and len(threads) == 1 and not stored.is_full:
                mask = stored.of_stack(*threads[0], self.network.stacks.entries)
            if mask is None:
                with _Making(self):
                    mask = self._made_row(state)
            self._masks[state] = mask
        return mask

    def _made_row(self, state: int) -> Words:
        if self.walks.is_full:
            self._masks.clear()
            self.walks.forget()
        threads = self.network.threads[state]
        rows = [self.walks.row(each, node) for each, node in threads if each != DEAD]
        if self._named and self._stored is None:
            rows += [self._named[each] for each in named_by(self.network, state, len(self._named))]
        if self.network.may_end(state):
            rows.append(self._eos)
        return self.walks.united(rows)


class _Making:
    """Inside it states of a machine are made, by one thread at a time. Where that is broken off, as
    by a limit, some are half made: nothing is looked up in them again, and new texts begin without.
    """

    def __init__(self, machine: MetMasks) -> None:
        self._machine = machine

    def __enter__(self) -> None:
        self._machine.lock.__enter__()
        if self._machine.broken_off is not None:
            self._machine.lock.__exit__(None, None, None)
            raise self._machine.broken_off
        self._machine.states.begin_turn()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, self._machine.harmless):
            self._machine.broken_off, self._machine.is_full = error, True
        self._machine.lock.__exit__(kind, error, traceback)


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
