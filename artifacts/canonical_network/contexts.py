"""What a stack leaves to a pair of a network's state and a pre-tokenizer state, in few words.

The members of a grammar that nests are read by a network in synchronous product with a
pre-tokenizer DFA, whose state is carried through calls and returns. What may follow then depends on
the whole stack, in few respects:

    pair       a state p of the network and a state q of the pre-tokenizer DFA, numbered when it is
               met
    context    of a stack two sets of pre-tokenizer states in which a call on it may end: those from
               which some text leads to the end (*live*), and of them those *at a boundary*, where
               at once the text may end or a pre-token may start, so that what follows is encoded by
               itself

Pushing a frame on a stack maps contexts to contexts. Of a counter's frame the context depends on
that of the frame of one item more (``counts.Levels``), of a set's on the parts that may follow
(``settled_sets``). ``compiler/canonical_network/README.md`` has
the lemmas.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM, Stacks
from ..network.counts import Levels
from ..network.tables import DEAD, NetworkTables
from ..tokenizer_steps.byte_sets import ByteSets, of_flags
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES, Made, Numbered, bottom_up
from ..tokens.sharing import weakly
from ..tokens.watch import Watch, unwatched
from .byte_edges import Reading
from .live_sets import LiveSets
from .settled_sets import SetContexts

_Flags = NDArray[np.bool_]
_Numbers = NDArray[np.integer]


# The context of an empty stack.
TEXT_END = 0

# In place of the number of a pair with a dead state.
_NONE = -1


class Contexts:
    """Pairs and contexts, numbered as they are met: the dead pair and ``TEXT_END`` first.

    ``states``, ``pre_states``: int64 (n,), what each pair is of.
    """

    def __init__(
        self,
        tables: NetworkTables,
        sets: ByteSets,
        final: _Flags,
        reading: Reading,
        return_states: int,
        watch: Watch = unwatched,
    ) -> None:
        """``final``: bool (Q,), the pre-tokenizer states that a text may end in. ``return_states``:
        those that calls and texts may end in, and maybe others, as a set."""
        self._tables = tables
        self.sets = sets
        self._live = LiveSets(tables, reading, sets, return_states, watch)
        self.states = self.pre_states = np.zeros(1, dtype=np.int64)
        self._room = np.zeros((2, 64), dtype=np.int64)
        # Numbers of pairs, 0 of those that were not met: a row for each state that was.
        self._row = np.zeros(tables.states, dtype=np.int32)
        self._row[DEAD] = 1
        self._pair = np.zeros((8, sets.width), dtype=np.int32)
        self._pair[1] = _NONE
        self._met = 2
        self._rows = _Rows(self.sets)
        at_end = of_flags(final) & return_states
        rules = [] if tables.counters is None else tables.counters.set_rules
        self._counted = 0 if tables.counters is None else len(tables.counters.rows)
        push, union = weakly(self.push), weakly(self.union)
        self._of_sets = SetContexts(rules, push, union)
        # Of counters, by what is below.
        self._levels = Made[tuple[int, int], Levels](weakly(self._new_levels))
        # Contexts: the number of the live set, and the states at a boundary.
        self._contexts = Numbered[tuple[int, int]]()
        self._pushed: dict[tuple[int, int], int] = {}
        looked_up = partial(_Lookup, self._rows, tables.states)
        live, boundary = self._live.of, weakly(self._boundary)
        self._live_rows = Made[int, _Lookup](lambda below: looked_up(partial(live, below)))
        self._boundary_rows = Made[int, _Lookup](lambda of: looked_up(partial(boundary, of)))
        self._contexts.number((self._live.number(at_end), at_end))

    def number(self, state: int, pre_state: int) -> int:
        """The number of a pair, 0 of one with a dead state."""
        number = int(self._pair[self._row[state], pre_state])
        if not number:
            (number,) = self.numbers(np.array([state]), np.array([pre_state])).tolist()
        return max(number, 0)

    def numbers(self, states: _Numbers, pre_states: _Numbers) -> NDArray[np.int32]:
        """The same of pairs of any shape, int32."""
        found = self._pair[self._row[states], pre_states]
        new = found == 0
        if new.any():
            self._meet(states[new], pre_states[new])
            found = self._pair[self._row[states], pre_states]
        return np.maximum(found, 0)

    def _meet(self, states: _Numbers, pre_states: _Numbers) -> None:
        """Number pairs that were not met, each of which may stand there more than once."""
        added = distinct(states[self._row[states] == 0])
        if (met := self._met + len(added)) > len(self._pair):
            more = np.zeros((min(met, len(self._row)) + 1, self.sets.width), dtype=np.int32)
            self._pair = np.concatenate((self._pair, more))[: len(self._row) + 1]
        self._row[added] = np.arange(self._met, self._met + len(added))
        self._met += len(added)
        rows, is_dead = self._row[states], pre_states == DEAD
        self._pair[rows[is_dead], DEAD] = _NONE
        states, rows, pre_states = states[~is_dead], rows[~is_dead], pre_states[~is_dead]
        # The last of several stays.
        places = np.arange(1, len(states) + 1)
        self._pair[rows, pre_states] = places
        once = self._pair[rows, pre_states] == places
        states, rows, pre_states = states[once], rows[once], pre_states[once]
        known, count = len(self.states), len(self.states) + len(states)
        if count > self._room.shape[1]:
            self._room = np.concatenate((self._room, np.zeros((2, count), np.int64)), axis=1)
        self._room[:, known:count] = states, pre_states
        self._pair[rows, pre_states] = np.arange(known, count)
        self.states, self.pre_states = self._room[:, :count]

    def is_live(self, pair: int, context: int) -> bool:
        """Whether some text leads from a pair to the end."""
        live = self._live.of(self._contexts[context][0], int(self.states[pair]))
        return bool(live >> int(self.pre_states[pair]) & 1)

    def are_live(self, pairs: _Numbers, context: int) -> _Flags:
        """The same of some pairs, bool, of their shape."""
        rows = self._live_rows[self._contexts[context][0]]
        return rows.of(self.states[pairs], self.pre_states[pairs])

    def at_boundary(self, pair: int, context: int) -> bool:
        """Whether at a pair the text may end or a pre-token may start (and lead to the end)."""
        at_boundary = self._boundary(context, int(self.states[pair]))
        return bool(at_boundary >> int(self.pre_states[pair]) & 1)

    def are_at_boundary(self, pairs: _Numbers, context: int) -> _Flags:
        """The same of some pairs, bool, of their shape."""
        return self._boundary_rows[context].of(self.states[pairs], self.pre_states[pairs])

    def _boundary(self, context: int, state: int) -> int:
        live, ends = self._contexts[context]
        return self._live.starting(live, state) | (ends if self._tables.ends[state] else 0)

    def push(self, frame: int, context: int) -> int:
        """The context of a call that returns to ``frame``, which may be a counter's."""
        number = self._pushed.get((frame, context))
        if number is not None:
            return number
        if frame >= self._tables.states:
            counter, begun = self._tables.some_counters.split(frame)
            if counter >= self._counted:
                return self._of_sets.of(counter - self._counted, begun, context)
            return self._levels[counter, context].of(begun)
        live = self._live.pushed(self._contexts[context][0], frame)
        ends = self._boundary(context, frame) & self._live.ends
        number = self._pushed[frame, context] = self._contexts.number((live, ends))
        return number

    def _new_levels(self, asked: tuple[int, int]) -> Levels:
        """Of a counter's frames above some context."""
        counter, below = asked
        item, least, most, back = self._tables.some_counters.rows[counter]
        push, union = weakly(self.push), weakly(self.union)
        return Levels(
            least,
            most,
            push(back, below),
            lambda following: push(item, following),
            lambda one, other: union([one, other]),
        )

    def settles(self, number: int, context: int) -> bool:
        """Whether contexts of a set's frames depend on the parts that may follow alone."""
        return self._of_sets.settles(number, context)

    def sets_of(self, context: int) -> tuple[int, int]:
        """The two sets of a context: live, and at a boundary."""
        live, ends = self._contexts[context]
        return self._live.below[live], ends

    def push_all(self, frames: tuple[int, ...], context: int) -> int:
        """The context with ``frames`` pushed, the lowest first."""
        for frame in frames:
            context = self.push(frame, context)
        return context

    def pushes(self) -> list[tuple[int, int, int]]:
        """What was pushed so far: frame, context and the context of the call."""
        return [(frame, below, above) for (frame, below), above in self._pushed.items()]

    def return_states(self) -> list[int]:
        """Pre-tokenizer states that calls may end in, and maybe others; ascending."""
        found: list[int] = np.flatnonzero(self.sets.flags(self._live.ends)).tolist()
        return found

    @property
    def nbytes(self) -> int:
        """About the size of all pairs and contexts, and of what is known of them."""
        entries = len(self._contexts) + len(self._pushed)
        entries += 4 * len(self._levels) + len(self._of_sets)
        lookups = 4 * len(self._row) * (len(self._live_rows) + len(self._boundary_rows))
        arrays = self._room.nbytes + self._pair.nbytes + self._rows.flags.nbytes + lookups
        return ENTRY_BYTES * entries + arrays + self._live.nbytes

    def union(self, contexts: list[int]) -> int:
        """The context of the stacks of some contexts together."""
        if len(contexts) == 1:
            return contexts[0]
        live, ends = 0, 0
        for context in contexts:
            number, at_boundary = self._contexts[context]
            live, ends = live | self._live.below[number], ends | at_boundary
        return self._contexts.number((self._live.number(live), ends))


class _Rows:
    """Sets of pre-tokenizer states as rows of ``flags``, bool (n, Q), by number."""

    def __init__(self, sets: ByteSets) -> None:
        self._sets = sets
        self.numbers = Made[int, int](weakly(self._new))
        self.flags = np.zeros((8, sets.width), dtype=np.bool_)

    def _new(self, states: int) -> int:
        number = len(self.numbers)
        if number == len(self.flags):
            self.flags = np.concatenate((self.flags, np.zeros_like(self.flags)))
        self.flags[number] = self._sets.flags(states)
        return number


class _Lookup:
    """Whether pairs are in the sets that ``of`` gives for each state of a network, asked once."""

    def __init__(self, rows: _Rows, states: int, of: Callable[[int], int]) -> None:
        self._all, self._of = rows, of
        self._row = np.full(states, -1, dtype=np.int32)

    def of(self, states: _Numbers, pre_states: _Numbers) -> _Flags:
        """Bool, of the arrays' shape."""
        rows = self._row[states]
        if rows.size and rows.min() < 0:
            for state in distinct(states[rows < 0]).tolist():
                self._row[state] = self._all.numbers[self._of(state)]
            rows = self._row[states]
        found: _Flags = self._all.flags[rows, pre_states]
        return found


class StackContexts:
    """The contexts of the sets of stacks of one network."""

    def __init__(self, contexts: Contexts, stacks: Stacks) -> None:
        self.contexts, self._stacks = contexts, stacks
        self._of_node: dict[int, int] = {BOTTOM: TEXT_END}

    @property
    def nbytes(self) -> int:
        """About the size of what is cached."""
        return ENTRY_BYTES // 2 * len(self._of_node)

    def of_node(self, node: int) -> int:
        """The context of a set of stacks, by a stack of its own: sets are as deep as stacks."""
        cached = self._of_node.get(node)
        if cached is not None:
            return cached
        contexts, stacks = self.contexts, self._stacks
        for current in bottom_up([node], stacks.below, self._of_node):
            entries = [(f, lower) for f, lower in stacks.entries[current] if f != DEAD]
            parts = [contexts.push(f, self._of_node[lower]) for f, lower in entries]
            if len(entries) < len(stacks.entries[current]):
                parts.append(TEXT_END)
            self._of_node[current] = contexts.union(parts)
        return self._of_node[node]

    def unknown(self, context: int, *, of_network: bool = True) -> int:
        """A node that stands for any stacks of a context; ``of_network``: that come about, and not
        others that read what no stack of the network does."""
        node = self._stacks.unknown(context if of_network else ~context)
        self._of_node[node] = context
        return node
