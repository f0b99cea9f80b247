"""A machine of canonical masks whose tokens are texts and sentinels, as one of real tokens.

    mask = texts of the inner mask, those of its twins, and the tokens of each terminal whose
           sentinel it holds

A token may be both, the next piece of a text and a terminal: then the machine is in two states of
the inner one. So a state is a state of the inner machine, or a set of some.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens import tokenset
from ..tokens.interning import FEWEST_BYTES, Stepped
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget, Numbered
from ..tokens.tokenset import Words
from ..tokens.vocabulary import TokenClasses, Vocabulary

# How a budget is divided: masks, steps.
_MASKS, _STEPS = 3, 1


class Inner(Stepped, Protocol):
    """A machine of canonical masks over texts and sentinels."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token, of those of sentinels too."""


M = TypeVar("M", bound=Inner)


class TokenTerminalMachine(Generic[M]):
    """Both the machine and the rows of a matcher.

    State 2s is state s of ``inner``; state 2n + 1 the n-th set of some. ``terminals``: the tokens
    of each terminal, whose sentinel tokens are ``first``, ``first + 1``, … of the inner machine;
    ``twinned``: int32, ascending, the tokens whose twins follow. ``vocab_size``: V, of the masks;
    ``caches``: of these and of steps.
    """

    def __init__(
        self,
        inner: M,
        terminals: TokenClasses,
        twinned: NDArray[np.int32],
        first: int,
        vocab_size: int,
        caches: CacheBudget,
    ) -> None:
        self.inner, self.first, self.vocab_size = inner, first, vocab_size
        self._words = tokenset.word_count(vocab_size)
        self._rows = [
            tokenset.from_ids(terminals.members(number), vocab_size)
            for number in range(len(terminals))
        ]
        self._named: Words = np.zeros(self._words, dtype=np.uint32)
        for row in self._rows:
            self._named |= row
        self._twinned, self._first_twin = twinned, first + len(terminals)
        # Tokens that may be read in more than one way.
        self._several = self._named | tokenset.from_ids(twinned, vocab_size)
        masks, steps = caches.divide(_MASKS, _STEPS)
        self._masks: BoundedCache[int, Words] = masks.cache(4 * self._words + ENTRY_BYTES)
        self._steps: BoundedCache[tuple[int, int], int] = steps.cache()
        # Read without the lock, as nothing is ever taken out.
        self._sets = Numbered[tuple[int, ...]]()
        self._most_sets = max(FEWEST_BYTES, caches.limit) // (2 * ENTRY_BYTES)

    @property
    def is_full(self) -> bool:
        """Whether it has interned as much as it may."""
        return self.inner.is_full or len(self._sets) > self._most_sets

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return 2 * self.inner.start

    @contextmanager
    def reading_again(self) -> Iterator[None]:
        """Inside it a matcher reads the tokens that it has taken."""
        with self.inner.reading_again():
            before = len(self._sets)
            yield
            self._most_sets += 2 * (len(self._sets) - before)

    def state_after(self, after: Sequence[int]) -> int:
        """The state after a prompt. Raises ``ArtifactError`` if no member can follow it."""
        return 2 * self.inner.state_after(after)

    def members(self, state: int) -> tuple[int, ...]:
        """The states of ``inner`` that the tokens so far may have led to."""
        number, is_set = divmod(state, 2)
        return self._sets[number] if is_set else (number,)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return any(map(self.inner.is_accepting, self.members(state)))

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        cached = self._masks.get(state)
        if cached is None:
            cached = self._masks.keep(state, self._mask(self.members(state)))
        return cached

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        target = self._steps.get((state, token_id))
        if target is None and tokenset.contains(self.row(state), token_id):
            target = self.step(state, token_id)
        return target

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows.

        Raises ``ArtifactError`` if it leads nowhere (an unverified file).
        """
        target = self._steps.get((state, token_id))
        if target is None:
            found = self._stepped(self.members(state), token_id)
            target = self._steps.keep((state, token_id), self._state_of(found))
        return target

    def _stepped(self, members: tuple[int, ...], token_id: int) -> set[int]:
        inner = self.inner
        if not tokenset.contains(self._several, token_id) and len(members) == 1:
            return {inner.step(members[0], token_id)}
        is_text, found = inner.vocabulary.is_text(token_id), set[int]()
        place = int(np.searchsorted(self._twinned, token_id))
        has_twin = place < len(self._twinned) and self._twinned[place] == token_id
        texts = [token_id, self._first_twin + place][: is_text * (1 + has_twin)]
        for member in members:
            row = inner.row(member)
            found.update(inner.step(member, t) for t in texts if tokenset.contains(row, t))
            for terminal in self._terminals(row):
                if tokenset.contains(self._rows[terminal], token_id):
                    found.add(inner.step(member, self.first + terminal))
        if not found:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return found

    def _state_of(self, members: Iterable[int]) -> int:
        key = tuple(sorted(members))
        if len(key) == 1:
            return 2 * key[0]
        # Under the lock: what has a number has its place by then.
        with self.inner.lock:
            return 2 * self._sets.number(key) + 1

    def _mask(self, members: tuple[int, ...]) -> Words:
        rows = [self.inner.row(member) for member in members]
        terminals = {terminal for row in rows for terminal in self._terminals(row)}
        parts = [row[: self._words] for row in rows]
        parts += [self._rows[terminal] for terminal in sorted(terminals)]
        parts += [twins for row in rows if (twins := self._twins(row)) is not None]
        found: Words = parts[0]
        for part in parts[1:]:
            found = found | part
        if not tokenset.is_within(found, self.vocab_size):
            raise ArtifactError("damaged artifact: a mask allows what is no token")
        found.flags.writeable = False
        return found

    def _terminals(self, row: Words) -> list[int]:
        """The terminals whose sentinels a row of the inner machine holds."""
        held = int(row[self._words])
        return [number for number in range(len(self._rows)) if held >> number & 1]

    def _twins(self, row: Words) -> Words | None:
        """The tokens whose twins a row of the inner machine holds; None for none."""
        if not len(self._twinned):
            return None
        places = tokenset.to_ids(row[self._words :]) - len(self._rows)
        return tokenset.from_ids(self._twinned[places[places >= 0]], self.vocab_size)
