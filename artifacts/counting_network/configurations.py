"""Configurations of a network with counters, and how they read bytes.

Most texts have one thread over one stack. Its configuration is an integer that holds the counts
themselves, beside the stack without them, so that a step within a count makes nothing new:

    2 (counts << 48 | stack * S + state)

where ``counts`` has the value of each counter and set on the stack, the topmost in its lowest bits.
All others have numbers (2 n + 1 for the n-th of them). Where a few bytes have led one thread to
several in different states, as the first ones of a part in any order do, the configuration is that
thread's and these bytes: the threads are cached, and found again. Else it is a set of threads over
sets of stacks, whose frames hold the counts.

Where the end of an item cannot be told, as in (a|aa){3,5}, a set holds stacks that differ in a
count. Of counts that are enough, over the same rest, the smallest can do all that the others can,
and it alone is kept: at most least + 1 are left. Of sets of parts that a text may have had up to
``sets.MOST_WAYS`` are followed; beyond them ``AmbiguousPartsError`` is raised.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..network.configurations import BOTTOM, REFUSED, Entries, Network, Stacks, Threads
from ..network.sets import MOST_BELOW, MOST_FOLLOWED, check_ways
from ..network.tables import DEAD, NetworkTables
from ..tokens.memo import ENTRY_BYTES, BoundedCache
from .relative_steps import Effect, Single, SingleThreads

# Bits of the state and the stack; stacks are far fewer than memory holds.
_STACK_BITS = 48
_STACK_MASK = (1 << _STACK_BITS) - 1

# Where the counts are in a configuration; all below is the state, the stack and which of both forms
# it has.
COUNT_SHIFT = _STACK_BITS + 1

# Threads that are followed one by one within a token where some are in one state.
_MOST_SINGLE = 16

# Bytes that are read again where threads are found again, and threads that are kept.
_MOST_BEHIND, _MOST_CACHED = 64, 1 << 14


class CountedStacks(Network):
    """``Network`` whose frames may be counters: all that a frame does is ``Counters.pops``."""

    def __init__(self, tables: NetworkTables) -> None:
        self.counters = tables.some_counters
        # What ``without_dominated`` found, by node, and ``popped`` of several entries.
        self._pruned: dict[int, int] = {}
        self._popped: dict[int, list[tuple[int, int]]] = {}
        super().__init__(tables)

    @property
    def nbytes(self) -> int:
        """About the size of all that was interned."""
        return super().nbytes + ENTRY_BYTES // 2 * (len(self._pruned) + 2 * len(self._popped))

    def following(self) -> "CountedStacks":
        """The same network, which has read nothing."""
        return CountedStacks(self.tables)

    def may_return(self, node: int) -> bool:
        """Whether some stack of a set has nothing on it but frames that may return."""
        pending = [node]
        while pending:
            current = pending[-1]
            if current in self._returning:
                pending.pop()
                continue
            lower = [n for f, n in self.stacks.entries[current] if f != DEAD and self._returns(f)]
            missing = [inner for inner in lower if inner not in self._returning]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            empty = any(frame == DEAD for frame, _ in self.stacks.entries[current])
            self._returning[current] = empty or any(self._returning[inner] for inner in lower)
        return self._returning[node]

    def is_member(self, threads: Mapping[int, int]) -> bool:
        """Whether a text that leads to these sets of stacks by state is a member."""
        return any(
            state == DEAD or (self._ends[state] and self.may_return(node))
            for state, node in threads.items()
        )

    def _returns(self, frame: int) -> bool:
        """Whether a frame may return and end the call that it is in."""
        if frame < self.counters.states:
            return self._ends[frame]
        counter, value = self.counters.split(frame)
        return self.counters.may_return(counter, value) and self._ends[self.counters.ends[counter]]

    def read_threads(self, threads: Mapping[int, int], symbols: Iterable[int]) -> dict[int, int]:
        """The sets of stacks by state after some symbols."""
        found = dict(threads)
        for symbol in symbols:
            found = self._read(found, symbol)
        return found

    def _read(self, threads: Mapping[int, int], symbol: int) -> dict[int, int]:
        found: dict[int, dict[int, None]] = {}
        for state, node in self._returned(threads):
            for target, frames in self.first_transitions.of(state, symbol):
                reached = node
                for frame in frames:
                    reached = self.stacks.push(frame, reached)
                found.setdefault(target, {})[reached] = None
        return {
            state: self.without_dominated(self.stacks.joined(list(nodes)))
            for state, nodes in found.items()
        }

    def popped(self, node: int) -> Sequence[tuple[int, int]]:
        """The threads that go on where a call on the stacks of a node ends."""
        push, pops, entries = self.stacks.push, self.counters.pops, self.stacks.entries
        if len(entries[node]) == 1:
            [(frame, below)] = entries[node]
            return [
                (target, push(again, below) if again else below)
                for target, again in (pops(frame) if frame > DEAD else ())
            ]
        if node in self._popped:
            return self._popped[node]
        found: list[tuple[int, int]] = []
        # By state: sets of parts that cannot be distinguished lead to the same states.
        united: dict[int, list[tuple[int, int]]] = {}
        followed = 0
        for frame, below in entries[node]:
            if frame <= DEAD:
                continue
            ways = pops(frame)
            followed += len(ways)
            for target, again in ways:
                if again:
                    united.setdefault(target, []).append((again, below))
                elif entries[below][0][0] < DEAD:
                    found.append((target, below))
                else:
                    united.setdefault(target, []).extend(entries[below])
        if self.counters.set_rules:
            check_ways(followed, MOST_FOLLOWED)
        found += [(target, self.stacks.of(pairs)) for target, pairs in united.items()]
        self._popped[node] = found
        return found

    def popped_to(self, node: int, begins: Callable[[int], bool]) -> Sequence[tuple[int, int]]:
        """Those of ``popped`` in which something may go on by their states: of the parts of a set
        they alone are numbered."""
        entries = self.stacks.entries[node]
        if len(entries) > 1 or entries[0][0] < self.counters.states:
            return super().popped_to(node, begins)
        [(frame, below)] = entries
        ways = self.counters.pops(frame, begins)
        push = self.stacks.push
        return [(target, push(again, below) if again else below) for target, again in ways]

    def add_ways(self, ways: int, node: int) -> int:
        """``ways`` and how many sets of parts are on top of the stacks of a node, if there are
        several. Raises ``AmbiguousPartsError`` beyond ``MOST_BELOW``."""
        entries, states = self.stacks.entries[node], self.counters.states
        if len(entries) == 1 or not self.counters.set_rules:
            return ways
        ways += sum(f >= states and not self.counters.is_count(f) for f, _ in entries)
        check_ways(ways, MOST_BELOW)
        return ways

    def without_dominated(self, node: int) -> int:
        """A set of stacks without those that can do no more than others of them."""
        waiting = [node]
        while waiting:
            current = waiting[-1]
            if current in self._pruned:
                waiting.pop()
                continue
            entries = self.stacks.entries[current]
            missing = [n for frame, n in entries if frame != DEAD and n not in self._pruned]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            kept = self._kept([(f, self._pruned[n] if f != DEAD else n) for f, n in entries])
            self._pruned[current] = (
                current if kept == entries else self.stacks.joined([self._node(e) for e in kept])
            )
        return self._pruned[node]

    def _node(self, entry: tuple[int, int]) -> int:
        frame, below = entry
        return BOTTOM if frame == DEAD else self.stacks.push(frame, below)

    def _kept(self, entries: Sequence[tuple[int, int]]) -> Entries:
        """Of counts that are enough, over the same rest, the smallest, and of sets alike."""
        counters = self.counters
        kept = []
        best: dict[tuple[int, int], int] = {}
        sets: dict[tuple[int, int], list[int]] = {}
        for frame, below in entries:
            if frame < counters.states:
                kept.append((frame, below))
                continue
            counter, value = counters.split(frame)
            key = counter, below
            if counter >= len(counters.rows):
                sets.setdefault(key, []).append(value)
            elif value >= counters.rows[counter][1]:
                best[key] = min(best.get(key, frame), frame)
            else:
                kept.append((frame, below))
        kept += [(frame, below) for (_, below), frame in best.items()]
        for (counter, below), values in sets.items():
            rule = counters.set_rules[counter - len(counters.rows)]
            kept += [(counters.frame(counter, v), below) for v in rule.undominated(values)]
        return tuple(sorted(kept))


def network_over(tables: NetworkTables) -> Network:
    """A network that has read nothing, with counters if its tables have some."""
    return Network(tables) if tables.counters is None else CountedStacks(tables)


class Behind(NamedTuple):
    """Threads in different states, each over one stack, to which ``text`` leads from the
    configuration ``base`` of one thread."""

    base: int
    text: bytes


def _are_apart(threads: Sequence[Single]) -> bool:
    """Whether all are in different states."""
    return len({state for state, _, _ in threads}) == len(threads)


class CountingConfigurations:
    """Reads texts of a network with counters; configurations are integers from 0, ``start`` is the
    one before any text. Grows with what it reads, but not with counts of single threads."""

    def __init__(self, tables: NetworkTables) -> None:
        self.tables, self.counters = tables, tables.some_counters
        self.network = CountedStacks(tables)
        # Stacks without counts: frame S + c is counter or set c.
        self.stacks = Stacks()
        self._states, self._ends = tables.states, tables.ends
        self.singles = SingleThreads(tables, self.network.first_transitions, self.stacks)
        self.widths, self._masks = self.singles.widths, self.singles.masks
        self._several: list[Threads | Behind] = []
        self._numbers: dict[Threads | Behind, int] = {}
        self._behind: BoundedCache[Behind, tuple[Single, ...]] = BoundedCache(_MOST_CACHED)
        self._threads = 0
        self.start = self._number(dict(self.network.threads[self.network.start]))

    @property
    def nbytes(self) -> int:
        """About the size of all that was interned."""
        several = ENTRY_BYTES * (len(self._several) + self._threads // 2)
        return self.network.nbytes + self.stacks.nbytes + several

    def single(self, configuration: int) -> Single | None:
        """The only thread and its only stack, if there is one."""
        if configuration & 1:
            return None
        configuration >>= 1
        node, state = divmod(configuration & _STACK_MASK, self._states)
        return state, node, configuration >> _STACK_BITS

    def threads(self, configuration: int) -> Threads:
        """The (state, set of stacks) pairs; nodes are those of ``network.stacks``."""
        apart = self.apart(configuration)
        if apart is None:
            several = self._several[configuration >> 1]
            assert not isinstance(several, Behind)
            return several
        return tuple((state, self._with_counts(node, counts)) for state, node, counts in apart)

    def apart(self, configuration: int) -> Sequence[Single] | None:
        """All threads, if each is in a state of its own over one stack."""
        found = self.single(configuration)
        if found is not None:
            return (found,)
        several = self._several[configuration >> 1]
        return self._threads_behind(several) if isinstance(several, Behind) else None

    def may_end(self, configuration: int) -> bool:
        """Whether the text so far is a member."""
        apart = self.apart(configuration)
        if apart is not None:
            return any(map(self._single_may_end, apart))
        return self.network.is_member(dict(self.threads(configuration)))

    def _single_may_end(self, thread: Single) -> bool:
        state, node, counts = thread
        entries = self.stacks.entries
        while self._ends[state]:
            frame, node = entries[node][0]
            if frame == DEAD:
                return True
            state = frame
            if frame >= self._states:
                counter = frame - self._states
                if not self.counters.may_return(counter, counts & self._masks[counter]):
                    return False
                state = self.counters.ends[counter]
                counts >>= self.widths[counter]
        return False

    def read(self, configuration: int, text: bytes) -> tuple[int, Effect | None]:
        """The configuration after a token, or ``REFUSED``; and what the token does to all of one
        state and stack, whose counts may be others, where it finds and leaves one thread."""
        begun = self.single(configuration)
        if begun is None:
            several = self._several[configuration >> 1]
            if isinstance(several, Behind):
                threads, done = list(self._threads_behind(several)), 0
                return self._read_on(several.base, several.text, threads, text), None
            found = self.network.read_threads(dict(several), text)
            return self._number(found) if found else REFUSED, None
        threads, done, effect = self.singles.read(begun, text)
        if effect is not None:
            return self.packed(*threads[0]), effect
        return self._read_on(configuration, text[:done], threads, text[done:]), None

    def _read_on(self, base: int, before: bytes, threads: list[Single], text: bytes) -> int:
        """The configuration after ``threads``, to which ``before`` leads from ``base``, have read a
        text."""
        for place, octet in enumerate(text):
            if len(threads) > _MOST_SINGLE and not _are_apart(threads):
                found = self.network.read_threads(self._united(threads), text[place:])
                return self._number(found) if found else REFUSED
            threads = self._byte(threads, octet)
        if len(threads) < 2:
            return self.packed(*threads[0]) if threads else REFUSED
        if len(before) + len(text) > _MOST_BEHIND or not _are_apart(threads):
            return self._number(self._united(threads))
        key = Behind(base, before + text)
        self._behind.keep(key, tuple(threads), len(threads))
        return self._numbered(key, 1)

    def _threads_behind(self, key: "Behind") -> tuple[Single, ...]:
        found = self._behind.get(key)
        if found is None:
            begun = self.single(key.base)
            assert begun is not None
            threads = [begun]
            for octet in key.text:
                threads = self._byte(threads, octet)
            found = self._behind.keep(key, tuple(threads), len(threads))
        return found

    def _byte(self, threads: list[Single], octet: int) -> list[Single]:
        plain, rows = self.network.first_transitions.plain, self.tables.rows
        found: dict[Single, None] = {}
        for thread in threads:
            if plain[thread[0]]:
                target = rows[thread[0]][octet]
                if target != DEAD:
                    found[target, thread[1], thread[2]] = None
            else:
                found.update(dict.fromkeys(self.singles.byte(thread, octet)))
                if len(found) > MOST_FOLLOWED:
                    check_ways(len(found), MOST_FOLLOWED)
        return list(found)

    def viable(self, text: bytes) -> int:
        """The length of the longest prefix of a text that some member begins with."""
        return self.network.viable(text)

    def _united(self, threads: Iterable[Single]) -> dict[int, int]:
        found: dict[int, int] = {}
        for state, node, counts in threads:
            self.network.add(found, state, self._with_counts(node, counts))
        return {state: self.network.without_dominated(node) for state, node in found.items()}

    # --- from one form to the other

    def packed(self, state: int, node: int, counts: int) -> int:
        """The configuration of one thread over one stack."""
        return (counts << _STACK_BITS | node * self._states + state) << 1

    def _number(self, threads: Mapping[int, int]) -> int:
        """The configuration of sets of stacks by state."""
        if len(threads) == 1 and DEAD not in threads:
            [(state, node)] = threads.items()
            found = self._without_counts(node)
            if found is not None:
                return self.packed(state, *found)
        key = tuple(sorted(threads.items()))
        return self._numbered(key, len(key))

    def _numbered(self, key: "Threads | Behind", threads: int) -> int:
        number = self._numbers.setdefault(key, len(self._several))
        if number == len(self._several):
            self._several.append(key)
            self._threads += threads
        return number << 1 | 1

    def _with_counts(self, node: int, counts: int) -> int:
        """The node of ``network.stacks`` of a stack and its counts."""
        frames = []
        while node != BOTTOM:
            frame, node = self.stacks.entries[node][0]
            if frame >= self._states:
                counter = frame - self._states
                frame = self.counters.frame(counter, counts & self._masks[counter])
                counts >>= self.widths[counter]
            frames.append(frame)
        for frame in reversed(frames):
            node = self.network.stacks.push(frame, node)
        return node

    def _without_counts(self, node: int) -> tuple[int, int] | None:
        """A stack and its counts, if the node of ``network.stacks`` has one stack."""
        frames, counts, shift = [], 0, 0
        while node != BOTTOM:
            entries = self.network.stacks.entries[node]
            if len(entries) > 1:
                return None
            [(frame, node)] = entries
            if frame >= self._states:
                counter, begun = self.counters.split(frame)
                counts |= begun << shift
                shift += self.widths[counter]
                frame = self._states + counter
            frames.append(frame)
        for frame in reversed(frames):
            node = self.stacks.push(frame, node)
        return node, counts
