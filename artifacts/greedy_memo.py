"""Residuals of longest matches that were worked out ahead of time, as arrays.

Answers are looked up in sorted keys as they are asked for: nothing is unpacked when a file is
opened.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block_rows import BlockRows
from .errors import ArtifactError

_PREFIX = "greedy."

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class GreedyMemo:
    """What ``GreedyMasks`` begins with; numbers mean what they mean there.

    ``codes``, ``blocks``, ``block_offsets``: the rows (``BlockRows``), row 0 empty. Lists of
    lists are laid end to end, the i-th from ``…_offsets[i]`` on (int64). ``stacks``: int32
    (·, 2), (frame, rest) of each node. ``heads``: int32 (·, 2), (state, node) of each head.
    ``lexer``: int32, the automata's states in each state of the lexer, and ``steps``: int32
    (·, C), where each byte column leads from it. ``exits``: int32, trie nodes of each set of
    exits. Residual i has row ``known[i]`` (int32) and the (head, exits) ``pending``, int32
    (·, 2). ``firsts``: int32 (·, 4), exits, head and state of the lexer (-1 between lexemes),
    and the residual; ``feeds``: int32 (·, 3), residual, frame, and residual; both ascending.
    """

    codes: NDArray[np.uint16]
    blocks: NDArray[np.uint32]
    block_offsets: NDArray[np.int64]
    stacks: NDArray[np.int32]
    stacks_offsets: NDArray[np.int64]
    heads: NDArray[np.int32]
    heads_offsets: NDArray[np.int64]
    lexer: NDArray[np.int32]
    lexer_offsets: NDArray[np.int64]
    steps: NDArray[np.int32]
    exits: NDArray[np.int32]
    exits_offsets: NDArray[np.int64]
    known: NDArray[np.int32]
    pending: NDArray[np.int32]
    pending_offsets: NDArray[np.int64]
    firsts: NDArray[np.int32]
    feeds: NDArray[np.int32]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "GreedyMemo":
        """The sections of an artifact."""
        return cls(**{field.name: arrays[_PREFIX + field.name] for field in fields(cls)})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {_PREFIX + field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def rows(self) -> BlockRows:
        """The rows."""
        return BlockRows(self.codes, self.blocks, self.block_offsets)

    @property
    def lexer_sets(self) -> list[tuple[int, ...]]:
        """The automata's states in each state of the lexer."""
        return [tuple(self.lexer[a:b].tolist()) for a, b in pairwise(self.lexer_offsets.tolist())]

    def residual(self, number: int) -> tuple[int, Pairs]:
        """The row of a residual, and what is pending in it."""
        first, end = self.pending_offsets[number : number + 2].tolist()
        return int(self.known[number]), tuple(map(tuple, self.pending[first:end].tolist()))

    def find(self, key: tuple[int, ...]) -> int | None:
        """The answer to (exits, head, state of the lexer) or (residual, frame), if it is here.

        By halving, row by row: most of the keys are never looked at. Raises ``ArtifactError``
        for an answer that is no residual (an unverified file).
        """
        table = self.firsts if len(key) == 3 else self.feeds
        place = bisect_left(range(len(table)), key, key=lambda i: tuple(table[i, :-1].tolist()))
        if place == len(table) or tuple(table[place, :-1].tolist()) != key:
            return None
        answer = int(table[place, -1])
        if not 0 <= answer < len(self.known):
            name = "firsts" if len(key) == 3 else "feeds"
            raise ArtifactError(f"section 'greedy.{name}' is damaged: it does not fit the others")
        return answer


def laid_out(lists: Iterable[Sequence[Any]], width: int = 0) -> tuple[Any, NDArray[np.int64]]:
    """Lists end to end, int32 (·,) or (·, width), and where each begins.

    ``[[1, 2], [], [3]] -> [1, 2, 3], [0, 2, 2, 3]``
    """
    found = list(lists)
    flat = [entry for inner in found for entry in inner]
    shape = (-1, width) if width else (-1,)
    values = np.array(flat, dtype=np.int32).reshape(shape)
    return values, np.cumsum([0, *map(len, found)]).astype(np.int64)


def pairs_of(values: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[Pairs]:
    """The lists of pairs that were laid out."""
    flat = list(map(tuple, values.tolist()))
    return [tuple(flat[a:b]) for a, b in pairwise(offsets.tolist())]
