"""Configurations of a recursive transition network, and how they read symbols.

A thread is a state and a stack of frames; a configuration is a set of threads, since a text
may be read in several ways. Stacks share their lower parts: a stack is the number of a node
(frame, node below), equal stacks are one number, and so are equal configurations.
"""

from collections.abc import Iterable

from .network_tables import DEAD, NetworkTables

BOTTOM = 0

# The configuration that nothing is left of.
REFUSED = -1

Thread = tuple[int, int]


class Network:
    """Grows with what was read: one node and one configuration for each different one.

    Configurations are integers from 0; ``start`` is the one before any text.
    """

    def __init__(self, tables: NetworkTables) -> None:
        self.tables = tables
        self._rows, self._calls, self._ends = tables.rows, tables.calls, tables.ends
        self.frames, self.below = [DEAD], [BOTTOM]
        # Whether a text may end when the top of this stack is reached.
        self._returns_to_end = [True]
        self._nodes: dict[tuple[int, int], int] = {}
        self.threads: list[tuple[Thread, ...]] = []
        self._numbers: dict[tuple[Thread, ...], int] = {}
        self.start = self.configuration([(tables.start, BOTTOM)])

    def configuration(self, threads: Iterable[Thread]) -> int:
        """The number of a set of threads; ``REFUSED`` if there are none."""
        key = tuple(sorted(set(threads)))
        if not key:
            return REFUSED
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.threads)
            self.threads.append(key)
        return number

    def node(self, frame: int, below: int) -> int:
        """The number of a stack with ``frame`` on top."""
        key = frame, below
        number = self._nodes.get(key)
        if number is None:
            number = self._nodes[key] = len(self.frames)
            self.frames.append(frame)
            self.below.append(below)
            self._returns_to_end.append(self._ends[frame] and self._returns_to_end[below])
        return number

    def read(self, configuration: int, symbols: Iterable[int]) -> int:
        """The configuration after ``symbols`` (bytes, token terminals from 256 on)."""
        threads: Iterable[Thread] = self.threads[configuration]
        for symbol in symbols:
            threads = self._read(threads, symbol)
            if not threads:
                return REFUSED
        return self.configuration(threads)

    def viable(self, symbols: Iterable[int]) -> int:
        """How many of ``symbols`` begin a member."""
        threads: Iterable[Thread] = self.threads[self.start]
        count = 0
        for symbol in symbols:
            threads = self._read(threads, symbol)
            if not threads:
                break
            count += 1
        return count

    def may_end(self, configuration: int) -> bool:
        """Whether the text so far is a member."""
        if configuration == self.start and self.tables.nullable_start:
            return True
        return any(
            self._ends[state] and self._returns_to_end[node]
            for state, node in self.threads[configuration]
        )

    def unfolded(self, threads: Iterable[Thread]) -> set[Thread]:
        """The threads and all that they become by calls and returns, before any symbol.

        No callee matches ε, and no chain of first calls leads back to its beginning: this ends.
        """
        found = set(threads)
        pending = list(found)
        while pending:
            state, node = pending.pop()
            new = [(start, self.node(frame, node)) for start, frame in self._calls[state]]
            if node != BOTTOM and self._ends[state]:
                new.append((self.frames[node], self.below[node]))
            for thread in new:
                if thread not in found:
                    found.add(thread)
                    pending.append(thread)
        return found

    def _read(self, threads: Iterable[Thread], symbol: int) -> set[Thread]:
        rows, calls, ends = self._rows, self._calls, self._ends
        found = set()
        pending = list(threads)
        for state, node in pending:
            target = rows[state][symbol]
            if target != DEAD:
                found.add((target, node))
            for start, frame in calls[state]:
                # Most calls begin with a symbol of their own; some call on at once.
                if rows[start][symbol] != DEAD or calls[start]:
                    pending.append((start, self.node(frame, node)))
            if node != BOTTOM and ends[state]:
                pending.append((self.frames[node], self.below[node]))
        return found
