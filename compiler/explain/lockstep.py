"""Compare two languages by reading all texts in both machines at once, where rules nest.

Pairs of states are looked at by the length of their texts, so that the first text on which the two
differ is a shortest one. Nesting grammars have pairs without end; so those come first of which
either side lies at most one call deep, then those two deep, and so on, as far as there is room:

    depth 1, 2, 3, ...   ->   all pairs of states up to that depth   ->   the first text that one
                                                                        side alone accepts
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from ..limits import Limits
from .machines import TextMachine

# At most so many calls are gone into, pairs of states looked at, and bytes of states made.
_MOST_DEPTH, _MOST_PAIRS, _MOST_BYTES = 16, 20_000, 10_000_000

# Pairs between two looks at the limits.
_LOOK = 64

_BYTES = 256

# A pair, and its number.
_Pair = tuple[int | None, int | None]
_Layers = dict[int, list[tuple[_Pair, int]]]


@dataclass(frozen=True, slots=True)
class Lockstep:
    """``only_left``, ``only_right``: a shortest text that one side alone accepts, None where none
    was found. What was looked at: texts that nest at most ``depth`` calls deep on either side, None
    if all; of these those of at most ``length`` bytes, None if all. ``has_members``: whether a
    member of either side was among them."""

    only_left: bytes | None
    only_right: bytes | None
    depth: int | None
    length: int | None
    has_members: bool

    @property
    def is_equal(self) -> bool:
        """Whether no text was found that one side alone accepts."""
        return self.only_left is self.only_right is None


def lockstep(left: TextMachine, right: TextMachine, limits: Limits) -> Lockstep:
    """Where two languages differ, as far as was looked. Raises ``LimitError`` where the time or the
    memory ends."""
    search = _Search(left, right, limits.started())
    deepest, at_all = 0, None
    for depth in range(1, _MOST_DEPTH + 1):
        length = search.go_to(depth)
        if length is not None:
            # The depth before was looked at whole, which says more than some bytes of this one.
            at_all = length if depth == 1 else None
            deepest = max(1, depth - 1)
            break
        deepest = depth
        if search.is_over:
            break
    only_left, only_right = search.found
    depth_seen = None if search.saw_all else deepest
    return Lockstep(only_left, only_right, depth_seen, at_all, search.has_members)


class _Search:
    """The pairs of states of two machines, as far as they were looked at. ``found``: the texts that
    the left and the right side alone accept."""

    def __init__(self, left: TextMachine, right: TextMachine, limits: Limits) -> None:
        self._machines, self._limits = (left, right), limits
        self._octets = list(_distinct_octets(left, right))
        self._depths = cache(left.depth), cache(right.depth)
        self.found: list[bytes | None] = [None, None]
        self.has_members = False
        start: _Pair = left.start, right.start
        # Of each pair the number of the one before it, and the byte between them.
        self._before, self._seen = [(0, 0)], {start}
        self._look_at(start, 0)
        # Pairs that lie deeper than was looked, by the length of their texts.
        self._deeper: _Layers = {0: [(start, 0)]}

    @property
    def saw_all(self) -> bool:
        """Whether there is no pair that may say something new."""
        return not self._deeper

    @property
    def is_over(self) -> bool:
        """Whether a difference is known, or nothing is left."""
        return self.saw_all or self.found != [None, None]

    def go_to(self, depth: int) -> int | None:
        """Look at all pairs up to a depth: None, or if there are too many the length up to which
        all texts were read."""
        layers, self._deeper = defaultdict(list, self._deeper), defaultdict(list)
        while layers:
            length = min(layers)
            for pair, number in layers.pop(length):
                if None not in self.found:
                    return None
                if self._is_full():
                    self._deeper[length].append((pair, number))
                    return max(0, length - 1)
                if number % _LOOK == 0:
                    self._limits.check_resources("compare")
                if self._matters(pair):
                    if self._depth(pair) <= depth:
                        layers[length + 1].extend(self._behind(pair, number))
                    else:
                        self._deeper[length].append((pair, number))
        return None

    def _is_full(self) -> bool:
        """Whether all that there is room for was looked at."""
        made = sum(machine.nbytes for machine in self._machines)
        return len(self._before) > _MOST_PAIRS or made > _MOST_BYTES

    def _behind(self, pair: _Pair, number: int) -> Iterator[tuple[_Pair, int]]:
        """The pairs that a byte leads to, each once."""
        (left, right), (one, other) = self._machines, pair
        for octet in self._octets:
            reached = (
                None if one is None else left.step(one, octet),
                None if other is None else right.step(other, octet),
            )
            if reached not in self._seen and self._matters(reached):
                self._seen.add(reached)
                self._before.append((number, octet))
                self._look_at(reached, len(self._before) - 1)
                yield reached, len(self._before) - 1

    def _look_at(self, pair: _Pair, number: int) -> None:
        """Whether one side alone accepts here."""
        accepts = [
            state is not None and machine.may_end(state)
            for machine, state in zip(self._machines, pair, strict=True)
        ]
        self.has_members |= any(accepts)
        if accepts[0] != accepts[1] and self.found[accepts[1]] is None:
            self.found[accepts[1]] = _path(self._before, number)

    def _matters(self, pair: _Pair) -> bool:
        """Whether a text from here may still say something new."""
        one, other = pair
        if one is None:
            return other is not None and self.found[1] is None
        return other is not None or self.found[0] is None

    def _depth(self, pair: _Pair) -> int:
        """The smaller depth of the two sides."""
        return min(
            depth(state)
            for depth, state in zip(self._depths, pair, strict=True)
            if state is not None
        )


def _distinct_octets(left: TextMachine, right: TextMachine) -> Iterable[int]:
    """The first byte of each set of bytes that both machines read alike, ascending."""
    columns = []
    for machine in (left, right):
        column_of = [0] * _BYTES
        for column, octets in enumerate(machine.alike):
            for octet in octets:
                column_of[octet] = column
        columns.append(column_of)
    first: dict[tuple[int, ...], int] = {}
    for octet, both in enumerate(zip(*columns, strict=True)):
        first.setdefault(both, octet)
    return first.values()


def _path(before: list[tuple[int, int]], number: int) -> bytes:
    """The text that leads to a pair."""
    octets = bytearray()
    while number:
        number, octet = before[number]
        octets.append(octet)
    return bytes(reversed(octets))
