"""What a token does to one thread over one stack, for all counts with the same effect.

    a string of at most 1,000 characters, of which k are read: "the" leads to k + 3, for k <= 996

Reading compares a count with its least and its most alone. So what it finds holds for an interval
of each count that it has looked at, and says by how much the topmost of those that are left grows;
a step is then a look-up, as in a network without counters. Counts are in the order of the stack, as
``configurations`` has them: the topmost in the lowest bits.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..network.configurations import Stacks
from ..network.counts import UNBOUNDED
from ..network.sets import NONE
from ..network.tables import DEAD, FirstTransitions, NetworkTables

# A state, a stack without counts, and the counts.
Single = tuple[int, int, int]

# A thread while it reads: of the counters that were there before, how many are popped; and how many
# were pushed above the others.
_Thread = tuple[int, int, int, int, int]


class Checked(NamedTuple):
    """A count in the counts at hand, at bit ``shift``, and which values of it have one effect."""

    shift: int
    mask: int
    least: int
    most: int


class Effect(NamedTuple):
    """Counts c, all ``checked`` of which hold, become ``(c >> popped << pushed) + added``."""

    state: int
    node: int
    checked: Sequence[Checked]
    popped: int
    pushed: int
    added: int


class _Looked:
    """A count that was looked at: what it was before, and between which values it might be."""

    __slots__ = ("before", "least", "mask", "most", "shift")

    def __init__(self, shift: int, mask: int, before: int) -> None:
        self.shift, self.mask, self.before = shift, mask, before
        self.least, self.most = 0, mask

    def narrow(self, now: int, least: int, most: int) -> None:
        """The count, which is ``now``, must be in an interval."""
        grown = now - self.before
        self.least, self.most = max(self.least, least - grown), min(self.most, most - grown)


class SingleThreads:
    """Reads texts by one thread over one stack of ``stacks``: frame S + c is counter or set c."""

    def __init__(self, tables: NetworkTables, first: FirstTransitions, stacks: Stacks) -> None:
        self._counters, self._stacks, self._first = tables.some_counters, stacks, first
        self._states, self._ends, self._rows = tables.states, tables.ends, tables.rows
        # Bits that the count of each counter, and the value of each set takes.
        self.widths = self._counters.widths
        self.masks = [(1 << width) - 1 for width in self.widths]
        # Where bytes lead, that can do nothing but begin another item.
        self._again: dict[int, int] = {}

    def read(self, begun: Single, text: bytes) -> tuple[list[Single], int, Effect | None]:
        """The threads after a text, or after so many bytes of it, where they are more than one; if
        it is one, what the text has done."""
        plain, rows, ends, states = self._first.plain, self._rows, self._ends, self._states
        entries, again = self._stacks.entries, self._again
        state, node, counts = begun
        popped, fresh = 0, 0
        looked: list[_Looked] = []
        frame = entries[node][0][0]
        # How often the count of the frame on top may grow, and by how much it has.
        room, grown = self._room(frame, counts), 0
        for place, octet in enumerate(text):
            # Most bytes are read where nothing is called and nothing ends ...
            if plain[state]:
                state = rows[state][octet]
                if state == DEAD:
                    return [], place, None
                continue
            if grown < room and ends[state]:
                # ... or are the first of another item.
                key = (frame * states + state) << 8 | octet
                target = again.get(key)
                if target is None:
                    target = again[key] = self._following(state, frame, octet)
                if target:
                    state, grown = target, grown + 1
                    continue
            if grown:
                self._grow(looked, frame, counts, grown, popped, fresh)
            found = self._byte((state, node, counts + grown, popped, fresh), octet, looked)
            if len(found) != 1:
                return [thread[:3] for thread in found], place + 1, None
            [(state, node, counts, popped, fresh)] = found
            frame = entries[node][0][0]
            room, grown = self._room(frame, counts), 0
        if grown:
            self._grow(looked, frame, counts, grown, popped, fresh)
        thread = state, node, counts + grown
        return [thread], len(text), self._effect(begun, thread, looked, popped, fresh)

    def _effect(
        self, begun: Single, thread: Single, looked: Sequence[_Looked], popped: int, fresh: int
    ) -> Effect:
        state, node, counts = thread
        down = looked[popped - 1].shift + looked[popped - 1].mask.bit_length() if popped else 0
        pushed, below = 0, node
        while fresh:
            frame, below = self._stacks.entries[below][0]
            if frame >= self._states:
                pushed += self.widths[frame - self._states]
                fresh -= 1
        checked = [Checked(c.shift, c.mask, c.least, c.most) for c in looked]
        added = counts - (begun[2] >> down << pushed)
        return Effect(state, node, checked, down, pushed, added)

    def _following(self, state: int, frame: int, octet: int) -> int:
        """The state that a byte leads to if it begins another item and can do nothing else, else
        ``DEAD``."""
        item, _, _, back = self._counters.rows[frame - self._states]
        found = self._first.of(item, octet)
        others = self._first.of(state, octet) or self._first.of(back, octet) or self._ends[back]
        return found[0][0] if len(found) == 1 and not found[0][1] and not others else DEAD

    def _room(self, frame: int, counts: int) -> int:
        """How many items more may begin, all of them with the frame of a counter, which is on top;
        0 for others."""
        counter = frame - self._states
        if frame < self._states or self._counters.set_rule(counter) is not None:
            return 0
        return self._last(counter) - (counts & self.masks[counter])

    def _last(self, counter: int) -> int:
        """The greatest count of a counter's frame."""
        _, least, most, _ = self._counters.rows[counter]
        return least if most == UNBOUNDED else most - 1

    def _grow(
        self, looked: list[_Looked], frame: int, counts: int, grown: int, popped: int, fresh: int
    ) -> None:
        """The topmost count has grown, by less than it may."""
        if not fresh:
            counter = frame - self._states
            now = counts & self.masks[counter]
            found = self._look(looked, counter, now, popped)
            found.narrow(now + grown, 0, self._last(counter))

    def _look(self, looked: list[_Looked], counter: int, now: int, popped: int) -> _Looked:
        """A counter that was there before, of which ``popped`` were above it."""
        if popped == len(looked):
            shift = looked[-1].shift + looked[-1].mask.bit_length() if looked else 0
            looked.append(_Looked(shift, self.masks[counter], now))
        return looked[popped]

    def byte(self, thread: Single, octet: int) -> list[Single]:
        """The threads after one byte."""
        return [found[:3] for found in self._byte((*thread, 0, 0), octet, [])]

    def _byte(self, thread: _Thread, octet: int, looked: list[_Looked]) -> list[_Thread]:
        """The threads after a byte."""
        pending, found = [thread], dict[_Thread, None]()
        seen = {thread}
        for state, node, counts, popped, fresh in pending:
            for target, frames in self._first.of(state, octet):
                reached, with_new, more = node, counts, fresh
                for frame in frames:
                    if frame >= self._states:
                        counter, value = self._counters.split(frame)
                        with_new = with_new << self.widths[counter] | value
                        frame = self._states + counter
                        more += 1
                    reached = self._stacks.push(frame, reached)
                found[target, reached, with_new, popped, more] = None
            if self._ends[state]:
                ended = self._pops(node, counts, popped, fresh, looked)
                # A set has one for each of its parts.
                new = [thread for thread in ended if thread not in seen]
                seen.update(new)
                pending += new
        return list(found)

    def _pops(
        self, node: int, counts: int, popped: int, fresh: int, looked: list[_Looked]
    ) -> list[_Thread]:
        """``Counters.pops`` of the frame on top."""
        frame, below = self._stacks.entries[node][0]
        if frame == DEAD:
            return []
        if frame < self._states:
            return [(frame, below, counts, popped, fresh)]
        counter = frame - self._states
        width, now = self.widths[counter], counts & self.masks[counter]
        if not fresh:
            self._look(looked, counter, now, popped).narrow(now, *self._alike(counter, now))
        rest = (counts >> width, popped if fresh else popped + 1, fresh - 1 if fresh else 0)
        found: list[_Thread] = []
        rule = self._counters.set_rule(counter)
        if rule is not None:
            for state, value in rule.pops(now):
                if value == NONE:
                    found.append((state, below, *rest))
                elif rule.is_full(value):
                    found.append((state, self._stacks.push(rule.back, below), *rest))
                else:
                    found.append((state, node, counts - now + value, popped, fresh))
            return found
        for state, again in self._counters.pops(self._counters.frame(counter, now)):
            if again == DEAD:
                found.append((state, below, *rest))
            elif again < self._states:
                found.append((state, self._stacks.push(again, below), *rest))
            else:
                _, more = self._counters.split(again)
                found.append((state, node, counts - now + more, popped, fresh))
        return found

    def _alike(self, counter: int, now: int) -> tuple[int, int]:
        """The least and the most count of which ``Counters.pops`` says the same."""
        if self._counters.set_rule(counter) is not None:
            return now, now
        least, last = self._counters.rows[counter][1], self._last(counter)
        if now == last:
            return now, now
        return (least, last - 1) if now >= least else (0, min(least, last) - 1)
