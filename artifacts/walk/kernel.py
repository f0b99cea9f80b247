"""The walk of the token trie through a pushdown machine over bytes: the tokens that fit.

    s ::= '[' s? ']' | 'x'        after "[", state 2 over no frame
    node "x"      calls s, reads x, and may go on in the frame behind the call       fits
    node "x]]"    the frame reads one "]", and no frame is below it                  does not fit

A *thread* is a state over a stack of frames, each a state to go on in where a call ends. The threads
behind a text are a *set*; its closure adds the calls that they may make and the frames that they
may return to. Sets are numbered as the walk meets them, and where each byte leads is found once, as
with the states of a DFA. Where a thread reads all characters below a node without leaving its
state, all tokens there fit, and none of the nodes is visited.

This file runs as it stands. ``kernel.pxd`` beside it has the types with which Cython compiles it;
``forms.py`` says which form runs. Rows of states are asked for when a walk first needs them.
Sources: graph-structured stacks, Tomita, Efficient parsing for natural language, 1986; states made
when met, as in Aho, Sethi and Ullman, Compilers, 1986, section 3.7.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import ArtifactError
from ..tokens.subtrees import CLASS_BITS

# What a form was made of; a compiled one has the hash of this file.
SOURCE = ""

# Bits of what a state does beside reading: its call may end; it calls.
ENDS = 1
CALLS = 2

# No row was asked for yet.
UNKNOWN = -1

# Classes of characters as bits (``artifacts/tokens/subtrees.py``): all; those outside ASCII; of
# bytes that make none; and letters with all outside ASCII, of which most tokens are.
ALL_CLASSES = 0xFFFFFFFFFFFFFFFF
OUTSIDE = 0x7FFF000000000000
BROKEN = 0x8000000000000000
BULK = 0x7FFF040400000000

# Below nodes of more tokens it is worth while to look for exits, and to keep a row.
LARGE = 1024

# In place of a frame: a set of stacks that was there before the walk; and several frames. In place
# of a number: all children.
ALIAS = -1
SEVERAL = -1
NO_EXITS = -1

# A bit of a set.
ONE = 1

# More characters than any text.
ENDLESS = 1 << 30

# A record of a set of threads: these, from LOW to MID; their closure, from ALL to HIGH, if it is
# known; the least room of bounds; the set without these bounds; and how many bytes that threads
# read differently are noted behind that.
LOW, MID, ALL, HIGH, ROOM, FREE, NOTED, SET = 0, 1, 2, 3, 4, 5, 6, 13
MOST_NOTED = 6

# Where a byte leads: not known yet, nowhere. Other sets have numbers behind these.
UNREAD = 0
NOTHING = 1

# A record of what to come back to: a set, the next child and the last, of a node or of exits; and
# how much had been made before it.
OF_SET, CHILD, STOP, EXITS, COUNT, TOP, USED, UNIONS, BITS, WAITING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

# From so many sets, and words of bits, on what was made below a node is dropped behind it.
MANY_SETS = 1 << 11
MANY_BITS = 1 << 18

# A record of the trie's layout.
FIRST, LAST, BEGIN, OWN, END, FIELDS = 0, 1, 2, 3, 4, 5


class WalkLimitError(ArtifactError):
    """What a token may be read as takes more threads than a walk may have."""


class Kernel:
    """Walks by one machine's states. One thread of the process at a time.

    ``states``: makes rows of states, ``states[s]`` a sequence of 256 targets, 0 where a byte is not
    read (``artifacts/machine/states.py``). ``stacks``: the sets of stacks (``Stacks``). ``most``:
    threads and frames that one walk may have. ``visited``: nodes that the last walk came to.
    """

    def __init__(self, states: Any, stacks: Any, most: int = 1 << 22) -> None:
        self.states = states
        self.stacks = stacks
        self.entries = stacks.entries
        self.most = most
        self.layout: Any = None
        self.class_bits = CLASS_BITS.data
        # Of each state that has a number: its row, what it does, its classes, calls and bounds.
        self.known = 0
        self.row_at = np.zeros(64, np.int32).data
        self.kind = np.zeros(64, np.uint8).data
        self.leaving = np.zeros(64, np.uint64).data
        self.reads = np.zeros(64, np.uint64).data
        self.room = np.zeros(64, np.int32).data
        self.twin = np.zeros(64, np.int32).data
        self.call_at = np.zeros(64, np.int32).data
        self.call_end = np.zeros(64, np.int32).data
        # All rows, 256 targets each, and all calls.
        self.rows = np.zeros(16 * 256, np.int32).data
        self.made = 0
        self.starts = np.zeros(16, np.int32).data
        self.frames = np.zeros(16, np.int32).data
        self.calls = 0
        # Threads; frames that were pushed in this walk, and unions; the nodes to come back to.
        self.t_state = np.zeros(256, np.int32).data
        self.t_node = np.zeros(256, np.int32).data
        self.t_all = np.zeros(256, np.int32).data
        self.top = 0
        # Sets of threads, and where each byte leads from each.
        self.sets = np.zeros(16 * SET, np.int32).data
        self.behind = np.zeros(16 * 256, np.int32).data
        self.count = 2
        self.numbers: dict[tuple[int, int], int] = {}
        self.p_frame = np.zeros(256, np.int32).data
        self.p_below = np.zeros(256, np.int32).data
        self.p_popped = np.zeros(256, np.int32).data
        self.closures = 0
        self.used = 0
        self.q_first = np.zeros(64, np.int32).data
        self.q_words = np.zeros(64, np.int32).data
        self.unions = 0
        self.bits = np.zeros(256, np.uint64).data
        self.bits_used = 0
        self.waiting = np.zeros(64 * WAITING, np.int32).data
        self.depth = 0
        self.exits: list[memoryview] = []
        self.aliases: dict[int, int] = {}
        self.closed = 0
        self.is_step = False
        self.popped: set[int] = set()
        self.last_popped = -1
        self.last_frame = 0
        self.last_below = 0
        self.visited = 0
        self.words = np.zeros(0, np.uint32).data

    def lay_out(self, layout: Any) -> None:
        """Walk a trie from now on (``TrieLayout``)."""
        self.octets = layout.octets
        self.nodes = layout.nodes
        self.classes = layout.classes
        self.ids = layout.ids
        self.lengths = np.zeros(0, np.int32).data
        self.layout = layout

    def mask(self, state: int, node: int, words: Any) -> set[int]:
        """Set the bits, uint32 (W,), of the tokens that a state over a set of stacks reads; which
        sets of stacks were looked at. Raises ``WalkLimitError``, and what making states raises."""
        self.begin()
        self.layout.begin()
        self.words = words
        self.enter(0, self.alone(state, node))
        self.walk()
        return self.popped

    def step(self, threads: Iterable[tuple[int, int]], text: bytes) -> list[tuple[int, int]]:
        """The threads behind a text, pairs of a state and a set of stacks. Raises as ``mask``."""
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
            parts = self.parts(node)
            missing = [part for part in parts if part < 0 and part not in sets]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            nodes = [sets.get(part, part) for part in parts]
            if is_set(node):
                sets[node] = self.stacks.joined(nodes)
            else:
                sets[node] = self.stacks.push(self.p_frame[place_of(node)], nodes[0])
        return [(state, sets.get(node, node)) for state, node in found]

    def parts(self, node: int) -> list[int]:
        """What a node of this walk is made of."""
        if not is_set(node):
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

    def begin(self) -> None:
        """Begin a walk."""
        self.is_step = False
        self.top = self.used = self.depth = self.visited = 0
        self.unions = self.bits_used = self.closures = 0
        self.count = 2
        self.numbers.clear()
        self.aliases.clear()
        self.popped = set()
        self.last_popped = -1
        self.exits.clear()
        self.name_states()

    def name_states(self) -> None:
        """Have room for the states that got a number, and what is known of them by now."""
        named = len(self.states.ends)
        if named > len(self.row_at):
            size = 2 * named
            self.row_at = _grown(self.row_at, size)
            self.kind = _grown(self.kind, size)
            self.leaving = _grown(self.leaving, size)
            self.reads = _grown(self.reads, size)
            self.room = _grown(self.room, size)
            self.twin = _grown(self.twin, size)
            self.call_at = _grown(self.call_at, size)
            self.call_end = _grown(self.call_end, size)
        for state in range(self.known, named):
            self.row_at[state] = UNKNOWN
            self.twin[state] = UNKNOWN
            self.leaving[state] = ALL_CLASSES
            self.kind[state] = ENDS if self.states.ends[state] else 0
            self.room[state] = self.states.rooms[state]
        self.known = named

    def make(self, state: int) -> int:
        """Ask for the row of a state. A step looks up one byte, and
        does without the rows of states that follow others."""
        row = self.states[state]
        self.name_states()
        if not self.kind[state] & CALLS:
            self.make_calls(state)
        if not isinstance(row, list):
            return 0 if self.is_step else self.follow(state, row)
        at = self.made << 8
        if at == len(self.rows):
            self.rows = _grown(self.rows, 2 * at)
        others = looping = 0
        reads = leaving = 0
        for octet in range(256):
            target = row[octet]
            self.rows[at + octet] = target
            if octet < 128:
                if target != state:
                    leaving |= self.class_bits[octet]
                else:
                    looping += 1
                if target != 0:
                    reads |= self.class_bits[octet]
            elif target != 0:
                others += 1
                reads |= self.class_bits[octet] if octet >= 0xC2 else BROKEN
        self.reads[state] = reads
        # To find out about characters outside ASCII makes states.
        if others > 0 or looping > 1:
            loops = self.states.loops_outside_ascii(state) if others > 0 else 0
            if loops != 0 or looping > 1:
                self.leaving[state] = leaving | BROKEN | (OUTSIDE - loops)
        self.name_states()
        self.row_at[state] = at
        self.made += 1
        return 0

    def follow(self, state: int, row: Any) -> int:
        """Make the row of a state that leads where another one does, further inside of a
        repetition: it loops on the same characters."""
        base = row.base
        if self.row_at[base] < 0:
            self.make(base)
        at = self.made << 8
        if at == len(self.rows):
            self.rows = _grown(self.rows, 2 * at)
        before = target = 0
        for octet in range(256):
            if self.rows[self.row_at[base] + octet] != before:
                before = self.rows[self.row_at[base] + octet]
                target = row[octet]
            self.rows[at + octet] = target
        self.reads[state] = self.reads[base]
        self.leaving[state] = self.leaving[base]
        self.name_states()
        self.row_at[state] = at
        self.made += 1
        return 0

    def make_calls(self, state: int) -> int:
        """Note what a state calls, which is known with its row."""
        calls = self.states.calls[state]
        if calls:
            self.kind[state] |= CALLS
            self.call_at[state] = self.calls
            for start, frame in calls:
                if self.calls == len(self.starts):
                    self.starts = _grown(self.starts, 2 * self.calls)
                    self.frames = _grown(self.frames, 2 * self.calls)
                self.starts[self.calls] = start
                self.frames[self.calls] = frame
                self.calls += 1
            self.call_end[state] = self.calls
        return 0

    def without_bounds(self, state: int) -> int:
        """The twin of a state with bounds that are further than any text."""
        found = self.twin[state]
        if found < 0:
            found = self.states.twin(state)
            self.name_states()
            self.twin[state] = found
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
            self.t_state = _grown(self.t_state, 2 * self.top)
            self.t_node = _grown(self.t_node, 2 * self.top)
            self.t_all = _grown(self.t_all, 2 * self.top)
        self.t_state[self.top] = state
        self.t_node[self.top] = node
        self.t_all[self.top] = node
        self.top += 1
        return 0

    def check(self, used: int) -> int:
        """Raise the error of the limit if so much is beyond it."""
        if used >= self.most:
            raise WalkLimitError(
                f"a token may be read in too many ways: more than {self.most} threads; write the "
                "grammar with less ambiguity"
            )
        return 0

    def united(self, node: int, other: int) -> int:
        """The stacks of two nodes."""
        if node == other or self.includes(node, other):
            return node
        place = -1 if is_set(node) else self.member(node)
        other_place = -1 if is_set(other) else self.member(other)
        found = self.new_set()
        first = self.q_first[place_of(found)]
        self.put(first, node, place)
        self.put(first, other, other_place)
        return found

    def new_set(self) -> int:
        """A set with no member, which has room for all nodes that there are."""
        words = (self.used >> 6) + 1
        first = self.bits_used
        while first + words > len(self.bits):
            self.check(first)
            self.bits = _grown(self.bits, 2 * len(self.bits))
        for i in range(first, first + words):
            self.bits[i] = 0
        if self.unions == len(self.q_first):
            self.q_first = _grown(self.q_first, 2 * self.unions)
            self.q_words = _grown(self.q_words, 2 * self.unions)
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
        if not is_set(node):
            return node
        place = -1 if is_set(other) else self.member(other)
        found = self.new_set()
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
        if not is_set(node):
            return node == other
        first = self.q_first[place_of(node)]
        words = self.q_words[place_of(node)]
        if not is_set(other):
            place = self.aliases.get(other, -1) if other >= 0 else place_of(other)
            if place < 0 or place >> 6 >= words:
                return 0
            if other >= 0 and (place >= self.used or self.p_below[place] != other):
                return 0
            return self.bits[first + (place >> 6)] >> (place & 63) & 1
        inner = self.q_first[place_of(other)]
        for i in range(self.q_words[place_of(other)]):
            have = self.bits[first + i] if i < words else 0
            if self.bits[inner + i] | have != have:
                return 0
        return 1

    def member(self, node: int) -> int:
        """The place of a node that is no set; one that was there before gets another name."""
        if node < 0:
            return place_of(node)
        place = self.aliases.get(node, self.used)
        if place >= self.used or self.p_frame[place] != ALIAS or self.p_below[place] != node:
            place = self.used
            self.aliases[node] = place
            self.new_node(ALIAS, node)
        return place

    def push(self, since: int, frame: int, below: int) -> int:
        """The node with a frame on top of what it was pushed on in one closure, the nodes from
        ``since`` on, and of ``below``. No call ends where it begins: nothing was taken off it yet.
        """
        for place in range(since, self.used):
            if self.p_frame[place] == frame:
                united = self.united(self.p_below[place], below)
                self.p_below[place] = united
                return -1 - 2 * place
        return self.new_node(frame, below)

    def new_node(self, frame: int, below: int) -> int:
        """Another node of this walk."""
        if self.used == len(self.p_frame):
            self.check(self.used)
            self.p_frame = _grown(self.p_frame, 2 * self.used)
            self.p_below = _grown(self.p_below, 2 * self.used)
            self.p_popped = _grown(self.p_popped, 2 * self.used)
        self.p_frame[self.used] = frame
        self.p_below[self.used] = below
        self.p_popped[self.used] = 0
        self.used += 1
        return 1 - 2 * self.used

    def close(self, low: int, high: int) -> int:
        """The end of the closure of the threads from ``low`` to ``high``: they come first, and
        behind them what they call and return to."""
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
                    self.meet(low, self.starts[call], self.push(since, self.frames[call], node))
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
        if is_set(node):
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
        if self.last_frame > 0:
            return self.meet(low, self.last_frame, self.last_below)
        if self.last_frame == SEVERAL:
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

    def alone(self, state: int, node: int) -> int:
        """The number of the set of one thread."""
        low = self.top
        self.append(state, node)
        return self.number(low)

    def number(self, low: int) -> int:
        """The number of the set of the threads from ``low`` on, which are the last ones."""
        if self.top == low:
            return NOTHING
        is_one = self.top - low == 1
        if is_one:
            key = (self.t_state[low], self.t_node[low])
            found = self.numbers.get(key, NOTHING)
            if found != NOTHING:
                self.top = low
                return found
            self.numbers[key] = self.count
        at = SET * self.count
        if at + SET > len(self.sets):
            self.check(self.count)
            self.sets = _grown(self.sets, 2 * len(self.sets))
            self.behind = _grown(self.behind, 2 * len(self.behind))
        self.sets[at + LOW] = low
        self.sets[at + MID] = self.top
        self.sets[at + HIGH] = 0
        self.sets[at + ROOM] = ENDLESS
        self.sets[at + FREE] = UNREAD
        self.sets[at + NOTED] = 0
        for i in range(low, self.top):
            if self.room[self.t_state[i]] < self.sets[at + ROOM]:
                self.sets[at + ROOM] = self.room[self.t_state[i]]
        for i in range(self.count << 8, (self.count << 8) + 256):
            self.behind[i] = UNREAD
        self.count += 1
        return self.count - 1

    def free(self, number: int) -> int:
        """The set whose bounds are further than any text that is left."""
        at = SET * number
        if self.sets[at + FREE] == UNREAD:
            low = self.top
            for i in range(self.sets[at + LOW], self.sets[at + MID]):
                state = self.t_state[i]
                if self.room[state] < ENDLESS:
                    state = self.without_bounds(state)
                self.add(low, state, self.t_node[i])
            found = self.number(low)
            self.sets[at + FREE] = found
        return self.sets[at + FREE]

    def complete(self, number: int) -> int:
        """Find the closure of a set."""
        at = SET * number
        if self.sets[at + HIGH] == 0:
            low = self.top
            for i in range(self.sets[at + LOW], self.sets[at + MID]):
                self.append(self.t_state[i], self.t_node[i])
            self.close(low, self.top)
            self.sets[at + ALL] = low
            self.sets[at + HIGH] = self.top
        return 0

    def read(self, number: int, octet: int) -> int:
        """Find the set behind a byte, which is that behind another one if all threads read both
        alike."""
        at = SET * number
        low = self.sets[at + ALL]
        high = self.sets[at + HIGH]
        noted = self.sets[at + NOTED]
        for place in range(noted):
            other = self.sets[at + NOTED + 1 + place]
            i = low
            while i < high:
                row = self.row_at[self.t_state[i]]
                if self.rows[row + octet] != self.rows[row + other]:
                    break
                i += 1
            if i == high and self.behind[(number << 8) + other] != UNREAD:
                found = self.behind[(number << 8) + other]
                self.behind[(number << 8) + octet] = found
                return found
        first = self.top
        for i in range(low, high):
            target = self.rows[self.row_at[self.t_state[i]] + octet]
            if target != 0:
                self.add(first, target, self.t_node[i])
        found = self.number(first)
        at = SET * number
        if noted < MOST_NOTED:
            self.sets[at + NOTED] = noted + 1
            self.sets[at + NOTED + 1 + noted] = octet
        self.behind[(number << 8) + octet] = found
        return found

    def enter(self, node: int, number: int) -> int:
        """Go on below a node with a set; whether there is something to come back to."""
        below = self.classes[2 * node + 1]
        if self.sets[SET * number + ROOM] < ENDLESS:
            if len(self.lengths) == 0:
                self.lengths = self.layout.lengths
            if self.lengths[node] <= self.sets[SET * number + ROOM]:
                number = self.free(number)
        is_large = self.nodes[FIELDS * node + END] - self.nodes[FIELDS * node + OWN] > LARGE
        splits = False
        low = self.sets[SET * number + LOW]
        high = self.sets[SET * number + MID]
        for i in range(low, high):
            state = self.t_state[i]
            if self.row_at[state] < 0:
                self.make(state)
            leaving = self.leaving[state]
            if leaving & below == 0:
                if is_large:
                    self.unite(self.layout.block(node))
                else:
                    end = self.nodes[FIELDS * node + END]
                    self.take(self.nodes[FIELDS * node + OWN], end)
                return 0
            if leaving & BULK != BULK or self.room[state] < ENDLESS:
                splits = is_large
        if not splits:
            return self.come_back(node, number, NO_EXITS)
        for i in range(low, high):
            # Each by itself, as a subtree is not whole for two.
            number = self.alone(self.t_state[i], self.t_node[i])
            if self.room[self.t_state[i]] == ENDLESS or not self.enter_counting(node, number):
                self.come_back(node, number, self.exits_of(node, number))
        return 1

    def exits_of(self, node: int, number: int) -> int:
        """Take what one thread reads below a node without leaving its state, if nothing else
        begins on the way; the number of the exits, where all others are."""
        self.complete(number)
        low = self.sets[SET * number + ALL]
        leaving = self.leaving[self.t_state[low]]
        if leaving & BULK == BULK:
            return NO_EXITS
        others = 0
        for i in range(low + 1, self.sets[SET * number + HIGH]):
            others |= self.reads[self.t_state[i]]
        if others | leaving != leaving:
            return NO_EXITS
        found = self.layout.exits(node, leaving) or self.find_exits(node, leaving)
        self.unite(found.row)
        self.exits.append(found.nodes)
        return len(self.exits) - 1

    def enter_counting(self, node: int, number: int) -> bool:
        """Go on below a node with a thread that reads some characters up to a bound, if it does:
        it reads the tokens that have no more of them, and goes on at the exits behind so many."""
        thread = self.sets[SET * number + LOW]
        state = self.t_state[thread]
        classes, most = self.states.counting(state)
        self.name_states()
        octet = 0
        while octet < 128 and self.class_bits[octet] & classes == 0:
            octet += 1
        if classes & BULK == 0 or octet == 128:
            return False
        leaving = ALL_CLASSES ^ classes
        found = self.layout.exits(node, leaving) or self.find_exits(node, leaving)
        self.unite(self.layout.shorter(found, node, most))
        read = 0
        for count, nodes in self.layout.by_count(found, node):
            while read < min(count, most + 1):
                state = self.states[state][octet]
                read += 1
            if count <= most:
                self.name_states()
                self.exits.append(nodes)
                inner = self.alone(state, self.t_node[thread])
                self.come_back(node, inner, len(self.exits) - 1)
        return True

    def find_exits(self, node: int, leaving: int) -> Any:
        """Find the tokens below a node without characters of some classes, and the first nodes
        with some; the layout keeps them for all grammars."""
        words = self.words
        self.words = np.zeros(self.layout.words, np.uint32).data
        pending = [node]
        found = []
        while pending:
            base = FIELDS * pending.pop()
            for child in range(self.nodes[base + FIRST], self.nodes[base + LAST]):
                inner = FIELDS * child
                octet = self.octets[child]
                if self.classes[2 * child] & leaving == 0:
                    self.take(self.nodes[inner + BEGIN], self.nodes[inner + END])
                elif octet > 127 or self.class_bits[octet] & leaving != 0:
                    found.append(child)
                else:
                    self.take(self.nodes[inner + BEGIN], self.nodes[inner + OWN])
                    pending.append(child)
        row = np.asarray(self.words)
        self.words = words
        return self.layout.keep(node, leaving, row.data, np.array(found, dtype=np.int32))

    def come_back(self, node: int, number: int, exits: int) -> int:
        """Come back to the children, or exits, of a node with a set."""
        self.complete(number)
        at = WAITING * self.depth
        if at == len(self.waiting):
            self.waiting = _grown(self.waiting, 2 * at)
        self.waiting[at + OF_SET] = number
        self.waiting[at + EXITS] = exits
        self.waiting[at + CHILD] = 0
        if exits == NO_EXITS:
            self.waiting[at + CHILD] = self.nodes[FIELDS * node + FIRST]
            self.waiting[at + STOP] = self.nodes[FIELDS * node + LAST]
        else:
            self.waiting[at + STOP] = len(self.exits[exits])
        self.depth += 1
        # What several wait for is dropped behind the first of them alone.
        self.waiting[at + COUNT] = self.count
        self.waiting[at + TOP] = self.top
        self.waiting[at + USED] = self.used
        self.waiting[at + UNIONS] = self.unions
        self.waiting[at + BITS] = self.bits_used
        return 1

    def drop(self, at: int) -> int:
        """Drop what was made since something began to wait, if that is much."""
        is_much = self.count - self.waiting[at + COUNT] > MANY_SETS
        if not is_much and self.bits_used - self.waiting[at + BITS] < MANY_BITS:
            return 0
        self.count = self.waiting[at + COUNT]
        self.top = self.waiting[at + TOP]
        self.used = self.waiting[at + USED]
        self.unions = self.waiting[at + UNIONS]
        self.bits_used = self.waiting[at + BITS]
        for i in range(self.count << 8):
            if self.behind[i] >= self.count:
                self.behind[i] = UNREAD
        for number in range(2, self.count):
            if self.sets[SET * number + FREE] >= self.count:
                self.sets[SET * number + FREE] = UNREAD
            if self.sets[SET * number + HIGH] > self.top:
                self.sets[SET * number + HIGH] = 0
        self.numbers.clear()
        return 0

    def walk(self) -> int:
        """Come back to all that is left, the deepest first."""
        exits = self.nodes
        while self.depth > 0:
            at = WAITING * (self.depth - 1)
            number = self.waiting[at + OF_SET]
            child = self.waiting[at + CHILD]
            stop = self.waiting[at + STOP]
            is_exit = self.waiting[at + EXITS] != NO_EXITS
            if is_exit:
                exits = self.exits[self.waiting[at + EXITS]]
            self.drop(at)
            low = self.sets[SET * number + ALL]
            high = self.sets[SET * number + HIGH]
            is_open = False
            for i in range(low, high):
                if self.leaving[self.t_state[i]] & OUTSIDE != OUTSIDE:
                    is_open = True
            while child < stop:
                node = exits[child] if is_exit else child
                child += 1
                self.visited += 1
                octet = self.octets[node]
                if octet > 127 and is_open and self.reads_all(low, high, self.classes[2 * node]):
                    self.take(self.nodes[FIELDS * node + BEGIN], self.nodes[FIELDS * node + END])
                    continue
                found = self.behind[(number << 8) + octet]
                if found == UNREAD:
                    found = self.read(number, octet)
                if found == NOTHING:
                    continue
                self.take(self.nodes[FIELDS * node + BEGIN], self.nodes[FIELDS * node + OWN])
                if self.nodes[FIELDS * node + FIRST] != self.nodes[FIELDS * node + LAST]:
                    self.waiting[at + CHILD] = child
                    if self.enter(node, found):
                        break
            else:
                self.depth -= 1
        return 0

    def reads_all(self, low: int, high: int, classes: int) -> int:
        """Whether one of some threads reads all characters of some classes without leaving its
        state."""
        for i in range(low, high):
            if self.leaving[self.t_state[i]] & classes == 0:
                return 1
        return 0

    def take(self, begin: int, end: int) -> int:
        """Set the bits of an interval of tokens."""
        for i in range(begin, end):
            token = self.ids[i]
            self.words[token >> 5] |= 1 << (token & 31)
        return 0

    def unite(self, row: Any) -> int:
        """Set the bits of a row."""
        for i in range(len(row)):
            self.words[i] |= row[i]
        return 0


def is_set(node: int) -> int:
    """Whether a node stands for several."""
    return node < 0 and node & 1 == 0


def place_of(node: int) -> int:
    """The place of a node of a walk, or of a set."""
    return (-1 - node) >> 1


def _grown(array: Any, size: int) -> Any:
    """A view of a larger array of the same type, which begins alike."""
    old = np.asarray(array)
    found = np.zeros(size, dtype=old.dtype)
    found[: len(old)] = old
    return found.data
