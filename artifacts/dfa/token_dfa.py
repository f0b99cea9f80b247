"""The DFA over canonical token sequences that DirectMerge computes, and how it is stepped.

All states that are copies of one state q of the byte DFA form the *family* of q: a token leads all
members of a family that allow it to the same target. So targets are stored once for each family,
and a member adds only which of the family's tokens it allows, which is its mask row. A table of
33 million transitions fits in 20,000 targets and a few thousand rows that way.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError

# The sections ``tokens.*`` of the fields.
_NAMES = ("family", "accepting", "edge_offsets", "edge_tokens", "edge_targets")


@dataclass(frozen=True, eq=False)
class TokenDfa:
    """A deterministic automaton over token ids.

    ``family``: int32 (S,), the family of each state. ``accepting``:
    uint8 (S,). ``edge_offsets``: int64 (Q + 1,), the edges of family q are
    ``edge_offsets[q]`` to ``edge_offsets[q + 1] - 1`` of ``edge_tokens`` (int32, ascending
    within a family) and ``edge_targets`` (int32, states). ``start``: a state.
    """

    family: NDArray[np.int32]
    accepting: NDArray[np.uint8]
    edge_offsets: NDArray[np.int64]
    edge_tokens: NDArray[np.int32]
    edge_targets: NDArray[np.int32]
    start: int

    @classmethod
    def from_sections(cls, arrays: Mapping[str, NDArray[Any]], start: int) -> "TokenDfa":
        """The automaton in the sections ``tokens.*`` of an artifact."""
        return cls(start=start, **{name: arrays[f"tokens.{name}"] for name in _NAMES})

    def sections(self) -> dict[str, NDArray[Any]]:
        """``from_sections`` is the inverse."""
        return {f"tokens.{name}": getattr(self, name) for name in _NAMES}

    @property
    def states(self) -> int:
        """Number of states; there is no dead one, and all are co-accessible."""
        return len(self.family)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return bool(self._views[0][state])

    def edges_of(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Tokens and targets of the state's family, int32, allowed at this state or not."""
        q = int(self.family[state])
        span = slice(int(self.edge_offsets[q]), int(self.edge_offsets[q + 1]))
        return self.edge_tokens[span], self.edge_targets[span]

    @cached_property
    def _views(self) -> tuple[memoryview, ...]:
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        arrays = (
            self.accepting,
            self.family,
            self.edge_offsets,
            self.edge_tokens,
            self.edge_targets,
        )
        return tuple(np.ascontiguousarray(array).data for array in arrays)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows, by binary search in the family's edges.

        Raises ``ArtifactError`` if a mask row allowed a token without an edge (in a damaged file
        that was not verified).
        """
        _, family, offsets, tokens, targets = self._views
        q = family[state]
        high = offsets[q + 1]
        place = bisect_left(tokens, token_id, offsets[q], high)
        if place == high or tokens[place] != token_id:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but has no edge")
        target: int = targets[place]
        return target
