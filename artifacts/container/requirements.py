"""What a section must be like: the checks that all rooms share. Each raises ``ArtifactError``
that names the section."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


def check_types(arrays: Arrays, wanted: Mapping[str, tuple[str, int]]) -> None:
    """All sections are there, with the dtype and the number of axes wanted."""
    for name, (dtype, axes) in wanted.items():
        if name not in arrays:
            raise ArtifactError(f"section {name!r} is missing")
        array = arrays[name]
        require(array.dtype == np.dtype("<" + dtype) and array.ndim == axes, name)


def require(condition: bool, name: str) -> None:
    """A condition on section ``name``."""
    if not condition:
        raise ArtifactError(f"section {name!r} is damaged: it does not fit the others")


def require_range(arrays: Arrays, name: str, low: int, high: int) -> None:
    """All values lie from ``low`` to below ``high``."""
    values = arrays[name]
    if not values.size:
        return
    if low == 0:
        # As an unsigned number one below zero is larger than all others: one pass is enough.
        require(int(values.view(f"u{values.itemsize}").max()) < high, name)
    else:
        require(int(values.min()) >= low and int(values.max()) < high, name)


def require_offsets(arrays: Arrays, name: str, rows: int, end: int) -> None:
    """Ascending from 0 to ``end``, one more than ``rows``."""
    offsets = arrays[name]
    require(
        len(offsets) == rows + 1
        and int(offsets[0]) == 0
        and int(offsets[-1]) == end
        and bool((offsets[1:] >= offsets[:-1]).all()),
        name,
    )


def is_acyclic(size: int, sources: NDArray[np.integer], targets: NDArray[np.integer]) -> bool:
    """Whether the graph of ``size`` nodes with the edges ``sources[i] -> targets[i]`` has no cycle.

    Edges into nodes that none leaves are taken away, round by round.
    """
    while len(sources):
        going_on = np.zeros(size, dtype=np.bool_)
        going_on[sources] = True
        left = going_on[targets]
        if left.all():
            return False
        sources, targets = sources[left], targets[left]
    return True
