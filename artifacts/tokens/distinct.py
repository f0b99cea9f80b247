"""The different values of arrays. ``np.unique`` imports ``numpy.ma`` when it is first called, which
takes longer than to load an artifact."""

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

# Bits of what numpy sorts by counting.
_DIGIT = 16

_Number = TypeVar("_Number", bound=np.integer)


def distinct(values: NDArray[_Number]) -> NDArray[_Number]:
    """The different values, ascending."""
    ordered = np.sort(values)
    return ordered[_begins(ordered)]


def first_places(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where the different values, ascending, stand first, int64."""
    order = np.argsort(values, kind="stable")
    return order[_begins(values[order])]


def stable_order(*keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """``np.lexsort`` of numbers from 0 on: by the last of ``keys``, equal ones by those before.

    Sixteen bits at a time, for which numpy counts and does not compare: many times faster.
    """
    order: NDArray[np.int64] | None = None
    for key in keys:
        most = int(key.max(initial=0))
        for shift in range(0, max(most.bit_length(), 1), _DIGIT):
            digits = (key >> shift).astype(np.uint16)
            by_digit = np.argsort(digits if order is None else digits[order], kind="stable")
            order = by_digit if order is None else order[by_digit]
    assert order is not None
    return order


def numbered(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """The place of each of some numbers from 0 on among the different ones, ascending."""
    order, found = stable_order(values), np.empty(len(values), dtype=np.int64)
    found[order] = np.cumsum(_begins(values[order])) - 1
    return found


def numbered_keys(keys: Iterable[Hashable]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the different keys stand first, in that order, and of each key which of them it is.

    ``keys=["b", "a", "b"] -> [0, 1], [0, 1, 0]``
    """
    numbers: dict[Hashable, int] = {}
    found = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    first = np.empty(len(numbers), dtype=np.int64)
    # subtle: of several values for one place numpy keeps the last.
    first[found[::-1]] = np.arange(len(found))[::-1]
    return first, found


def row_keys(rows: NDArray[Any]) -> list[bytes]:
    """The bytes of each row of an array, (n, m) with m > 0."""
    packed, width = rows.tobytes(), rows.itemsize * rows.shape[1]
    return [packed[low : low + width] for low in range(0, len(packed), width)]


def numbered_rows(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``numbered_keys`` of the rows of an array, (n, m) with m > 0."""
    return numbered_keys(row_keys(rows))


def distinct_below(values: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """The different values, ascending, all below ``size``: by a place for each, without sorting."""
    met = np.zeros(size, dtype=np.bool_)
    met[values] = True
    return np.flatnonzero(met)


def numbered_below(
    values: NDArray[np.integer], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same, and the place of each value among them, int32."""
    found, places = distinct_below(values, size), np.zeros(size, dtype=np.int32)
    places[found] = np.arange(len(found), dtype=np.int32)
    return found, places.take(values)


def places_in(ordered: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.int64]:
    """``np.searchsorted`` of many values from 0 on, in their order, so that memory is read from one
    end to the other."""
    order, found = stable_order(values), np.empty(len(values), dtype=np.int64)
    found[order] = np.searchsorted(ordered, values[order])
    return found


def _begins(ordered: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Where another value begins."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins
