"""Threads over sets of stacks: what one step by a byte makes of them, calls and returns included.

    state 2 over {4 4}        calls 1:  state 1 over {4 4 4}        ends:  state 4 over {4}

Stacks that were there before the walk have numbers from 0 on (``Stacks``). A frame that is pushed
on the way is a *node*, below 0 and odd; several nodes of which any may be the stack are a *union*,
below 0 and even, with a bit for each. Threads in one state are one, over the union of their stacks.
Part of the walk (``kernel.py``), which runs as it stands and compiled. Source: graph-structured
stacks, Tomita, Efficient parsing for natural language, 1986.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import WalkLimitError
from .rows import CALLS, ENDS, StateRows, grown

# In place of a frame: a set of stacks that was there before the walk; several frames; and a stack
# of which nothing is known.
ALIAS = -1
SEVERAL = -1
UNSEEN = -2

# A bit of a union.
ONE = 1


class Threads(StateRows):
    """Threads ``t_state`` over ``t_node``; of closures ``t_all``: all stacks of a state.

    ``stacks``: the sets of stacks that are kept. ``most``: threads and frames that one walk may
    have, and 64-bit words of all unions.
    """

    def __init__(self, states: Any, stacks: Any, most: int = 1 << 22) -> None:
        super().__init__(states)
        self.stacks = stacks
        self.entries = stacks.entries
        self.most = most
        self.t_state = np.zeros(256, np.int32).data
        self.t_node = np.zeros(256, np.int32).data
        self.t_all = np.zeros(256, np.int32).data
        self.top = 0
        # Of nodes the frame, what it is on, for which call, and in which closure it was taken off.
        self.p_frame = np.zeros(256, np.int32).data
        self.p_below = np.zeros(256, np.int32).data
        self.p_start = np.zeros(256, np.int32).data
        self.p_popped = np.zeros(256, np.int32).data
        self.used = 0
        # Of unions the bits: where they begin, and how many words.
        self.q_first = np.zeros(64, np.int32).data
        self.q_words = np.zeros(64, np.int32).data
        self.unions = 0
        self.bits = np.zeros(256, np.uint64).data
        self.bits_used = 0
        self.aliases: dict[int, int] = {}
        self.closures = 0
        self.closed = 0
        # Sets of stacks that were looked at, and the frame of the last one.
        self.popped: set[int] = set()
        self.last_popped = -1
        self.last_frame = 0
        self.last_below = 0
        # Whether a stack of which nothing is known was looked at.
        self.is_left = False

    def begin(self) -> None:
        """Begin a walk."""
        self.is_step = self.is_for_other = False
        self.top = self.used = self.unions = self.bits_used = self.closures = 0
        self.aliases.clear()
        self.popped = set()
        self.last_popped = -1
        self.name_states()

    def step(self, threads: Iterable[tuple[int, int]], text: bytes) -> list[tuple[int, int]]:
        """The threads after a text, pairs of a state and a set of stacks. Raises as ``mask``."""
        self.begin()
        self.is_step = True
        for state, node in threads:
            self.append(state, node)
        low = 0
        for octet in text:
            high = self.close(low, self.top)
            for i in range(low, high):
                at = self.row_at[self.t_state[i]]
                if at >= 0:
                    target = self.rows[at + octet]
                else:
                    target = self.states[self.t_state[i]][octet]
                    self.name_states()
                if target != 0:
                    self.add(high, target, self.t_node[i])
            low = high
            if low == self.top:
                break
        self.is_step = False
        return self.kept(low)

    def kept(self, low: int) -> list[tuple[int, int]]:
        """The threads from ``low`` on, their stacks among those that are kept."""
        found = [(self.t_state[i], self.t_node[i]) for i in range(low, self.top)]
        if all(node >= 0 for _, node in found):
            return found
        sets: dict[int, int] = {}
        pending = [node for _, node in found if node < 0]
        while pending:
            node = pending[len(pending) - 1]
            if node in sets:
                pending.pop()
                continue
            parts = self.parts(node)
            missing = [part for part in parts if part < 0 and part not in sets]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            nodes = [sets.get(part, part) for part in parts]
            if is_union(node):
                sets[node] = self.stacks.joined(nodes)
            else:
                sets[node] = self.stacks.push(self.p_frame[place_of(node)], nodes[0])
        return [(state, sets.get(node, node)) for state, node in found]

    def parts(self, node: int) -> list[int]:
        """What a node of this walk is made of."""
        if not is_union(node):
            return [self.p_below[place_of(node)]]
        found = []
        first = self.q_first[place_of(node)]
        for word in range(self.q_words[place_of(node)]):
            for bit in range(64):
                if self.bits[first + word] >> bit & 1:
                    place = 64 * word + bit
                    is_alias = self.p_frame[place] == ALIAS
                    found.append(self.p_below[place] if is_alias else -1 - 2 * place)
        return found

    def add(self, low: int, state: int, node: int) -> int:
        """Add a thread to those from ``low`` on; the stacks of one state are united."""
        for i in range(low, self.top):
            if self.t_state[i] == state:
                if self.t_node[i] != node:
                    self.t_node[i] = self.united(self.t_node[i], node)
                return 0
        return self.append(state, node)

    def append(self, state: int, node: int) -> int:
        """Add a thread."""
        if self.top == len(self.t_state):
            self.check(self.top)
            self.t_state = grown(self.t_state, 2 * self.top)
            self.t_node = grown(self.t_node, 2 * self.top)
            self.t_all = grown(self.t_all, 2 * self.top)
        self.t_state[self.top] = state
        self.t_node[self.top] = node
        self.t_all[self.top] = node
        self.top += 1
        return 0

    def check(self, used: int) -> int:
        """Raise the error of the limit if so much is beyond it."""
        if used >= self.most:
            raise WalkLimitError(self.most)
        return 0

    def close(self, low: int, high: int) -> int:
        """The end of the closure of the threads from ``low`` to ``high``: they come first, and
        after them what they call and return to."""
        since = self.used
        if high - low == 1 and self.kind[self.t_state[low]] == 0:
            if self.row_at[self.t_state[low]] < 0:
                self.make(self.t_state[low])
            if self.kind[self.t_state[low]] == 0:
                return high
        self.closed = low
        self.closures += 1
        for i in range(low, high):
            self.t_all[i] = self.t_node[i]
        while self.closed < self.top:
            state = self.t_state[self.closed]
            node = self.t_node[self.closed]
            self.closed += 1
            if self.row_at[state] < 0:
                self.make(state)
            kind = self.kind[state]
            if kind & CALLS:
                for call in range(self.call_at[state], self.call_end[state]):
                    start = self.starts[call]
                    self.meet(low, start, self.push(since, start, self.frames[call], node))
            if kind & ENDS:
                self.pop(low, node)
        return self.top

    def meet(self, low: int, state: int, node: int) -> int:
        """Add a thread to a closure that begins at ``low``, if it is not there."""
        known = low
        while known < self.top and self.t_state[known] != state:
            known += 1
        if known == self.top:
            return self.append(state, node)
        have = self.t_all[known]
        if have == node or self.includes(have, node):
            return 0
        # Each stack goes on once.
        more = self.without(node, have)
        have = self.united(have, more)
        self.t_all[known] = have
        for i in range(max(known, self.closed), self.top):
            if self.t_state[i] == state:
                more = self.united(self.t_node[i], more)
                self.t_node[i] = more
                return 0
        return self.append(state, more)

    def pop(self, low: int, node: int) -> int:
        """Add what goes on where a call on the stacks of a node ends."""
        if node >= 0:
            return self.pop_kept(low, node)
        place = place_of(node)
        if is_union(node):
            return self.pop_set(low, place)
        if self.p_popped[place] == self.closures:
            return 0
        self.p_popped[place] = self.closures
        return self.meet(low, self.p_frame[place], self.p_below[place])

    def pop_kept(self, low: int, node: int) -> int:
        """The same for stacks that were there before the walk."""
        if node != self.last_popped:
            self.popped.add(node)
            self.last_popped = node
            pairs = self.entries[node]
            self.last_frame = pairs[0][0] if len(pairs) == 1 else SEVERAL
            self.last_below = pairs[0][1]
            if pairs[0][0] < 0:
                self.last_frame = UNSEEN
        if self.last_frame > 0:
            return self.meet(low, self.last_frame, self.last_below)
        if self.last_frame == UNSEEN:
            self.is_left = True
        elif self.last_frame == SEVERAL:
            for frame, below in self.entries[node]:
                if frame > 0:
                    self.meet(low, frame, below)
        return 0

    def pop_set(self, low: int, number: int) -> int:
        """The same for a set; what goes on in one frame is united first."""
        first = self.q_first[number]
        united: dict[int, int] = {}
        for word in range(self.q_words[number]):
            left = self.bits[first + word]
            place = 64 * word
            while left != 0:
                if left & 1 and self.p_popped[place] != self.closures:
                    self.p_popped[place] = self.closures
                    frame = self.p_frame[place]
                    if frame == ALIAS:
                        self.pop_kept(low, self.p_below[place])
                    elif frame in united:
                        united[frame] = self.united(united[frame], self.p_below[place])
                    else:
                        united[frame] = self.p_below[place]
                left >>= 1
                place += 1
        for frame, below in united.items():
            self.meet(low, frame, below)
        return 0

    def push(self, since: int, start: int, frame: int, below: int) -> int:
        """The node with a frame on top of another one, for a call that begins in ``start``. In one
        closure, whose nodes are those from ``since`` on, equal calls over what was there before
        have one: no call ends where it begins, so nothing was taken off it yet."""
        is_before = self.highest(below) < since
        for place in range(since, self.used):
            if self.p_frame[place] == frame and self.p_start[place] == start:
                other = self.p_below[place]
                if other == below:
                    return -1 - 2 * place
                # subtle: on top of itself it would be on any number of itself.
                if is_before and self.highest(other) < since:
                    other = self.united(other, below)
                    self.p_below[place] = other
                    return -1 - 2 * place
        self.new_node(frame, below)
        self.p_start[self.used - 1] = start
        return 1 - 2 * self.used

    def highest(self, node: int) -> int:
        """The place of the last node that a node is or stands for; below 0 for what was there
        before the walk."""
        if node >= 0:
            return -1
        place = place_of(node)
        if not is_union(node):
            return place
        first = self.q_first[place]
        for member in range(64 * self.q_words[place] - 1, -1, -1):
            is_in = self.bits[first + (member >> 6)] >> (member & 63) & 1
            if is_in and self.p_frame[member] != ALIAS:
                return member
        return -1

    def new_node(self, frame: int, below: int) -> int:
        """Another node of this walk."""
        if self.used == len(self.p_frame):
            self.check(self.used)
            self.p_frame = grown(self.p_frame, 2 * self.used)
            self.p_below = grown(self.p_below, 2 * self.used)
            self.p_popped = grown(self.p_popped, 2 * self.used)
            self.p_start = grown(self.p_start, 2 * self.used)
        self.p_frame[self.used] = frame
        self.p_below[self.used] = below
        self.p_popped[self.used] = 0
        self.used += 1
        return 1 - 2 * self.used

    def member(self, node: int) -> int:
        """The place of a node that is no set; one that was there before gets another name."""
        if node < 0:
            return place_of(node)
        place = self.alias(node)
        if place < 0:
            place = self.used
            self.aliases[node] = place
            self.new_node(ALIAS, node)
        return place

    def alias(self, node: int) -> int:
        """The place of a node that was there before the walk, below 0 if it has none. What was
        dropped may have given its place to another one."""
        place = self.aliases.get(node, self.used)
        if place >= self.used or self.p_frame[place] != ALIAS or self.p_below[place] != node:
            return -1
        return place

    def united(self, node: int, other: int) -> int:
        """The stacks of two nodes."""
        if node == other or self.includes(node, other):
            return node
        place = -1 if is_union(node) else self.member(node)
        other_place = -1 if is_union(other) else self.member(other)
        found = self.new_union()
        first = self.q_first[place_of(found)]
        self.put(first, node, place)
        self.put(first, other, other_place)
        return found

    def new_union(self) -> int:
        """A set with no member, which has room for all nodes that there are."""
        words = (self.used >> 6) + 1
        first = self.bits_used
        while first + words > len(self.bits):
            self.check(first)
            self.bits = grown(self.bits, 2 * len(self.bits))
        for i in range(first, first + words):
            self.bits[i] = 0
        if self.unions == len(self.q_first):
            self.q_first = grown(self.q_first, 2 * self.unions)
            self.q_words = grown(self.q_words, 2 * self.unions)
        self.q_first[self.unions] = first
        self.q_words[self.unions] = words
        self.bits_used = first + words
        self.unions += 1
        return -2 * self.unions

    def put(self, first: int, node: int, place: int) -> int:
        """Add a node's members to the bits from ``first`` on."""
        if place >= 0:
            self.bits[first + (place >> 6)] |= ONE << (place & 63)
            return 0
        inner = self.q_first[place_of(node)]
        for i in range(self.q_words[place_of(node)]):
            self.bits[first + i] |= self.bits[inner + i]
        return 0

    def without(self, node: int, other: int) -> int:
        """A node without what another one has, as far as that is seen at once."""
        if not is_union(node):
            return node
        place = -1 if is_union(other) else self.member(other)
        found = self.new_union()
        first = self.q_first[place_of(found)]
        self.put(first, node, -1)
        if place >= 0:
            self.bits[first + (place >> 6)] ^= self.bits[first + (place >> 6)] & ONE << (place & 63)
            return found
        inner = self.q_first[place_of(other)]
        for i in range(self.q_words[place_of(other)]):
            self.bits[first + i] ^= self.bits[first + i] & self.bits[inner + i]
        return found

    def includes(self, node: int, other: int) -> int:
        """Whether the stacks of a node have all of another one, as far as that is seen at once."""
        if not is_union(node):
            return node == other
        first = self.q_first[place_of(node)]
        words = self.q_words[place_of(node)]
        if not is_union(other):
            place = self.alias(other) if other >= 0 else place_of(other)
            if place < 0 or place >> 6 >= words:
                return 0
            return self.bits[first + (place >> 6)] >> (place & 63) & 1
        inner = self.q_first[place_of(other)]
        for i in range(self.q_words[place_of(other)]):
            have = self.bits[first + i] if i < words else 0
            if self.bits[inner + i] | have != have:
                return 0
        return 1


def is_union(node: int) -> int:
    """Whether a node stands for several."""
    return node < 0 and node & 1 == 0


def place_of(node: int) -> int:
    """The place of a node that was pushed, or of a union."""
    return (-1 - node) >> 1
