"""Many masks at once, as servers keep them: one row a text, bit i % 32 of word i // 32."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .arguments import shared
from .tokenset import Words


class Masked(Protocol):
    """What has a mask, as a matcher does."""

    def mask(self) -> Words:
        """The allowed tokens: uint32 (ceil(V / 32),)."""


def bitmask_of(rows: NDArray[Any], words: int, count: int) -> NDArray[np.uint32]:
    """``rows`` as uint32, which they share their memory with.

    Raises ``ValueError`` unless they are at least ``count`` rows, int32 or uint32, of at least
    ``words`` words.
    """
    rows = shared(rows, "fill")
    fits = rows.ndim == 2 and len(rows) >= count and rows.shape[1] >= words
    if not fits or rows.dtype not in (np.int32, np.uint32):
        raise ValueError(
            f"fill needs int32 or uint32 rows, {count} of at least {words} words, "
            f"not {rows.dtype} {rows.shape}"
        )
    return rows.view(np.uint32)


def put(row: NDArray[np.uint32], mask: Words) -> None:
    """Copy a mask into a row that is as long or longer, whose tail is cleared."""
    row[: len(mask)] = mask
    if len(row) > len(mask):
        row[len(mask) :] = 0


def fill_many(
    matchers: Sequence[Masked], rows: NDArray[Any], indices: Iterable[int] | None = None
) -> None:
    """Copy the mask of each matcher into its row, ``rows[indices[i]]``, by default ``rows[i]``.

    ``rows``: int32 or uint32 (B, n), n at least ceil(V / 32) of each matcher's vocabulary; tails
    are cleared, other rows stay. Costs a lookup and a copy a row. Raises ``ValueError`` on another
    shape or dtype, and for an index that no row has, before anything is written.
    """
    places = range(len(matchers)) if indices is None else [int(i) for i in indices]
    if len(places) != len(matchers):
        raise ValueError(f"{len(matchers)} matchers need as many indices, not {len(places)}")
    count = max(places, default=-1) + 1
    if min(places, default=0) < 0:
        raise ValueError("a row's index is at least 0")
    masks = [matcher.mask() for matcher in matchers]
    widest = max(map(len, masks), default=0)
    target = bitmask_of(rows, widest, count)
    for place, mask in zip(places, masks, strict=True):
        put(target[place], mask)
