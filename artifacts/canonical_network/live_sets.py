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
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush

from ..network.counts import Levels
from ..network.tables import NetworkTables
from ..tokenizer_steps.byte_sets import ByteSets
from ..tokens.memo import ENTRY_BYTES, Made, Numbered, solve_recursive
from ..tokens.watch import Watch, unwatched
from .byte_edges import Reading
from .settled_sets import SetContexts

# A set below, by number, and a state or a counter's frame above it.
_Asked = tuple[int, int]


# In place of a state: all that it leads to has been met.
_LEFT = -1

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
        # The sets that something lies above, and the number of each.
        self.below = Numbered[int]()
        self.number = self.below.number
        self.known: dict[_Asked, int] = {}
        self._starting: dict[_Asked, int] = {}
        # By bytes and a set the states from which these lead to it.
        self.before = Made[bytes, Made[int, int]](
            lambda columns: Made(partial(sets.before, columns))
        )
        # Sets of the grammar that are looked at by all their values.
        self.unsettled: set[int] = set()

    @property
    def nbytes(self) -> int:
        """About the size of all that was found."""
        entries = len(self.known) + len(self._starting) + len(self.below)
        entries += sum(map(len, self.before.values()))
        return (ENTRY_BYTES + self.sets.width // 8) * entries

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


@dataclass(slots=True, eq=False)
class _Equation:
    """What a set that is asked for is made of. ``least``: what is known to be in it. ``targets``:
    the places of the states that bytes lead to, and ``before``, parallel, what leads to these.
    ``users``: the places that are looked at again where it grows."""

    asked: _Asked
    least: int = 0
    value: int = 0
    is_waiting: bool = True
    targets: list[int] = field(default_factory=list)
    before: list[Made[int, int]] = field(default_factory=list)
    users: dict[int, None] = field(default_factory=dict)


class _Search:
    """What is asked of live sets, and what this depends on, again and again until nothing grows.

    Sets that are not known grow meanwhile, so that calls are looked at above sets that are too
    small, too: these are smaller sets' least solutions, and no harm.
    """

    def __init__(self, live: LiveSets) -> None:
        self._live, self._tables = live, live.tables
        # By their places, in the order in which they are best looked at.
        self._equations: list[_Equation] = []
        # By number of the set below, and state or frame.
        self._places: dict[int, dict[int, int]] = {}
        # The places to be looked at: in this pass over all, and in the next.
        self._todo: list[int] = []
        self._later: list[int] = []
        # Sets of the grammar that were looked at by their parts, and what is below.
        self._by_parts: dict[tuple[int, int], None] = {}
        self._user = 0

    def solve(self, asked: _Asked) -> int:
        """The least solution; all that it depends on is known then, too."""
        self._ask(*asked)
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
        self._live.known.update((each.asked, each.value) for each in self._equations)
        return self._live.known[asked]

    def _run(self) -> None:
        equations, looked = self._equations, 0
        while self._todo or self._later:
            looked += 1
            if not looked % _BETWEEN_LOOKS:
                self._live.watch(_LOOK_WORK * _BETWEEN_LOOKS, 0)
            if not self._todo:
                self._todo, self._later = sorted(self._later), []
            self._user = place = heappop(self._todo)
            user = equations[place]
            user.is_waiting = False
            # What was found above smaller sets stays.
            found = user.value | self._looked_at(user)
            if found != user.value:
                user.value = found
                for there in user.users:
                    again = equations[there]
                    if not again.is_waiting:
                        again.is_waiting = True
                        if there > place:
                            heappush(self._todo, there)
                        else:
                            self._later.append(there)

    def _ask(self, number: int, frame: int) -> None:
        """Look at this after all that its bytes and frames lead to, depth first: in postorder the
        passes over a graph without loops are one."""
        reading, calls, known = self._live.reading, self._tables.calls, self._live.known
        places, seen = self._places.setdefault(number, {}), set[int]()
        pending, path, order = [frame], list[int](), list[int]()
        while pending:
            each = pending.pop()
            if each < 0:
                order.append(path.pop())
            elif each not in seen and each not in places and (number, each) not in known:
                seen.add(each)
                path.append(each)
                pending.append(_LEFT)
                if each < self._tables.states:
                    pending += [target for target, _ in reading[each]]
                    pending += [back for _, back in calls[each]]
        first = len(self._equations)
        self._todo += range(first, first + len(order))
        places.update(zip(order, range(first, first + len(order)), strict=True))
        self._equations += [_Equation((number, each)) for each in order]
        for place, each in enumerate(order, start=first):
            if each < self._tables.states:
                self._begin(place, number, each)

    def _begin(self, place: int, number: int, state: int) -> None:
        live, equation, places = self._live, self._equations[place], self._places[number]
        if self._tables.ends[state]:
            equation.least = live.below[number]
        for target, columns in live.reading[state]:
            before, there = live.before[columns], places.get(target)
            if there is None:
                equation.least |= before[live.known[number, target]]
            else:
                equation.targets.append(there)
                equation.before.append(before)
                self._equations[there].users[place] = None

    def _of(self, number: int, frame: int) -> int:
        found = self._live.known.get((number, frame))
        if found is not None:
            return found
        place = self._places.get(number, {}).get(frame)
        if place is None:
            self._ask(number, frame)
            place = self._places[number][frame]
        equation = self._equations[place]
        equation.users[self._user] = None
        return equation.value

    def _looked_at(self, equation: _Equation) -> int:
        (number, frame), live = equation.asked, self._live
        if frame >= self._tables.states:
            return self._of_counter(frame, number)
        found, equations = equation.least, self._equations
        for there, before in zip(equation.targets, equation.before, strict=True):
            found |= before[equations[there].value]
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
