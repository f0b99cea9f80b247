"""Counted calls: frames that hold a number, so that A{m,n} needs no copies of A, or a set.

    s ::= '"' [a-z]{2,9} '"';

    state 2   calls 5, which reads one of [a-z], with the counter 0: at least 2, at most 9 items
              that begin in 5, then 3

A *counter* is the frame of such a call: which of the network's counters it is, and how many items
have begun (a counting automaton's register: Becchi and Crowley, Extending finite automata to
efficiently match Perl-compatible regular expressions, 2008; Turoňová et al., Regex matching with
counting-set automata, 2020). ``Counters.pops`` is the one place that says what a frame does where
the call on it ends; the frame of a plain call does one thing, it returns. A frame may also be a
set of parts (``sets``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tokens.memo import Numbered
from .sets import SetRule, Sets, Value

# In place of a frame that is put back.
_NONE = 0

# In place of the most items: any number.
UNBOUNDED = -1

# Bits of what a counter may hold; beside the states of a network it must fit an int64.
MOST_ITEMS = 1 << 40


@dataclass(frozen=True, eq=False)
class Counters:
    """C counters of a network of ``states`` S, and its ``sets``, T of them.

    ``items``: int32 (C,), the state that each item starts in. ``least``, ``most``: int64 (C,), how
    many items there are, at least 1; ``UNBOUNDED`` for no most. ``backs``: int32 (C,), the state to
    go on in after the last. No item matches ε.

    A frame is a state, to which it returns; or S + (C + T) * (value - 1) + c, where c < C is
    counter c, its value being how many items have begun, and c >= C is set c - C
    (``SetRule.value``). Frames are equal where their futures are: the last item has the plain frame
    ``backs[c]``, and without a most the value stays at the least; so has the last part of a set.
    """

    states: int
    items: NDArray[np.int32]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    backs: NDArray[np.int32]
    sets: Sets | None = None

    @classmethod
    def from_arrays(cls, states: int, arrays: Mapping[str, NDArray[Any]]) -> "Counters":
        """The sections of an artifact."""
        sets = Sets.from_arrays(arrays) if "set.parts" in arrays else None
        items, least, most, backs = (arrays[f"count.{name}"] for name in _NAMES)
        return cls(states, items, least, most, backs, sets)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        sets = {} if self.sets is None else self.sets.arrays()
        return {**{f"count.{name}": getattr(self, name) for name in _NAMES}, **sets}

    def __len__(self) -> int:
        """The number of counters and sets, C + T."""
        return len(self.items) + len(self.set_rules)

    @property
    def tabled(self) -> int:
        """How many frames from S on calls in the tables may have: C, and one for each part."""
        return len(self.items) + (0 if self.sets is None else len(self.sets.parts))

    @cached_property
    def rows(self) -> list[tuple[int, int, int, int]]:
        """Of each counter (item, least, most, back)."""
        columns = (getattr(self, name).tolist() for name in _NAMES)
        return list(zip(*columns, strict=True))

    @property
    def last_frame(self) -> int:
        """No counter's frame has a higher number."""
        counts = [least if most == UNBOUNDED else most for _, least, most, _ in self.rows]
        return self.states + len(self) * max(counts, default=0)

    @cached_property
    def set_rules(self) -> list[SetRule]:
        """What each set does."""
        return [] if self.sets is None else self.sets.rules

    @cached_property
    def widths(self) -> list[int]:
        """How many bits the value of each counter and each set takes."""
        counts = [least if most == UNBOUNDED else most for _, least, most, _ in self.rows]
        return [n.bit_length() for n in counts] + [rule.width for rule in self.set_rules]

    @cached_property
    def ends(self) -> list[int]:
        """Of each counter and each set the state to go on in after it."""
        return [back for *_, back in self.rows] + [rule.back for rule in self.set_rules]

    def set_rule(self, counter: int) -> SetRule | None:
        """What a set does, None for a counter."""
        counters = len(self.rows)
        return None if counter < counters else self.set_rules[counter - counters]

    def called(self, call_return: int) -> int:
        """The frame of a call in the tables (``NetworkTables.call_returns``): S + c for counter c
        with one item, S + C + p for the set that part p is of, where it alone has begun."""
        part = call_return - self.states - len(self.rows)
        if part < 0:
            return call_return
        assert self.sets is not None
        number = int(self.sets.owners[part])
        rule = self.set_rules[number]
        begun = rule.first(part - int(self.sets.offsets[number]))
        return self.frame(len(self.rows) + number, rule.value(begun))

    def may_return(self, counter: int, value: int) -> bool:
        """Whether the network may go on after a counter or a set."""
        rule = self.set_rule(counter)
        if rule is None:
            return value >= self.rows[counter][1]
        return bool(value & 1) and rule.may_end(value >> 1)

    def frame(self, counter: int, value: int) -> int:
        """The frame of a counter or a set with a value, in the form of its future."""
        rule = self.set_rule(counter)
        if rule is not None:
            if rule.is_full(value):
                return rule.back
        else:
            _, least, most, back = self.rows[counter]
            if most == UNBOUNDED:
                value = min(value, least)
            elif value == most:
                return back
        return self.states + (value - 1) * len(self) + counter

    def undominated(self, entries: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """(frame, rest) pairs without counts that can do no more than others: of those that are
        enough, over the same rest, the smallest stays; of sets likewise."""
        kept, best = [], dict[tuple[int, int], int]()
        sets = dict[tuple[int, int], list[Value]]()
        for frame, rest in entries:
            counter, value = self.split(frame) if frame >= self.states else (0, 0)
            if frame < self.states:
                kept.append((frame, rest))
            elif counter >= len(self.rows):
                sets.setdefault((counter, rest), []).append(value)
            elif value < self.rows[counter][1]:
                kept.append((frame, rest))
            else:
                best[counter, rest] = min(best.get((counter, rest), frame), frame)
        kept += [(frame, rest) for (_, rest), frame in best.items()]
        for (counter, rest), values in sets.items():
            rule = self.set_rules[counter - len(self.rows)]
            kept += [(self.frame(counter, value), rest) for value in rule.undominated(values)]
        return kept

    def is_count(self, frame: int) -> bool:
        """Whether a frame is a counter's, and no set's."""
        return frame >= self.states and (frame - self.states) % len(self) < len(self.rows)

    def split(self, frame: int) -> tuple[int, int]:
        """The counter or the set of a frame that is no state, and its value."""
        before, counter = divmod(frame - self.states, len(self))
        return counter, before + 1

    def pops(
        self, frame: int, begins: Callable[[int], bool] | None = None
    ) -> list[tuple[int, int]]:
        """Where the call on a frame ends: the states to go on in, each with the frame that is put
        back, or 0 for none. ``begins``: in which states something may go on, of sets; None: all."""
        if frame < self.states:
            return [(frame, _NONE)]
        counter, value = self.split(frame)
        rule = self.set_rule(counter)
        if rule is not None:
            return [
                (state, self.frame(counter, again) if again else _NONE)
                for state, again in rule.pops(value)
                if begins is None or begins(state)
            ]
        item, least, _, back = self.rows[counter]
        # The last item has a plain frame, so that there may always be one more.
        found = [(item, self.frame(counter, value + 1))]
        if value >= least:
            found.append((back, _NONE))
        return found


class InternedSets(Counters):
    """The same with small numbers for the frames of sets: those that were met, one by one.

    A frame is then S + (C + T) * (n - 1) + c for the n-th value of set c - C.
    """

    @cached_property
    def _met(self) -> list[Numbered[Value]]:
        """Of each set its values that were met."""
        return [Numbered() for _ in self.set_rules]

    def frame(self, counter: int, value: int) -> int:
        """The frame of a counter or a set with a value, in the form of its future."""
        rule = self.set_rule(counter)
        if rule is None or rule.is_full(value):
            return super().frame(counter, value)
        number = self._met[counter - len(self.rows)].number(value)
        return self.states + number * len(self) + counter

    def split(self, frame: int) -> tuple[int, int]:
        """The counter or the set of a frame that is no state, and its value."""
        counter, value = super().split(frame)
        if counter < len(self.rows):
            return counter, value
        return counter, self._met[counter - len(self.rows)][value - 1]


_NAMES = ("items", "least", "most", "backs")


@dataclass(eq=False)
class Levels:
    """What is known of a counter's frames, by how many items have begun: numbers from finite sets.

    ``last``: of the plain frame after the last item. ``before``: where another item follows, of
    what is known of its frame. ``either``: of a frame that may do what either of two may, which
    loses nothing, so that levels of enough items only grow the more may follow.

    The levels of enough items stand still some way in front of the last, and those in front of them
    repeat: each depends on the next alone. So they are found once, however many items there are.
    """

    least: int
    most: int
    last: int
    before: Callable[[int], int]
    either: Callable[[int, int], int]
    # From the last item to where enough are, and from there to the first.
    _enough: list[int] = field(default_factory=list)
    _few: list[int] = field(default_factory=list)
    # Where levels of few items are the first time, and how many repeat, when that is known.
    _met: dict[int, int] = field(default_factory=dict)
    _period: int = 0
    _stands: bool = False

    def of(self, begun: int) -> int:
        """The level where so many items have begun."""
        if begun >= self.least:
            return self._of_enough(begun)
        few = self._few
        if not few:
            few.append(self._of_enough(self.least))
            self._met[few[0]] = 0
        place = self.least - begun
        while place >= len(few) and not self._period:
            level = self.before(few[-1])
            if level in self._met:
                self._period = len(few) - self._met[level]
            else:
                self._met[level] = len(few)
                few.append(level)
        if place >= len(few):
            place -= -(-(place - len(few) + 1) // self._period) * self._period
        return few[place]

    def _of_enough(self, begun: int) -> int:
        enough = self._enough
        if not enough:
            enough.append(self.last)
        # Without a most, so many that nothing changes any more.
        place = self.most - begun if self.most != UNBOUNDED else MOST_ITEMS
        while place >= len(enough) and not self._stands:
            # The level before loses nothing, also where ``before`` does not yet say all.
            level = self.either(self.either(self.before(enough[-1]), self.last), enough[-1])
            if level == enough[-1]:
                self._stands = True
            else:
                enough.append(level)
        return enough[min(place, len(enough) - 1)]
