"""Sets of code points as ranges that are ascending, disjoint and not adjacent."""

from collections.abc import Iterable
from typing import TypeAlias

from .utf8 import MAX_CODE_POINT, SURROGATES

CodePoints: TypeAlias = tuple[tuple[int, int], ...]

ANY: CodePoints = ((0, SURROGATES[0] - 1), (SURROGATES[1] + 1, MAX_CODE_POINT))


def normalized(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """Sorted, disjoint, not adjacent.

    ``[(5, 9), (1, 4), (20, 20)] -> ((1, 9), (20, 20))``
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def without_surrogates(low: int, high: int) -> Iterable[tuple[int, int]]:
    """The parts of a range that UTF-8 can encode."""
    if low < SURROGATES[0]:
        yield low, min(high, SURROGATES[0] - 1)
    if high > SURROGATES[1]:
        yield max(low, SURROGATES[1] + 1), high


def complement(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """All other code points."""
    outside: list[tuple[int, int]] = []
    position = 0
    for low, high in normalized(ranges):
        if low > position:
            outside.append((position, low - 1))
        position = high + 1
    if position <= MAX_CODE_POINT:
        outside.append((position, MAX_CODE_POINT))
    return tuple(outside)


def intersection(left: Iterable[tuple[int, int]], right: Iterable[tuple[int, int]]) -> CodePoints:
    """The code points of both. Both sides: ascending and disjoint."""
    found: list[tuple[int, int]] = []
    a, b = list(left), list(right)
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low <= high:
            found.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)
