"""Frontiers of walks through the token trie: arrays of its nodes that are expanded at once."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def ranges(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int32]:
    """``starts=[3, 9], counts=[2, 1] -> [3, 4, 9]``"""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    expanded = np.repeat((starts - (ends - counts)).astype(np.int32), counts)
    expanded += np.arange(total, dtype=np.int32)
    return expanded


def expand(
    rows: NDArray[np.int32], starts: NDArray[np.int32], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Repeat each row ``counts`` times beside the indices ``starts, starts + 1, …``.

    ``rows=[7, 8], starts=[3, 9], counts=[2, 1] -> [7, 7, 8], [3, 4, 9]``
    """
    return np.repeat(rows, counts), ranges(starts, counts)


def grouped(
    found: Iterable[tuple[NDArray[np.int32], NDArray[np.integer]]],
) -> list[tuple[int, NDArray[np.int32]]]:
    """Values by key, both ascending, out of (values, keys) arrays; all from 0 on, keys below 2^31.

    ``[([5, 2], [7, 7]), ([1], [3])] -> [(3, [1]), (7, [2, 5])]``
    """
    parts = list(found)
    if not parts:
        return []
    values = np.concatenate([v for v, _ in parts])
    keys = np.concatenate([k for _, k in parts])
    # Both in one number sort several times faster than by two keys.
    both = np.sort(keys.astype(np.int64) << 32 | values)
    values, keys = (both & 0xFFFFFFFF).astype(np.int32), both >> 32
    cuts = np.flatnonzero(np.diff(keys)) + 1
    heads = keys[np.append(0, cuts)].tolist()
    return list(zip(heads, np.split(values, cuts), strict=True))
