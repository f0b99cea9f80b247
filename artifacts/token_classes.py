"""Classes of tokens that an automaton reads as tokens, whatever their bytes are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TokenClasses:
    """T disjoint sets of token ids, one for each symbol of a byte DFA behind its bytes.

    ``ids``: int32 (n,), ascending within a class. ``offsets``: int64 (T + 1,), class k is
    ``ids[offsets[k]:offsets[k + 1]]``.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, classes: Sequence[Sequence[int] | NDArray[np.integer]] = ()) -> "TokenClasses":
        """Lay out classes, each given by its ids, ascending."""
        parts = [np.asarray(ids, dtype=np.int32) for ids in classes]
        ends = np.cumsum([0, *map(len, parts)])
        ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        return cls(ids, ends.astype(np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many ids each class has, shape (T,)."""
        return np.diff(self.offsets)

    def members(self, number: int) -> NDArray[np.int32]:
        """The ids of one class."""
        return self.ids[int(self.offsets[number]) : int(self.offsets[number + 1])]

    def select(self, values: NDArray[np.generic]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of the classes with a ``values`` (T,) that is not 0, and that value of each."""
        each = np.repeat(values.astype(np.int64), self.sizes)
        return self.ids[each != 0], each[each != 0]

    def class_of(self, vocab_size: int) -> NDArray[np.int32]:
        """The class of each token, shape (V,); -1 for none."""
        found = np.full(vocab_size, -1, dtype=np.int32)
        found[self.ids] = np.repeat(np.arange(len(self), dtype=np.int32), self.sizes)
        return found
