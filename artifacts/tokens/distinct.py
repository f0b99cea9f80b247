"""The different values of arrays. ``np.unique`` imports ``numpy.ma`` when it is first called, which
takes longer than to load an artifact."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Number = TypeVar("_Number", bound=np.integer)


def distinct(values: NDArray[_Number]) -> NDArray[_Number]:
    """The different values, ascending."""
    ordered = np.sort(values)
    return ordered[_begins(ordered)]


def first_places(values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where the different values, ascending, stand first, int64."""
    order = np.argsort(values, kind="stable")
    return order[_begins(values[order])]


def _begins(ordered: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Where another value begins."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins
