"""Residuals of longest matches that were worked out ahead of time, as arrays.

Answers are looked up in sorted keys as they are asked for: nothing is unpacked when a file is
opened.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block_rows import BlockRows

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

    def find(self, key: Sequence[int]) -> int | None:
        """The answer to (exits, head, state of the lexer) or (residual, frame), if it is here."""
        table, keys, highest = self._firsts if len(key) == 3 else self._feeds
        if any(part > most for part, most in zip(key, highest, strict=True)):
            return None
        wanted = _joined(key, highest)
        place = int(keys.searchsorted(wanted))
        if place == len(keys) or int(keys[place]) != wanted:
            return None
        return int(table[place, -1])

    @cached_property
    def _firsts(self) -> tuple[NDArray[np.int32], NDArray[np.int64], list[int]]:
        return _keyed(self.firsts)

    @cached_property
    def _feeds(self) -> tuple[NDArray[np.int32], NDArray[np.int64], list[int]]:
        return _keyed(self.feeds)


def _keyed(table: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64], list[int]]:
    """A table, one integer for the key in each row, and the highest value of each key column."""
    keys = table[:, :-1].astype(np.int64)
    highest: list[int] = keys.max(axis=0).tolist() if len(keys) else [-1] * keys.shape[1]
    return table, _joined(keys.T, highest), highest


def _joined(key: Any, highest: Sequence[int]) -> Any:
    """Mixed radix, for keys from -1 on; arrays or integers alike."""
    joined = key[0] + 1
    for part, most in zip(key[1:], highest[1:], strict=True):
        joined = joined * (most + 2) + part + 1
    return joined


def is_ascending(table: NDArray[np.int32]) -> bool:
    """Whether the keys of ``firsts`` or ``feeds`` ascend, each once."""
    keys = _keyed(table)[1]
    return bool((keys[1:] > keys[:-1]).all())


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
