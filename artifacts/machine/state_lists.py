"""Sets of a grammar's positions, each the state of a deterministic machine: what they read.

    a state is a set of positions                            Rabin and Scott 1959
    a set is a list in ascending order, whose ends are shared   hash-consing, Filliâtre and
                                                                Conchon 2006

    k₁? k₂? … kₙ?      in front of kᵢ the set is kᵢ's start before the set in front of kᵢ₊₁

Where a set is stepped by a byte, its first position is, and the rest is looked up. So a chain of n
optional literals takes as many steps as they have bytes, and not n sets of up to n positions: a set
is the least literal that is left and a node of the trie of all of them. What is deterministic
already consists of sets of one position, and costs a copy.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..tokens.memo import Made, top_down
from ..tokens.sharing import weakly
from .positions import END, Positions, Runs

# More places than positions can have.
_MANY = 1 << 31

# Where each position copies so many of the others, and more than a few are left, these are not
# merged one by one.
_MANY_COPIES, _FEW = 4, 8

# Lists of positions: nothing, and the end alone. All others are numbered after them.
EMPTY, ENDED = 0, 1


class StateLists:
    """Sets of states as lists in a given order; equal lists are one, and so are their ends.

    A list's head is a place in ``order``, without which states stand by their numbers. ``ended``:
    whether a list holds the end, which is not in the list itself but at its end.
    What positions lead to is written when it is first needed.
    """

    def __init__(
        self,
        positions: Positions,
        order: Sequence[int] | None,
        check: Callable[[], None],
    ) -> None:
        self._check = check
        self._arcs, self._epsilon = positions.arcs, positions.epsilon
        self._positions, self._unlaid = positions, positions.unlaid
        self._order = self._place = order = range(_MANY) if order is None else order
        if not isinstance(order, range):
            self._place = [0] * positions.states
            for place, state in enumerate(order):
                self._place[state] = place
        # What holds no state stands after all places. A list's jump is a far end of it, so that
        # the end from a place on is found in logarithmic time (Myers, An applicative
        # random-access stack, 1983).
        self._heads, self._rests = [len(order), len(order)], [EMPTY, EMPTY]
        self._jumps, self._depths = [EMPTY, ENDED], [0, 0]
        self.ended = [False, True]
        self._numbers: dict[int, int] = {}
        self._runs: list[Runs | None] = [[], []]
        self._closures = {END: ENDED}
        # What a state alone reads, by the state.
        self._alone = Made(weakly(self._read_alone))
        self._unions = dict[int, int]()
        # Of all unions together the positions that were not shared.
        self._copied = 0
        self._entered: set[int] = set()

    def pairs(self) -> Iterator[tuple[int, int]]:
        """The state that each list begins with, and its rest; without those of no state."""
        for head, rest in zip(self._heads[2:], self._rests[2:], strict=True):
            yield self._order[head], rest

    @property
    def count(self) -> int:
        """How many lists there are."""
        return len(self._heads)

    @property
    def met(self) -> int:
        """How many positions something led to so far."""
        return len(self._closures)

    def head_and_rest(self, number: int) -> tuple[int, int]:
        """The first state of a list that has some, and the list of the others."""
        return self._order[self._heads[number]], self._rests[number]

    def not_ended(self, number: int) -> int:
        """The list without the end."""
        if not self.ended[number]:
            return number
        return self.of(self.members(number))

    def members(self, number: int) -> Iterator[int]:
        """The positions of a list, ascending."""
        while number > ENDED:
            yield self._order[self._heads[number]]
            number = self._rests[number]

    def of(self, members: Iterable[int], *, ended: bool = False) -> int:
        """The list of some positions, each of which reads something, and perhaps of the end."""
        found = ENDED if ended else EMPTY
        for place in sorted({self._place[member] for member in members}, reverse=True):
            found = self._list(place, found)
        return found

    def _list(self, head: int, rest: int) -> int:
        key = head << 32 | rest
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._heads)
            self._heads.append(head)
            self._rests.append(rest)
            if rest <= ENDED:
                self._jumps.append(rest)
                self._depths.append(1)
            else:
                jumps, depths = self._jumps, self._depths
                far = jumps[rest]
                equal = depths[rest] - depths[far] == depths[far] - depths[jumps[far]]
                jumps.append(jumps[far] if equal else rest)
                depths.append(depths[rest] + 1)
            self.ended.append(self.ended[rest])
            self._runs.append(None)
        return found

    def _union(self, left: int, right: int) -> int:
        """Both together; as much of them as can be is shared."""
        if left == EMPTY or right == EMPTY:
            return left or right
        heads, rests = self._heads, self._rests
        if heads[left] > heads[right]:
            left, right = right, left
        if self._end_of(left, heads[right]) == right:
            return left
        key = left << 32 | right
        if key in self._unions:
            return self._unions[key]
        taken = []
        while left != right and left > ENDED and right > ENDED:
            first, second = heads[left], heads[right]
            taken.append(min(first, second))
            if first <= second:
                left = rests[left]
            if second <= first:
                right = rests[right]
        found = max(left, right)
        if min(left, right) == ENDED and not self.ended[found]:
            while found > ENDED:
                taken.append(heads[found])
                found = rests[found]
            found = ENDED
        self._copied += len(taken)
        for head in reversed(taken):
            found = self._list(head, found)
        self._unions[key] = found
        return found

    def includes(self, number: int, part: int) -> bool:
        """Whether a list has all positions of another one."""
        heads, rests = self._heads, self._rests
        while part > ENDED and number != part:
            number = self._end_of(number, heads[part])
            if heads[number] != heads[part]:
                return False
            number, part = rests[number], rests[part]
        return True

    def _end_of(self, number: int, place: int) -> int:
        """The end of a list from a place on."""
        heads, rests, jumps = self._heads, self._rests, self._jumps
        while heads[number] < place:
            far = jumps[number]
            number = far if heads[far] <= place else rests[number]
        return number

    def closure(self, state: int) -> int:
        """A state and all that it gets to without reading, those that read or end alone."""
        closures, entered = self._closures, self._entered
        if state in closures:
            return closures[state]
        if state in self._unlaid:
            self._unlaid.pop(state).lay(state)
        if not self._epsilon[state]:
            alone = self._list(self._place[state], EMPTY) if self._arcs[state] else EMPTY
            closures[state] = alone
            return alone
        pending = [state]
        while pending:
            current = pending[-1]
            if current in closures:
                pending.pop()
                continue
            if current not in entered:
                entered.add(current)
                if current in self._unlaid:
                    self._unlaid.pop(current).lay(current)
                missing = [t for t in self._epsilon[current] if t not in closures]
                if any(target in entered for target in missing):
                    closures[current] = self._around_cycle(current)
                    continue
                if missing:
                    # The first is written first, and stands before those after it.
                    pending.extend(reversed(missing))
                    continue
            pending.pop()
            found = EMPTY
            for target in reversed(self._epsilon[current]):
                if not target & 255:
                    self._check()
                found = self._union(closures[target], found)
            if self._arcs[current]:
                place = self._place[current]
                if self._heads[found] > place:
                    found = self._list(place, found)
                else:
                    found = self._union(self._list(place, EMPTY), found)
            closures[current] = found
        return closures[state]

    def _around_cycle(self, state: int) -> int:
        """The closure of a state on a cycle of ε edges."""

        def following(current: int) -> Sequence[int]:
            if current in self._unlaid:
                self._unlaid.pop(current).lay(current)
            return self._epsilon[current]

        seen = set(top_down([state], following))
        return self.of((s for s in seen if self._arcs[s]), ended=END in seen)

    def runs(self, number: int) -> Runs:
        """What a list reads, ascending and disjoint; targets are lists."""
        found = self._runs[number]
        if found is not None:
            return found
        if self._rests[number] <= ENDED:
            found = self._runs[number] = self._read_alone(self._order[self._heads[number]])
            return found
        pending = []
        while self._runs[number] is None:
            pending.append(number)
            number = self._rests[number]
        found = self._runs[number]
        assert found is not None
        # What stands first is written first.
        alone, own = self._alone, list[Runs]()
        for current in pending:
            state = self._order[self._heads[current]]
            own.append(alone[state])
        before = self._copied
        for i in range(len(own) - 1, -1, -1):
            self._check()
            found = self._merged(own[i], found) if found else own[i]
            self._runs[pending[i]] = found
            if i > _FEW and self._copied - before > _MANY_COPIES * (_FEW + len(own) - i):
                # They stand among each other, and each one more would copy most of the others.
                found = self._runs[pending[0]] = self._together([*own[:i], found])
                break
        return found

    def _together(self, parts: Sequence[Runs]) -> Runs:
        """The runs of many lists: for each stretch between ends of runs what leads on from it, as
        the bits of a set. One by one each list would be copied into the next."""
        heads, rests = self._heads, self._rests
        inside = dict[int, list[int]]()
        for target in {target for runs in parts for target in runs[2::3]}:
            members, rest = [], target
            while rest > ENDED:
                members.append(heads[rest])
                rest = rests[rest]
            inside[target] = members
        places = sorted({place for members in inside.values() for place in members})
        # The lowest bit is the end.
        bit = {place: 2 << i for i, place in enumerate(places)}
        sets = {t: sum(map(bit.__getitem__, m), int(self.ended[t])) for t, m in inside.items()}
        ends = {end for runs in parts for end in runs[::3]}
        cuts = sorted(ends.union(high + 1 for runs in parts for high in runs[1::3]))
        begin = {cut: i for i, cut in enumerate(cuts)}
        united = [0] * len(cuts)
        for runs in parts:
            for low, high, target in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
                for i in range(begin[low], begin[high + 1]):
                    united[i] |= sets[target]
        made, found = {bits: target for target, bits in sets.items()}, Runs()
        for i, whole in enumerate(united[:-1]):
            if whole and whole not in made:
                number = ENDED if whole & 1 else EMPTY
                digits = f"{whole >> 1:b}"
                for place, digit in zip(places[len(digits) - 1 :: -1], digits, strict=True):
                    if digit == "1":
                        number = self._list(place, number)
                made[whole] = number
            if whole:
                found += (cuts[i], cuts[i + 1] - 1, made[whole])
        return found

    def _read_alone(self, state: int) -> Runs:
        arcs = self._arcs[state]
        if len(arcs) == 3:
            return [arcs[0], arcs[1], self.closure(arcs[2])]
        found, after = Runs(), -1
        # Mostly they are ascending and disjoint already.
        for low, high, target in zip(arcs[::3], arcs[1::3], arcs[2::3], strict=True):
            if low <= after:
                break
            leads = self.closure(target)
            if low == after + 1 and high < 256 and found and found[-1] == leads:
                # Bytes that were written one by one are read as one run; other symbols are calls.
                found[-2] = high
            else:
                found += (low, high, leads)
            after = high
        else:
            return found
        found, after, place = [], -1, self._place
        behind = [-place[target] for target in arcs[2::3]]
        # Of equal bytes the last target first, so that each next one stands before a list.
        for low, high, _, target in sorted(
            zip(arcs[::3], arcs[1::3], behind, arcs[2::3], strict=True)
        ):
            run = [low, high, self.closure(target)]
            if low > after:
                found += run
            else:
                found = self._merged(run, found)
            after = max(after, high)
        return found

    def _with_symbol(self, one: Runs, runs: Runs) -> Runs:
        """``runs`` and a run of one symbol, as of a literal beside all else."""
        symbol, _, target = one
        place, size = 0, len(runs)
        while place < size and runs[place + 1] < symbol:
            place += 3
        if place == size or runs[place] > symbol:
            return runs[:place] + one + runs[place:]
        low, high, other = runs[place : place + 3]
        found = runs[:place]
        if low < symbol:
            found += (low, symbol - 1, other)
        found += (symbol, symbol, self._union(target, other))
        if symbol < high:
            found += (symbol + 1, high, other)
        return found + runs[place + 3 :]

    def _merged(self, left: Runs, right: Runs) -> Runs:
        """The runs of both."""
        if len(left) == 3 and left[0] == left[1]:
            return self._with_symbol(left, right)
        if left[-2] < right[0]:
            return left + right
        if right[-2] < left[0]:
            return right + left
        found: Runs = []
        i, j = 3, 3
        low, high, target = left[:3]
        other_low, other_high, other = right[:3]
        while True:
            if high < other_low:
                found += (low, high, target)
                low = high + 1
            elif other_high < low:
                found += (other_low, other_high, other)
                other_low = other_high + 1
            elif low < other_low:
                found += (low, other_low - 1, target)
                low = other_low
            elif other_low < low:
                found += (other_low, low - 1, other)
                other_low = low
            else:
                last = min(high, other_high)
                found += (low, last, self._union(target, other))
                low = other_low = last + 1
            if low > high:
                if i == len(left):
                    if other_low <= other_high:
                        found += (other_low, other_high, other)
                    return found + right[j:]
                low, high, target = left[i : i + 3]
                i += 3
            if other_low > other_high:
                if j == len(right):
                    found += (low, high, target)
                    return found + left[i:]
                other_low, other_high, other = right[j : j + 3]
                j += 3
