"""The rows of a machine's states as a walk reads them, each made when it is first needed.

    state 2 reads "]" to 3, calls 1, goes on in 4   rows[at + 0x5D] = 3, starts = [1], frames = [4]

Part of the walk (``kernel.py``), which runs as it stands and compiled.
"""

from typing import Any

import numpy as np

from ..tokens.subtrees import CLASS_BITS

# Bits of what a state does beside reading: its call may end; it calls; walks go around it, as what
# it reads is found by somebody else (``States.inside``); its lexeme may end, and does where a byte
# leads nowhere; nodes where tokens are in it are noted.
ENDS = 1
CALLS = 2
INSIDE = 4
YIELDS = 8
STOPS = 16

# No row is made yet.
UNKNOWN = -1

# Classes of characters as bits (``artifacts/tokens/subtrees.py``): all; those outside ASCII; the
# letters of ASCII; and of bytes that make none.
ALL_CLASSES = 0xFFFFFFFFFFFFFFFF
OUTSIDE = 0x7FFF000000000000
LETTERS = 0x0000060600000000
BROKEN = 0x8000000000000000


class StateRows:
    """Of each state that has a number: its row, what it does, its classes, calls and bounds.

    ``states``: makes rows, ``states[s]`` a sequence of 256 targets, 0 where a byte is not read
    (``artifacts/machine/states.py``), or less where it does not end a lexeme either.
    """

    def __init__(self, states: Any) -> None:
        self.states = states
        self.is_step = False
        # Whether a row is made for what another state reads: of chains of states no more is made.
        self.is_for_other = False
        self.class_bits = CLASS_BITS.data
        self.known = 0
        self.row_at = np.zeros(64, np.int32).data
        self.kind = np.zeros(64, np.uint8).data
        self.leaving = np.zeros(64, np.uint64).data
        self.unread = np.zeros(64, np.uint64).data
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

    def name_states(self) -> None:
        """Have room for the states that got a number, and what is known of them by now."""
        named = len(self.states.ends)
        if named > len(self.row_at):
            size = 2 * named
            self.row_at = grown(self.row_at, size)
            self.kind = grown(self.kind, size)
            self.leaving = grown(self.leaving, size)
            self.unread = grown(self.unread, size)
            self.reads = grown(self.reads, size)
            self.room = grown(self.room, size)
            self.twin = grown(self.twin, size)
            self.call_at = grown(self.call_at, size)
            self.call_end = grown(self.call_end, size)
        for state in range(self.known, named):
            self.row_at[state] = UNKNOWN
            self.twin[state] = UNKNOWN
            self.leaving[state] = ALL_CLASSES
            self.unread[state] = ALL_CLASSES
            self.kind[state] = self.states.ends[state]
            if state in self.states.inside:
                self.kind[state] |= INSIDE
            self.room[state] = self.states.rooms[state]
        self.known = named

    def make(self, state: int) -> int:
        """Make the row of a state. A step looks up one byte, and does without the rows of states
        that follow others."""
        if self.kind[state] & INSIDE and not self.is_step:
            # Nothing is read, as in state 0.
            if self.row_at[0] < 0:
                self.make(0)
            self.row_at[state] = self.row_at[0]
            return 0
        row = self.states[state]
        self.name_states()
        if not self.kind[state] & CALLS:
            self.make_calls(state)
        if self.is_step:
            return 0
        if not isinstance(row, list):
            return self.follow(state, row)
        at = self.made << 8
        if at == len(self.rows):
            self.rows = grown(self.rows, 2 * at)
        others = looping = 0
        reads = leaving = unread = 0
        for octet in range(256):
            target = row[octet]
            self.rows[at + octet] = target
            if octet < 128:
                if target != state:
                    leaving |= self.class_bits[octet]
                else:
                    looping += 1
                if target > 0:
                    reads |= self.class_bits[octet]
                else:
                    unread |= self.class_bits[octet]
            elif target > 0:
                others += 1
                reads |= self.class_bits[octet] if octet >= 0xC2 else BROKEN
        self.reads[state] = reads
        # To find out about characters outside ASCII makes states.
        if (others > 0 or looping > 1) and not self.kind[state] & STOPS:
            loops = self.states.leading_outside_ascii(state, state) if others > 0 else 0
            if loops != 0 or looping > 1:
                self.leaving[state] = leaving | BROKEN | (OUTSIDE - loops)
        self.name_states()
        self.row_at[state] = at
        self.made += 1
        self.unread[state] = self.leaving[state]
        if LETTERS & self.leaving[state] & ~unread != 0:
            self.cover(state)
        return 0

    def cover(self, state: int) -> int:
        """Find more classes of which a state reads all texts: those on which it leads to states
        that read what it does, and more, as where a name may begin as a keyword; or what a state
        has that reads less than this one, as after the keyword's last letter."""
        row = self.row_at[state]
        found = self.leaving[state] & (BROKEN | OUTSIDE)
        target = 0
        is_more = False
        for octet in range(128):
            if self.rows[row + octet] != target:
                target = self.rows[row + octet]
                is_more = target > 0 and self.states.includes(target, state)
            if not is_more:
                found |= self.class_bits[octet]
        target = 0
        for octet in range(128):
            if self.rows[row + octet] != target and self.class_bits[octet] & LETTERS & found != 0:
                target = self.rows[row + octet]
                if target > 0 and self.states.includes(state, target):
                    if self.row_at[target] < 0 and not self.is_for_other:
                        self.is_for_other = True
                        self.make(target)
                        self.is_for_other = False
                    if self.unread[target] | found == found:
                        found = self.unread[target]
        self.unread[state] = found
        return 0

    def follow(self, state: int, row: Any) -> int:
        """Make the row of a state that leads where another one does, further inside of a
        repetition: it loops on the same characters."""
        base = row.base
        if self.row_at[base] < 0:
            self.make(base)
        at = self.made << 8
        if at == len(self.rows):
            self.rows = grown(self.rows, 2 * at)
        before = target = 0
        for octet in range(256):
            if self.rows[self.row_at[base] + octet] != before:
                before = self.rows[self.row_at[base] + octet]
                target = row[octet]
            self.rows[at + octet] = target
        self.reads[state] = self.reads[base]
        self.leaving[state] = self.leaving[base]
        self.unread[state] = self.leaving[base]
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
                    self.starts = grown(self.starts, 2 * self.calls)
                    self.frames = grown(self.frames, 2 * self.calls)
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


def grown(array: Any, size: int) -> Any:
    """A view of a larger array of the same type, which begins alike."""
    old = np.asarray(array)
    found = np.zeros(size, dtype=old.dtype)
    found[: len(old)] = old
    return found.data
