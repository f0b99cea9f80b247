"""The pairs of a network's state and a state of the cuts that texts lead to, and how calls end.

Bar-Hillel's construction (Bar-Hillel, Perles and Shamir 1961), tabulated: see ``endings``.

How texts can go on, and end, from a state of a network beside a state of the cuts.

A grammar whose texts are cut into pieces is a network in step with an automaton
(``PretokenizerDfa``);
the automaton's state is carried along through calls and returns. So what can follow depends
on the whole stack, but in few ways. For each pair (state p, cut state q) the *exits* are the
cut states in which the call of p can end (Bar-Hillel, Perles and Shamir 1961, tabulated as a
least solution). For what lies below a call its *context* says

    live   the cut states that the call may end in: the rest can be read to its end
    open   those where, at once, the text may end or a piece may start: whatever the token
           before, what follows is encoded by itself

and pushing a frame on a context gives a context. ``README.md`` in the compiler's ``merge``
has the lemmas.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM, Stacks
from ..network.tables import DEAD, NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa, begins_character

_Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of states by number, 0 for none; ``number``: int32 (S, Q). ``edges`` and
    ``starting``: int64 (2, n), sources and targets of all byte edges, ascending, and of those
    that start a piece."""

    states: NDArray[np.int64]
    cuts: NDArray[np.int64]
    number: NDArray[np.int32]
    edges: NDArray[np.int64]
    starting: NDArray[np.int64]


def _joint_columns(tables: NetworkTables, cuts: PretokenizerDfa) -> tuple[NDArray[np.int64], ...]:
    """The columns of both tables for a byte of each joint class, for bytes that lead somewhere."""
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = tables.classes.astype(np.int64) * 256 + cuts.classes
    _, octets = np.unique(np.where(used, keys, -1), return_index=True)
    octets = octets[used[octets]]
    return tables.classes[octets].astype(np.int64), cuts.classes[octets].astype(np.int64)


def text_begins(
    tables: NetworkTables, cuts: PretokenizerDfa, final: _Bits, continued: int
) -> NDArray[np.int64]:
    """The pairs in which texts begin, state · Q + cut state, also behind a prompt."""
    width = len(cuts.table)
    # A prompt ends between characters.
    ends = np.flatnonzero(begins_character(cuts.table, cuts.classes) | final)
    begins = continued * width + ends[ends != DEAD]
    return np.union1d(begins, [tables.start * width + cuts.start])


def reached_pairs(tables: NetworkTables, cuts: PretokenizerDfa, begins: NDArray[np.int64]) -> Pairs:
    """The pairs that some text leads to from where it begins; and some that none does.

    Behind a call that may end in q each frame is taken beside q, whoever called.
    """
    width = len(cuts.table)
    columns, cut_columns = _joint_columns(tables, cuts)
    frames = np.unique(tables.call_returns).astype(np.int64)
    known = frontier = begins
    edges: list[NDArray[np.int64]] = []
    starting: list[NDArray[np.int64]] = []
    while len(frontier):
        states, at = np.divmod(frontier, width)
        after = tables.table[states[:, None], columns].astype(np.int64)
        reached = [frontier[:0]]
        for plane in range(cuts.table.shape[1]):
            cut_after = cuts.table[at[:, None], plane, cut_columns]
            rows, places = np.nonzero((after != DEAD) & (cut_after != DEAD))
            targets = after[rows, places] * width + cut_after[rows, places]
            found = np.unique(np.stack([frontier[rows], targets]), axis=1)
            edges.append(found)
            if plane % 2:
                starting.append(found)
            reached.append(np.unique(found[1]))
        counts = np.diff(tables.call_offsets)[states]
        callers = np.repeat(np.arange(len(states)), counts)
        numbers = np.arange(len(callers)) - np.repeat(np.cumsum(counts) - counts, counts)
        numbers += tables.call_offsets[states[callers]]
        reached.append(tables.call_starts[numbers].astype(np.int64) * width + at[callers])
        ending = np.unique(at[tables.accepting[states] != 0])
        reached.append((frames[:, None] * width + ending).reshape(-1))
        frontier = np.setdiff1d(np.concatenate(reached), known)
        known = np.union1d(known, frontier)
    number = np.zeros((tables.states, width), dtype=np.int32)
    states, at = np.divmod(known, width)
    number[states, at] = np.arange(1, len(known) + 1)
    flat = number.reshape(-1)
    return Pairs(
        np.concatenate([[DEAD], states]),
        np.concatenate([[DEAD], at]),
        number,
        np.unique(flat[np.concatenate([np.zeros((2, 0), np.int64), *edges], axis=1)], axis=1),
        flat[np.concatenate([np.zeros((2, 0), np.int64), *starting], axis=1)].astype(np.int64),
    )


def call_returns(tables: NetworkTables, pairs: Pairs, exits: NDArray[np.int64]) -> _Bits:
    """For each pair the exits of its call, bool (pairs, exits): the least solution of

    returns(p, q) = {q where p may end} | returns of the pairs that a byte leads to
                  | for calls (s, g): returns(g, q') for each q' of returns(s, q)
    """
    found = np.zeros((len(pairs.states), len(exits)), dtype=np.bool_)
    ending = np.flatnonzero(tables.accepting[pairs.states] != 0)
    found[ending, np.searchsorted(exits, pairs.cuts[ending])] = True
    words = np.packbits(found, axis=1)
    sources, targets = pairs.edges
    firsts = np.flatnonzero(np.diff(sources, prepend=-1))
    heads = sources[firsts]
    calls = [
        (np.flatnonzero(pairs.states == state), start, frame)
        for state in np.flatnonzero(np.diff(tables.call_offsets)).tolist()
        for start, frame in tables.calls[state]
    ]
    while True:
        before = words.copy()
        while len(heads):
            more = words[heads] | np.bitwise_or.reduceat(words[targets], firsts, axis=0)
            if (more == words[heads]).all():
                break
            words[heads] = more
        for callers, start, frame in calls:
            inner = np.unpackbits(words[pairs.number[start, pairs.cuts[callers]]], axis=1)
            behind = np.unpackbits(words[pairs.number[frame, exits]], axis=1)
            inner, behind = inner[:, : len(exits)], behind[:, : len(exits)]
            through = inner.astype(np.float32) @ behind.astype(np.float32) > 0
            words[callers] |= np.packbits(through, axis=1)
        if (words == before).all():
            found = np.unpackbits(words, axis=1)[:, : len(exits)].view(np.bool_)
            found[DEAD] = False
            return found


# The context of an empty stack.
TEXT_END = 0


class ReturnContexts:
    """``pair[p, q]``: the number of a pair from which a call can end, 0 of any other; int32.
    ``states``, ``cut_of``: int64 (n,), what each pair is of. ``exits``: int64, cut states that
    calls may end in. ``returns``: bool (n, exits), those that each pair's call may end in.

    ``final``: bool (Q,), the cut states that a text may end in. ``continued``: the state in
    which a member begins behind a prompt, if that is not the start. ``beside``: of a network
    beside other cuts, whose pairs are pairs here as well. Contexts are numbered as they are met;
    ``TEXT_END`` is the first.
    """

    def __init__(
        self,
        tables: NetworkTables,
        cuts: PretokenizerDfa,
        final: _Bits,
        continued: int | None = None,
        beside: "ReturnContexts | None" = None,
    ) -> None:
        self._tables = tables
        self.states: NDArray[np.int64]
        self.cut_of: NDArray[np.int64]
        begins = text_begins(tables, cuts, final, tables.start if continued is None else continued)
        if beside is not None:
            begins = np.union1d(begins, beside.states[1:] * len(cuts.table) + beside.cut_of[1:])
        found = reached_pairs(tables, cuts, begins)
        self.exits = np.unique(found.cuts[tables.accepting[found.states] != 0])
        self._slot = np.full(len(cuts.table), -1, dtype=np.int64)
        self._slot[self.exits] = np.arange(len(self.exits))
        returns = call_returns(tables, found, self.exits)
        useful: _Bits = np.logical_or.reduce(returns, axis=1)
        self.returns: _Bits = returns
        self.pair = np.where(useful[found.number], found.number, 0).astype(np.int32)
        self._pair_list: list[list[int]] = self.pair.tolist()
        self._starting = found.starting
        self.states = found.states
        self.cut_of = found.cuts
        # Sets of exits, and contexts as (number of the live ones, the open ones).
        self._sets: list[_Bits] = []
        self._set_numbers: dict[bytes, int] = {}
        self._live: list[_Bits] = []
        self._starts: list[_Bits] = []
        self._pushed_sets: dict[tuple[int, int], int] = {}
        self._starting_pairs: dict[tuple[int, int], bool] = {}
        self._contexts: list[tuple[int, _Bits]] = []
        self._numbers: dict[tuple[int, bytes], int] = {}
        self._pushed: dict[tuple[int, int], int] = {}
        self._open: dict[tuple[int, int], bool] = {}
        self._of_node: dict[int, int] = {BOTTOM: TEXT_END}
        at_end = final[self.exits]
        self._context(self._set(at_end), at_end)

    def number(self, state: int, cut: int) -> int:
        """The number of a pair, 0 if nothing follows it in any context."""
        return self._pair_list[state][cut]

    def is_live(self, pair: int, context: int) -> bool:
        """Whether some text leads from a pair to the end."""
        return bool(self.live(context)[pair])

    def live(self, context: int) -> _Bits:
        """The same of all pairs, bool (n,)."""
        return self._live[self._contexts[context][0]]

    def is_open(self, pair: int, context: int) -> bool:
        """Whether at a pair the text may end or a piece may start (and lead to the end)."""
        known = self._open.get((pair, context))
        if known is None:
            live, opened = self._contexts[context]
            state, cut = int(self.states[pair]), int(self.cut_of[pair])
            known = self._may_start(pair, live) or bool(
                pair and self._tables.ends[state] and opened[self._slot[cut]]
            )
            self._open[pair, context] = known
        return known

    def push(self, frame: int, context: int) -> int:
        """The context of a call that returns to ``frame``."""
        number = self._pushed.get((frame, context))
        if number is None:
            pairs = self.pair[frame, self.exits].tolist()
            opened = np.array([self.is_open(pair, context) for pair in pairs], dtype=np.bool_)
            live = self._pushed_set(frame, self._contexts[context][0])
            number = self._pushed[frame, context] = self._context(live, opened)
        return number

    def pushes(self) -> list[tuple[int, int, int]]:
        """What was pushed so far: frame, context and the context of the call."""
        return [(frame, below, above) for (frame, below), above in self._pushed.items()]

    def of_node(self, stacks: Stacks, node: int) -> int:
        """The context of a set of stacks. On a stack of its own: sets are as deep as stacks."""
        known = self._of_node.get(node)
        if known is not None:
            return known
        pending = [node]
        while pending:
            current = pending[-1]
            entries = [(f, rest) for f, rest in stacks.entries[current] if f != DEAD]
            missing = [rest for _, rest in entries if rest not in self._of_node]
            if missing and current not in self._of_node:
                pending.extend(missing)
                continue
            pending.pop()
            if current not in self._of_node:
                parts = [self.push(f, self._of_node[rest]) for f, rest in entries]
                if len(entries) < len(stacks.entries[current]):
                    parts.append(TEXT_END)
                self._of_node[current] = self._either(parts)
        return self._of_node[node]

    def unknown(self, stacks: Stacks, context: int) -> int:
        """A node that stands for any stacks of a context."""
        node = stacks.unknown(context)
        self._of_node[node] = context
        return node

    def _either(self, contexts: list[int]) -> int:
        if len(contexts) == 1:
            return contexts[0]
        parts = [self._contexts[c] for c in contexts]
        live = self._set(np.logical_or.reduce([self._sets[number] for number, _ in parts]))
        return self._context(live, np.logical_or.reduce([opened for _, opened in parts]))

    def _context(self, live: int, opened: _Bits) -> int:
        key = live, opened.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._contexts)
            self._contexts.append((live, opened))
        return number

    def _set(self, exits: _Bits) -> int:
        """The number of a set of exits that a call may end in."""
        key = exits.tobytes()
        number = self._set_numbers.get(key)
        if number is None:
            number = self._set_numbers[key] = len(self._sets)
            self._sets.append(exits)
            live: _Bits = np.logical_or.reduce(self.returns[:, exits], axis=1)
            self._live.append(live)
            starts = np.zeros(len(self.states), dtype=np.bool_)
            sources, targets = self._starting
            starts[sources[live[targets]]] = True
            self._starts.append(starts)
        return number

    def _pushed_set(self, frame: int, live: int) -> int:
        number = self._pushed_sets.get((frame, live))
        if number is None:
            number = self._set(self._live[live][self.pair[frame, self.exits]])
            self._pushed_sets[frame, live] = number
        return number

    def _may_start(self, pair: int, live: int) -> bool:
        """Whether a byte may start a piece at once, or in a call. No callee matches ε, and no
        chain of first calls leads back to its beginning."""
        known = self._starting_pairs.get((pair, live))
        if known is None:
            known = bool(self._starts[live][pair])
            cut = int(self.cut_of[pair])
            for start, frame in self._tables.calls[int(self.states[pair])]:
                known = known or self._may_start(
                    self.number(start, cut), self._pushed_set(frame, live)
                )
            self._starting_pairs[pair, live] = known
        return known
