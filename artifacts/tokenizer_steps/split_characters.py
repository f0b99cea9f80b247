"""Tokens that end inside a character of which a normal-form DFA may forbid some ends."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class SplitCharacters:
    """``tails``: int32 (U,), the tokens that begin inside a character. ``tokens``: int32 (T,),
    the others that lead some state into a character of which not all ends are free. ``sets``:
    bool (n, U), the least sets of tails that lead to free states: for the token i those from
    ``offsets[i]`` to ``offsets[i + 1] - 1``, int64 (T + 1,).
    """

    tails: NDArray[np.int32]
    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    sets: NDArray[np.bool_]

    def sets_of(self, place: int) -> NDArray[np.bool_]:
        """The sets of a token by its place."""
        return self.sets[int(self.offsets[place]) : int(self.offsets[place + 1])]
