"""The walk of the token trie through a pushdown machine over bytes: the tokens that fit.

    s ::= '[' s? ']' | 'x'        after "[", state 2 over no frame
    node "x"      calls s, reads x, and may go on in the frame after the call       fits
    node "x]]"    the frame reads one "]", and no frame is below it                  does not fit

A *thread* is a state over a stack of frames, each a state to go on in where a call ends. The
threads after a text are a *set*; its closure adds the calls that they may make and the frames that
they may return to. Sets are numbered as the walk meets them, and where each byte leads is found
once, as with the states of a DFA. Where a thread reads all characters below a node, as its state
leads to itself or to states that read more, all tokens there fit, and no node there is visited.

``rows.py``, ``threads.py`` and this file run as they stand. ``kernel.pxd`` has the types with which
Cython compiles them as one module; ``forms.py`` says which form runs. Source: states made when met,
Aho, Sethi and Ullman, Compilers, 1986, section 3.7.
"""

from typing import Any

import numpy as np

from .rows import ALL_CLASSES, INSIDE, OUTSIDE, STOPS, YIELDS, grown
from .threads import Threads

# What a form was made of; a compiled one has the hash of this file.
SOURCE = ""

# Below nodes of more tokens it is worth while to look for exits, and to keep a row.
LARGE = 1024

# In place of the number of exits: all children.
NO_EXITS = -1

# Letters and characters outside ASCII, of which most tokens are, as classes of characters.
BULK = 0x7FFF040400000000

# More characters than any text.
ENDLESS = 1 << 30

# A record of a set of threads: these, from LOW to MID; their closure, from ALL to HIGH, if it is
# known; the least room of bounds; the set without these bounds; whether it goes on elsewhere; and
# how many bytes that threads read differently are noted after that.
LOW, MID, ALL, HIGH, ROOM, FREE, LEFT, NOTED, SET = 0, 1, 2, 3, 4, 5, 6, 7, 14
MOST_NOTED = 6

# Bits of where a set goes on: below a stack of which nothing is known; in a state inside of what is
# found by somebody else.
BELOW = 1
ELSEWHERE = 2

# Where a byte leads: not known yet, nowhere. Other sets have numbers after these; below 0 is what
# waits for somebody else.
UNREAD = 0
NOTHING = 1

# A record of what to come back to: a set, the next child and the last, of a node or of exits; and
# how much had been made before it.
OF_SET, CHILD, STOP, EXITS, COUNT, TOP, USED, UNIONS, BITS, WAITING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

# From so many sets, and words of bits, on what was made below a node is dropped after it.
MANY_SETS = 1 << 11
MANY_BITS = 1 << 18

# A record of where tokens lead: a state, and the interval of tokens.
LAND = 3

# A record of the trie's layout.
FIRST, LAST, BEGIN, OWN, END, FIELDS = 0, 1, 2, 3, 4, 5


class Kernel(Threads):
    """Walks by one machine's states. One thread of the process at a time.

    ``visited``: nodes that the last walk came to. ``left``, ``inside``: of the last summary.
    """

    def __init__(self, states: Any, stacks: Any, most: int = 1 << 22) -> None:
        super().__init__(states, stacks, most)
        self.layout: Any = None
        # Sets of threads, and where each byte leads from each.
        self.sets = np.zeros(16 * SET, np.int32).data
        self.behind = np.zeros(16 * 256, np.int32).data
        self.count = 2
        self.numbers: dict[tuple[int, int], int] = {}
        self.waiting = np.zeros(64 * WAITING, np.int32).data
        self.depth = 0
        self.exits: list[memoryview] = []
        self.visited = 0
        self.words = np.zeros(0, np.uint32).data
        self.is_summary = False
        self.left: list[int] = []
        self.inside: dict[tuple[int, int], list[int]] = {}
        self.waits: dict[int, list[int]] = {}
        self.places: dict[tuple[int, int], list[int]] = {}
        self.is_landing = self.is_meeting = False
        self.walks = self.landed = self.stopped = 0
        self.lands = np.zeros(64 * LAND, np.int32).data
        self.stops = np.zeros(64, np.int32).data
        self.met = np.zeros(0, np.int64).data

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
        self.begin_walk(words)
        self.enter(0, self.alone(state, node))
        self.walk()
        return self.popped

    def summary(self, nodes: Any, state: int, node: int, words: Any) -> int:
        """The same for what is left of the tokens below ``nodes`` of the trie, which have children;
        ``node``: a stack of which nothing is known (``Stacks.unknown``). ``left``: the nodes with
        children where the call of ``state`` may end. ``inside``: by states and stacks that walks go
        around, the nodes at which tokens come to them. Below what fits as a whole nothing is noted.

        A procedure summary: Sharir and Pnueli, Two approaches to interprocedural data flow
        analysis, 1981."""
        self.begin_walk(words)
        self.is_summary = True
        self.left = []
        self.inside = {}
        self.places.clear()
        for place in nodes:
            self.enter(place, self.alone(state, node))
            self.walk()
        self.is_summary = False
        return 0

    def lexemes(self, nodes: Any, state: int, place: int, words: Any) -> int:
        """The same for what a lexer reads from a state: of the tokens below ``nodes``, whose own
        bytes are read first, or of all if these are none. Where a byte leads to 0 and the lexeme
        may end, ``states.behind(state, place)`` says what follows: the state in which the next one
        begins, and the place of the parser there; or state 0 and what is waited for, more than 1,
        or nothing. ``waits``: by that the nodes whose byte begins the next lexeme.

        Maximal munch: llguidance, "Optimizing", where the parser is asked at lexemes' ends."""
        self.begin_walk(words)
        self.waits = {}
        number = self.alone(state, place)
        if len(nodes) == 0:
            self.enter(0, number)
        else:
            self.exits.append(nodes)
            self.come_back(0, number, 0)
        self.walk()
        return 0

    def landings(self, nodes: Any, state: int) -> tuple[Any, Any]:
        """Where the tokens below ``nodes`` of the trie lead from a state of an automaton: int32
        (n, 3), states and intervals of tokens; and int32 (m, 2), the nodes with children at which
        tokens are in states that stop, after these states. A node that tokens come to in one state
        from several of ``nodes`` is gone on from once, mostly."""
        self.begin_walk(np.zeros(0, np.uint32).data)
        self.is_landing = True
        self.landed = self.stopped = 0
        self.is_meeting = len(nodes) > 1
        if self.is_meeting and len(self.met) < len(self.octets):
            self.met = np.zeros(len(self.octets), np.int64).data
        self.walks += 1
        for place in nodes:
            self.enter(place, self.alone(state, 0))
            self.walk()
        self.is_landing = False
        lands = np.array(self.lands[: LAND * self.landed]).reshape(-1, LAND)
        return lands, np.array(self.stops[: 2 * self.stopped]).reshape(-1, 2)

    def begin_walk(self, words: Any) -> None:
        """Begin a walk of the trie."""
        self.begin()
        self.layout.begin()
        self.depth = self.visited = 0
        self.count = 2
        self.numbers.clear()
        self.exits.clear()
        self.words = words
        self.is_summary = False

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
                if found <= NOTHING:
                    if found < 0:
                        self.wait(-found, node)
                    continue
                if self.is_landing:
                    if self.is_meeting and self.meets(node, found):
                        continue
                    begin = self.nodes[FIELDS * node + BEGIN]
                    self.land(found, begin, self.nodes[FIELDS * node + OWN])
                else:
                    self.take(self.nodes[FIELDS * node + BEGIN], self.nodes[FIELDS * node + OWN])
                if self.nodes[FIELDS * node + FIRST] != self.nodes[FIELDS * node + LAST]:
                    self.waiting[at + CHILD] = child
                    if self.enter(node, found):
                        break
            else:
                self.depth -= 1
        return 0

    def land(self, number: int, begin: int, end: int) -> int:
        """Note that an interval of tokens leads to the state of a set."""
        if begin == end:
            return 0
        state = self.t_state[self.sets[SET * number + LOW]]
        at = LAND * self.landed
        if at > 0 and self.lands[at - 1] == begin and self.lands[at - 3] == state:
            self.lands[at - 1] = end
            return 0
        if at == len(self.lands):
            self.lands = grown(self.lands, 2 * at)
        self.lands[at] = state
        self.lands[at + 1] = begin
        self.lands[at + 2] = end
        self.landed += 1
        return 0

    def stop(self, node: int, number: int) -> int:
        """Note a node at which tokens are in a state that stops."""
        state = self.t_state[self.sets[SET * number + LOW]]
        if self.kind[state] & STOPS:
            at = 2 * self.stopped
            if at == len(self.stops):
                self.stops = grown(self.stops, 2 * at)
            self.stops[at] = state
            self.stops[at + 1] = node
            self.stopped += 1
        return 0

    def meets(self, node: int, number: int) -> bool:
        """Whether the walk came to a node in the state of a set when it was last there."""
        state = self.t_state[self.sets[SET * number + LOW]]
        key = self.walks << 32 | state
        if self.met[node] == key:
            return True
        self.met[node] = key
        return False

    def wait(self, number: int, node: int) -> None:
        """Note a node whose byte is read by somebody else."""
        found = self.waits.get(number)
        if found is None:
            found = self.waits[number] = []
        found.append(node)

    def come_back(self, node: int, number: int, exits: int) -> int:
        """Come back to the children, or exits, of a node with a set."""
        self.complete(number)
        if self.is_summary and exits == NO_EXITS and self.sets[SET * number + LEFT]:
            self.leave(node, number)
        if self.is_landing:
            self.stop(node, number)
        at = WAITING * self.depth
        if at == len(self.waiting):
            self.waiting = grown(self.waiting, 2 * at)
        self.waiting[at + OF_SET] = number
        self.waiting[at + EXITS] = exits
        self.waiting[at + CHILD] = 0
        if exits == NO_EXITS:
            self.waiting[at + CHILD] = self.nodes[FIELDS * node + FIRST]
            self.waiting[at + STOP] = self.nodes[FIELDS * node + LAST]
        else:
            self.waiting[at + STOP] = len(self.exits[exits])
        self.depth += 1
        # What several wait for is dropped after the first of them alone.
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
        self.places.clear()
        return 0

    def enter(self, node: int, number: int) -> int:
        """Go on below a node with a set; whether there is something to come back to."""
        below = self.classes[2 * node + 1]
        if self.sets[SET * number + ROOM] < ENDLESS:
            if len(self.lengths) == 0:
                self.lengths = self.layout.lengths
            if self.lengths[node] <= self.sets[SET * number + ROOM]:
                number = self.free(number)
        is_large = self.nodes[FIELDS * node + END] - self.nodes[FIELDS * node + OWN] > LARGE
        is_large = is_large and not self.is_landing
        splits = False
        low = self.sets[SET * number + LOW]
        high = self.sets[SET * number + MID]
        for i in range(low, high):
            state = self.t_state[i]
            if self.row_at[state] < 0:
                self.make(state)
            leaving = self.leaving[state]
            if self.unread[state] & below == 0:
                if is_large:
                    self.unite(self.layout.block(node))
                elif self.is_landing:
                    end = self.nodes[FIELDS * node + END]
                    self.land(number, self.nodes[FIELDS * node + OWN], end)
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
        if leaving & BULK == BULK or (self.is_summary and self.sets[SET * number + LEFT]):
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
        it reads the tokens that have no more of them, and goes on at the exits after so many."""
        if self.is_summary:
            return False
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
            self.check(64 * self.count)
            self.sets = grown(self.sets, 2 * len(self.sets))
            self.behind = grown(self.behind, 2 * len(self.behind))
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
            self.is_left = False
            self.close(low, self.top)
            self.sets[at + ALL] = low
            self.sets[at + HIGH] = self.top
            self.sets[at + LEFT] = BELOW if self.is_left else 0
            if self.is_summary:
                for i in range(low, self.top):
                    if self.kind[self.t_state[i]] & INSIDE:
                        self.sets[at + LEFT] |= ELSEWHERE
        return 0

    def leave(self, node: int, number: int) -> int:
        """Note that a set goes on elsewhere at a node."""
        left = self.sets[SET * number + LEFT]
        if left & BELOW:
            self.left.append(node)
        if left & ELSEWHERE:
            for i in range(self.sets[SET * number + ALL], self.sets[SET * number + HIGH]):
                if self.kind[self.t_state[i]] & INSIDE:
                    self.nodes_of(self.t_state[i], self.t_node[i]).append(node)
        return 0

    def nodes_of(self, state: int, node: int) -> list[int]:
        """The nodes at which tokens come to a state that the walk goes around."""
        found = self.places.get((state, node))
        if found is None:
            low = self.top
            self.append(state, node)
            [kept] = self.kept(low)
            self.top = low
            found = self.inside.setdefault(kept, [])
            self.places[state, node] = found
        return found

    def read(self, number: int, octet: int) -> int:
        """Find the set after a byte, which is that after another one if all threads read both
        alike."""
        at = SET * number
        low = self.sets[at + ALL]
        high = self.sets[at + HIGH]
        noted = self.sets[at + NOTED]
        state = self.t_state[low]
        if self.kind[state] & YIELDS and self.rows[self.row_at[state] + octet] == 0:
            found = self.begun(number)
            if found > NOTHING:
                self.complete(found)
                if self.behind[(found << 8) + octet] == UNREAD:
                    self.read(found, octet)
                found = self.behind[(found << 8) + octet]
            self.behind[(number << 8) + octet] = found
            return found
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
            if target > 0:
                self.add(first, target, self.t_node[i])
        found = self.number(first)
        at = SET * number
        if noted < MOST_NOTED:
            self.sets[at + NOTED] = noted + 1
            self.sets[at + NOTED + 1 + noted] = octet
        self.behind[(number << 8) + octet] = found
        return found

    def begun(self, number: int) -> int:
        """The set after the end of a lexeme."""
        at = SET * number
        if self.sets[at + FREE] == UNREAD:
            thread = self.sets[at + LOW]
            state, place = self.states.behind(self.t_state[thread], self.t_node[thread])
            self.name_states()
            found = NOTHING if place == 0 else -place
            if state != 0:
                found = self.alone(state, place)
            self.sets[at + FREE] = found
        return self.sets[at + FREE]

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
