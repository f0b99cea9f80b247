"""Machines that number what texts lead to, shared by the matchers of all threads.

A matcher holds such numbers, its states; so they cannot be evicted one by one. A machine that has
interned as much as it may is *full*: the next one takes its place
(``artifacts/kinds/generations.py``), and each matcher reads its tokens again there
(``matcher.py``).

    interned by texts      counted by the machine; when it is full, the next one begins without
    found for any text     rows, summaries, walks: evicted in place, or handed on to the next one

A machine has the lock of its artifact. Under it are all steps and rows that are not known yet, and
whatever they add; what is known is read without it. So what is read without it is never changed
or removed, or else is a look-up in one dictionary whose values are no numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any, Protocol, TypeAlias

from ..errors import ArtifactError
from .memo import CacheBudget
from .tokenset import Words

# A reentrant lock.
Lock: TypeAlias = AbstractContextManager[Any]


class Stepped(Protocol):
    """What a machine around another one needs of it."""

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""

    @property
    def is_full(self) -> bool:
        """Whether it has met so much that the next text should have a machine of its own."""

    @property
    def lock(self) -> Lock:
        """Held while something is added."""

    def state_after(self, after: Sequence[int]) -> int:
        """The state after a prompt. Raises ``ArtifactError`` if no member can follow it."""

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows."""

    def row(self, state: int) -> Words:
        """The mask at a state, read-only."""

    def reading_again(self) -> AbstractContextManager[None]:
        """Inside it a matcher reads the tokens that it has taken."""


# A machine is not full before it has interned so many bytes, however small its budget is.
FEWEST_BYTES = 1 << 20


class InterningMachine(ABC):
    """``lock``: held while something is added. ``is_full``: whether the matchers that step it
    should go on to the next machine; looked at every few steps."""

    is_full: bool
    lock: Lock
    _most_interned: int

    def begin_interning(self, budget: CacheBudget, lock: Lock | None) -> None:
        """From here on up to ``budget`` may be added. ``lock``: the artifact's, if it has one."""
        self.lock = RLock() if lock is None else lock
        self.is_full = False
        self._most_interned = self.interned_bytes + max(budget.limit, FEWEST_BYTES)
        budget.holders.add(self)

    @property
    @abstractmethod
    def interned_bytes(self) -> int:
        """About what all takes that was interned and cannot be evicted."""

    @property
    def held_bytes(self) -> int:
        """The same, for the budget."""
        return self.interned_bytes

    @abstractmethod
    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token, or None if it may not come next."""

    def step(self, state: int, token_id: int) -> int:
        """The state after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.take(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def look(self) -> None:
        """Find out whether it is full."""
        self.is_full = self.interned_bytes > self._most_interned

    @contextmanager
    def reading_again(self) -> Iterator[None]:
        """Inside it a matcher reads the tokens that it has taken. What that adds is the matcher's,
        and does not count; and it may take as much again before it is next read."""
        with self.lock:
            before = self.interned_bytes
            yield
            self._most_interned += 2 * (self.interned_bytes - before)
            self.look()
