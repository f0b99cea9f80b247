"""Count, draw and enumerate the members of a network.

A *reading* of a text is a run of the network: a sequence of edges, calls and returns.
Readings are counted by length (Flajolet and Sedgewick, *Analytic Combinatorics*, section I.5;
drawing by such counts is their recursive method). With E(p) the bytes that state p reads and
C(p) its calls,

    r(p, 0) = 1 if p may end its call, else 0
    r(p, n) = sum of r(q, n - 1) over E(p)
            + sum of r(s, k) r(f, n - k) over the calls (s, f) in C(p) and 1 <= k <= n

A callee matches no empty text and no chain of first calls leads back to its beginning, so these
numbers are found length by length, callees first. All are exact. In place of r(s, k) of a call that
is repeated stand the readings of all its items, and of calls that begin a permutation those of all
its parts in all orders (``counted_items``).
"""

import random
from collections.abc import Generator, Iterator
from functools import cached_property
from graphlib import TopologicalSorter

from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.counts import UNBOUNDED
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.tokens.memo import memoised, solve_recursive

from ..automata.members import Counted
from ..limits import Limits
from .counted_items import CountedItems, PermutedParts

_STAGE = "the counting of members"

# Bytes of a Python integer without its digits, and the pointer to it.
_INTEGER = 36


class NetworkMembers(Counted):
    """The members of a network that names no tokens; ``LimitError`` (memory, time) where counting
    takes too much."""

    def __init__(self, tables: NetworkTables, limits: Limits | None = None) -> None:
        if tables.terminals:
            raise ValueError("members are counted without token terminals")
        counters = tables.counters
        self._limits = (limits or Limits()).started()
        self._tables, self._counters = tables, counters
        rows = [] if counters is None else counters.rows
        self._items = [
            CountedItems(least, None if most == UNBOUNDED else most, self._check)
            for _, least, most, _ in rows
        ]
        rules = [] if counters is None else counters.set_rules
        self._parts = [PermutedParts(rule, self._readings_of, self._check) for rule in rules]
        # (start, counter, frame) by state, counter -1 for calls that are not repeated. All calls of
        # the parts of one set are one, of the set.
        self._calls = [
            list({(c, f, 0 if self._is_set(c) else s): (s, c, f) for s, c, f in found}.values())
            for found in ([self._call(*call) for call in calls] for calls in tables.calls)
        ]
        # r(p, n) as [n][p].
        self._counts: list[list[int]] = [list(map(int, tables.ends))]
        self._memory = 0
        self._network = network_over(tables)
        self._start = self._network.start
        # Bit n: some n bytes lead from a state, or from a set of stacks, to the end; for the
        # lengths that are counted.
        self._lengths = [int(end) for end in tables.ends]
        self._stack_lengths: dict[int, int] = {}

    def count(self, length: int) -> int:
        if not length:
            return int(self._tables.nullable_start)
        return self._row(length)[self._tables.start]

    def _row(self, length: int) -> list[int]:
        """r(p, length) for each state p."""
        counts, calls = self._counts, self._calls
        while len(counts) <= length:
            size = len(counts)
            before = counts[-1]
            row = [0] * len(before)
            counts.append(row)
            for state in self._order:
                self._limits.check_resources(_STAGE)
                count = sum(before[target] * len(octets) for target, octets in self._edges[state])
                for start, counter, frame in calls[state]:
                    if self._is_set(counter):
                        parts = self._parts[counter - len(self._items)]
                        if len(parts.ways) <= size:
                            parts.extend()
                    elif counter >= 0 and len(self._items[counter].ways) <= size:
                        self._items[counter].append(row[start])
                    inside = self._inside(start, counter, size)
                    count += sum(
                        ways * counts[size - k][frame] for k, ways in enumerate(inside) if ways
                    )
                row[state] = count
                self._lengths[state] |= (count > 0) << size
                self._memory += _INTEGER + count.bit_length() // 8
            self._stack_lengths.clear()
            self._limits.check_memory(self._memory, _STAGE)
            self._limits.check_resources(_STAGE)
        return counts[length]

    def _inside(self, start: int, counter: int, size: int) -> list[int]:
        """The readings of what a call reads, by its length, up to ``size``; none has no byte."""
        if self._is_set(counter):
            return self._parts[counter - len(self._items)].ways[: size + 1]
        if counter >= 0:
            return self._items[counter].ways[: size + 1]
        return [0, *(row[start] for row in self._counts[1 : size + 1])]

    def _call(self, start: int, frame: int) -> tuple[int, int, int]:
        counters = self._counters
        if counters is None or frame < self._tables.states:
            return start, -1, frame
        counter, _ = counters.split(frame)
        return start, counter, counters.ends[counter]

    def _is_set(self, counter: int) -> bool:
        return counter >= len(self._items)

    def _readings_of(self, state: int, length: int) -> int:
        return self._counts[length][state]

    def _check(self) -> None:
        self._limits.check_resources(_STAGE)

    def _drawn(self, length: int, place: int, rng: random.Random) -> bytes:
        counts = self._counts
        word = bytearray()
        state, left = self._tables.start, length
        # What is read after the calls that have not returned: the state, and how many bytes.
        waiting: list[tuple[int, int]] = []
        while left or waiting:
            if not left:
                state, left = waiting.pop()
                continue
            place = rng.randrange(counts[left][state])
            for target, octets in self._edges[state]:
                each = counts[left - 1][target]
                if place < each * len(octets):
                    word.append(octets[place // each])
                    state, left = target, left - 1
                    break
                place -= each * len(octets)
            else:
                state, counter, inside, frame = self._called(state, left, place)
                waiting.append((frame, left - inside))
                (state, left), *behind = self._drawn_calls(state, counter, inside, rng)
                waiting += reversed(behind)
        return bytes(word)

    def _drawn_calls(
        self, start: int, counter: int, inside: int, rng: random.Random
    ) -> list[tuple[int, int]]:
        """The states that what a call reads starts in, and how many bytes each reads."""
        if counter < 0:
            return [(start, inside)]
        if self._is_set(counter):
            return self._parts[counter - len(self._items)].drawn(inside, rng)
        return [(start, size) for size in self._items[counter].drawn(inside, rng)]

    def _called(self, state: int, left: int, place: int) -> tuple[int, int, int, int]:
        """The call of the reading at ``place`` of those that begin with one: where it starts, its
        counter, how many bytes it reads, and the frame after it."""
        for start, counter, frame in self._calls[state]:
            for inside, ways in enumerate(self._inside(start, counter, left)):
                here = ways * self._counts[left - inside][frame]
                if place < here:
                    return start, counter, inside, frame
                place -= here
        raise IndexError("there are not so many readings")

    def _steps(self, state: int, length: int) -> Iterator[tuple[int, int]]:
        # States are configurations here.
        self._check()
        for octet in range(256):
            target = self._read(state, octet)
            if target != REFUSED and self._completed_by(target, length - 1):
                yield octet, target

    @memoised
    def _read(self, state: int, octet: int) -> int:
        return self._network.read(state, (octet,))

    def _completed_by(self, configuration: int, length: int) -> bool:
        """Whether some ``length`` bytes make a member."""
        return any(
            self._sums(self._lengths[state], self._below(node)) >> length & 1
            for state, node in self._network.threads[configuration]
        )

    def _below(self, node: int) -> int:
        """The lengths that the stacks of a node read."""
        lengths = self._stack_lengths.get(node)
        if lengths is None:
            lengths = solve_recursive(node, self._stack_lengths.get, self._lengths_below)
        return lengths

    def _lengths_below(self, node: int) -> Generator[int, int, int]:
        found = 0
        for frame, lower in self._network.stacks.entries[node]:
            if frame == DEAD:
                found |= 1
            else:
                found |= self._sums(self._of_frame(frame), (yield lower))
        self._stack_lengths[node] = found
        return found

    def _of_frame(self, frame: int) -> int:
        """The lengths that are read from a frame on."""
        if self._counters is None or frame < self._tables.states:
            return self._lengths[frame]
        counter, begun = self._counters.split(frame)
        if self._is_set(counter):
            parts = self._parts[counter - len(self._items)]
            found = parts.lengths(begun, self._lengths, self._sums)
            return self._sums(found, self._lengths[self._counters.ends[counter]])
        item, least, most, back = self._counters.rows[counter]
        fewest = max(least - begun, 0)
        # More items than there are bytes change nothing.
        more = min(len(self._counts) if most == UNBOUNDED else most - begun, len(self._counts))
        each = self._lengths[item]
        found = self._sums(self._times(each, fewest), self._times(each | 1, max(more - fewest, 0)))
        return self._sums(found, self._lengths[back])

    def _times(self, lengths: int, number: int) -> int:
        """The sums of so many lengths."""
        found, power = 1, lengths
        while number and found:
            if number & 1:
                found = self._sums(found, power)
            power = self._sums(power, power)
            number >>= 1
        return found

    def _sums(self, first: int, second: int) -> int:
        """The sums of two sets of lengths, as far as they are counted."""
        found = 0
        while first:
            lowest = first & -first
            found |= second * lowest
            first ^= lowest
        return found & (1 << len(self._counts)) - 1

    @cached_property
    def _order(self) -> list[int]:
        """The states, each after those that its calls start in."""
        calls = self._tables.calls
        graph = {state: {start for start, _ in called} for state, called in enumerate(calls)}
        return list(TopologicalSorter(graph).static_order())

    @cached_property
    def _edges(self) -> list[list[tuple[int, bytes]]]:
        """For each state the targets of its edges, and the bytes that lead there."""
        edges = []
        for state in range(self._tables.states):
            octets: dict[int, list[int]] = {}
            for octet, target in enumerate(self._tables.rows[state]):
                if target != DEAD:
                    octets.setdefault(target, []).append(octet)
            edges.append([(target, bytes(found)) for target, found in octets.items()])
        return edges
