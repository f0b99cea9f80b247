"""Sets of stacks, hash-consed: a graph-structured stack whose equal parts are one number.

A node stands for a set of stacks and lists, for each frame that is on top of one, the set of
what lies below it. So a set is kept as a deterministic trie with shared rests, no stack is
lost and none is added, and equal sets are the same number.
"""

from collections.abc import Sequence
from functools import reduce

BOTTOM = 0

# The one entry of the set that holds the empty stack alone; no frame is 0.
_EMPTY = (0, BOTTOM)

# Remembered unions; when there are more, they are worked out anew.
_KEPT = 1 << 18

Entries = tuple[tuple[int, int], ...]


class Stacks:
    """``entries[n]``: (frame, rest) pairs of node n, sorted; frame 0 means an empty stack, -1
    that it is not known (``unknown``).

    ``known``: the entries of the first nodes.
    """

    def __init__(self, known: Sequence[Entries] = ((_EMPTY,),)) -> None:
        self.entries: list[Entries] = list(known)
        self._numbers = {entries: number for number, entries in enumerate(known)}
        self._unions: dict[tuple[int, int], int] = {}

    def push(self, frame: int, node: int) -> int:
        """The stacks of ``node`` with ``frame`` on top of each."""
        entries = ((frame, node),)
        number = self._numbers.setdefault(entries, len(self.entries))
        if number == len(self.entries):
            self.entries.append(entries)
        return number

    def unknown(self, kind: int) -> int:
        """A set of which nothing is known but that it is of some ``kind``: its one entry has
        the frame -1."""
        return self._number(((-1, kind),))

    def union(self, left: int, right: int) -> int:
        """The stacks of both. On a stack of its own: sets are as deep as stacks are."""
        if left == right:
            return left
        wanted = _ordered(left, right)
        known = self._unions.get(wanted)
        if known is not None:
            return known
        if len(self._unions) >= _KEPT:
            self._unions.clear()
        pending = [wanted]
        while pending:
            pair = pending[-1]
            if pair in self._unions:
                pending.pop()
                continue
            merged = dict(self.entries[pair[0]])
            missing = []
            for frame, rest in self.entries[pair[1]]:
                other = merged.get(frame, rest)
                if other == rest:
                    merged[frame] = rest
                    continue
                inner = _ordered(other, rest)
                if inner in self._unions:
                    merged[frame] = self._unions[inner]
                else:
                    missing.append(inner)
            if missing:
                pending.extend(missing)
            else:
                self._unions[pair] = self._number(tuple(sorted(merged.items())))
                pending.pop()
        return self._unions[wanted]

    def joined(self, nodes: Sequence[int]) -> int:
        """The stacks of one or more nodes."""
        merged: dict[int, int] = {}
        for node in nodes:
            for frame, rest in self.entries[node]:
                if merged.setdefault(frame, rest) != rest:
                    return reduce(self.union, nodes)
        return self._number(tuple(sorted(merged.items())))

    def _number(self, entries: Entries) -> int:
        number = self._numbers.setdefault(entries, len(self.entries))
        if number == len(self.entries):
            self.entries.append(entries)
        return number


def _ordered(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)
