"""Changes of a section that keep its values in range, as whoever knows the checks would make them:
tables that lead in circles, lists that begin elsewhere, states that are there twice."""

from collections.abc import Callable, MutableMapping
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Table: TypeAlias = NDArray[Any]


def with_plausible_values(array: Table, rng: Random) -> tuple[Table, str]:
    """A copy of an array with other values out of those that it has, and how it was changed."""
    if array.size < 2:
        return array, "as it is"
    changed = array.copy()
    hows = [rng.choice(_CHANGES)(changed, rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    return changed, ", ".join(hows)


def _swapped(array: Table, rng: Random) -> str:
    flat = array.reshape(-1)
    i, j = rng.randrange(flat.size), rng.randrange(flat.size)
    flat[i], flat[j] = flat[j], flat[i]
    return f"[{i}] and [{j}] swapped"


def _copied(array: Table, rng: Random) -> str:
    flat = array.reshape(-1)
    i, j = rng.randrange(flat.size), rng.randrange(flat.size)
    flat[i] = flat[j]
    return f"[{i}] = [{j}] = {flat[j]}"


def _between(array: Table, rng: Random) -> str:
    """Any value between the least and the most."""
    flat = array.reshape(-1)
    low, high = int(flat.min()), int(flat.max())
    for _ in range(rng.choice((1, 1, 4, 20))):
        i = rng.randrange(flat.size)
        flat[i] = rng.randint(low, high)
    return f"[{i}] = {flat[i]}, and so on"


def _nearby(array: Table, rng: Random) -> str:
    flat = array.reshape(-1)
    i, info = rng.randrange(flat.size), np.iinfo(array.dtype)
    flat[i] = min(max(int(flat[i]) + rng.choice((-1, 1)), int(info.min)), int(info.max))
    return f"[{i}] = {flat[i]}"


def _circle(array: Table, rng: Random) -> str:
    """A place that leads to itself, or two that lead to each other; rows of a table, or cells."""
    i, j = rng.randrange(len(array)), rng.randrange(len(array))
    info = np.iinfo(array.dtype)
    if max(i, j) > info.max:
        return "as it is"
    if rng.random() < 0.5:
        array[i], array[j] = j, i
        return f"[{i}] = {j}, [{j}] = {i}"
    row = array[i].reshape(-1)
    row[rng.randrange(row.size) if row.size else slice(0)] = i
    if array.ndim == 1:
        array[i] = i
    return f"[{i}] = {i}"


def _all_to_one(array: Table, rng: Random) -> str:
    """All but the first rows lead to one place."""
    target = int(rng.choice(array.reshape(-1)[: 1 << 16].tolist()))
    array[1:] = target
    return f"[1:] = {target}"


def _row_copied(array: Table, rng: Random) -> str:
    i, j = rng.randrange(len(array)), rng.randrange(len(array))
    array[i] = array[j]
    return f"row {i} = row {j}"


def _rows_mixed(array: Table, rng: Random) -> str:
    begin = rng.choice((0, 1, 2))
    order = np.random.default_rng(rng.randrange(1 << 30)).permutation(len(array[begin:]))
    array[begin:] = array[begin:][order]
    return f"rows from {begin} on mixed"


def _shifted(array: Table, rng: Random) -> str:
    """An offset that stays between its neighbours: lists that begin elsewhere."""
    flat = array.reshape(-1)
    i = rng.randrange(1, flat.size) if flat.size > 2 else 0
    low, high = int(flat[i - 1]) if i else 0, int(flat[min(i + 1, flat.size - 1)])
    if low <= high:
        flat[i] = rng.randint(low, high)
    return f"[{i}] = {flat[i]}"


def _one_list(array: Table, rng: Random) -> str:
    """Offsets of which one list has all, and the others nothing."""
    flat = array.reshape(-1)
    i = rng.randrange(flat.size)
    flat[:i], flat[i:] = flat[0], flat[-1]
    return f"all at {i}"


def _ascending(array: Table, rng: Random) -> str:
    array.sort(axis=0)
    if rng.random() < 0.3:
        array[:] = array[::-1].copy()
    return "sorted"


def _flags(array: Table, rng: Random) -> str:
    """Zeros become ones, and others zeros."""
    part = array[rng.choice((0, 1)) :]
    np.copyto(part, part == 0, casting="unsafe")
    return "turned over"


def _cleared(array: Table, rng: Random) -> str:
    begin = rng.randrange(len(array))
    array[begin : begin + rng.choice((1, 2, len(array)))] = 0
    return f"[{begin}:] = 0"


_CHANGES: tuple[Callable[[Table, Random], str], ...] = (
    _swapped,
    _swapped,
    _copied,
    _copied,
    _between,
    _between,
    _nearby,
    _nearby,
    _circle,
    _circle,
    _all_to_one,
    _row_copied,
    _row_copied,
    _rows_mixed,
    _shifted,
    _shifted,
    _one_list,
    _ascending,
    _flags,
    _cleared,
)


def grown(arrays: MutableMapping[str, Table], section: str, rng: Random) -> str:
    """More of what a section has an entry for each of, in all sections that have as many: states,
    nodes, tokens. New offsets are of empty lists."""
    size, prefix = len(arrays[section]), section.split(".")[0]
    times = rng.choice((1, 2, 40, 2000))
    is_offsets = section.endswith(("offsets", "first", "held"))
    count = size - is_offsets
    for name in sorted(arrays):
        array = arrays[name]
        if name.split(".")[0] != prefix or not array.ndim or not len(array):
            continue
        if len(array) - count == name.endswith(("offsets", "first", "held")):
            arrays[name] = np.concatenate([array, np.repeat(array[-1:], times, axis=0)])
    return f"and its like longer by {times}"
