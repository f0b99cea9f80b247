"""Large tables of which most cells are 0, written by the others.

table      0 0 5 0     ->     table:shape 2 4     table:places 2 7     table:values 5 1
           0 0 0 1
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError

# Tables of so many bytes, of which at most one cell in so many is not 0, and one in so many at
# least: a small file does not become a large table.
_LARGE, _SPARSE, _SPARSEST = 1 << 20, 8, 1 << 10

# Bytes of all tables of a file together that are written by their cells: what a small file may ask
# for. Places are numbers of 32 bits.
_MOST_BYTES = 1 << 29

# Lists, and tables of few columns, are often made into Python's own objects: so few bytes of one.
_COLUMNS, _MOST_BYTES_OF_LIST = 8, 1 << 22

_SHAPE, _PLACES, _VALUES = ":shape", ":places", ":values"


def sparse_names(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """The arrays that are written by their cells that are not 0, as many as there is room for."""
    found, left = [], _MOST_BYTES
    for name, array in sorted(arrays.items()):
        if _is_sparse(array) and array.nbytes <= left:
            found.append(name)
            left -= array.nbytes
    return found


def _is_sparse(array: NDArray[Any]) -> bool:
    most = _most_bytes(array.shape)
    if array.dtype != np.int32 or not _LARGE <= array.nbytes <= most or array.ndim > 3:
        return False
    return _is_between(int(np.count_nonzero(array)), array.size)


def _most_bytes(shape: Sequence[int]) -> int:
    return _MOST_BYTES if prod(shape[1:]) >= _COLUMNS else _MOST_BYTES_OF_LIST


def _is_between(filled: int, cells: int) -> bool:
    return _SPARSE * filled <= cells <= _SPARSEST * filled


def filled_cells(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The sections of a table, by its cells that are not 0."""
    places = np.flatnonzero(array)
    return {
        name + _SHAPE: np.array(array.shape, dtype=np.int64),
        name + _PLACES: places.astype(np.uint32),
        name + _VALUES: array.ravel()[places],
    }


def whole_tables(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """All sections, with the tables that are written by their cells in the place of these.

    Raises ``ArtifactError`` where cells are none of a table.
    """
    found, left = dict(arrays), _MOST_BYTES
    for section in arrays:
        if section.endswith(_SHAPE):
            name = section.removesuffix(_SHAPE)
            if name in found:
                raise ArtifactError(f"section {name!r} is damaged: it is there twice")
            parts = [found.pop(name + end, None) for end in (_SHAPE, _PLACES, _VALUES)]
            found[name] = _whole(name, left, *parts)
            left -= found[name].nbytes
    return found


def _whole(
    name: str,
    most_bytes: int,
    shape: NDArray[Any] | None,
    places: NDArray[Any] | None,
    values: NDArray[Any] | None,
) -> NDArray[np.int32]:
    if shape is None or places is None or values is None:
        raise ArtifactError(f"section {name!r} is damaged: a part of it is missing")
    types = [part.dtype.str[1:] for part in (shape, places, values)] == ["i8", "u4", "i4"]
    extents = shape.tolist() if types and shape.ndim == 1 and len(shape) < 4 else []
    cells = prod(extents) if extents and min(extents) > 0 else 0
    fits = cells and places.ndim == 1 and places.shape == values.shape
    if not fits or not _is_between(len(places), cells):
        raise ArtifactError(f"section {name!r} is damaged: its cells do not fit its shape")
    if 4 * cells > min(most_bytes, _most_bytes(extents)):
        raise ArtifactError(
            f"section {name!r} is damaged: tables that are written by their cells have at most "
            f"{_MOST_BYTES:,} bytes together, and those of fewer than {_COLUMNS} columns "
            f"{_MOST_BYTES_OF_LIST:,} bytes each"
        )
    if not (places[-1] < cells and bool((places[1:] > places[:-1]).all())):
        raise ArtifactError(f"section {name!r} is damaged: its cells are not in order")
    table = np.zeros(cells, dtype=np.int32)
    table[places] = values
    table.flags.writeable = False
    return table.reshape(extents)
