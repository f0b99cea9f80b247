"""What is known by a key: what is found lazily, over what a file has.

A key is one integer. Those of a file ascend, and are found by bisection, so that nothing is decoded
when it is opened; where they are few, all are put into a dictionary then, which is faster.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

V = TypeVar("V")

# So many results become a dictionary in about two milliseconds.
_FEW = 4096


class Results(Generic[V]):
    """``keys``: of a file, int64 (A,), ascending. ``decode``: the value at a place of them.
    ``found``: by key, as far as it was needed or added."""

    def __init__(
        self, keys: NDArray[np.int64] | None = None, decode: Callable[[int], V] | None = None
    ) -> None:
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become;
        # and bisect has found one before numpy's search has begun.
        self._keys: Sequence[int] = () if keys is None else np.ascontiguousarray(keys).data
        self._decode = decode or _nothing
        self.forget()

    @property
    def added(self) -> int:
        """How many are in memory that were not there at first."""
        return len(self.found) - self._begun

    def forget(self) -> None:
        """Go back to those of the file."""
        self.found: dict[int, V] = {}
        if len(self._keys) <= _FEW:
            values = map(self._decode, range(len(self._keys)))
            self.found.update(zip(self._keys, values, strict=True))
        self._begun = len(self.found)

    def get(self, key: int) -> V | None:
        """The value of a key, if it was found or is in the file."""
        value = self.found.get(key)
        if value is None:
            place = bisect_left(self._keys, key)
            if place < len(self._keys) and self._keys[place] == key:
                value = self.found[key] = self._decode(place)
        return value


def _nothing(place: int) -> Any:
    raise IndexError(place)


def pair_at(pairs: NDArray[np.int32]) -> Callable[[int], tuple[int, int]]:
    """What gives row i of int32 (A, 2) as two integers."""
    flat: Sequence[int] = np.ascontiguousarray(pairs).reshape(-1).data

    def decode(place: int) -> tuple[int, int]:
        return flat[2 * place], flat[2 * place + 1]

    return decode
