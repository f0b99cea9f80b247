"""Sets of code points, and their UTF-8 encodings as sequences of byte ranges and as byte automata.

    U+007F..U+0080    ->    [7F]  |  [C2][80]

A set is a sequence of ranges that are ascending, disjoint and not adjacent. ``automaton`` makes the
smallest deterministic automaton of one, last bytes first.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from constrain.artifacts.tokens.memo import Numbered

MAX_CODE_POINT = 0x10FFFF

# Code points that UTF-8 does not encode.
SURROGATES = (0xD800, 0xDFFF)

# The last code point of each length, from one byte to four.
LAST_OF_LENGTH = (0x7F, 0x7FF, 0xFFFF, MAX_CODE_POINT)

# First and last byte; the ranges of a sequence of bytes, or of what is left of one.
ByteRange: TypeAlias = tuple[int, int]
Tail: TypeAlias = tuple[ByteRange, ...]


# A run of numbers that lead to one node: first and last of them, and the node.
_Run: TypeAlias = tuple[int, int, int]

# Sets of characters outside ASCII whose edges are kept.
_KEPT = 64

# The bits in which first bytes of two to four differ from their numbers.
_LEADS = (0, 0xC0, 0xE0, 0xF0)


def automaton(ranges: Iterable[ByteRange]) -> list[tuple[int, int, int, int]]:
    """Edges (source, low byte, high byte, target) from node 0 to node 1.

    ``ranges``: code points, disjoint. Lead bytes with the same continuations share a
    target; no two nodes have the same continuations, so it is minimal. O(n log n) for n ranges.
    """
    # Edges of ASCII lead to the end alone, and stand before all others.
    ordered, last = sorted(ranges), LAST_OF_LENGTH[0]
    single: list[_Run] = []
    for low, high in (run for run in ordered if run[0] <= last):
        _append(single, low, min(high, last), 0)
    others = tuple((low if low > last else last + 1, high) for low, high in ordered if high > last)
    return [*((0, low, high, 1) for low, high, _ in single), *_outside_ascii(others)]


@lru_cache(_KEPT)
def _outside_ascii(ranges: Tail) -> list[tuple[int, int, int, int]]:
    """The edges of characters outside ASCII, ascending."""
    encoded = [part for low, high in ranges for part in without_surrogates(low, high)]
    # The edges of each node; of the first, after which nothing follows, none.
    nodes = Numbered[tuple[_Run, ...]]([()])
    root: list[_Run] = []
    begin = 0
    for continuations, end in enumerate(LAST_OF_LENGTH):
        runs: list[_Run] = []
        for low, high in encoded:
            if low <= end and high >= begin:
                _append(runs, max(low, begin), min(high, end), 0)
        for _ in range(continuations if runs else 0):
            runs = _in_blocks(runs, nodes)
        for low, high, node in runs:
            _append(root, low | _LEADS[continuations], high | _LEADS[continuations], node)
        begin = end + 1
    return _numbered(root, nodes)


def _append(runs: list[_Run], low: int, high: int, node: int) -> None:
    """Add a run, as a part of the last one where that ends before it and leads to its node."""
    if runs and runs[-1][1] + 1 == low and runs[-1][2] == node:
        low = runs.pop()[0]
    runs.append((low, high, node))


def _in_blocks(runs: list[_Run], nodes: Numbered[tuple[_Run, ...]]) -> list[_Run]:
    """Runs of numbers of blocks, of 64 numbers each, with a node for what a block has of ``runs``:
    an edge for each run in it, by the last six bits."""
    found: list[_Run] = []

    def add(low: int, high: int, edges: tuple[_Run, ...]) -> None:
        _append(found, low, high, nodes.number(edges))

    block, edges = -1, list[_Run]()
    for low, high, node in runs:
        first, last = low >> 6, high >> 6
        if first != block:
            if edges:
                add(block, block, tuple(edges))
            block, edges = first, []
        if first == last:
            edges.append((low & 63, high & 63, node))
            continue
        if low & 63:
            edges.append((low & 63, 63, node))
            add(first, first, tuple(edges))
            first += 1
        if (high & 63) == 63:
            add(first, last, ((0, 63, node),))
            edges = []
        else:
            if first < last:
                add(first, last - 1, ((0, 63, node),))
            edges = [(0, high & 63, node)]
        block = last
    if edges:
        add(block, block, tuple(edges))
    return found


def _numbered(root: list[_Run], nodes: list[tuple[_Run, ...]]) -> list[tuple[int, int, int, int]]:
    """The edges of all nodes that are reached, from the root on; those of continuations have 64 of
    256 bytes."""
    numbered = {0: 1}
    edges = []
    pending: list[tuple[int, Sequence[_Run], int]] = [(0, root, 0)]
    while pending:
        source, runs, bits = pending.pop()
        for low, high, node in runs:
            target = numbered.get(node)
            if target is None:
                target = numbered[node] = len(numbered) + 1
                pending.append((target, nodes[node], 0x80))
            edges.append((source, low | bits, high | bits, target))
    return edges


CodePoints: TypeAlias = tuple[tuple[int, int], ...]

ANY: CodePoints = ((0, SURROGATES[0] - 1), (SURROGATES[1] + 1, MAX_CODE_POINT))


class _Normal(tuple[tuple[int, int], ...]):
    """What ``normalized`` has made, and leaves as it is: ``\\w`` has 770 ranges."""

    __slots__ = ()


def normalized(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """Sorted, disjoint, not adjacent.

    ``[(5, 9), (1, 4), (20, 20)] -> ((1, 9), (20, 20))``
    """
    if isinstance(ranges, _Normal):
        return ranges
    ordered = sorted(ranges)
    if len(ordered) < 2:
        return _Normal(ordered)
    merged: list[tuple[int, int]] = []
    begin, end = ordered[0]
    for low, high in ordered:
        if low > end + 1:
            merged.append((begin, end))
            begin, end = low, high
        elif high > end:
            end = high
    merged.append((begin, end))
    return _Normal(merged)


def encodable(ranges: CodePoints) -> CodePoints:
    """The code points of normalized ranges that UTF-8 can encode."""
    if not ranges or ranges[-1][1] < SURROGATES[0]:
        return ranges
    first = max(0, bisect_left(ranges, (SURROGATES[0], 0)) - 1)
    last = bisect_left(ranges, (SURROGATES[1] + 1, 0))
    if first == last or ranges[last - 1][1] < SURROGATES[0]:
        return ranges
    pieces = (piece for low, high in ranges[first:last] for piece in without_surrogates(low, high))
    return _Normal((*ranges[:first], *pieces, *ranges[last:]))


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
    return _Normal(outside)


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
