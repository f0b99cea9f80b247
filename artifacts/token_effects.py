"""What every token does in every state of a network, worked out ahead of time, as arrays.

Tokens that do the same in all states are one *class*. The *effect* of a class in a state says
what a token makes of a thread there, whatever its stack is: the threads inside the call that the
state is in, with the frames that they push; and, where the call ends before the token does, the
*rests* of the token that the frame below reads. Rests that do the same in all frames are one, too,
and what they do there are effects again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TokenEffects:
    """For V tokens in K classes, S states, F frames, R rests, and E effects of their own.

    ``classes``: uint16 (V,). ``table``: uint16 (S, K), effects by state and class: 0 is none, a
    state stands for one thread in it that pushes nothing, S + r for rest r alone, S + R + e for
    effect e, S + R + E for one that is not known: such tokens have to be read. ``rests``: uint16
    (R, F), what each does in the frames, which ascend. ``codes``: int32, those of effect e begin
    at ``code_offsets[e]`` (int64 (E + 1,)): for each thread the frames that it pushes, the lowest
    first, as -frame, and its state; for each rest r, S + r; no effect has one code alone.
    """

    classes: NDArray[np.uint16]
    table: NDArray[np.uint16]
    rests: NDArray[np.uint16]
    codes: NDArray[np.int32]
    code_offsets: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        classes: NDArray[np.uint16],
        table: NDArray[np.uint16],
        rests: NDArray[np.uint16],
        effects: Sequence[Sequence[int]],
    ) -> "TokenEffects":
        """Lay effects out, given by their codes."""
        codes = [code for effect in effects for code in effect]
        ends = np.cumsum([0, *map(len, effects)]).astype(np.int64)
        return cls(classes, table, rests, np.array(codes, dtype=np.int32), ends)

    @classmethod
    def empty(cls) -> "TokenEffects":
        """Nothing is worked out."""
        none = np.zeros((0, 0), dtype=np.uint16)
        return cls.of(none[0:0].reshape(0), none, none, [])

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "TokenEffects":
        """The sections of an artifact."""
        return cls(*(arrays[f"moves.{name}"] for name in cls.__dataclass_fields__))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {f"moves.{name}": getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def __len__(self) -> int:
        """The number of effects that have a number of their own."""
        return len(self.code_offsets) - 1
