"""The matcher: follows one text token by token and says what may come next.

It steps one object, the machine of the artifact's kind. Every machine has the protocol
``Machine``; what differs from kind to kind is behind it.

    matcher.mask()      machine.row(state)
    matcher.advance(t)  state = machine.take(state, t)

A machine that interns is replaced when it is full (``tokens/interning.py``): its *generation* ends.
Then each matcher begins again on the next machine and reads the tokens that it has taken.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .errors import TokenRefusedError
from .tokens import tokenset
from .tokens.tokenset import Words

_FINISHED = -1


class Machine(Protocol):
    """An automaton over whole tokens. States are integers from 0; those that ``start`` and
    ``take`` have given are valid as long as the machine lives.

    ``row`` and ``take`` agree: where ``row(state)`` holds a token, ``take(state, token_id)`` is a
    state, and else None. A token of EOS is in the row of every accepting state, where the matcher
    ends the text by it and does not ask the machine; elsewhere it is a token like others.
    A machine tests the bit of its row, or reads the token where that takes less time.
    Both raise ``ArtifactError`` where they meet damage that no check of the file could find.

    Threads may share a machine. ``is_full``: it has interned as much as it may, so that matchers
    should go on to the next one.
    """

    @property
    def is_full(self) -> bool:
        """Never, where nothing is interned."""

    @property
    def start(self) -> int:
        """The state before any token."""

    def row(self, state: int) -> Words:
        """The tokens that may come next: uint32 (ceil(V / 32),), read-only."""

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token, which may be any integer; None if it may not come next."""

    def is_accepting(self, state: int) -> bool:
        """Whether the text may end here."""


class Interning(Machine, Protocol):
    """A machine that may be full."""

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the row of ``state`` holds; no row is computed."""

    def reading_again(self) -> AbstractContextManager[None]:
        """Inside it a matcher reads the tokens that it has taken."""


class Generation:
    """The time of one machine. ``machine``: None when it has ended, so that matchers that stand
    still hold nothing of it."""

    __slots__ = ("__weakref__", "machine")

    def __init__(self, machine: Machine) -> None:
        self.machine: Machine | None = machine


class Begun(NamedTuple):
    """Where a text begins: ``state`` of ``machine``, which ``generation`` holds until it ends."""

    generation: Generation
    machine: Machine
    state: int


class Matcher:
    """Follows one text. Made by ``Artifact.matcher``. Matchers of one artifact may each be used by
    another thread; one matcher is used by one thread at a time.

    It holds a state and a token for each token taken, and nothing else that grows.

    ``begin``: where the text begins, on the machine of now. ``vocab_size``: V.
    """

    __slots__ = ("_begin", "_eos", "_eos_row", "_generation", "_states", "_tokens", "_vocab_size")

    def __init__(self, begin: Callable[[], Begun], eos: Sequence[int], vocab_size: int) -> None:
        self._begin = begin
        self._eos = frozenset(eos)
        self._vocab_size = vocab_size
        self._eos_row = tokenset.from_ids(list(eos), vocab_size)
        self._eos_row.flags.writeable = False
        self._generation, _, start = begin()
        self._states = [start]
        self._tokens: list[int] = []

    def mask(self) -> Words:
        """The allowed tokens: read-only uint32 (ceil(V / 32),), bit i % 32 of word i // 32.

        The EOS bits are set where the match may end; after EOS they alone are. The array
        never changes once it has been returned.
        """
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        state = self._states[-1]
        return self._eos_row if state == _FINISHED else machine.row(state)

    def fill(self, row: NDArray[Any]) -> None:
        """Copy the mask into ``row``, int32 or uint32 (n,) with n at least ceil(V / 32).

        A longer row's tail is cleared. Raises ``ValueError`` on another shape or dtype.
        """
        mask = self.mask()
        if row.dtype is mask.dtype and row.shape == mask.shape:
            row[...] = mask
            return
        if row.ndim != 1 or row.dtype not in (np.int32, np.uint32) or len(row) < len(mask):
            raise ValueError(
                f"fill needs an int32 or uint32 row of at least {len(mask)} words, "
                f"not {row.dtype} {row.shape}"
            )
        if len(row) > len(mask):
            row[len(mask) :] = 0
            row = row[: len(mask)]
        row[:] = mask.view(row.dtype)

    def apply(self, logits: NDArray[Any]) -> None:
        """Set the logits of disallowed tokens to -inf, in place.

        ``logits``: floating, last axis at least V; entries past the vocabulary are
        disallowed too. Raises ``ValueError`` on another shape or dtype.
        """
        if logits.ndim < 1 or logits.dtype.kind != "f" or logits.shape[-1] < self._vocab_size:
            raise ValueError(
                f"apply needs floating logits with at least {self._vocab_size} entries in the "
                f"last axis, not {logits.dtype} {logits.shape}"
            )
        allowed = tokenset.to_flags(self.mask())[: self._vocab_size]
        inside = logits[..., : self._vocab_size]
        np.copyto(inside, -np.inf, where=~allowed)
        logits[..., self._vocab_size :] = -np.inf

    def advance(self, token_id: int) -> None:
        """Take a token. One that the mask does not allow raises ``TokenRefusedError``
        and changes nothing.

        EOS ends the match where it may end; elsewhere it is what the grammar has there, a text
        or a token that it names.
        """
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        state = self._states[-1]
        if token_id in self._eos and (state == _FINISHED or machine.is_accepting(state)):
            target: int | None = _FINISHED
        else:
            target = None if state == _FINISHED else machine.take(state, token_id)
        if target is None:
            raise TokenRefusedError(token_id, self._reason())
        self._states.append(target)
        self._tokens.append(token_id)
        if machine.is_full:
            self._moved()

    def rollback(self, count: int) -> None:
        """Take back the last ``count`` tokens. Raises ``ValueError`` if there are fewer."""
        if not 0 <= count < len(self._states):
            raise ValueError(f"cannot take back {count} tokens: {len(self._states) - 1} were taken")
        del self._states[len(self._states) - count :]
        del self._tokens[len(self._tokens) - count :]

    @property
    def is_accepting(self) -> bool:
        """Whether the match may end here."""
        machine = self._generation.machine
        if machine is None:
            machine = self._moved()
        return self.is_finished or machine.is_accepting(self._states[-1])

    @property
    def is_finished(self) -> bool:
        """Whether EOS was taken."""
        return self._states[-1] == _FINISHED

    def forced_tokens(self, limit: int = 1024) -> list[int]:
        """The tokens that must come next, while each mask holds a single one.

        At most ``limit`` of them; EOS that ends the match is not among them. The matcher does
        not move.
        """
        forced: list[int] = []
        try:
            while len(forced) < limit:
                allowed = tokenset.to_ids(self.mask())
                if len(allowed) != 1 or self.is_accepting:
                    break
                self.advance(int(allowed[0]))
                forced.append(int(allowed[0]))
        finally:
            self.rollback(len(forced))
        return forced

    def _moved(self) -> Machine:
        """The machine of now, on which the tokens have been read again."""
        generation, machine, state = self._begin()
        states = [state]
        # No other machine is ever full.
        interning = cast(Interning, machine)
        with interning.reading_again():
            for token_id, before in zip(self._tokens, self._states[1:], strict=True):
                state = _FINISHED if before == _FINISHED else interning.step(state, token_id)
                states.append(state)
        self._generation, self._states = generation, states
        return machine

    def _reason(self) -> str:
        if self.is_finished:
            return "the match has ended"
        taken = len(self._states) - 1
        return f"no member of the grammar continues so after {taken} token{'s' * (taken != 1)}"
