"""From which pre-tokenizer states a text goes on to its end, for each state of a network, as sets.

    s ::= "a" s "b" | "c";     over the empty stack, from the state after "a": the pre-tokenizer
                               states in which a text that begins with "a" or "c" may go on

The *live set* of a state p over a set T holds the pre-tokenizer states q such that some text leads
from p beside q to the end of the call that p is in, and there to a state of T. Live sets are the
least solution of

    live(p, T) = T if the call may end in p
               | before(bytes, live(p', T))   for the bytes that lead from p to p'
               | live(s, live(g, T))          for the calls of p, which begin in s and return to g

(the predecessors of configurations, pre*: Bouajjani, Esparza and Maler 1997, with the stack below a
call abstracted to T). They are found lazily, when a mask first needs them: which states and
pre-tokenizer states a text leads to does not matter. A set is an integer, whose bit q says whether
q is in it.
"""

from collections.abc import Generator
from heapq import heappop, heappush

from ..network.counts import Levels
from ..network.tables import NetworkTables
from ..tokenizer_steps.byte_sets import ByteSets
from ..tokens.memo import ENTRY_BYTES, solve_recursive
from ..tokens.watch import Watch, unwatched
from .byte_edges import Reading
from .settled_sets import SetContexts

# A set below, by number, and a state or a counter's frame above it.
_Asked = tuple[int, int]


# What it takes to look at a state, in trie nodes that are met, and how many are told together.
_LOOK_WORK, _BETWEEN_LOOKS = 4, 64


class LiveSets:
    """The live sets of one network, as far as they were asked for.

    ``ends``: the pre-tokenizer states that calls may end in, and maybe others: sets below differ in
    these alone.
    """

    def __init__(
        self,
        tables: NetworkTables,
        reading: Reading,
        sets: ByteSets,
        ends: int,
        watch: Watch = unwatched,
    ) -> None:
        self.tables, self.reading, self.sets, self.watch = tables, reading, sets, watch
        self.ends = ends
        self._numbers: dict[int, int] = {}
        self.below: list[int] = []
        self.known: dict[_Asked, int] = {}
        self._starting: dict[_Asked, int] = {}
        # Sets of the grammar that are looked at by all their values.
        self.unsettled: set[int] = set()

    @property
    def nbytes(self) -> int:
        """About the size of all that was found."""
        entries = len(self.known) + len(self._starting) + len(self.below)
        return (ENTRY_BYTES + self.sets.width // 8) * entries

    def number(self, below: int) -> int:
        """The number of a set that something lies above."""
        found = self._numbers.get(below)
        if found is None:
            found = self._numbers[below] = len(self.below)
            self.below.append(below)
        return found

    def of(self, number: int, frame: int) -> int:
        """The live set of a state, or of a counter's frame, over the set of a number. Raises
        ``UnsettledError`` where that depends on the order of the parts of a set of the grammar."""
        found = self.known.get((number, frame))
        return _Search(self).solve((number, frame)) if found is None else found

    def pushed(self, number: int, frame: int) -> int:
        """The number of the set below a call that returns to ``frame``."""
        return self.number(self.of(number, frame) & self.ends)

    def starting(self, number: int, state: int) -> int:
        """Of the live set of a state the pre-tokenizer states in which a byte may start a
        pre-token, at once or in a call. No callee matches ε, and no chain of first calls leads back
        to its beginning."""
        key = number, state
        found = self._starting.get(key)
        return solve_recursive(key, self._starting.get, self._starts) if found is None else found

    def _starts(self, key: _Asked) -> Generator[_Asked, int, int]:
        (number, state), found = key, 0
        for target, columns in self.reading[state]:
            found |= self.sets.before(columns, self.of(number, target), starting=True)
        for start, frame in self.tables.calls[state]:
            found |= yield self.pushed(number, frame), start
        self._starting[key] = found
        return found


class _Search:
    """What is asked of live sets, and what this depends on, again and again until nothing grows.

    Sets that are not known grow meanwhile, so that calls are looked at above sets that are too
    small, too: these are smaller sets' least solutions, and no harm.
    """

    def __init__(self, live: LiveSets) -> None:
        self._live, self._tables = live, live.tables
        self._values: dict[_Asked, int] = {}
        # Of each what is to be looked at again where it grows.
        self._users: dict[_Asked, dict[_Asked, None]] = {}
        # What is to be looked at, in the order of ``_places``: in this pass over all, in the next.
        self._todo: list[tuple[int, _Asked]] = []
        self._later: list[tuple[int, _Asked]] = []
        self._places: dict[_Asked, int] = {}
        self._waiting: set[_Asked] = set()
        # Sets of the grammar that were looked at by their parts, and what is below.
        self._by_parts: dict[tuple[int, int], None] = {}
        self._user: _Asked = 0, 0

    def solve(self, asked: _Asked) -> int:
        """The least solution; all that it depends on is known then, too."""
        self._ask(asked)
        while self._todo:
            self._run()
            # This may ask for more.
            sets = [
                number
                for number, below in [*self._by_parts]
                if not self._sets().settles(number, below)
            ]
            if sets and not self._todo:
                # What is known by the parts of a set that does not settle may be too much.
                self._live.unsettled.update(sets)
                return _Search(self._live).solve(asked)
        self._live.known.update(self._values)
        return self._values[asked]

    def _run(self) -> None:
        values, looked = self._values, 0
        while self._todo or self._later:
            looked += 1
            if not looked % _BETWEEN_LOOKS:
                self._live.watch(_LOOK_WORK * _BETWEEN_LOOKS, 0)
            if not self._todo:
                self._todo, self._later = sorted(self._later), []
            place, user = heappop(self._todo)
            self._user = user
            self._waiting.discard(user)
            # What was found above smaller sets stays.
            found = values[user] | self._looked_at(*user)
            if found != values[user]:
                values[user] = found
                for again in self._users[user]:
                    if again not in self._waiting:
                        self._waiting.add(again)
                        there = self._places[again]
                        if there > place:
                            heappush(self._todo, (there, again))
                        else:
                            self._later.append((there, again))

    def _ask(self, asked: _Asked) -> None:
        """Look at this after all that its bytes and frames lead to, depth first: in postorder the
        passes over a graph without loops are one."""
        live, values, users = self._live, self._values, self._users
        states, calls = self._tables.states, self._tables.calls
        pending: list[_Asked | None] = [asked]
        path, order = list[_Asked](), list[_Asked]()
        while pending:
            each = pending.pop()
            if each is None:
                order.append(path.pop())
            elif each not in values and each not in live.known:
                values[each] = 0
                users.setdefault(each, {})
                path.append(each)
                pending.append(None)
                number, frame = each
                if frame < states:
                    after = [(number, target) for target, _ in live.reading[frame]]
                    after += [(number, back) for _, back in calls[frame]]
                    for needed in after:
                        users.setdefault(needed, {})[each] = None
                    pending += after
        self._waiting.update(order)
        for place, each in enumerate(order, start=len(self._places)):
            self._places[each] = place
            heappush(self._todo, (place, each))

    def _of(self, number: int, frame: int) -> int:
        asked = number, frame
        found = self._live.known.get(asked)
        if found is not None:
            return found
        if asked not in self._values:
            self._ask(asked)
        self._users[asked][self._user] = None
        return self._values[asked]

    def _looked_at(self, number: int, frame: int) -> int:
        if frame >= self._tables.states:
            return self._of_counter(frame, number)
        found, live, values = 0, self._live, self._values
        if self._tables.ends[frame]:
            found = live.below[number]
        before = live.sets.before
        for target, columns in live.reading[frame]:
            after = values.get((number, target))
            if after is None:
                after = live.known[number, target]
            if after:
                found |= before(columns, after)
        for start, back in self._tables.calls[frame]:
            below = self._of(number, back) & live.ends
            if below:
                found |= self._of(live.number(below), start)
        return found

    def _of_counter(self, frame: int, number: int) -> int:
        """In front of the frame of a counter, or of a set."""
        counters, live = self._tables.some_counters, self._live
        counter, begun = counters.split(frame)
        if counters.set_rule(counter) is not None:
            of_set = counter - len(counters.rows), begun, number
            if of_set[0] in live.unsettled:
                return live.below[self._sets().one_by_one(*of_set)]
            self._by_parts[of_set[0], number] = None
            return live.below[self._sets().by_parts(*of_set)]
        item, least, most, back = counters.rows[counter]
        levels = Levels(
            least,
            most,
            self._push(back, number),
            lambda following: self._push(item, following),
            lambda one, other: self._union([one, other]),
        )
        return live.below[levels.of(begun)]

    def _sets(self) -> SetContexts:
        """What is in front of sets, by what is known so far."""
        return SetContexts(self._tables.some_counters.set_rules, self._push, self._union)

    def _push(self, state: int, below: int) -> int:
        return self._live.number(self._of(below, state) & self._live.ends)

    def _union(self, numbers: list[int]) -> int:
        found = 0
        for each in numbers:
            found |= self._live.below[each]
        return self._live.number(found)
