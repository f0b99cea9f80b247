"""Transitions of a parser with counters: there are no more heads and frames for more items.

A head that held its counts would be another one for each item that is read. But a lexeme does the
same to all counts that are far from their bounds, and adds at most one to each. So frames hold a
*usual* count in place of such a one, and the difference lies beside the stack. After ``[a,a,a,a``

    start: "[" ("a" ("," "a")~0..1000000)? "]"

three items have begun, the frame in the head has the count 2, and 1 is the difference. What lies
below a head is then an integer,

    differences << 40 | node of the frames

with a difference for each counter of the head and of the frames, the topmost in its lowest bits. It
grows with the depth of counters alone. A head whose counters do not all lie on each other, as in
stacks that differ in a count, holds the counts themselves and has no differences.

A usual count is a count that the mask cannot tell from the other (``NullableFrameRuns.usual``).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..network.counts import UNBOUNDED
from ..tokens.memo import ENTRY_BYTES
from .lexer import Lexer
from .nullable_frame_runs import NullableFrameRuns
from .parser_heads import Heads
from .parser_transitions import (
    HEAD_SHIFT,
    ParserTransition,
    ParserTransitions,
    ParserTransitionTables,
)

# Bits of a node of frames, of which memory holds far fewer.
NODE_BITS = 40

_NODE = (1 << NODE_BITS) - 1

# A counter's number, and how many items have begun. Another item has at least two, so that a count
# of one is new, and no difference belongs to it.
_Count = tuple[int, int]
_FEWEST = 2


class _Change(NamedTuple):
    """What a transition does to the counters of the head and of the frames that are popped:
    differences of ``gone`` bits go; ``now`` are those after it, the topmost first, of which the
    ``same`` lowest were there before."""

    gone: int
    same: int
    now: tuple[_Count, ...]


# Where all counts stay, and where differences do not say what becomes of them.
_NONE, _UNKNOWN = _Change(0, 0, ()), _Change(0, -1, ())


class CountedTransitions(ParserTransitions):
    """``ParserTransitions`` over nodes of frames with the differences of counts above them."""

    node_mask = _NODE

    def __init__(
        self,
        heads: Heads,
        lexer: Lexer,
        runs: NullableFrameRuns,
        tables: ParserTransitionTables | None = None,
    ) -> None:
        self._counters = heads.network.some_counters
        self._widths = self._counters.widths
        # The counters of complete heads, the topmost first; None where they are no chain.
        self._chains: dict[int, tuple[_Count, ...] | None] = {}
        self._renamed: dict[tuple[int, tuple[int, ...]], int] = {}
        # By the head before, the transition, and the frames that it pops.
        self._changes: dict[tuple[Any, ...], _Change] = {}
        # Transitions with usual counts, by head, frames and counts.
        self._usual_heads: dict[tuple[Any, ...], tuple[ParserTransition, tuple[int, ...]]] = {}
        super().__init__(heads, lexer, runs, tables)

    @property
    def nbytes(self) -> int:
        """About the size of all transitions."""
        known = len(self._chains) + len(self._renamed)
        known += 2 * (len(self._changes) + len(self._usual_heads))
        return super().nbytes + ENTRY_BYTES * known

    def after(self, head: int, frames: int, accept_set: int) -> tuple[ParserTransition, int]:
        """The transition of a complete head by a lexeme of an accept set, with pops done."""
        transition = self.by_key.get(head << HEAD_SHIFT | accept_set)
        transition = transition or self.by_lexeme(head, accept_set)
        differences, node = frames >> NODE_BITS, frames & _NODE
        popped = []
        while transition.needs_frame:
            frame, node = self.frames.entries[node]
            popped.append(frame)
            transition = self.by_frame(transition.head, frame)
        key = head, transition, *popped
        change = self._changes.get(key)
        if change is None:
            change = self._change(head, transition, *popped)
            self._changes[key] = change
        if change is _NONE:
            if transition.pushed:
                node = self.frames.push(transition.pushed, node)
            return transition, differences << NODE_BITS | node
        self.counted += 1
        if change is _UNKNOWN:
            return self._by_counts(head, frames, accept_set)
        return self._usual(transition, node, change, differences)

    def _change(self, head: int, transition: ParserTransition, *popped: int) -> "_Change":
        """What a transition from a head that pops some frames does to counts."""
        before, now = self._chain(head), self._chain(transition.head)
        if before is None or now is None:
            return _UNKNOWN
        before += tuple(self._counted(popped))
        now += tuple(self._counted(transition.pushed[::-1]))
        return _NONE if before == now else self._changed(before, now)

    def _changed(self, before: tuple[_Count, ...], now: tuple[_Count, ...]) -> "_Change":
        # The lowest are those that were there before; at most one item more has begun.
        same = 0
        for (counter, was), (other, count) in zip(reversed(before), reversed(now), strict=False):
            if counter != other or not 0 <= count - was <= 1:
                break
            same += 1
        gone = sum(self._widths[counter] for counter, _ in before[: len(before) - same])
        return _Change(gone, same, now)

    def _by_counts(self, head: int, frames: int, accept_set: int) -> tuple[ParserTransition, int]:
        """``after`` where counters are no chain any more, or have not been one: heads and frames
        have the counts themselves for it."""
        differences, node = frames >> NODE_BITS, frames & _NODE
        counted = self._chain(head) or ()
        if counted:
            counts = []
            for counter, count in counted:
                counts.append(count + (differences & (1 << self._widths[counter]) - 1))
                differences >>= self._widths[counter]
            head = self._with_counts(head, tuple(counts))
        transition = self.by_lexeme(head, accept_set)
        while transition.needs_frame:
            frame, node = self.frames.entries[node]
            for counter, count in self._counted((frame,)):
                count += differences & (1 << self._widths[counter]) - 1
                differences >>= self._widths[counter]
                frame = self._counters.frame(counter, count)
            transition = self.by_frame(transition.head, frame)
        now = self._chain(transition.head) or ()
        now += tuple(self._counted(transition.pushed[::-1]))
        return self._usual(transition, node, _Change(0, 0, now), differences)

    def _usual(
        self, transition: ParserTransition, node: int, change: "_Change", differences: int
    ) -> tuple[ParserTransition, int]:
        """A transition with usual counts, and what lies below its head.

        ``node``, ``differences``: the frames that are left, and the differences of all counters
        that were there before.
        """
        now = change.now
        differences >>= change.gone
        new, counts, shift = len(now) - change.same, list[int](), 0
        kept = []
        for place, (counter, count) in enumerate(now):
            width, difference = self._widths[counter], 0
            if place >= new:
                difference = differences & (1 << width) - 1
                differences >>= width
            usual = self._usual_count(counter, count + difference)
            counts.append(usual)
            kept.append((shift, count + difference - usual))
            shift += width
        differences <<= shift
        for shift, difference in kept:
            differences |= difference << shift
        pushed = transition.pushed
        key = transition.head, pushed, *counts
        found = self._usual_heads.get(key)
        if found is None:
            found = self._usual_heads[key] = self._with_usual(transition, counts, change)
        transition, pushed = found
        if pushed:
            node = self.frames.push(pushed, node)
        return transition, differences << NODE_BITS | node

    def _with_usual(
        self, transition: ParserTransition, counts: Sequence[int], change: "_Change"
    ) -> tuple[ParserTransition, tuple[int, ...]]:
        """A transition to the head with these counts, and the frames to push below that."""
        if list(counts) == [count for _, count in change.now]:
            return transition, transition.pushed
        in_head = len(self._chain(transition.head) or ())
        head = self._with_counts(transition.head, tuple(counts[:in_head]))
        left = iter(reversed(counts[in_head:]))
        pushed = tuple(
            self._counters.frame(counted[0][0], next(left)) if counted else frame
            for frame in transition.pushed
            for counted in [self._counted((frame,))]
        )
        found = self._to(head)
        return found, pushed + found.pushed

    def _usual_count(self, counter: int, count: int) -> int:
        """The count that a frame holds in place of a count."""
        _, least, most, _ = self._counters.rows[counter]
        far = self._runs.most_items
        if count < least - far and (most == UNBOUNDED or count < most - far):
            return min(count, _FEWEST)
        if least < count < most - far:
            return min(count, max(least, _FEWEST))
        return count

    def _counted(self, frames: Sequence[int]) -> list[_Count]:
        """The counters among some frames."""
        counters = self._counters
        return [counters.split(frame) for frame in frames if counters.is_count(frame)]

    def _chain(self, head: int) -> tuple[_Count, ...] | None:
        """The counters of a head, the topmost first, if they all lie on each other."""
        if head not in self._chains:
            pairs = self._heads.counters_of(head)
            self._chains[head] = (
                None if pairs is None else tuple(self._counted([frame for frame, _ in pairs]))
            )
        return self._chains[head]

    def _with_counts(self, head: int, counts: tuple[int, ...]) -> int:
        """A head whose counters, which lie on each other, have other counts, the topmost first."""
        key = head, counts
        found = self._renamed.get(key)
        if found is None:
            pairs = self._heads.counters_of(head) or []
            counters = [self._counters.split(frame)[0] for frame, _ in pairs]
            frames = map(self._counters.frame, counters, counts)
            found = self._heads.with_frames(head, dict(zip(pairs, frames, strict=True)))
            self._renamed[key] = found
        return found
