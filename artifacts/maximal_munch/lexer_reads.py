"""What the lexer alone reads from sets of suspended trie nodes: the same for all heads and frames.

Two states in which lexemes begin differ in some of the lexemes that are allowed, and most first
bytes lead both to the same state. So what is read from a set in a state is put together of what is
read behind its first bytes, which is kept by the state that they lead to:

    behind a name, in a state that also allows "]"     "(" "." "+" … as where only ")" is allowed

What a state reads by looping, as inside a name, is kept with the trie, for all grammars
(``artifacts/maximal_munch/loops.py``).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..summaries.node_sets import ROOT, Nodes
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES
from ..tokens.subtrees import Subtrees
from ..tokens.tokenset import Words
from ..tokens.trie import ranges
from .lexer import NO_ACCEPT, Lexer
from .lexer_trie import LexerTrie
from .loops import Loop, loop_of, loop_walks_of
from .slices import Covered

# A frontier of so few nodes is read node by node.
_FEW = 48

# Sets of so many nodes are read by their first bytes.
_SPLIT = 128

# Less a state, in place of those that the first bytes of characters outside ASCII lead to.
_WITHIN = -1

# Up to so many tokens are kept as ids, more as a row.
FEW_TOKENS = 256

# Below nodes of so many tokens what a state reads by looping is kept with the trie.
_WORTH_LOOPING = 1 << 8

_States = NDArray[np.int32]


class LexerRead(NamedTuple):
    """The tokens that end within a lexeme, ``row`` (None: none) and ``ids``; and by accept set the
    nodes at which lexemes end."""

    row: Words | None
    ids: Sequence[int]
    ends: Sequence[tuple[int, Nodes]]


class NodeSet:
    """Suspended nodes, ascending."""

    def __init__(self, nodes: Nodes, octets: NDArray[np.uint8]) -> None:
        self.nodes, self._octets = nodes, octets
        # What is read in a state; and behind some bytes, in the state that they lead to.
        self.reads: dict[int, LexerRead] = {}
        self.behind: dict[tuple[int, bytes], LexerRead] = {}

    @cached_property
    def by_octet(self) -> list[tuple[int, Nodes]]:
        """The same by their bytes, ascending."""
        read = self._octets.take(self.nodes)
        order = np.argsort(read, kind="stable")
        found = distinct(read)
        bounds = np.searchsorted(read[order], found).tolist()
        parts = self.nodes[order]
        places = zip(bounds, [*bounds[1:], len(parts)], strict=True)
        split = [parts[low:high] for low, high in places]
        return list(zip(found.tolist(), split, strict=True))


class _Found:
    """What is met on the way: intervals of tokens, rows, and the ends of lexemes."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.begins: list[Nodes] = []
        self.ends: list[Nodes] = []
        self.rows: list[Words] = []
        self.accepted: dict[int, list[Nodes]] = {}
        # Nodes behind what was read by looping, and states there.
        self.behind: list[tuple[Nodes, _States]] = []

    def end(self, accept_set: int, nodes: Nodes) -> None:
        """Lexemes of an accept set end at nodes."""
        if accept_set != NO_ACCEPT and len(nodes):
            self.accepted.setdefault(accept_set, []).append(nodes)


def united(parts: Sequence[Nodes]) -> Nodes:
    """The nodes of all parts, of which no two share one, ascending."""
    if len(parts) == 1:
        return parts[0]
    found = np.concatenate(parts)
    found.sort()
    return found


def united_rows(rows: Sequence[Words]) -> Words | None:
    """All rows as one; None of none. A row alone is not copied."""
    if len(rows) < 2:
        return rows[0] if rows else None
    whole: Words = rows[0] | rows[1]
    for other in rows[2:]:
        whole |= other
    return whole


def tokens_of(
    tokens: Subtrees, begins: Nodes, ends: Nodes, vocab_size: int
) -> tuple[Words | None, list[int]]:
    """The tokens of intervals: many as a row, few as ids."""
    if int((ends - begins).sum()) > FEW_TOKENS:
        return tokens.row(begins, ends, vocab_size), []
    ids: list[int] = tokens.ids[ranges(begins, ends - begins)].tolist()
    return None, ids


class LexerReads:
    """Of one lexer and trie. ``nbytes``: about the size of what is kept."""

    def __init__(self, walks: LexerTrie, lexer: Lexer, vocab_size: int) -> None:
        self._walks, self._lexer, self._vocab_size = walks, lexer, vocab_size
        self._loops: dict[int, Loop | None] = {}
        self._views_of: tuple[Subtrees, tuple[memoryview, ...]] | None = None
        self._sets: dict[bytes, NodeSet] = {}
        self.nbytes = 0

    def forget(self) -> None:
        """Forget all sets."""
        self._sets.clear()
        self.nbytes = 0

    def set_of(self, nodes: Nodes) -> NodeSet:
        """The set of ascending nodes."""
        key = nodes.tobytes()
        found = self._sets.get(key)
        if found is None:
            found = self._sets[key] = NodeSet(nodes, self._walks.trie().octets)
            self.nbytes += 3 * nodes.nbytes + 2 * ENTRY_BYTES
        return found

    def read(self, nodes: NodeSet, state: int) -> LexerRead:
        """What is read from nodes in a state, their own bytes first."""
        found = nodes.reads.get(state)
        if found is None:
            found = nodes.reads[state] = self._read(nodes, state)
            self._count(found)
        return found

    def _read(self, nodes: NodeSet, state: int) -> LexerRead:
        if self._is_root(nodes):
            skip = self._walks.skipped(ROOT, state)
            if skip is not None:
                return self._read_but(nodes.nodes, state, skip)
            if self._walks.takes_subtrees and self._loop(state) is not None:
                return self._behind(np.zeros(1, dtype=np.int32), state)
        if len(nodes.nodes) < _SPLIT:
            return self._read_at_once(nodes.nodes, state)
        return self._put_together(nodes, state)

    def _is_root(self, nodes: NodeSet) -> bool:
        """Whether nodes are the first bytes of all tokens."""
        first = self._walks.trie().first
        return bool(nodes.nodes[0] == first[0]) and len(nodes.nodes) == first[1] - first[0]

    def _read_but(self, nodes: Nodes, state: int, skip: Covered) -> LexerRead:
        """The same where slices fit, which are skipped."""
        found = _Found()
        tokens = self._walks.tokens(reading=len(nodes))
        states = np.full(len(nodes), state, dtype=np.int32)
        while len(nodes):
            reached = self._step(nodes, states, tokens, found, skip)
            nodes, states = self._children(*reached, tokens, found, loops=False)
        result = self._result(found, tokens)
        row = skip.row if result.row is None else skip.row | result.row
        return LexerRead(row, result.ids, result.ends)

    def _count(self, read: LexerRead) -> None:
        size = ENTRY_BYTES + 8 * len(read.ids) + (0 if read.row is None else read.row.nbytes)
        self.nbytes += size + sum(ENTRY_BYTES + nodes.nbytes for _, nodes in read.ends)

    def _put_together(self, nodes: NodeSet, state: int) -> LexerRead:
        lexer = self._lexer
        by_target: dict[int, list[tuple[int, Nodes]]] = {}
        row = lexer.rows[state]
        for octet, part in nodes.by_octet:
            # A character of several bytes is read before its bytes are, in the state before it.
            target = row[octet] if octet < 128 or row[octet] == DEAD else _WITHIN - state
            by_target.setdefault(target, []).append((octet, part))
        rows: list[Words] = []
        ids: list[int] = []
        ends: dict[int, list[Nodes]] = {}
        for target, parts in by_target.items():
            if target == DEAD:
                if lexer.accept_of[state] != NO_ACCEPT:
                    ends.setdefault(lexer.accept_of[state], []).extend(part for _, part in parts)
                continue
            key = target, bytes([octet for octet, _ in parts])
            behind = nodes.behind.get(key)
            if behind is None:
                begun = united([part for _, part in parts])
                read = self._read_at_once(begun, state) if target < 0 else None
                behind = nodes.behind[key] = read or self._behind(begun, target)
                self._count(behind)
            if behind.row is not None:
                rows.append(behind.row)
            ids.extend(behind.ids)
            for accept_set, ended in behind.ends:
                ends.setdefault(accept_set, []).append(ended)
        return LexerRead(united_rows(rows), ids, [(a, united(parts)) for a, parts in ends.items()])

    def _read_at_once(self, nodes: Nodes, state: int) -> LexerRead:
        """What is read from nodes in a state, their own bytes first."""
        found = _Found()
        if len(nodes) <= _FEW:
            frontier = self._node_by_node([(nodes.tolist(), state)], found)
        else:
            frontier = nodes, np.full(len(nodes), state, dtype=np.int32)
        return self._follow(*frontier, found)

    def _behind(self, nodes: Nodes, state: int) -> LexerRead:
        """What is read in a state behind nodes, with the tokens that end there."""
        found = _Found()
        tokens = self._walks.tokens(reading=len(nodes))
        first = self._walks.trie().first
        if not any(self._lexer.rows[state]):
            # Nothing goes on, as behind most punctuation.
            begins = tokens.begin.take(nodes)
            found.begins.append(begins)
            found.ends.append(begins + tokens.own.take(nodes))
            starts = first.take(nodes)
            found.end(self._lexer.accept_of[state], ranges(starts, first.take(nodes + 1) - starts))
            self._walks.visited += len(nodes)
            return self._result(found, tokens)
        if len(nodes) <= _FEW and not self._begins_loop(nodes, state, tokens):
            _, firsts, ids, begin, end, own, below = self.views(tokens)
            leaving = int(self._walks.stays.leaving()[state])
            items: list[tuple[Sequence[int], int]] = []
            for node in nodes.tolist():
                low = begin[node]
                if below[node] & leaving:
                    found.ids.extend(ids[low : low + own[node]])
                    items.append((range(firsts[node], firsts[node + 1]), state))
                else:
                    found.ids.extend(ids[low : end[node]])
            return self._follow(*self._node_by_node(items, found), found)
        states = np.full(len(nodes), state, dtype=np.int32)
        return self._follow(*self._children(nodes, states, tokens, found), found)

    def _begins_loop(self, nodes: Nodes, state: int, tokens: Subtrees) -> bool:
        """Whether much below nodes is read by looping."""
        return self._walks.takes_subtrees and self._is_worth_looping(nodes, state, tokens)

    def _follow(self, nodes: Nodes, states: _States, found: _Found) -> LexerRead:
        """Read nodes and what is below them to the end."""
        tokens = self._walks.tokens(reading=len(nodes))
        while True:
            while found.behind:
                below, before = self._children(*found.behind.pop(), tokens, found)
                nodes, states = np.concatenate((nodes, below)), np.concatenate((states, before))
            if not len(nodes):
                return self._result(found, tokens)
            if (made := self._walks.tokens(reading=len(nodes))) is not tokens:
                # Intervals are of one order of the tokens.
                self._take(found, tokens)
                tokens = made
            if len(nodes) <= _FEW:
                both = zip(nodes.tolist(), states.tolist(), strict=True)
                nodes, states = self._node_by_node([((n,), state) for n, state in both], found)
            else:
                reached = self._step(nodes, states, tokens, found)
                nodes, states = self._children(*reached, tokens, found)

    def _is_worth_looping(self, nodes: Nodes, state: int, tokens: Subtrees) -> bool:
        if self._loop(state) is None:
            return False
        return int((tokens.end.take(nodes) - tokens.begin.take(nodes)).sum()) >= _WORTH_LOOPING

    def _loop(self, state: int) -> Loop | None:
        if state not in self._loops:
            lexer = self._lexer
            accepting = lexer.accept_numbers != NO_ACCEPT
            self._loops[state] = loop_of(lexer.table, lexer.columns, accepting, state)
        return self._loops[state]

    def _children(
        self,
        nodes: Nodes,
        states: _States,
        tokens: Subtrees,
        found: _Found,
        *,
        loops: bool = True,
    ) -> tuple[Nodes, _States]:
        """The tokens at nodes; and the nodes below them whose bytes are read next, with the states
        before those."""
        first = self._walks.trie().first
        whole = (tokens.below.take(nodes) & self._walks.stays.leaving().take(states)) == 0
        begins = tokens.begin.take(nodes)
        found.begins.append(begins)
        ends = np.where(whole, tokens.end.take(nodes), begins + tokens.own.take(nodes))
        found.ends.append(ends)
        rest = ~whole
        nodes, states = nodes[rest], states[rest]
        if loops and self._walks.takes_subtrees and len(nodes):
            nodes, states = self._read_loops(nodes, states, tokens, found)
        starts = first.take(nodes)
        fan_out = first.take(nodes + 1) - starts
        return ranges(starts, fan_out), states.repeat(fan_out)

    def _read_loops(
        self, nodes: Nodes, states: _States, tokens: Subtrees, found: _Found
    ) -> tuple[Nodes, _States]:
        """Read what states loop on; the nodes and states that are left."""
        for state in distinct(states).tolist():
            loop = self._loop(state)
            if loop is None:
                continue
            which = states == state
            if not self._is_worth_looping(nodes[which], state, tokens):
                continue
            lexer = self._lexer
            begun = np.sort(nodes[which])
            walk = loop_walks_of(self._walks.trie()).walk(begun, loop, self._vocab_size)
            self._walks.visited += walk.met
            found.rows.append(walk.row)
            targets = lexer.table[state].take(lexer.columns)
            found.behind.append(walk.following(targets, loop))
            if lexer.accept_of[state] != NO_ACCEPT:
                ended, _ = walk.children_by(np.flatnonzero(targets == DEAD))
                found.end(lexer.accept_of[state], ended)
            nodes, states = nodes[~which], states[~which]
        return nodes, states

    def _step(
        self,
        nodes: Nodes,
        states: _States,
        tokens: Subtrees,
        found: _Found,
        skip: Covered | None = None,
    ) -> tuple[Nodes, _States]:
        """Read the bytes of nodes; those behind which a lexeme goes on, and the states there."""
        walks, lexer = self._walks, self._lexer
        if skip is not None:
            needed = skip.needed.take(nodes)
            nodes, states = nodes[needed], states[needed]
        walks.visited += len(nodes)
        # A character of several bytes is read before its bytes are.
        whole = (tokens.within.take(nodes) & walks.stays.leaving().take(states)) == 0
        if whole.any():
            found.begins.append(tokens.begin.take(nodes[whole]))
            found.ends.append(tokens.end.take(nodes[whole]))
            nodes, states = nodes[~whole], states[~whole]
        columns = lexer.columns.take(walks.trie().octets.take(nodes))
        targets = lexer.table[states, columns]
        live = targets != DEAD
        ended = np.flatnonzero(~live)
        if len(ended):
            accept_sets = lexer.accept_numbers.take(states[ended])
            for accept_set in distinct(accept_sets).tolist():
                found.end(accept_set, nodes[ended[accept_sets == accept_set]])
        return nodes[live], targets[live]

    def _node_by_node(
        self, pending: list[tuple[Sequence[int], int]], found: _Found
    ) -> tuple[Nodes, _States]:
        """Read nodes in a state each, and on as long as those that are read on from are few; gives
        the others."""
        tokens = self._walks.tokens(reading=0)
        octets, first, ids, begin, end, own, below = self.views(tokens)
        leaving = self._walks.stays.leaving().data
        rows, accept_of = self._lexer.rows, self._lexer.accept_of
        wholes: list[tuple[int, int]] = []
        ended: dict[int, list[int]] = {}
        taken = found.ids
        visited = 0
        while 0 < len(pending) <= _FEW:
            frontier, pending = pending, []
            for nodes, state in frontier:
                row, accept_set = rows[state], accept_of[state]
                visited += len(nodes)
                for node in nodes:
                    target = row[octets[node]]
                    if target == DEAD:
                        if accept_set != NO_ACCEPT:
                            ended.setdefault(accept_set, []).append(node)
                        continue
                    place = begin[node]
                    if classes := below[node]:
                        if classes & leaving[target]:
                            if count := own[node]:
                                taken.extend(ids[place : place + count])
                            pending.append((range(first[node], first[node + 1]), target))
                        elif end[node] - place <= FEW_TOKENS:
                            taken.extend(ids[place : end[node]])
                        else:
                            wholes.append((place, end[node]))
                    else:
                        # A leaf, nearly always of one token.
                        taken.append(ids[place])
                        if own[node] > 1:
                            taken.extend(ids[place + 1 : end[node]])
        self._walks.visited += visited
        if wholes:
            begins, ends = np.array(wholes, dtype=np.int32).T
            found.begins.append(begins)
            found.ends.append(ends)
        for accept_set, reached in ended.items():
            found.end(accept_set, np.array(reached, dtype=np.int32))
        rest = [node for nodes, _ in pending for node in nodes]
        counts = [len(nodes) for nodes, _ in pending]
        states = np.array([state for _, state in pending], dtype=np.int32).repeat(counts)
        return np.array(rest, dtype=np.int32), states

    def views(self, tokens: Subtrees) -> tuple[memoryview, ...]:
        """Views, whose items are Python integers: of the trie's bytes and first children, and of
        the ids, begins, ends, tokens and classes of its subtrees."""
        if self._views_of is None or self._views_of[0] is not tokens:
            trie = self._walks.trie()
            parts = (
                *(trie.octets, trie.first),
                *(tokens.ids, tokens.begin, tokens.end, tokens.own, tokens.below),
            )
            self._views_of = tokens, tuple(part.data for part in parts)
        return self._views_of[1]

    def _result(self, found: _Found, tokens: Subtrees) -> LexerRead:
        self._take(found, tokens)
        ends_by_set = [(accept_set, united(parts)) for accept_set, parts in found.accepted.items()]
        return LexerRead(united_rows(found.rows), found.ids, ends_by_set)

    def _take(self, found: _Found, tokens: Subtrees) -> None:
        """Make ids or a row of the intervals so far."""
        if found.begins:
            begins, ends = np.concatenate(found.begins), np.concatenate(found.ends)
            found.begins.clear()
            found.ends.clear()
            row, ids = tokens_of(tokens, begins, ends, self._vocab_size)
            found.ids.extend(ids)
            if row is not None:
                found.rows.append(row)
