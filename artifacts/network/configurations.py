"""Configurations of a recursive transition network as numbers, and how they read symbols.

A configuration is a set of threads, each a state over a set of stacks of frames. Sets of stacks
are nodes of a graph-structured stack (Tomita, Efficient parsing for natural language, 1986), here a
hash-consed trie: a node lists, for each frame that is on top of some stack of the set, the node of
all that lies below it. So no stack is lost and none is added, and equal sets are one number; and so
are equal configurations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ..tokens.memo import ENTRY_BYTES, bottom_up, top_down
from .tables import DEAD, FirstTransitions, NetworkTables, Reading

# The set of stacks that holds the empty stack alone.
BOTTOM = 0

# Its one entry; no frame is 0.
_EMPTY = (0, BOTTOM)

# A cache limit: unions of two sets of stacks.
MAX_CACHED_STACK_UNIONS = 1 << 18

Entries = tuple[tuple[int, int], ...]


class Stacks:
    """A graph-structured stack that grows with what was read.

    ``entries[n]``: the (frame, node below it) pairs of node n, sorted; frame 0 means an empty
    stack, -1 that the stack is not known (``unknown``). ``first``: the entries of the first nodes.
    """

    def __init__(self, first: Sequence[Entries] = ((_EMPTY,),)) -> None:
        self.entries: list[Entries] = list(first)
        self._pairs = len(self.entries)
        self._numbers = {entries: number for number, entries in enumerate(first)}
        # A dict: what a union needs must stay until it is complete.
        self._unions: dict[tuple[int, int], int] = {}

    @property
    def nbytes(self) -> int:
        """About the size of all nodes and unions."""
        return ENTRY_BYTES * (self._pairs + len(self._unions))

    def below(self, node: int) -> list[int]:
        """The nodes below the frames on top of a node."""
        return [lower for frame, lower in self.entries[node] if frame > DEAD]

    def push(self, frame: int, node: int) -> int:
        """The stacks of ``node`` with ``frame`` on top of each."""
        return self._number(((frame, node),))

    def unknown(self, kind: int) -> int:
        """A set of which nothing is known but that it is of some ``kind``: its one entry has
        the frame -1."""
        return self._number(((-1, kind),))

    def union(self, left: int, right: int) -> int:
        """The stacks of both. Without recursion: nodes are nested as deep as stacks are high."""
        if left == right:
            return left
        wanted = _ordered(left, right)
        found = self._unions.get(wanted)
        if found is not None:
            return found
        if len(self._unions) >= MAX_CACHED_STACK_UNIONS:
            self._unions.clear()
        pending = [wanted]
        while pending:
            pair = pending[-1]
            if pair in self._unions:
                pending.pop()
                continue
            merged = dict(self.entries[pair[0]])
            missing = []
            for frame, below in self.entries[pair[1]]:
                other = merged.get(frame, below)
                if other == below:
                    merged[frame] = below
                    continue
                inner = _ordered(other, below)
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

    def of(self, entries: Iterable[tuple[int, int]]) -> int:
        """The stacks of all (frame, node below it) pairs, one or more, in any order."""
        merged: dict[int, int] = {}
        for frame, below in entries:
            other = merged.setdefault(frame, below)
            if other != below:
                merged[frame] = self.union(other, below)
        return self._number(tuple(sorted(merged.items())))

    def joined(self, nodes: Sequence[int]) -> int:
        """The stacks of one or more nodes."""
        if len(nodes) <= 2:
            return self.union(nodes[0], nodes[-1])
        return self.of(entry for node in dict.fromkeys(nodes) for entry in self.entries[node])

    def _number(self, entries: Entries) -> int:
        number = self._numbers.setdefault(entries, len(self.entries))
        if number == len(self.entries):
            self.entries.append(entries)
            self._pairs += len(entries)
        return number


def _ordered(left: int, right: int) -> tuple[int, int]:
    return (left, right) if left < right else (right, left)


# What a refused symbol or token leads to.
REFUSED = -1

Threads = tuple[tuple[int, int], ...]


class Configurations:
    """Numbers of configurations: the (state, set of stacks) pairs of each, sorted by state.

    One thread alone, in a state over a set of stacks, is the number set * ``states`` + state; the
    n-th of those with several threads is n * ``states``, as no thread alone is in the dead state;
    ``several`` lists these.
    """

    def __init__(self, states: int, stacks: Stacks) -> None:
        self._states, self._stacks = states, stacks
        self.several: list[Threads] = []
        self._numbers: dict[Threads, int] = {}
        self._threads = 0

    def __getitem__(self, configuration: int) -> Threads:
        number, state = divmod(configuration, self._states)
        return ((state, number),) if state else self.several[number]

    @property
    def nbytes(self) -> int:
        """About the size of the configurations with several threads."""
        return ENTRY_BYTES * (len(self.several) + self._threads // 2)

    def number(self, threads: Mapping[int, int]) -> int:
        """The configuration of sets of stacks by state."""
        if len(threads) == 1 and DEAD not in threads:
            [(state, node)] = threads.items()
            return node * self._states + state
        key = tuple(sorted(threads.items()))
        number = self._numbers.setdefault(key, len(self.several))
        if number == len(self.several):
            self.several.append(key)
            self._threads += len(key)
        return number * self._states


class Texts:
    """Reads symbols: bytes, and token terminals from 256 on. Grows with what it reads.

    Configurations are integers from 0; ``start`` is the one before any text. ``threads``: the
    (state, set of stacks) pairs of each; ``stacks``: the graph-structured stack that they share.
    """

    def __init__(self, tables: Reading, first_transitions: FirstTransitions | None = None) -> None:
        self.tables, self._known_transitions = tables, first_transitions
        self.stacks = Stacks()
        self._calls, self._ends = tables.calls, tables.ends
        # Whether a text may end where a node is the stack, as far as it was computed; by any
        # thread, without a lock: nothing is ever taken out.
        self._returning: dict[int, bool] = {BOTTOM: True}
        self.threads = Configurations(tables.states, self.stacks)
        # subtle: a later configuration may be the start's in all but this, that the text is
        # empty. If that is a member, a thread in the dead state says so; it reads nothing.
        empty = {DEAD: BOTTOM} if tables.nullable_start else {}
        self.start = self.configuration({tables.start: BOTTOM, **empty})

    @cached_property
    def first_transitions(self) -> FirstTransitions:
        """How states read symbols; made when a symbol is first read, as tokens may need none."""
        return self._known_transitions or FirstTransitions(self.tables)

    @property
    def nbytes(self) -> int:
        """About the size of all that was interned, and of what is known of each set of stacks."""
        known = ENTRY_BYTES // 2 * len(self._returning)
        return self.stacks.nbytes + self.threads.nbytes + known

    def read(self, configuration: int, *readings: Iterable[int]) -> int:
        """The configuration after some symbols, or ``REFUSED``.

        Several ``readings`` (of one token) are followed at once.
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
        other = threads.get(state)
        threads[state] = node if other is None else self.stacks.union(other, node)

    def viable(self, symbols: Iterable[int]) -> int:
        """The length of the longest prefix of ``symbols`` that some member begins with."""
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
        """Whether some stack of a set has nothing on it but frames that may return."""
        entries, returning = self.stacks.entries, self._returning
        if len(entries[node]) == 1:
            [(frame, _)] = entries[node]
            # Nearly all sets hold one stack, and few frames may return.
            if frame == DEAD or not self._returns(frame):
                return frame == DEAD

        def lower(node: int) -> list[int]:
            return [n for frame, n in entries[node] if frame != DEAD and self._returns(frame)]

        for current in bottom_up([node], lower, returning):
            is_empty = any(frame == DEAD for frame, _ in entries[current])
            returning[current] = is_empty or any(returning[inner] for inner in lower(current))
        return returning[node]

    def _returns(self, frame: int) -> bool:
        """Whether a frame may return and end the call that it is in."""
        return self._ends[frame]

    def unfolded(self, threads: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The threads and all that they become by calls and returns, before any symbol.

        No callee matches ε, and no chain of first calls leads back to its beginning: this ends.
        """

        def becomes(thread: tuple[int, int]) -> list[tuple[int, int]]:
            state, node = thread
            new = [(start, self.stacks.push(frame, node)) for start, frame in self._calls[state]]
            return [*new, *self.popped(node)] if self._ends[state] else new

        return list(top_down(threads, becomes))

    def _read(self, threads: Mapping[int, int], symbol: int) -> dict[int, int]:
        found: dict[int, int] = {}
        rows, calls = self.tables.rows, self._calls
        for state, node in self._returned(threads):
            row = rows[state]
            # Whether a state calls something is known when its row is.
            if not calls[state]:
                if row[symbol] != DEAD:
                    self.add(found, row[symbol], node)
                continue
            for target, frames in self.first_transitions.of(state, symbol):
                reached = node
                for frame in frames:
                    reached = self.stacks.push(frame, reached)
                self.add(found, target, reached)
        return found

    def _returned(self, threads: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """The threads and all that they become by returns; what is called does not end at once."""
        ends, popped = self._ends, self.popped
        return top_down(threads.items(), lambda t: popped(t[1]) if ends[t[0]] else ())

    def popped(self, node: int) -> Sequence[tuple[int, int]]:
        """The threads that go on where a call on the stacks of a node ends; none of frames that are
        not known."""
        entries = self.stacks.entries[node]
        known = entries[0][0] > DEAD  # Frames ascend.
        return entries if known else [entry for entry in entries if entry[0] > DEAD]

    def popped_to(self, node: int, begins: Callable[[int], bool]) -> Sequence[tuple[int, int]]:
        """Those of ``popped`` in which something may go on by their states."""
        return [thread for thread in self.popped(node) if begins(thread[0])]

    def add_ways(self, ways: int, node: int) -> int:
        """``ways`` and how many sets of parts are on top of the stacks of a node, if there are
        several; none here."""
        return ways

    def configuration(self, threads: Mapping[int, int]) -> int:
        """The number of a configuration: sets of stacks by state."""
        return self.threads.number(threads)


class Network(Texts):
    """The same by the tables of a network."""

    tables: NetworkTables

    def __init__(
        self, tables: NetworkTables, first_transitions: FirstTransitions | None = None
    ) -> None:
        super().__init__(tables, first_transitions)

    def following(self) -> "Network":
        """The same network, which has read nothing."""
        return Network(self.tables, self.__dict__.get("first_transitions"))
