"""How a network with counters and sets reads symbols: its frames hold the counts.

Where the end of an item cannot be told, as in (a|aa){3,5}, a set holds stacks that differ in a
count. Of counts that are enough, over the same rest, the smallest can do all that the others can,
and it alone is kept: at most least + 1 are left. Of sets of parts that a text may have had up to
``sets.MOST_WAYS`` are followed; beyond them ``AmbiguousPartsError`` is raised.
"""

from collections.abc import Callable, Mapping, Sequence

from ..tokens.memo import ENTRY_BYTES, bottom_up
from .configurations import BOTTOM, Network
from .sets import MOST_BELOW, MOST_FOLLOWED, check_ways
from .tables import DEAD, NetworkTables


class CountedStacks(Network):
    """``Network`` whose frames may be counters: all that a frame does is ``Counters.pops``."""

    def __init__(self, tables: NetworkTables) -> None:
        self.counters = tables.some_counters
        # What ``_without_dominated`` found, by node, and ``popped`` of several entries.
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

    def _returns(self, frame: int) -> bool:
        """Whether a frame may return and end the call that it is in."""
        if frame < self.counters.states:
            return self._ends[frame]
        counter, value = self.counters.split(frame)
        return self.counters.may_return(counter, value) and self._ends[self.counters.ends[counter]]

    def _read(self, threads: Mapping[int, int], symbol: int) -> dict[int, int]:
        found: dict[int, dict[int, None]] = {}
        for state, node in self._returned(threads):
            for target, frames in self.first_transitions.of(state, symbol):
                reached = node
                for frame in frames:
                    reached = self.stacks.push(frame, reached)
                found.setdefault(target, {})[reached] = None
        return {
            state: self._without_dominated(self.stacks.joined(list(nodes)))
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

    def _without_dominated(self, node: int) -> int:
        """A set of stacks without those that can do no more than others of them."""
        for current in bottom_up([node], self.stacks.below, self._pruned):
            entries = self.stacks.entries[current]
            pruned = [(f, self._pruned[n] if f > DEAD else n) for f, n in entries]
            kept = tuple(sorted(self.counters.undominated(pruned)))
            self._pruned[current] = (
                current if kept == entries else self.stacks.joined([self._node(e) for e in kept])
            )
        return self._pruned[node]

    def _node(self, entry: tuple[int, int]) -> int:
        frame, below = entry
        return BOTTOM if frame == DEAD else self.stacks.push(frame, below)


def network_over(tables: NetworkTables) -> Network:
    """A network that has read nothing, with counters if its tables have some."""
    return Network(tables) if tables.counters is None else CountedStacks(tables)
