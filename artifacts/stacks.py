"""Sets of stacks, hash-consed: a graph-structured stack whose equal parts are one number.

A node stands for a set of stacks and lists, for each frame that is on top of one, the set of
what lies below it. So a set is kept as a deterministic trie with shared rests, no stack is
lost and none is added, and equal sets are the same number.
"""

from collections.abc import Sequence

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
        return self._number(((frame, node),))

    def unknown(self, kind: int) -> int:
        """A set of which nothing is known but that it is of some ``kind``: its one entry has
        the frame -1."""
        return self._number(((-1, kind),))

    def union(self, left: int, right: int) -> int:
        """The stacks of both. On a stack of its own: sets are as deep as stacks are."""
        if left == right:
            return left
        if len(self._unions) >= _KEPT:
            self._unions.clear()
        pending = [_ordered(left, right)]
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
        return self._unions[_ordered(left, right)]

    def _number(self, entries: Entries) -> int:
        number = self._numbers.get(entries)
        if number is None:
            number = self._numbers[entries] = len(self.entries)
            self.entries.append(entries)
        return number


def _ordered(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)
