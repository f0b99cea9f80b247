"""Tokens that end inside a character of which a normal-form DFA may forbid some ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays, check_types, require, require_offsets, require_range

_PREFIX = "split."

# Sections: dtype and number of axes.
_TYPES = {
    "split.between": ("i4", 1),
    "split.offsets": ("i8", 1),
    "split.sets": ("u1", 2),
    "split.tails": ("i4", 1),
    "split.tokens": ("i4", 1),
}


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

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "SplitCharacters":
        """The sections of an artifact."""
        tails, tokens, offsets, sets = (
            arrays[_PREFIX + name] for name in ("tails", "tokens", "offsets", "sets")
        )
        return cls(tails, tokens, offsets, sets.astype(np.bool_))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {
            _PREFIX + "offsets": self.offsets,
            _PREFIX + "sets": self.sets.astype(np.uint8),
            _PREFIX + "tails": self.tails,
            _PREFIX + "tokens": self.tokens,
        }

    def sets_of(self, place: int) -> NDArray[np.bool_]:
        """The sets of a token by its place."""
        return self.sets[int(self.offsets[place]) : int(self.offsets[place + 1])]


def check_split_characters(arrays: Arrays, vocab_size: int) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit. ``split.between``: states
    of the normal-form DFA below it lie between two characters."""
    check_types(arrays, _TYPES)
    require(len(arrays["split.between"]) == 1, "split.between")
    require_range(arrays, "split.between", 1, len(arrays["stable.table"]) + 1)
    sets, tokens = arrays["split.sets"], arrays["split.tokens"]
    require(sets.shape[1] == len(arrays["split.tails"]), "split.sets")
    require_offsets(arrays, "split.offsets", len(tokens), len(sets))
    for name in ("split.tails", "split.tokens"):
        require_range(arrays, name, 0, vocab_size)
    require(bool((tokens[1:] > tokens[:-1]).all()), "split.tokens")
