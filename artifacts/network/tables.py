"""A recursive transition network: one automaton over bytes whose states may call others.

How a state of a network reads a symbol before it returns: by itself, or in its first calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

DEAD = 0


@dataclass(frozen=True, eq=False)
class NetworkTables:
    """A configuration is a state and a stack of states to return to.

    ``table``: int32 (S, C + T), next state by byte class or token terminal, ``DEAD`` for
    none. ``classes``: uint8 (256,). ``accepting``: uint8 (S,), whether the call (or the text)
    may end there. The calls of state s are ``call_offsets[s]`` to ``call_offsets[s + 1] - 1``
    (int64 (S + 1,)): ``call_starts`` int32, the state that the callee starts in, and
    ``call_returns`` int32, the frame to push. No callee matches ε. ``start``: a state.
    ``nullable_start``: ε is a member. For people, ``names``: the rules that are called, the
    start's first, and ``entries``: int32, the state that each of them starts in.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    accepting: NDArray[np.uint8]
    call_offsets: NDArray[np.int64]
    call_starts: NDArray[np.int32]
    call_returns: NDArray[np.int32]
    start: int
    nullable_start: bool
    names: Sequence[str]
    entries: NDArray[np.int32]

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)

    @property
    def terminals(self) -> int:
        """Number of token terminals, T."""
        return int(self.table.shape[1]) - int(self.classes.max()) - 1

    @cached_property
    def frames(self) -> NDArray[np.int32]:
        """The frames that calls push, each once, ascending."""
        return np.unique(self.call_returns)

    @cached_property
    def calls(self) -> list[list[tuple[int, int]]]:
        """For each state its (start, frame)."""
        pairs = list(zip(self.call_starts.tolist(), self.call_returns.tolist(), strict=True))
        ends = self.call_offsets.tolist()
        return [pairs[a:b] for a, b in pairwise(ends)]

    @cached_property
    def rows(self) -> list[list[int]]:
        """The table by byte (and terminals behind them), as lists."""
        columns = int(self.classes.max()) + 1
        terminals = self.table[:, columns:]
        whole = np.concatenate((self.table[:, self.classes], terminals), axis=1)
        rows: list[list[int]] = whole.tolist()
        return rows

    @cached_property
    def ends(self) -> list[bool]:
        """Whether each state may end its call."""
        ends: list[bool] = (self.accepting != 0).tolist()
        return ends


# (target, the frames that were pushed on the way, the lowest first)
FirstMove = tuple[int, tuple[int, ...]]


class FirstTransitions:
    """Worked out once for each state and symbol that comes about.

    ``plain[s]``: state s has no calls and does not end one: its own edges are all its moves.
    """

    def __init__(self, tables: NetworkTables) -> None:
        self._rows, self._calls = tables.rows, tables.calls
        self.plain = [
            not calls and not ends for calls, ends in zip(tables.calls, tables.ends, strict=True)
        ]
        self._known: list[dict[int, tuple[FirstMove, ...]]] = [{} for _ in self.plain]

    def of(self, state: int, symbol: int) -> tuple[FirstMove, ...]:
        """The moves. No chain of first calls leads back to its beginning, so this ends."""
        known = self._known[state].get(symbol)
        if known is None:
            found = []
            pending: list[FirstMove] = [(state, ())]
            for reached, frames in pending:
                target = self._rows[reached][symbol]
                if target != DEAD:
                    found.append((target, frames))
                pending.extend((start, (*frames, frame)) for start, frame in self._calls[reached])
            known = self._known[state][symbol] = tuple(found)
        return known
