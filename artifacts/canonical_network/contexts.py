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

Pushing a frame on a stack maps contexts to contexts. ``compiler/canonical_network/README.md`` has
the lemmas.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM, Stacks
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa, begins_character
from ..tokens.memo import ENTRY_BYTES
from ..tokens.watch import Watch, unwatched

_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ReachedPairs:
    """Pairs by number, 0 for none; ``number``: int32 (S, Q). ``states``, ``pre_states``: int64
    (n,), what each is of. ``edges`` and ``starting``: int64 (2, m), sources and targets of all byte
    edges, ascending, and of those that start a pre-token."""

    states: NDArray[np.int64]
    pre_states: NDArray[np.int64]
    number: NDArray[np.int32]
    edges: NDArray[np.int64]
    starting: NDArray[np.int64]


def _joint_columns(
    tables: NetworkTables, pretokenizer: PretokenizerDfa
) -> tuple[NDArray[np.int64], ...]:
    """The columns of both tables for a byte of each joint class, for bytes that lead somewhere."""
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = tables.classes.astype(np.int64) * 256 + pretokenizer.classes
    _, octets = np.unique(np.where(used, keys, -1), return_index=True)
    octets = octets[used[octets]]
    return tables.classes[octets].astype(np.int64), pretokenizer.classes[octets].astype(np.int64)


def text_begins(
    tables: NetworkTables, pretokenizer: PretokenizerDfa, final: _Flags, continued: int
) -> NDArray[np.int64]:
    """The pairs in which texts begin, p · Q + q, also behind a prompt."""
    width = len(pretokenizer.table)
    # A prompt ends between characters.
    ends = np.flatnonzero(begins_character(pretokenizer.table, pretokenizer.classes) | final)
    begins = continued * width + ends[ends != DEAD]
    return np.union1d(begins, [tables.start * width + pretokenizer.start])


# Cells of the tables that are looked at in one step.
_STEP = 1 << 20


def reached_pairs(
    tables: NetworkTables,
    pretokenizer: PretokenizerDfa,
    begins: NDArray[np.int64],
    watch: Watch = unwatched,
) -> ReachedPairs:
    """The pairs that some text leads to from where it begins; and some that none does.

    Behind a call that may end in q each frame is taken beside q, whoever called.
    """
    width = len(pretokenizer.table)
    size = tables.states * width
    columns, pre_columns = _joint_columns(tables, pretokenizer)
    frames = np.unique(tables.call_returns).astype(np.int64)
    watch(0, 5 * size)
    seen = np.zeros(size, dtype=np.bool_)
    # An edge is one integer, source · size + target.
    edges: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    starting = list(edges)
    step = max(1, _STEP // max(1, len(columns)))
    pending = [np.unique(begins)]
    seen[begins] = True
    while pending:
        frontier = pending.pop()
        if len(frontier) > step:
            pending += [frontier[step:], frontier[:step]]
            continue
        watch(len(frontier) * len(columns), 0)
        states, at = np.divmod(frontier, width)
        after = tables.table[states[:, None], columns].astype(np.int64)
        new = []
        for plane in range(pretokenizer.table.shape[1]):
            pre_after = pretokenizer.table[at[:, None], plane, pre_columns]
            rows, places = np.nonzero((after != DEAD) & (pre_after != DEAD))
            targets = after[rows, places] * width + pre_after[rows, places]
            found = np.unique(frontier[rows] * size + targets)
            edges.append(found)
            if plane % 2:
                starting.append(found)
            new.append(found % size)
        counts = np.diff(tables.call_offsets)[states]
        callers = np.repeat(np.arange(len(states)), counts)
        numbers = np.arange(len(callers)) - np.repeat(np.cumsum(counts) - counts, counts)
        numbers += tables.call_offsets[states[callers]]
        new.append(tables.call_starts[numbers].astype(np.int64) * width + at[callers])
        ending = np.unique(at[tables.accepting[states] != 0])
        new.append((frames[:, None] * width + ending).reshape(-1))
        targets = np.concatenate(new)
        targets = np.unique(targets[~seen[targets]])
        seen[targets] = True
        if len(targets):
            pending.append(targets)
    reached = np.flatnonzero(seen)
    number = np.zeros((tables.states, width), dtype=np.int32)
    states, at = np.divmod(reached, width)
    number[states, at] = np.arange(1, len(reached) + 1)
    flat = number.reshape(-1)
    return ReachedPairs(
        np.concatenate([[DEAD], states]),
        np.concatenate([[DEAD], at]),
        number,
        flat[np.stack(np.divmod(np.unique(np.concatenate(edges)), size))].astype(np.int64),
        flat[np.stack(np.divmod(np.concatenate(starting), size))].astype(np.int64),
    )


def call_returns(
    tables: NetworkTables,
    pairs: ReachedPairs,
    return_states: NDArray[np.int64],
    watch: Watch = unwatched,
) -> _Flags:
    """For each pair the return states of its call, bool (pairs, return states): the least solution
    of

    returns(p, q) = {q where p may end} | returns of the pairs that a byte leads to
                  | for calls (s, g): returns(g, q') for each q' of returns(s, q)
    """
    watch(0, 2 * len(pairs.states) * len(return_states))
    found = np.zeros((len(pairs.states), len(return_states)), dtype=np.bool_)
    ending = np.flatnonzero(tables.accepting[pairs.states] != 0)
    found[ending, np.searchsorted(return_states, pairs.pre_states[ending])] = True
    words = np.packbits(found, axis=1)
    sources, targets = pairs.edges
    firsts = np.flatnonzero(np.diff(sources, prepend=-1))
    heads = sources[firsts]
    calls = [
        (np.flatnonzero(pairs.states == state), start, frame)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist()
        for start, frame in tables.calls[state]
    ]
    width = len(return_states)
    while True:
        before = words.copy()
        while len(heads):
            watch(len(targets), 0)
            more = words[heads] | np.bitwise_or.reduceat(words[targets], firsts, axis=0)
            if (more == words[heads]).all():
                break
            words[heads] = more
        for callers, start, frame in calls:
            watch(len(callers), 4 * len(callers) * width)
            inner = np.unpackbits(words[pairs.number[start, pairs.pre_states[callers]]], axis=1)
            behind = np.unpackbits(words[pairs.number[frame, return_states]], axis=1)
            inner, behind = inner[:, :width], behind[:, :width]
            through = inner.astype(np.float32) @ behind.astype(np.float32) > 0
            words[callers] |= np.packbits(through, axis=1)
        if (words == before).all():
            found = np.unpackbits(words, axis=1)[:, :width].view(np.bool_)
            found[DEAD] = False
            return found


# The context of an empty stack.
TEXT_END = 0


class ReturnContexts:
    """Numbered pairs and contexts; contexts are numbered as they are met, ``TEXT_END`` first.

    ``pair[p, q]``: int32 (S, Q), the number of a pair from which a call can end, 0 of any other.
    ``states``, ``pre_states``: int64 (n,), what each pair is of. ``return_states``: int64 (R,),
    pre-tokenizer states that calls may end in. ``returns``: bool (n, R), those that each pair's
    call may end in.
    """

    def __init__(
        self,
        tables: NetworkTables,
        pretokenizer: PretokenizerDfa,
        final: _Flags,
        continued: int | None = None,
        beside: "ReturnContexts | None" = None,
        watch: Watch = unwatched,
    ) -> None:
        """``final``: bool (Q,), the pre-tokenizer states that a text may end in. ``continued``: the
        state in which a member begins behind a prompt, if that is not the start. ``beside``: of the
        same network beside another pre-tokenizer DFA, whose pairs are pairs here as well."""
        self._tables = tables
        self.states: NDArray[np.int64]
        self.pre_states: NDArray[np.int64]
        start = tables.start if continued is None else continued
        begins = text_begins(tables, pretokenizer, final, start)
        if beside is not None:
            others = beside.states[1:] * len(pretokenizer.table) + beside.pre_states[1:]
            begins = np.union1d(begins, others)
        found = reached_pairs(tables, pretokenizer, begins, watch)
        self.return_states = np.unique(found.pre_states[tables.accepting[found.states] != 0])
        self._slot = np.full(len(pretokenizer.table), -1, dtype=np.int64)
        self._slot[self.return_states] = np.arange(len(self.return_states))
        returns = call_returns(tables, found, self.return_states, watch)
        ending: _Flags = np.logical_or.reduce(returns, axis=1)
        self.returns: _Flags = returns
        self.pair = np.where(ending[found.number], found.number, 0).astype(np.int32)
        self._pair_list: list[list[int]] = self.pair.tolist()
        self._starting = found.starting
        self.states = found.states
        self.pre_states = found.pre_states
        # Sets of return states; for each the pairs that are live above it, and of these the ones
        # where a byte may start a pre-token.
        self._sets: list[_Flags] = []
        self._set_numbers: dict[bytes, int] = {}
        self._live: list[_Flags] = []
        self._starts: list[_Flags] = []
        self._pushed_sets: dict[tuple[int, int], int] = {}
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
        return self._pair_list[state][pre_state]

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
        """The context of a call that returns to ``frame``."""
        number = self._pushed.get((frame, context))
        if number is None:
            pairs = self.pair[frame, self.return_states].tolist()
            ends = np.array([self.at_boundary(pair, context) for pair in pairs], dtype=np.bool_)
            live = self._pushed_set(frame, self._contexts[context][0])
            number = self._pushed[frame, context] = self._context(live, ends)
        return number

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
            live: _Flags = np.logical_or.reduce(self.returns[:, return_states], axis=1)
            self._live.append(live)
            starts = np.zeros(len(self.states), dtype=np.bool_)
            sources, targets = self._starting
            starts[sources[live[targets]]] = True
            self._starts.append(starts)
            self._array_bytes += live.nbytes + starts.nbytes + 2 * return_states.nbytes
        return number

    def _pushed_set(self, frame: int, live: int) -> int:
        number = self._pushed_sets.get((frame, live))
        if number is None:
            number = self._set(self._live[live][self.pair[frame, self.return_states]])
            self._pushed_sets[frame, live] = number
        return number

    def _may_start(self, pair: int, live: int) -> bool:
        """Whether a byte may start a pre-token at once, or in a call. No callee matches ε, and no
        chain of first calls leads back to its beginning."""
        cached = self._starting_pairs.get((pair, live))
        if cached is None:
            cached = bool(self._starts[live][pair])
            pre_state = int(self.pre_states[pair])
            for start, frame in self._tables.calls[int(self.states[pair])]:
                cached = cached or self._may_start(
                    self.number(start, pre_state), self._pushed_set(frame, live)
                )
            self._starting_pairs[pair, live] = cached
        return cached


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
        pending = [node]
        while pending:
            current = pending[-1]
            entries = [(f, lower) for f, lower in stacks.entries[current] if f != DEAD]
            missing = [lower for _, lower in entries if lower not in self._of_node]
            if missing and current not in self._of_node:
                pending.extend(missing)
                continue
            pending.pop()
            if current not in self._of_node:
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
