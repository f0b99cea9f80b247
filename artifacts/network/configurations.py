"""Sets of stacks, hash-consed: a graph-structured stack whose equal parts are one number.

A node stands for a set of stacks and lists, for each frame that is on top of one, the set of
what lies below it. So a set is kept as a deterministic trie with shared rests, no stack is
lost and none is added, and equal sets are the same number.

Configurations of a recursive transition network, and how they read symbols.

A configuration says in which states the network can be, and for each of them which stacks of
frames can lie below. Equal configurations are one number.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce

from .tables import DEAD, FirstTransitions, NetworkTables

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


# The configuration that nothing is left of.
REFUSED = -1

Threads = tuple[tuple[int, int], ...]


class Configurations:
    """The (state, set of stacks) pairs of each configuration, sorted by state.

    One thread alone, in a state over a set of stacks, is the number set * ``states`` + state; the
    n-th of those with several threads is n * ``states``, as no thread alone is in the dead state;
    ``several`` lists these.
    """

    def __init__(self, states: int, stacks: Stacks) -> None:
        self._states, self._stacks = states, stacks
        self.several: list[Threads] = []
        self._numbers: dict[Threads, int] = {}

    def __getitem__(self, configuration: int) -> Threads:
        number, state = divmod(configuration, self._states)
        return ((state, number),) if state else self.several[number]

    def __len__(self) -> int:
        """How many sets of stacks, and of threads, are remembered."""
        return len(self._stacks.entries) + len(self.several)

    def number(self, threads: Mapping[int, int]) -> int:
        """The configuration of sets of stacks by state."""
        if len(threads) == 1 and DEAD not in threads:
            [(state, node)] = threads.items()
            return node * self._states + state
        key = tuple(sorted(threads.items()))
        number = self._numbers.setdefault(key, len(self.several))
        if number == len(self.several):
            self.several.append(key)
        return number * self._states


class Network:
    """Grows with what was read: one number for each different set of stacks or of threads.

    Configurations are integers from 0; ``start`` is the one before any text. ``threads``: the
    (state, set of stacks) pairs of each.
    """

    def __init__(self, tables: NetworkTables) -> None:
        self.tables = tables
        self.stacks = Stacks()
        self._calls, self._ends = tables.calls, tables.ends
        # Whether a text may end where a node is the stack, as far as that was asked.
        self._returning: dict[int, bool] = {BOTTOM: True}
        self.threads = Configurations(tables.states, self.stacks)
        # subtle: a later configuration may be the start's in all but this, that the text is
        # empty. If that is a member, a thread in the dead state says so; it reads nothing.
        empty = {DEAD: BOTTOM} if tables.nullable_start else {}
        self.start = self.configuration({tables.start: BOTTOM, **empty})

    @cached_property
    def moves(self) -> FirstTransitions:
        """How states read symbols, made when one is read: tokens may need none."""
        return FirstTransitions(self.tables)

    def read(self, configuration: int, *readings: Iterable[int]) -> int:
        """The configuration after symbols (bytes, token terminals from 256 on).

        Several ``readings`` of one token are followed at once.
        """
        found: dict[int, int] = {}
        for symbols in readings:
            threads = dict(self.threads[configuration])
            for symbol in symbols:
                threads = self._read(threads, symbol)
            for state, node in threads.items():
                self.add(found, state, node)
        return self.configuration(found) if found else REFUSED

    def add(self, threads: dict[int, int], state: int, node: int) -> None:
        """Add a thread; the stacks of threads in one state are one set."""
        known = threads.get(state)
        threads[state] = node if known is None else self.stacks.union(known, node)

    def viable(self, symbols: Iterable[int]) -> int:
        """How many of ``symbols`` begin a member."""
        threads = dict(self.threads[self.start])
        count = 0
        for symbol in symbols:
            threads = self._read(threads, symbol)
            if not threads:
                break
            count += 1
        return count

    def may_end(self, configuration: int) -> bool:
        """Whether the text so far is a member."""
        for state, node in self.threads[configuration]:
            if state == DEAD or (self._ends[state] and self.may_return(node)):
                return True
        return False

    def may_return(self, node: int) -> bool:
        """Whether some stack of a set has nothing on it but frames that may end."""
        below = self.stacks.entries[node]
        if len(below) == 1:
            frame, _ = below[0]
            # Nearly all stacks are single, and few frames may end.
            if frame == DEAD or not self._ends[frame]:
                return frame == DEAD
        pending = [node]
        while pending:
            current = pending[-1]
            rests = [r for f, r in self.stacks.entries[current] if f != DEAD and self._ends[f]]
            missing = [rest for rest in rests if rest not in self._returning]
            if current not in self._returning and missing:
                pending.extend(missing)
                continue
            pending.pop()
            empty = any(frame == DEAD for frame, _ in self.stacks.entries[current])
            self._returning[current] = empty or any(self._returning[rest] for rest in rests)
        return self._returning[node]

    def unfolded(self, threads: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The threads and all that they become by calls and returns, before any symbol.

        No callee matches ε, and no chain of first calls leads back to its beginning: this ends.
        """
        pending = list(threads)
        found = set(pending)
        for state, node in pending:
            new = [(start, self.stacks.push(frame, node)) for start, frame in self._calls[state]]
            if self._ends[state]:
                new.extend(entry for entry in self.stacks.entries[node] if entry[0] > DEAD)
            for thread in new:
                if thread not in found:
                    found.add(thread)
                    pending.append(thread)
        return pending

    def _read(self, threads: Mapping[int, int], symbol: int) -> dict[int, int]:
        found: dict[int, int] = {}
        for state, node in self._returned(threads):
            for target, frames in self.moves.of(state, symbol):
                reached = node
                for frame in frames:
                    reached = self.stacks.push(frame, reached)
                self.add(found, target, reached)
        return found

    def _returned(self, threads: Mapping[int, int]) -> list[tuple[int, int]]:
        """The threads and all that they become by returns; what is called does not end at once."""
        pending = list(threads.items())
        found = set(pending)
        for state, node in pending:
            for entry in self.stacks.entries[node] if self._ends[state] else ():
                if entry[0] > DEAD and entry not in found:
                    found.add(entry)
                    pending.append(entry)
        return pending

    def configuration(self, threads: Mapping[int, int]) -> int:
        """The number of a configuration: sets of stacks by state."""
        return self.threads.number(threads)
