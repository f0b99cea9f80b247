"""One mask in one pass over the token trie: all tokens are read at once, byte by byte.

Maximal munch leaves no choice, so each trie node is reached with one state of the lexer, one head
and certain frames above its hole. A frontier of the trie is three arrays side by side:

    nodes [12, 13, 57]   places [0, 0, 4]   states [8, 8, 3]

where a place is a head with the frames above its hole, and states are those of the lexer. A byte is
one step of the lexer for the whole frontier, and one transition of the parser for each different
(place, accept set) at which lexemes end. Where a head needs a frame out of the hole, nodes become
*pending*, as ``summaries.py`` has it. That file composes the same summary of shared parts, which is
faster where all are precomputed; this one computes a single summary.

Source: llguidance, "Optimizing": the walk of the trie by a lexer, the parser at lexemes' ends.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..summaries.rows import EMPTY
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.subtrees import Subtrees
from ..tokens.tokenset import Words
from ..tokens.trie import expand, grouped
from .lexer import BETWEEN, NO_ACCEPT
from .parser_heads import NO_FRAMES, REFUSED, FrameTree
from .slices import Covered
from .summaries import HeadSummaries, Key, Summary

# A frontier of at most so many nodes is read node by node.
_FEW = 32

# Up to so many ends of lexemes are looked up without removing duplicates.
_MOST_WITH_DUPLICATES = 48

# Walks by the lexer alone from so many nodes in one state are cached.
_SHARED = 64

# In place of a state of the lexer where the head needs a frame.
_PENDING = -1

_Ints = NDArray[np.int32]


class _Frontier(NamedTuple):
    """Trie nodes whose byte is read next, and the place and the state of the lexer before it."""

    nodes: _Ints
    places: _Ints
    states: _Ints


_NOTHING = _Frontier(*np.zeros((3, 0), dtype=np.int32))


class _Found(NamedTuple):
    """What has been met: intervals of allowed tokens in the order of ``Subtrees``, and the nodes
    and places that are pending. ``lexemes``: for a walk by the lexer alone the nodes, places and
    accept sets at which lexemes end; None for others."""

    begins: list[_Ints]
    ends: list[_Ints]
    pending: list[tuple[_Ints, _Ints]]
    lexemes: list[tuple[_Ints, _Ints, _Ints]] | None = None


class _LexerWalk(NamedTuple):
    """What the lexer reads from n nodes in one state: the tokens that end within a lexeme; and the
    nodes at which lexemes end, with which of the n, from 0 on, they are below, and accept sets."""

    row: Words
    nodes: _Ints
    origins: _Ints
    accept_sets: _Ints


def _chosen(frontier: _Frontier, flags: NDArray[np.bool_]) -> _Frontier:
    """The entries that are flagged. Indices select faster than flags do."""
    which = np.flatnonzero(flags)
    return _Frontier(frontier.nodes[which], frontier.places[which], frontier.states[which])


def _joined(parts: Sequence[_Frontier]) -> _Frontier:
    return _Frontier(*map(np.concatenate, zip(_NOTHING, *parts, strict=True)))


def _by_state(frontier: _Frontier) -> list[_Frontier]:
    """The entries of each state, nodes ascending."""
    nodes, places, states = frontier
    order = np.argsort(states.astype(np.int64) << 32 | nodes)
    nodes, places, states = nodes[order], places[order], states[order]
    bounds = [0, *((states[1:] != states[:-1]).nonzero()[0] + 1).tolist(), len(states)]
    return [
        _Frontier(nodes[low:high], places[low:high], states[low:high])
        for low, high in pairwise(bounds)
    ]


class LazyMasks:
    """Computes summaries for a ``HeadSummaries``, one at a time, with the same result.

    Trie nodes that are read count among those that its walks have visited. ``caches``: for places
    and stacks of frames; when they take more, all are evicted.
    """

    def __init__(
        self, summaries: HeadSummaries, vocab_size: int, caches: CacheBudget | None = None
    ) -> None:
        self._most_bytes = (caches or CacheBudget()).limit
        self._summaries, self._walks, self._runs = summaries, summaries.walks, summaries.runs
        self._heads, self._lexer = summaries.heads, summaries.lexer
        self._vocab_size = vocab_size
        self._views_of: tuple[Subtrees, tuple[memoryview, ...]] | None = None
        # A place is a complete head with the frames above the hole, or a head that needs a frame.
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._behind: dict[int, tuple[int, int]] = {}
        self._frames = FrameTree()
        # By state and nodes.
        self._by_lexer: dict[tuple[int, bytes], _LexerWalk] = {}
        self._by_lexer_bytes = 0

    def compute(self, key: Key) -> Summary:
        """The summary that ``HeadSummaries`` has under a key."""
        self._evict_if_full()
        if len(key) == 2:
            summary, frame = key
            row, pending = self._summaries.summary(summary)
            plugged = [(nodes, self._heads.plug(head, frame)) for head, nodes in pending]
            begun = [(nodes, *self._place(head, NO_FRAMES)) for nodes, head in plugged]
            return self._summary(row, begun)
        nodes, head, state = key
        place, start = self._place(head, NO_FRAMES)
        return self._summary(EMPTY, [(nodes, place, start if state == BETWEEN else state)])

    def _evict_if_full(self) -> None:
        entries = 2 * len(self._places) + len(self._behind)
        size = ENTRY_BYTES * entries + self._frames.nbytes + self._by_lexer_bytes
        if size > self._most_bytes:
            self._by_lexer.clear()
            self._by_lexer_bytes = 0
            self._places.clear()
            self._numbers.clear()
            self._behind.clear()
            self._frames = FrameTree()

    def _summary(self, row: int, begun: Iterable[tuple[int, int, int]]) -> Summary:
        """The summary of a row and of all from (suspended nodes, place, state) on."""
        walks = self._walks
        found = _Found([], [], [])
        parts = []
        words, skip = walks.rows[row], None
        for suspended, place, state in begun:
            nodes = walks.nodes(suspended)
            places = np.full(len(nodes), place, dtype=np.int32)
            if state == _PENDING:
                found.pending.append((nodes, places))
            elif state != DEAD:
                states = np.full(len(nodes), state, dtype=np.int32)
                parts.append(_Frontier(nodes, places, states))
                skip = walks.skipped(suspended, state)
        frontier, rest = _joined(parts), []
        while len(frontier.nodes):
            parts = []
            for group in _by_state(frontier):
                if len(group.nodes) < _SHARED:
                    rest.append(group)
                    continue
                key = int(group.states[0]), group.nodes.tobytes()
                walk = self._by_lexer.get(key) or self._walked(key, group, skip)
                words = words | walk.row
                parts.append(self._following(walk, group.places[walk.origins], found))
            # What is skipped is in the row already.
            frontier, skip = _joined(parts), None
        words = self._read(_joined(rest), words, found)
        return Summary(walks.rows.number(words), self._pending(found))

    def _following(self, walk: _LexerWalk, places: _Ints, found: _Found) -> _Frontier:
        """The nodes at which lexemes have ended, with the places behind these."""
        if not len(walk.nodes):
            return _NOTHING
        places, starts = self._after(places, walk.accept_sets)
        waiting = starts == _PENDING
        if waiting.any():
            found.pending.append((walk.nodes[waiting], places[waiting]))
        return _chosen(_Frontier(walk.nodes, places, starts), starts > DEAD)

    def _walked(self, key: tuple[int, bytes], group: _Frontier, skip: Covered | None) -> _LexerWalk:
        """What the lexer reads from a group of nodes, cached."""
        lexemes = [(_NOTHING.nodes,) * 3]
        found = _Found([], [], [], lexemes)
        origins = np.arange(len(group.nodes), dtype=np.int32)
        frontier = _Frontier(group.nodes, origins, group.states)
        words = self._read(frontier, self._walks.rows[EMPTY], found, skip)
        walk = _LexerWalk(words, *map(np.concatenate, zip(*lexemes, strict=True)))
        self._by_lexer[key] = walk
        self._by_lexer_bytes += words.nbytes + 3 * walk.nodes.nbytes + len(key[1]) + ENTRY_BYTES
        return walk

    def _read(
        self, frontier: _Frontier, words: Words, found: _Found, skip: Covered | None = None
    ) -> Words:
        """Follow a frontier to its end; ``words`` with the tokens that were met."""
        walks = self._walks
        tokens = walks.tokens(reading=0)
        while size := len(frontier.nodes):
            if skip is not None:
                frontier = _chosen(frontier, skip.needed[frontier.nodes])
            if size <= _FEW:
                frontier = self._singly(frontier, tokens, found)
                continue
            if (made := walks.tokens(reading=size)) is not tokens:
                # Intervals are of one order of the tokens.
                words, tokens = words | self._row(found, tokens), made
            frontier = self._together(frontier, tokens, found)
        if found.begins:
            words = words | self._row(found, tokens)
        return words if skip is None else words | skip.row

    def _row(self, found: _Found, tokens: Subtrees) -> Words:
        """The row of the intervals so far, which are removed."""
        begins = np.concatenate((_NOTHING.nodes, *found.begins))
        ends = np.concatenate((_NOTHING.nodes, *found.ends))
        found.begins.clear()
        found.ends.clear()
        return tokens.row(begins, ends, self._vocab_size)

    def _views(self, tokens: Subtrees) -> tuple[memoryview, ...]:
        """Views of the trie and its subtrees, whose items are Python integers."""
        if self._views_of is None or self._views_of[0] is not tokens:
            trie = self._walks.trie()
            parts = trie.octets, trie.first, tokens.begin, tokens.end, tokens.own, tokens.below
            self._views_of = tokens, tuple(part.data for part in parts)
        return self._views_of[1]

    def _together(self, frontier: _Frontier, tokens: Subtrees, found: _Found) -> _Frontier:
        """Read the byte of each node; the nodes below them."""
        walks, lexer = self._walks, self._lexer
        trie = walks.trie()
        nodes, places, states = frontier
        walks.visited += len(nodes)
        whole = (tokens.within[nodes] & walks.stays.leaving()[states]) == 0
        found.begins.append(tokens.begin[nodes[whole]])
        found.ends.append(tokens.end[nodes[whole]])
        nodes, places, states = _chosen(frontier, ~whole)
        columns = lexer.columns[trie.octets[nodes]]
        targets = lexer.table[states, columns]
        ended = np.flatnonzero(targets == DEAD)
        accept_sets = lexer.accept_numbers[states[ended]]
        accepting = accept_sets != NO_ACCEPT
        ended, accept_sets = ended[accepting], accept_sets[accepting]
        if found.lexemes is not None:
            found.lexemes.append((nodes[ended], places[ended], accept_sets))
        elif len(ended):
            walks.parsed += len(ended)
            places[ended], starts = self._after(places[ended], accept_sets)
            waiting = ended[starts == _PENDING]
            found.pending.append((nodes[waiting], places[waiting]))
            # subtle: transitions of the parser may have added states to the table.
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
        """The same node by node, and on to the nodes below as long as they are few."""
        octets, first, begin, end, own, below = self._views(tokens)
        rows, accept_of = self._lexer.rows, self._lexer.accept_of
        leaving = self._walks.stays.leaving().tolist()
        begins: list[int] = []
        ends: list[int] = []
        lexemes: list[tuple[int, int, int]] = []
        pending = list(zip(*(part.tolist() for part in frontier), strict=True))
        while pending and len(pending) <= 2 * _FEW:
            node, place, state = pending.pop()
            self._walks.visited += 1
            octet = octets[node]
            target = rows[state][octet]
            if target == DEAD and accept_of[state] != NO_ACCEPT:
                if found.lexemes is not None:
                    lexemes.append((node, place, accept_of[state]))
                    continue
                self._walks.parsed += 1
                place, start = self._behind_one(place << 32 | accept_of[state])
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
        if lexemes and found.lexemes is not None:
            nodes, places, accept_sets = np.array(lexemes, dtype=np.int32).T
            found.lexemes.append((nodes, places, accept_sets))
        return _Frontier(*np.array(pending, dtype=np.int32).reshape(-1, 3).T)

    def _after(self, places: _Ints, accept_sets: _Ints) -> tuple[_Ints, _Ints]:
        """For each pair the place behind that lexeme, and the state of the lexer there."""
        keys = places.astype(np.int64) << 32 | accept_sets
        if len(keys) <= _MOST_WITH_DUPLICATES:
            behind = np.array([self._behind_one(key) for key in keys.tolist()], dtype=np.int32)
        else:
            different, which = np.unique(keys, return_inverse=True)
            found = [self._behind_one(key) for key in different.tolist()]
            behind = np.array(found, dtype=np.int32)[which]
        return behind[:, 0], behind[:, 1]

    def _behind_one(self, key: int) -> tuple[int, int]:
        cached = self._behind.get(key)
        if cached is None:
            head, frames = self._places[key >> 32]
            lexemes = self._lexer.accept_sets[key & 0xFFFFFFFF]
            target = self._heads.read(head, lexemes, self._lexer.ignored)
            cached = self._behind[key] = self._place(target, frames)
        return cached

    def _place(self, head: int, frames: int) -> tuple[int, int]:
        """The number of a place, and the state of the lexer there: ``DEAD`` for a refused head,
        ``_PENDING`` for one that needs a frame."""
        head, frames = self._completed(head, frames)
        needs_frame = self._heads.view(head).needs_frame
        if needs_frame:
            # Heads with the same masks would only make for more summaries.
            head = self._runs.shortened(head)
        number = self._numbers.setdefault((head, frames), len(self._places))
        if number == len(self._places):
            self._places.append((head, frames))
        if head == REFUSED:
            return number, DEAD
        allowed = self._heads.view(head).allowed
        return number, _PENDING if needs_frame else self._lexer.start(allowed)

    def _completed(self, head: int, frames: int) -> tuple[int, int]:
        """The complete and smallest head, and the frames that then lie below it and above the hole;
        or one that needs a frame out of the hole."""
        if head == REFUSED:
            return REFUSED, NO_FRAMES
        while self._heads.view(head).needs_frame:
            if frames == NO_FRAMES:
                return head, NO_FRAMES
            frame, frames = self._frames.entries[frames]
            head = self._heads.plug(head, frame)
        head, split = self._heads.split_off(head)
        return head, self._frames.push(split, frames)

    def _pending(self, found: _Found) -> tuple[tuple[int, int], ...]:
        """(head, suspended nodes) pairs, by head."""
        waiting = [(nodes, places) for nodes, places in found.pending if len(nodes)]
        number = self._walks.suspended.number
        pairs = [(self._places[place][0], number(nodes)) for place, nodes in grouped(waiting)]
        return tuple(sorted(pairs))
