"""Automata of sets of code points in UTF-8, by sequences of byte ranges.

A range is divided at the borders of UTF-8's lengths and of its continuation bytes, so that each
byte ranges independently of the others, and such pieces are joined again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from constrain.compiler.automata.utf8 import LAST_OF_LENGTH, SURROGATES, ByteRange, Tail


def split(low: int, high: int) -> Iterator[Tail]:
    """Sequences of byte ranges that together encode exactly the code points low..high.

    ``low=0x7F, high=0x80 -> ((0x7F, 0x7F),), ((0xC2, 0xC2), (0x80, 0x80))``. Surrogates have
    no encoding and are left out.
    """
    if low <= SURROGATES[1] and high >= SURROGATES[0]:
        yield from split(low, SURROGATES[0] - 1) if low < SURROGATES[0] else ()
        yield from split(SURROGATES[1] + 1, high) if high > SURROGATES[1] else ()
        return
    pending = [(low, high)]
    while pending:
        low, high = pending.pop()
        border = next(last for last in LAST_OF_LENGTH if low <= last)
        if high > border:
            pending.append((border + 1, high))
            high = border
        middle = _uneven_border(low, high)
        if middle is not None:
            pending.append((middle, high))
            pending.append((low, middle - 1))
            continue
        first, last = chr(low).encode("utf-8"), chr(high).encode("utf-8")
        yield tuple(zip(first, last, strict=True))


def _uneven_border(low: int, high: int) -> int | None:
    """Where to divide so that each byte ranges independently of the others; None if it does."""
    if high <= 0x7F:
        return None
    for continuation in (1, 2, 3):
        block = 1 << (6 * continuation)
        if low // block != high // block:
            if low % block:
                return (low // block + 1) * block
            if (high + 1) % block:
                return high // block * block
    return None


def automaton_via_split(ranges: Iterable[ByteRange]) -> list[tuple[int, int, int, int]]:
    """Edges (source, low byte, high byte, target) from node 0 to node 1.

    ``ranges``: code points, disjoint and not adjacent. The nodes are sets of what may follow.
    """
    numbered: dict[frozenset[Tail], int] = {frozenset([()]): 1}
    root = frozenset(tail for low, high in ranges for tail in split(low, high))
    edges: list[tuple[int, int, int, int]] = []
    pending = [(0, root)]
    while pending:
        source, tails = pending.pop()
        for low, high, following in _by_first_byte(tails):
            target = numbered.get(following)
            if target is None:
                target = numbered[following] = len(numbered) + 1
                pending.append((target, following))
            edges.append((source, low, high, target))
    return edges


def _by_first_byte(tails: frozenset[Tail]) -> Iterator[tuple[int, int, frozenset[Tail]]]:
    """Runs of first bytes that allow the same continuations, ascending."""
    borders = sorted({b for tail in tails for b in (tail[0][0], tail[0][1] + 1)})
    grouped: dict[int, set[Tail]] = defaultdict(set)
    position = {border: i for i, border in enumerate(borders)}
    for tail in tails:
        low, high = tail[0]
        for i in range(position[low], position[high + 1]):
            grouped[i].add(tail[1:])
    run: tuple[int, int, frozenset[Tail]] | None = None
    for i in sorted(grouped):
        low, high, following = borders[i], borders[i + 1] - 1, frozenset(grouped[i])
        if run is not None and run[1] + 1 == low and run[2] == following:
            run = (run[0], high, following)
            continue
        if run is not None:
            yield run
        run = (low, high, following)
    if run is not None:
        yield run
