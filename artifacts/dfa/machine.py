"""The machine of a regular grammar: an automaton over tokens, and a mask row for each state.

row(q)       the source of rows has it: in the file, unpacked or computed (``mask_rows``)
take(q, t)   the automaton's step, if bit t of row(q) is set; cached
"""

from typing import Protocol

from ..tokens import tokenset
from ..tokens.memo import BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from .mask_rows import Rows


class Automaton(Protocol):
    """A deterministic automaton whose letters are tokens."""

    @property
    def start(self) -> int:
        """The state before any token."""

    @property
    def states(self) -> int:
        """How many states there are, from 0 on."""

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the state's row holds."""

    def is_accepting(self, state: int) -> bool:
        """Whether the text may end here."""


class DfaMachine:
    """The machine of ``automaton`` with the rows of ``rows``. Threads share it without a lock: rows
    are in the file, or computed from it alone and cached."""

    is_full = False

    def __init__(self, automaton: Automaton, rows: Rows, steps: CacheBudget) -> None:
        """``steps``: what the cache of steps may hold."""
        self.start = automaton.start
        self.is_accepting, self._step = automaton.is_accepting, automaton.step
        self.row, self._allows = rows.row, rows.allows
        self._steps: BoundedCache[tuple[int, int], int] = steps.cache()
        self._cached = self._steps.get

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the row of ``state`` lacks it."""
        key = state, token_id
        target = self._cached(key)
        if target is None and self._allows(state, token_id):
            target = self._steps.keep(key, self._step(state, token_id))
        return target


class DfaBehindPrompt:
    """The same with another row, ``first_row``, at the start: a subset of the start's own.

    Its start is a new state; what that one takes leads into the states of ``automaton``.
    """

    is_full = False

    def __init__(self, automaton: Automaton, rows: Rows, first_row: Words) -> None:
        self._automaton, self._rows, self._first_row = automaton, rows, first_row
        self.start = automaton.states

    def row(self, state: int) -> Words:
        """The allowed tokens, uint32 (W,), read-only."""
        return self._first_row if state == self.start else self._rows.row(state)

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the row of ``state`` lacks it."""
        if not tokenset.contains(self.row(state), token_id):
            return None
        return self._automaton.step(self._inner(state), token_id)

    def is_accepting(self, state: int) -> bool:
        """Whether the text may end here."""
        return self._automaton.is_accepting(self._inner(state))

    def _inner(self, state: int) -> int:
        return self._automaton.start if state == self.start else state
