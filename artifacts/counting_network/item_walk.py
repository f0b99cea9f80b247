"""How many items each token begins, found by one walk of the token trie.

    item [a-z], tokens a, ab, b., abc.      a begins 1, ab 2; b. leaves the items behind 1, abc.
                                            behind 3

Where an item calls nothing and its end is told by the next byte, a trie node is read in one way: so
many items have begun there. One walk finds for all i which tokens end inside the i-th item (F of
``summaries``, all levels of it), and at which nodes e_i it may have ended; a second one what the
state behind the counter reads from all e_i, each token with its i. A token may have several there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..network.tables import DEAD, NetworkTables
from ..summaries.node_sets import Nodes
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.subtrees import levels_of
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges

# Entries of a frontier, for each node of the trie, that exits are read with; beyond them levels
# are found one by one.
_MOST_READ = 8

# Items that a token may begin; where one begins more, levels are found one by one.
_MOST_ITEMS = 255

# Nodes that are fewer than one in so many are looked at by themselves; else all of the trie is,
# which takes less time for each.
_SPARSE = 64

# So many nodes are counted off, and not sorted.
_MANY = 1 << 12

# Fewer than one node in so many: their tokens are listed.
_FEW_TOKENS = 16

# Integers that index without being converted.
_Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Levels:
    """Integers by level: those of level i are ``values[starts[i]:starts[i + 1]]``, int32, with
    ``starts`` int64 (n + 1,)."""

    values: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        values: Sequence[NDArray[np.integer]],
        levels: Sequence[NDArray[np.integer]],
        count: int,
    ) -> "Levels":
        """From pairs in any order. All levels are below ``count``, which is at most 256."""
        if not values:
            return cls(np.zeros(0, dtype=np.int32), np.zeros(count + 1, dtype=np.int64))
        narrow = np.concatenate(levels).astype(np.uint8)
        # Numpy sorts bytes in time linear in their number.
        order = narrow.argsort(kind="stable")
        starts = np.zeros(count + 1, dtype=np.int64)
        np.bincount(narrow, minlength=count).cumsum(out=starts[1:])
        return cls(np.concatenate(values).take(order).astype(np.int32), starts)

    @classmethod
    def ordered(
        cls,
        values: Sequence[NDArray[np.integer]],
        levels: Sequence[NDArray[np.integer]],
        count: int,
    ) -> "Levels":
        """The same, in each level every value once, ascending; slower where they are many."""
        if not values:
            return cls.of([], [], count)
        both = distinct(np.concatenate(levels).astype(np.int64) << 32 | np.concatenate(values))
        starts = np.searchsorted(both, np.arange(count + 1, dtype=np.int64) << 32)
        return cls((both & 0xFFFFFFFF).astype(np.int32), starts.astype(np.int64))

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return self.values.nbytes + self.starts.nbytes

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The level of each value, ascending."""
        return np.arange(len(self.starts) - 1).repeat(np.diff(self.starts))

    def between(self, low: int, high: int) -> NDArray[np.int32]:
        """All of the levels from ``low`` to below ``high``; there may be fewer levels."""
        last = len(self.starts) - 1
        return self.values[int(self.starts[min(low, last)]) : int(self.starts[min(high, last)])]

    def each(self, low: int, high: int) -> list[NDArray[np.int32]]:
        """Those of each of these levels that has some."""
        starts = self.starts[low : high + 1]
        filled = np.flatnonzero(starts[1:] > starts[:-1]).tolist()
        return [self.values[int(starts[i]) : int(starts[i + 1])] for i in filled]


@dataclass(frozen=True, eq=False)
class Items:
    """How many items have begun where each token ends inside one, and e_i.

    ``tokens``: those of which one item more than i has begun, by i; or, where they are many,
    ``needs``: uint8 (32 W,), how many have, 0 where a token does not end inside one. ``nodes``: e_i
    for each of the ``count`` levels L that has some; None if they come from a file, which has what
    follows them instead.
    """

    needs: NDArray[np.uint8] | None
    tokens: Levels | None
    nodes: Levels | None
    count: int

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        parts = (self.needs, self.tokens, self.nodes)
        return sum(0 if part is None else part.nbytes for part in parts)

    def flags(self, low: int, high: int, size: int) -> NDArray[np.bool_]:
        """The tokens of which more than ``low`` and at most ``high`` items have begun; (size,)."""
        if self.needs is None:
            assert self.tokens is not None
            flags = np.zeros(size, dtype=np.bool_)
            flags[self.tokens.between(low, high)] = True
            return flags
        # subtle: as unsigned numbers, those of no item are larger than all others.
        return self.needs - np.uint8(low + 1) < np.uint8(high - low)


@dataclass(frozen=True, eq=False)
class Exits:
    """What follows a counter, by how many items are behind it: the ``tokens`` that end there, the
    ``nodes`` at which its own call may end, and by state those at which it calls."""

    tokens: Levels
    nodes: Levels
    calls: dict[int, Levels]

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return sum(part.nbytes for part in (self.tokens, self.nodes, *self.calls.values()))


@dataclass(frozen=True, eq=False)
class _Loop:
    """An item and what begins another one where it ends, as one table over codes.

    A code is, from its lowest bits on, where the row of a state begins (0: nothing is read),
    whether an item may end there (``ends``), and how many have begun (``one`` each). ``steps``: by
    row and column what is to be added to the number of the code before. ``start``: the first code.
    """

    steps: _Places
    start: int
    ends: int
    one: int


def level_row(items: Items, exits: Exits, shift: int, low: int, high: int, size: int) -> Words:
    """The tokens that end inside the first ``high`` items, or behind ``low`` to ``high`` of
    them, where ``shift`` items have been read already; of ``size`` flags, uint32 (W,)."""
    flags = items.flags(shift, shift + high, size)
    top = min(shift + high + 1, items.count)
    flags[exits.tokens.between(min(shift + low, top), top)] = True
    return tokenset.from_flags(flags)


def united(nodes: Sequence[Nodes]) -> Nodes:
    """Each node once, ascending."""
    whole = np.concatenate(nodes)
    if len(whole) < _MANY:
        return distinct(whole)
    flags = np.zeros(int(whole.max()) + 1, dtype=np.bool_)
    flags[whole] = True
    return np.flatnonzero(flags).astype(np.int32)


class ItemWalk:
    """Walks one trie by the items of one network's counters. ``work``: the most nodes that a walk
    looks at, about."""

    def __init__(self, tables: NetworkTables, trie: Trie, vocab_size: int) -> None:
        self._tables, self._trie = tables, trie
        self._words = tokenset.word_count(vocab_size)
        self._flat = np.ascontiguousarray(tables.table).ravel()
        self._width = tables.table.shape[1]
        self._ends = tables.accepting != 0
        self._calling = np.diff(tables.call_offsets) > 0
        self.work, self._fan_out = len(trie.octets), trie.fan_out
        self._loops: dict[int, _Loop | None] = {}

    @cached_property
    def _columns(self) -> _Places:
        """The column of each node's byte."""
        return self._tables.classes.take(self._trie.octets).astype(np.intp)

    def items(self, suspended: Nodes, item: int) -> Items | None:
        """The items that tokens begin from some nodes; None if a node may be read in several
        ways."""
        if item not in self._loops:
            self._loops[item] = self._loop(item)
        loop = self._loops[item]
        if loop is None:
            return None
        codes = self._codes(suspended, loop)
        if codes is None:
            return None
        nodes, found = codes
        begun = found // loop.one
        if int(begun.max(initial=0)) > _MOST_ITEMS:
            return None
        trie = self._trie
        needs, tokens = None, None
        most = int(begun.max(initial=0))
        if len(nodes) * _FEW_TOKENS >= self.work:
            counts = np.zeros(self.work, dtype=np.uint8)
            counts[nodes] = begun
            needs = np.zeros(32 * self._words, dtype=np.uint8)
            needs[trie.ids] = counts.take(trie.node_of)
        else:
            ids, owns = self._tokens(nodes)
            tokens = Levels.of([ids], [begun.repeat(owns) - 1], most + 1)
        stops = np.flatnonzero((found & loop.ends) * self._fan_out.take(nodes))
        left = begun.take(stops)
        # Those at the start have begun none.
        first = np.zeros(len(suspended), dtype=np.intp)
        count = int(left.max(initial=0)) + 1
        levels = Levels.of([suspended, nodes.take(stops)], [first, left], count)
        return Items(needs, tokens, levels, count)

    def exits(self, items: Levels, back: int) -> Exits | None:
        """What is read in ``back`` behind each number of items; None if that is too much."""
        trie, flat, width = self._trie, self._flat, self._width
        count = len(items.starts) - 1
        nodes, levels = items.values.astype(np.intp), items.numbers
        states = np.full(len(nodes), back, dtype=np.intp)
        tokens, token_levels = list[_Places](), list[_Places]()
        ended, ended_levels = list[_Places](), list[_Places]()
        calling: dict[int, tuple[list[_Places], list[_Places]]] = {}
        read, most = 0, _MOST_READ * self.work
        is_first = True
        while len(nodes):
            called = self._calling.take(states) & (self._fan_out.take(nodes) > 0)
            if called.any():
                for state in np.unique(states[called]).tolist():
                    which = called & (states == state)
                    found = calling.setdefault(state, ([], []))
                    found[0].append(nodes[which])
                    found[1].append(levels[which])
                nodes, states, levels = nodes[~called], states[~called], levels[~called]
            returns = np.flatnonzero(self._ends.take(states) & (self._fan_out.take(nodes) > 0))
            ended.append(nodes.take(returns))
            ended_levels.append(levels.take(returns))
            if is_first and len(nodes) * _SPARSE >= self.work:
                # Most of the trie's nodes, each once and in one state: no list of children is made.
                at = np.zeros(self.work, dtype=np.intp)
                at[nodes] = levels + 1
                above = at.take(trie.above)
                above[0] = 0
                targets = flat[back * width : (back + 1) * width].take(self._columns)
                nodes = np.flatnonzero((above > 0) & (targets != DEAD))
                states, levels = targets.take(nodes).astype(np.intp), above.take(nodes) - 1
            else:
                fan_out = self._fan_out.take(nodes)
                read += int(fan_out.sum())
                if read > most:
                    return None
                children = ranges(trie.first.take(nodes), fan_out)
                columns = self._tables.classes.take(trie.octets.take(children))
                cells = states.repeat(fan_out) * width + columns
                states = flat.take(cells).astype(np.intp)
                live = np.flatnonzero(states)
                nodes, states = children.take(live).astype(np.intp), states.take(live)
                levels = levels.repeat(fan_out).take(live)
            is_first = False
            ids, owns = self._tokens(nodes)
            tokens.append(ids)
            token_levels.append(levels.repeat(owns))
        return Exits(
            Levels.of(tokens, token_levels, count),
            Levels.ordered(ended, ended_levels, count),
            {q: Levels.ordered(*found, count) for q, found in sorted(calling.items())},
        )

    def _tokens(self, nodes: _Places) -> tuple[_Places, NDArray[np.int32]]:
        """The tokens that end at some nodes, and how many at each."""
        held = self._trie.held.take(nodes)
        owns = self._trie.held.take(nodes + 1) - held
        return self._trie.ids.take(ranges(held, owns)).astype(np.intp), owns

    def _codes(self, suspended: Nodes, loop: _Loop) -> tuple[_Places, _Places] | None:
        """The nodes that are read, ascending, and their codes; None if one may be in several
        ways."""
        rows, counted = loop.ends - 1, -loop.one
        nodes = suspended.astype(np.intp)
        codes = np.full(len(nodes), loop.start, dtype=np.intp)
        met, found = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        while len(nodes):
            if len(nodes) * _SPARSE >= self.work:
                return self._all_codes(suspended, loop)
            fan_out = self._fan_out.take(nodes)
            children = ranges(self._trie.first.take(nodes), fan_out)
            before = codes.repeat(fan_out)
            columns = self._tables.classes.take(self._trie.octets.take(children))
            steps = loop.steps.take((before & rows) + columns)
            live = np.flatnonzero(steps)
            nodes = children.take(live).astype(np.intp)
            codes = (before.take(live) & counted) + steps.take(live)
            met.append(nodes)
            found.append(codes)
        whole = np.concatenate(met)
        if not np.diff(np.sort(np.concatenate((suspended, whole)))).all():
            return None
        order = whole.argsort()
        return whole.take(order), np.concatenate(found).take(order)

    def _all_codes(self, suspended: Nodes, loop: _Loop) -> tuple[_Places, _Places] | None:
        """The same, of all nodes at once."""
        codes, above = np.zeros(self.work, dtype=np.intp), self._trie.above
        rows, counted = loop.ends - 1, -loop.one
        codes[suspended] = loop.start
        levels = levels_of(self._trie)
        begins = np.searchsorted(suspended, [first for first, _ in levels]).tolist()
        for (first, last), begin, end in zip(
            levels[1:], begins[1:], [*begins[2:], len(suspended)], strict=True
        ):
            before = codes.take(above[first:last])
            steps = loop.steps.take((before & rows) + self._columns[first:last])
            begun = suspended[begin:end]
            if len(begun) and steps.take(begun - first).any():
                return None
            # What is not read has the code 0.
            codes[first:last] = ((before & counted) + steps) * (steps != 0)
            codes[begun] = loop.start
        # subtle: nothing of a token is read yet.
        codes[suspended] = 0
        nodes = np.flatnonzero(codes)
        return nodes, codes.take(nodes)

    def _loop(self, item: int) -> _Loop | None:
        """The table of an item; None if it calls something, or if it may end where the next byte
        both goes on and begins another one."""
        table = self._tables.table
        inside = np.zeros(len(table), dtype=np.bool_)
        pending = np.array([item])
        while len(pending):
            inside[pending] = True
            reached = np.zeros(len(table), dtype=np.bool_)
            reached[table[pending].ravel()] = True
            reached[DEAD] = False
            pending = np.flatnonzero(reached & ~inside)
        if (inside & self._calling).any():
            return None
        states = np.flatnonzero(inside)
        # A row for each, and one in front of them from which nothing is read.
        places = np.zeros(len(table), dtype=np.intp)
        places[states] = (1 + np.arange(len(states))) * self._width
        ends = 1 << int(places[states[-1]] + self._width).bit_length()
        reached_codes = places | (places > 0) * (self._ends * ends)
        steps = np.zeros((1 + len(states), self._width), dtype=np.intp)
        steps[1:] = reached_codes[table[states]]
        again = np.where(table[item] != DEAD, reached_codes[table[item]] + 2 * ends, 0)
        ending = steps[1:][self._ends[states]]
        if ((ending > 0) & (again > 0)).any():
            return None
        steps[1:][self._ends[states]] = np.where(again, again, ending)
        return _Loop(steps.ravel(), 2 * ends | int(places[item]), ends, 2 * ends)
