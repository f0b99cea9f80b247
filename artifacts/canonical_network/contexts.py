"""How calls of a network return beside a pre-tokenizer DFA, and what a stack below them leaves.

The members of a grammar that nests are read by a network in synchronous product with a
pre-tokenizer DFA, whose state is carried through calls and returns. What may follow then depends on
the whole stack, in few respects:

    pair            a state p of the network and a state q of the pre-tokenizer DFA
    return states   the pre-tokenizer states in which the call of p, entered beside q, can end: the
                    least solution over all pairs (Bar-Hillel, Perles and Shamir 1961, tabulated)
    context         of a stack two sets of return states: those from which some text leads to the
                    end (*live*), and of them those *at a boundary*, where at once the text may end
                    or a pre-token may start, so that what follows is encoded by itself

Pushing a frame on a stack maps contexts to contexts. Of a counter's frame the context depends on
that of the frame of one item more (``counts.Levels``), of a set's on the parts that may follow
(``settled_sets``). ``compiler/canonical_network/README.md`` has
the lemmas.
"""

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM, Stacks
from ..network.counts import Levels
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa
from ..tokens.memo import ENTRY_BYTES, bottom_up, solve_recursive
from ..tokens.sharing import weakly
from ..tokens.watch import Watch, unwatched
from .return_tables import ReturnTables
from .settled_sets import SetContexts

_Flags = NDArray[np.bool_]


# The context of an empty stack.
TEXT_END = 0


class ReturnContexts:
    """Numbered pairs and contexts; contexts are numbered as they are met, ``TEXT_END`` first.

    ``pair[p, q]``: int32 (S, Q), the number of a pair from which a call can end, 0 of any other.
    ``states``, ``pre_states``: int64 (n,), what each pair is of. ``return_states``: int64 (R,),
    pre-tokenizer states that calls may end in.
    """

    def __init__(
        self,
        tables: NetworkTables,
        pretokenizer: PretokenizerDfa,
        final: _Flags,
        returns: ReturnTables,
        watch: Watch = unwatched,
    ) -> None:
        """``final``: bool (Q,), the pre-tokenizer states that a text may end in."""
        self._tables, self._returns, self._watch = tables, returns, watch
        self.states, self.pre_states = returns.states, returns.pre_states
        self.return_states = returns.return_states
        slot = np.full(len(pretokenizer.table), -1, dtype=np.int64)
        slot[self.return_states] = np.arange(len(self.return_states))
        self._slot = slot[returns.standing_for]
        some: _Flags = np.logical_or.reduce(returns.sets, axis=1)
        ending = some[returns.set_of]
        numbers = np.where(ending, np.arange(len(self.states)), 0)
        self.pair = np.zeros((tables.states, len(pretokenizer.table)), dtype=np.int32)
        self.pair[self.states, self.pre_states] = numbers
        # A single number is faster to get from a view than from an array.
        self._pair_view = self.pair.data
        # Sets of return states; for each the pairs that are live above it, and of these the ones
        # where a byte may start a pre-token.
        self._sets: list[_Flags] = []
        self._set_numbers: dict[bytes, int] = {}
        self._live: list[_Flags] = []
        self._starts: list[_Flags] = []
        self._pushed_sets: dict[tuple[int, int], int] = {}
        # Of counters, by what is below: contexts, and sets of return states.
        self._context_levels: dict[tuple[int, int], Levels] = {}
        self._set_levels: dict[tuple[int, int], Levels] = {}
        rules = [] if tables.counters is None else tables.counters.set_rules
        self._counted = 0 if tables.counters is None else len(tables.counters.rows)
        push, union = weakly(self.push), weakly(self.union)
        pushed, united = weakly(self._pushed_set), weakly(self._united_sets)
        self._of_sets = SetContexts(rules, push, union)
        self._live_of_sets = SetContexts(rules, pushed, united)
        self._starting_pairs: dict[tuple[int, int], bool] = {}
        # Contexts: the number of the live set, and the return states at a boundary.
        self._contexts: list[tuple[int, _Flags]] = []
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._pushed: dict[tuple[int, int], int] = {}
        self._at_boundary: dict[tuple[int, int], bool] = {}
        # What contexts and the sets that they name take.
        self._array_bytes = 0
        at_end = final[self.return_states]
        self._context(self._set(at_end), at_end)

    def number(self, state: int, pre_state: int) -> int:
        """The number of a pair, 0 if nothing follows it in any context."""
        number: int = self._pair_view[state, pre_state]
        return number

    def returns(self, pair: int) -> NDArray[np.int64]:
        """The pre-tokenizer states that a pair's call may end in, ascending."""
        tables = self._returns
        found: NDArray[np.int64] = self.return_states[tables.sets[tables.set_of[pair]]]
        return found

    def is_live(self, pair: int, context: int) -> bool:
        """Whether some text leads from a pair to the end."""
        return bool(self.live(context)[pair])

    def live(self, context: int) -> _Flags:
        """The same of all pairs, bool (n,)."""
        return self._live[self._contexts[context][0]]

    def at_boundary(self, pair: int, context: int) -> bool:
        """Whether at a pair the text may end or a pre-token may start (and lead to the end)."""
        cached = self._at_boundary.get((pair, context))
        if cached is None:
            live, ends = self._contexts[context]
            state, pre_state = int(self.states[pair]), int(self.pre_states[pair])
            cached = self._may_start(pair, live) or bool(
                pair and self._tables.ends[state] and ends[self._slot[pre_state]]
            )
            self._at_boundary[pair, context] = cached
        return cached

    def which_at_boundary(self, pairs: NDArray[np.integer], context: int) -> _Flags:
        """``at_boundary`` of some pairs, bool (n,)."""
        found = [self.at_boundary(pair, context) for pair in pairs.tolist()]
        return np.array(found, dtype=np.bool_)

    def boundaries(self, context: int) -> _Flags:
        """``at_boundary`` of all pairs, bool (n,)."""
        live, ends = self._contexts[context]
        found: _Flags = self._starts[live].copy()
        slots = self._slot[self.pre_states]
        ending = (self._tables.accepting[self.states] != 0) & (slots >= 0)
        found[ending] |= ends[slots[ending]]
        calling = (np.diff(self._tables.call_offsets) > 0)[self.states]
        for pair in np.flatnonzero(calling & ~found).tolist():
            found[pair] = self._may_start(pair, live)
        found[DEAD] = False
        return found

    def push(self, frame: int, context: int) -> int:
        """The context of a call that returns to ``frame``, which may be a counter's."""
        number = self._pushed.get((frame, context))
        if number is not None:
            return number
        if frame >= self._tables.states:
            counter, begun = self._tables.some_counters.split(frame)
            if counter >= self._counted:
                return self._of_sets.of(counter - self._counted, begun, context)
            return self._levels_of(counter, context).of(begun)
        pairs = self.pair[frame, self.return_states].tolist()
        ends = np.array([self.at_boundary(pair, context) for pair in pairs], dtype=np.bool_)
        live = self._pushed_set(frame, self._contexts[context][0])
        number = self._pushed[frame, context] = self._context(live, ends)
        return number

    def _levels_of(self, counter: int, context: int) -> Levels:
        found = self._context_levels.get((counter, context))
        if found is None:
            found = self._levels(counter, context, weakly(self.push), weakly(self.union))
            self._context_levels[counter, context] = found
        return found

    def _levels(
        self,
        counter: int,
        below: int,
        push: Callable[[int, int], int],
        union: Callable[[list[int]], int],
    ) -> Levels:
        """What is known of a counter's frames above ``below``."""
        item, least, most, back = self._tables.some_counters.rows[counter]
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

    def push_all(self, frames: tuple[int, ...], context: int) -> int:
        """The context with ``frames`` pushed, the lowest first."""
        for frame in frames:
            context = self.push(frame, context)
        return context

    def pushes(self) -> list[tuple[int, int, int]]:
        """What was pushed so far: frame, context and the context of the call."""
        return [(frame, below, above) for (frame, below), above in self._pushed.items()]

    @property
    def nbytes(self) -> int:
        """About the size of all contexts, and of what is cached of them."""
        entries = len(self._contexts) + len(self._pushed) + len(self._at_boundary)
        entries += len(self._pushed_sets) + len(self._starting_pairs)
        entries += 4 * (len(self._context_levels) + len(self._set_levels))
        entries += len(self._of_sets) + len(self._live_of_sets)
        return ENTRY_BYTES * entries + self._array_bytes

    def union(self, contexts: list[int]) -> int:
        """The context of the stacks of some contexts together."""
        if len(contexts) == 1:
            return contexts[0]
        parts = [self._contexts[c] for c in contexts]
        live = self._set(np.logical_or.reduce([self._sets[number] for number, _ in parts]))
        return self._context(live, np.logical_or.reduce([ends for _, ends in parts]))

    def _context(self, live: int, ends: _Flags) -> int:
        key = live, ends.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._contexts)
            self._contexts.append((live, ends))
            self._array_bytes += 2 * ends.nbytes
        return number

    def _set(self, return_states: _Flags) -> int:
        """The number of a set of return states."""
        key = return_states.tobytes()
        number = self._set_numbers.get(key)
        if number is None:
            number = self._set_numbers[key] = len(self._sets)
            self._sets.append(return_states)
            found = self._returns
            leading: _Flags = np.logical_or.reduce(found.sets[:, return_states], axis=1)
            live = leading[found.set_of]
            self._live.append(live)
            starts = np.zeros(len(self.states), dtype=np.bool_)
            sources, targets = found.starting
            starts[sources[live[targets]]] = True
            self._starts.append(starts)
            self._array_bytes += live.nbytes + starts.nbytes + 2 * return_states.nbytes
            self._watch(len(live), self._array_bytes)
        return number

    def _pushed_set(self, frame: int, live: int) -> int:
        number = self._pushed_sets.get((frame, live))
        if number is not None:
            return number
        if frame >= self._tables.states:
            counter, begun = self._tables.some_counters.split(frame)
            if counter >= self._counted:
                return self._live_of_sets.of(counter - self._counted, begun, live)
            return self._set_levels_of(counter, live).of(begun)
        number = self._set(self._live[live][self.pair[frame, self.return_states]])
        self._pushed_sets[frame, live] = number
        return number

    def _set_levels_of(self, counter: int, live: int) -> Levels:
        found = self._set_levels.get((counter, live))
        if found is None:
            push, union = weakly(self._pushed_set), weakly(self._united_sets)
            found = self._set_levels[counter, live] = self._levels(counter, live, push, union)
        return found

    def _united_sets(self, numbers: list[int]) -> int:
        if len(numbers) == 1:
            return numbers[0]
        return self._set(np.logical_or.reduce([self._sets[number] for number in numbers]))

    def _may_start(self, pair: int, live: int) -> bool:
        """Whether a byte may start a pre-token at once, or in a call. No callee matches ε, and no
        chain of first calls leads back to its beginning."""
        key = pair, live
        cached = self._starting_pairs.get(key)
        if cached is None:
            cached = solve_recursive(key, self._starting_pairs.get, self._starting)
        return cached

    def _starting(self, key: tuple[int, int]) -> Generator[tuple[int, int], bool, bool]:
        pair, live = key
        found = bool(self._starts[live][pair])
        if not found:
            pre_state = int(self.pre_states[pair])
            for start, frame in self._tables.calls[int(self.states[pair])]:
                found = yield self.number(start, pre_state), self._pushed_set(frame, live)
                if found:
                    break
        self._starting_pairs[key] = found
        return found


class StackContexts:
    """The contexts of the sets of stacks of one network."""

    def __init__(self, contexts: ReturnContexts, stacks: Stacks) -> None:
        self._contexts, self._stacks = contexts, stacks
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
        contexts, stacks = self._contexts, self._stacks
        for current in bottom_up([node], stacks.below, self._of_node):
            entries = [(f, lower) for f, lower in stacks.entries[current] if f != DEAD]
            parts = [contexts.push(f, self._of_node[lower]) for f, lower in entries]
            if len(entries) < len(stacks.entries[current]):
                parts.append(TEXT_END)
            self._of_node[current] = contexts.union(parts)
        return self._of_node[node]

    def unknown(self, context: int) -> int:
        """A node that stands for any stacks of a context."""
        node = self._stacks.unknown(context)
        self._of_node[node] = context
        return node
