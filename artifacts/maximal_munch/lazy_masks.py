"""All tokens read at once, byte by byte, as texts are read: masks that nobody knows yet.

Longest matches leave no choice: each trie node is reached with one state of the lexer, one head
and certain frames above a hole. So a frontier of the trie is three arrays side by side. A byte is
one step of the lexer for all of them, and the parser is asked once for each different way in which
lexemes end there. Where it would need a frame out of the hole, tokens are left *pending*, as
``maximal_munch.summaries`` has it. That file puts the same together of what masks have in common,
which
pays where all of them are worked out; this one makes a single mask in one go.

Source: llguidance, "Optimizing": the walk of the trie with a lexer, and a parser at its ends.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..tokens.tokenset import Words
from ..tokens.trie import expand, grouped
from .lexer import NONE
from .lexer_walk import EMPTY
from .parser_heads import HOLE, REFUSED, Frames
from .subtrees import Subtrees
from .summaries import BETWEEN, HeadSummaries, Known

# A frontier of so few nodes is read node by node.
_FEW = 32

# So many ends of lexemes are looked up without sorting out equal ones.
_SINGLY = 48

# What a place has for a state of the lexer where the head is open.
_PENDING = -1

# Remembered places; when there are more, they are met anew.
_KEPT = 1 << 20

_Ints = NDArray[np.int32]


class _Frontier(NamedTuple):
    """Nodes whose own byte is read next, and the place and the state of the lexer before it."""

    nodes: _Ints
    places: _Ints
    states: _Ints


_NOTHING = _Frontier(*np.zeros((3, 0), dtype=np.int32))


class _Found(NamedTuple):
    """What a reading has met: where runs of allowed tokens begin and end, and the nodes and
    places that are pending."""

    begins: list[_Ints]
    ends: list[_Ints]
    pending: list[tuple[_Ints, _Ints]]


def _chosen(frontier: _Frontier, flags: NDArray[np.bool_]) -> _Frontier:
    """The entries that are flagged. Numbers pick them faster than flags do."""
    which = np.flatnonzero(flags)
    return _Frontier(frontier.nodes[which], frontier.places[which], frontier.states[which])


class LazyMasks:
    """Answers what ``HeadSummaries`` does. Nodes that are read count among those of its walks."""

    def __init__(self, residual: HeadSummaries, vocab_size: int) -> None:
        self._residual, self._walks, self._runs = residual, residual.walks, residual.runs
        self._heads, self._lexer = residual.heads, residual.lexer
        self._frames = Frames(residual.heads)
        self._vocab_size = vocab_size
        self._items: tuple[Subtrees, tuple[memoryview, ...]] | None = None
        # A place is a closed head with the frames above the hole, or an open head.
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._behind: dict[int, tuple[int, int]] = {}

    def answer(self, key: tuple[int, ...]) -> Known:
        """What the residual is that ``HeadSummaries`` has under a key."""
        self._ready()
        if len(key) == 2:
            residual, frame = key
            row, pending = self._residual.known(residual)
            plugged = [(exits, self._heads.plug(head, frame)) for head, exits in pending]
            return self._known(row, [(exits, *self._place(head, HOLE)) for exits, head in plugged])
        exits, head, state = key
        place, start = self._place(head, HOLE)
        return self._known(EMPTY, [(exits, place, start if state == BETWEEN else state)])

    def _ready(self) -> None:
        if max(len(self._places), len(self._frames.entries)) > _KEPT:
            self._frames = Frames(self._heads)
            self._places.clear()
            self._numbers.clear()
            self._behind.clear()

    def _known(self, row: int, begun: Iterable[tuple[int, int, int]]) -> Known:
        """All from (exits, place, state) on, together with a row."""
        walks = self._walks
        found = _Found([], [], [])
        parts = [_NOTHING]
        words, skip = walks.row(row), None
        for exits, place, state in begun:
            nodes = walks.nodes(exits)
            places = np.full(len(nodes), place, dtype=np.int32)
            if state == _PENDING:
                found.pending.append((nodes, places))
            elif state != DEAD:
                states = np.full(len(nodes), state, dtype=np.int32)
                parts.append(_Frontier(nodes, places, states))
                skip = walks.skipped(exits, state)
        frontier = _Frontier(*map(np.concatenate, zip(*parts, strict=True)))
        tokens = walks.tokens(reading=0)
        while size := len(frontier.nodes):
            if skip is not None:
                frontier = _chosen(frontier, skip.needed[frontier.nodes])
            if size <= _FEW:
                frontier = self._singly(frontier, tokens, found)
                continue
            if (made := walks.tokens(reading=size)) is not tokens:
                # Runs are of one order of the tokens.
                words, tokens = words | self._taken(found, tokens), made
            frontier = self._together(frontier, tokens, found)
        if found.begins:
            words = words | self._taken(found, tokens)
        words = words if skip is None else words | skip.row
        return Known(walks.row_number(words), self._pending(found))

    def _taken(self, found: _Found, tokens: Subtrees) -> Words:
        """The row of the runs so far, which are over."""
        begins = np.concatenate((_NOTHING.nodes, *found.begins))
        ends = np.concatenate((_NOTHING.nodes, *found.ends))
        found.begins.clear()
        found.ends.clear()
        return tokens.row(begins, ends, self._vocab_size)

    def _views(self, tokens: Subtrees) -> tuple[memoryview, ...]:
        """What is read node by node, where an item is a Python number."""
        if self._items is None or self._items[0] is not tokens:
            trie = self._walks.trie()
            parts = trie.octets, trie.first, tokens.begin, tokens.end, tokens.own, tokens.below
            self._items = tokens, tuple(part.data for part in parts)
        return self._items[1]

    def _together(self, frontier: _Frontier, tokens: Subtrees, found: _Found) -> _Frontier:
        """Read the byte of each node: the nodes behind them."""
        walks, lexer = self._walks, self._lexer
        trie = walks.trie()
        nodes, places, states = frontier
        walks.visited += len(nodes)
        taken = (tokens.within[nodes] & walks.stays.leaving()[states]) == 0
        found.begins.append(tokens.begin[nodes[taken]])
        found.ends.append(tokens.end[nodes[taken]])
        nodes, places, states = _chosen(frontier, ~taken)
        columns = lexer.columns[trie.octets[nodes]]
        targets = lexer.table[states, columns]
        ended = np.flatnonzero(targets == DEAD)
        winners = lexer.win_numbers[states[ended]]
        ended, winners = ended[winners != NONE], winners[winners != NONE]
        if len(ended):
            walks.parsed += len(ended)
            places[ended], starts = self._after(places[ended], winners)
            waiting = ended[starts == _PENDING]
            found.pending.append((nodes[waiting], places[waiting]))
            # subtle: asking the parser has added states to the table.
            targets[ended] = lexer.table[np.maximum(starts, DEAD), columns[ended]]
        frontier = _chosen(_Frontier(nodes, places, targets), targets != DEAD)
        nodes, places, states = frontier
        whole = (tokens.below[nodes] & walks.stays.leaving()[states]) == 0
        begins = tokens.begin[nodes]
        found.begins.append(begins)
        found.ends.append(np.where(whole, tokens.end[nodes], begins + tokens.own[nodes]))
        nodes, places, states = _chosen(frontier, ~whole)
        fan_out = trie.first[nodes + 1] - trie.first[nodes]
        places, below = expand(places, trie.first[nodes], fan_out)
        return _Frontier(below, places, np.repeat(states, fan_out))

    def _singly(self, frontier: _Frontier, tokens: Subtrees, found: _Found) -> _Frontier:
        """The same node by node, and the nodes behind them as long as they are few."""
        octets, first, begin, end, own, below = self._views(tokens)
        rows, wins = self._lexer.rows, self._lexer.wins
        leaving = self._walks.stays.leaving().tolist()
        begins: list[int] = []
        ends: list[int] = []
        pending = list(zip(*(part.tolist() for part in frontier), strict=True))
        while pending and len(pending) <= 2 * _FEW:
            node, place, state = pending.pop()
            self._walks.visited += 1
            octet = octets[node]
            target = rows[state][octet]
            if target == DEAD and wins[state] != NONE:
                self._walks.parsed += 1
                place, start = self._behind_one(place << 32 | wins[state])
                if start == _PENDING:
                    one = np.array([node], dtype=np.int32), np.array([place], dtype=np.int32)
                    found.pending.append(one)
                    continue
                target = rows[start][octet]
            if target == DEAD:
                continue
            if target >= len(leaving):
                leaving = self._walks.stays.leaving().tolist()
            whole = not below[node] & leaving[target]
            if whole or own[node]:
                begins.append(begin[node])
                ends.append(end[node] if whole else begin[node] + own[node])
            if not whole:
                children = range(first[node], first[node + 1])
                pending.extend([(child, place, target) for child in children])
        found.begins.append(np.array(begins, dtype=np.int32))
        found.ends.append(np.array(ends, dtype=np.int32))
        return _Frontier(*np.array(pending, dtype=np.int32).reshape(-1, 3).T)

    def _after(self, places: _Ints, winners: _Ints) -> tuple[_Ints, _Ints]:
        """For each pair the place behind that lexeme, and the state of the lexer there."""
        keys = places.astype(np.int64) << 32 | winners
        if len(keys) <= _SINGLY:
            behind = np.array([self._behind_one(key) for key in keys.tolist()], dtype=np.int32)
        else:
            different, which = np.unique(keys, return_inverse=True)
            found = [self._behind_one(key) for key in different.tolist()]
            behind = np.array(found, dtype=np.int32)[which]
        return behind[:, 0], behind[:, 1]

    def _behind_one(self, key: int) -> tuple[int, int]:
        known = self._behind.get(key)
        if known is None:
            head, frames = self._places[key >> 32]
            lexemes = self._lexer.winners[key & 0xFFFFFFFF]
            target = self._heads.read(head, lexemes, self._lexer.ignored)
            known = self._behind[key] = self._place(target, frames)
        return known

    def _place(self, head: int, frames: int) -> tuple[int, int]:
        """The number of a place, and what the lexer begins with there; ``DEAD`` for a refused
        head, ``_PENDING`` for an open one."""
        head, frames = self._frames.settled(head, frames)
        is_open = self._heads.view(head).is_open
        if is_open:
            # What a mask does not depend on would only make for more residuals.
            head = self._runs.shortened(head)
        number = self._numbers.setdefault((head, frames), len(self._places))
        if number == len(self._places):
            self._places.append((head, frames))
        if head == REFUSED:
            return number, DEAD
        return number, _PENDING if is_open else self._lexer.start(self._heads.view(head).allowed)

    def _pending(self, found: _Found) -> tuple[tuple[int, int], ...]:
        """(head, exits) pairs, by head."""
        open_ = [(nodes, places) for nodes, places in found.pending if len(nodes)]
        pairs = [
            (self._places[place][0], self._walks.exit_number(nodes))
            for place, nodes in grouped(open_)
        ]
        return tuple(sorted(pairs))
