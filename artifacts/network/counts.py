"""Counted calls: frames that hold a number, so that A{m,n} needs no copies of A.

    s ::= '"' [a-z]{2,9} '"';

    state 2   calls 5, which reads one of [a-z], with the counter 0: at least 2, at most 9 items
              that begin in 5, then 3

A *counter* is the frame of such a call: which of the network's counters it is, and how many items
have begun (a counting automaton's register: Becchi and Crowley, Extending finite automata to
efficiently match Perl-compatible regular expressions, 2008; Turoňová et al., Regex matching with
counting-set automata, 2020). ``Counters.pops`` is the one place that says what a frame does where
the call on it ends; the frame of a plain call does one thing, it returns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# In place of a frame that is put back.
_NONE = 0

# In place of the most items: any number.
UNBOUNDED = -1

# Bits of what a counter may hold; beside the states of a network it must fit an int64.
MOST_ITEMS = 1 << 40


@dataclass(frozen=True, eq=False)
class Counters:
    """C counters of a network of ``states`` S.

    ``items``: int32 (C,), the state that each item starts in. ``least``, ``most``: int64 (C,), how
    many items there are, at least 1; ``UNBOUNDED`` for no most. ``backs``: int32 (C,), the state to
    go on in behind the last. No item matches ε.

    A frame is a state, to which it returns; or S + C * (k - 1) + c, counter c where k items have
    begun. Frames are equal where their futures are: the last item has the plain frame
    ``backs[c]``, and without a most k stays at the least.
    """

    states: int
    items: NDArray[np.int32]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    backs: NDArray[np.int32]

    @classmethod
    def from_arrays(cls, states: int, arrays: Mapping[str, NDArray[Any]]) -> "Counters":
        """The sections of an artifact."""
        return cls(states, *(arrays[f"count.{name}"] for name in _NAMES))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {f"count.{name}": getattr(self, name) for name in _NAMES}

    def __len__(self) -> int:
        """The number of counters, C."""
        return len(self.items)

    @cached_property
    def rows(self) -> list[tuple[int, int, int, int]]:
        """Of each counter (item, least, most, back)."""
        columns = (getattr(self, name).tolist() for name in _NAMES)
        return list(zip(*columns, strict=True))

    def frame(self, counter: int, begun: int) -> int:
        """The frame of a counter where so many items have begun, in the form of its future."""
        _, least, most, back = self.rows[counter]
        if most == UNBOUNDED:
            begun = min(begun, least)
        elif begun == most:
            return back
        return self.states + (begun - 1) * len(self) + counter

    def split(self, frame: int) -> tuple[int, int]:
        """The counter of a frame that is no state, and how many of its items have begun."""
        before, counter = divmod(frame - self.states, len(self))
        return counter, before + 1

    def pops(self, frame: int) -> list[tuple[int, int]]:
        """Where the call on a frame ends: the states to go on in, each with the frame that is put
        back, or 0 for none."""
        if frame < self.states:
            return [(frame, _NONE)]
        counter, begun = self.split(frame)
        item, least, _, back = self.rows[counter]
        # The last item has a plain frame, so that there may always be one more.
        found = [(item, self.frame(counter, begun + 1))]
        if begun >= least:
            found.append((back, _NONE))
        return found


_NAMES = ("items", "least", "most", "backs")
