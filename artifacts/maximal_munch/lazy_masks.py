"""Masks that were not precomputed, put together of parts that masks share.

Maximal munch leaves no choice, so each trie node is reached with one state of the lexer, one head
and certain frames above its hole. What is read from a set of suspended nodes with a complete head,
whatever lies below that, is a *part*: the tokens that fit, and the nodes that are pending, where a
head needs a frame out of the hole. So a part is made of what the lexer reads (``lexer_reads.py``),
and of the parts of the heads behind the lexemes that end there:

    in "f(x", at the tokens that go on with a name:    the name ends before "+", ")", " +", "(b" …
        behind "+"      the same part as in all calls and brackets
        behind ")"      pending: what follows is decided by the frames below

Few nodes are read on byte by byte, together for all heads, as a frontier of three arrays side by
side:

    nodes [12, 13, 57]   places [0, 0, 4]   states [8, 8, 3]

where a place is a head with the frames above its hole, and states are those of the lexer. A byte is
one step of the lexer for the whole frontier, and one transition of the parser for each different
(place, accept set) at which lexemes end.

Source: llguidance, "Optimizing": the walk of the trie by a lexer, the parser at lexemes' ends.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..summaries.node_sets import Nodes
from ..summaries.rows import EMPTY
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.subtrees import Subtrees
from ..tokens.tokenset import Words
from ..tokens.trie import expand, grouped
from .lexer import BETWEEN, NO_ACCEPT
from .lexer_reads import FEW_TOKENS, LexerReads, tokens_of, united, united_rows
from .parser_heads import NO_FRAMES, REFUSED, FrameTree
from .summaries import HeadSummaries, Key, Summary

# A frontier of at most so many nodes is read node by node.
_FEW = 32

# Up to so many ends of lexemes are looked up without removing duplicates.
_MOST_WITH_DUPLICATES = 48

# From so many nodes on parts are kept, so deep inside each other.
_SHARED, _DEEPEST = 16, 64

# In place of a state of the lexer where the head needs a frame.
_PENDING = -1

_Ints = NDArray[np.int32]

# Suspended nodes, the place there, and the state of the lexer.
_Item = tuple[Nodes, int, int]


class _Frontier(NamedTuple):
    """Trie nodes whose byte is read next, and the place and the state of the lexer before it."""

    nodes: _Ints
    places: _Ints
    states: _Ints


_NOTHING = _Frontier(*np.zeros((3, 0), dtype=np.int32))


class _Part(NamedTuple):
    """What fits: ``row`` (None: none) and ``ids``; and what is pending, by head."""

    row: Words | None
    ids: Sequence[int]
    pending: Sequence[tuple[int, Nodes]]


class _Found:
    """What has been met: rows and ids of tokens; intervals of others in the order of ``Subtrees``;
    and the nodes and places that are pending."""

    def __init__(self) -> None:
        self.rows: list[Words] = []
        self.ids: list[int] = []
        self.begins: list[_Ints] = []
        self.ends: list[_Ints] = []
        self.pending: list[tuple[_Ints, _Ints]] = []

    def add(self, row: Words | None, ids: Sequence[int]) -> None:
        """Add tokens."""
        if row is not None:
            self.rows.append(row)
        self.ids.extend(ids)


def _chosen(frontier: _Frontier, flags: NDArray[np.bool_]) -> _Frontier:
    """The entries that are flagged. Indices select faster than flags do."""
    which = np.flatnonzero(flags)
    return _Frontier(frontier.nodes[which], frontier.places[which], frontier.states[which])


class LazyMasks:
    """Computes summaries for a ``HeadSummaries``, one at a time, with the same result.

    Trie nodes that are read count among those that its walks have visited. ``caches``: for places,
    stacks of frames, parts and ``reads``; when they take more, all are evicted.
    """

    def __init__(
        self,
        summaries: HeadSummaries,
        vocab_size: int,
        caches: CacheBudget | None = None,
        reads: LexerReads | None = None,
    ) -> None:
        self._most_bytes = (caches or CacheBudget()).limit
        self._summaries, self._walks, self._runs = summaries, summaries.walks, summaries.runs
        self._heads, self._lexer = summaries.heads, summaries.lexer
        self._vocab_size = vocab_size
        self._reads = reads or LexerReads(self._walks, self._lexer, vocab_size)
        # A place is a complete head with the frames above the hole, or a head that needs a frame.
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._behind: dict[int, tuple[int, int]] = {}
        self._frames = FrameTree()
        # By head, state of the lexer, and nodes.
        self._parts: dict[tuple[int, int, bytes], _Part] = {}
        self._part_bytes = 0

    def compute(self, key: Key) -> Summary:
        """The summary that ``HeadSummaries`` has under a key."""
        self._evict_if_full()
        found = _Found()
        if len(key) == 2:
            summary, frame = key
            row, waiting = self._summaries.summary(summary)
            plugged = [(nodes, self._heads.plug(head, frame)) for head, nodes in waiting]
            begun = [
                (self._walks.nodes(nodes), *self._place(head, NO_FRAMES)) for nodes, head in plugged
            ]
        else:
            number, head, state = key
            place, start = self._place(head, NO_FRAMES)
            row = EMPTY
            # subtle: no lexeme has begun where the head is refused or needs a frame.
            state = start if state == BETWEEN else state
            begun = [(self._walks.nodes(number), place, state)]
        words = self._walks.rows[row]
        self._follow(begun, found, 0)
        words = self._with(words, found)
        number_of = self._walks.suspended.number
        pending = [(head, number_of(nodes)) for head, nodes in self._pending(found)]
        return Summary(self._walks.rows.number(words), tuple(pending))

    def _with(self, words: Words, found: _Found) -> Words:
        """A row, which stays as it is, with what was found."""
        rows = [words, *found.rows]
        if found.ids:
            rows.append(tokenset.from_ids(np.array(found.ids, dtype=np.int64), self._vocab_size))
        whole = united_rows(rows)
        assert whole is not None
        return whole

    def _evict_if_full(self) -> None:
        entries = 2 * len(self._places) + len(self._behind)
        size = ENTRY_BYTES * entries + self._frames.nbytes + self._part_bytes + self._reads.nbytes
        if size > self._most_bytes:
            self._reads.forget()
            self._parts.clear()
            self._part_bytes = 0
            self._places.clear()
            self._numbers.clear()
            self._behind.clear()
            self._frames = FrameTree()

    def _follow(self, items: list[_Item], found: _Found, depth: int) -> None:
        """Add what is read on from items, to which those behind them are added."""
        rest: list[_Item] = []
        for nodes, place, state in items:
            if state == _PENDING:
                found.pending.append((nodes, np.full(len(nodes), place, dtype=np.int32)))
            elif state == DEAD:
                continue
            elif len(nodes) < _SHARED or depth > _DEEPEST:
                rest.append((nodes, place, state))
            else:
                head, frames = self._places[place]
                part = self._part(head, nodes, state, depth)
                found.add(part.row, part.ids)
                for behind, waiting in part.pending:
                    items.append((waiting, *self._place(behind, frames)))
        if rest:
            self._read(rest, found)

    def _part(self, head: int, nodes: Nodes, state: int, depth: int) -> _Part:
        """What is read from nodes with a complete head, the lexer being in a state."""
        key = head, state, nodes.tobytes()
        part = self._parts.get(key)
        if part is None:
            walks, found = self._walks, _Found()
            place = self._number(head, NO_FRAMES)
            read = self._reads.read(self._reads.set_of(nodes), state)
            found.add(read.row, read.ids)
            behind: dict[tuple[int, int], list[Nodes]] = {}
            for accept_set, ended in read.ends:
                walks.parsed += len(ended)
                reached = self._behind_one(place << 32 | accept_set)
                behind.setdefault(reached, []).append(ended)
            self._follow([(united(p), *reached) for reached, p in behind.items()], found, depth + 1)
            part = self._parts[key] = _Part(
                united_rows(found.rows), found.ids, self._pending(found)
            )
            size = sum(ENTRY_BYTES + waiting.nbytes for _, waiting in part.pending)
            size += ENTRY_BYTES + len(key[2]) + 8 * len(part.ids)
            self._part_bytes += size + (0 if part.row is None else part.row.nbytes)
        return part

    def _read(self, items: Sequence[_Item], found: _Found) -> None:
        """Follow all items together to their ends."""
        begun = [(node, place, state) for nodes, place, state in items for node in nodes.tolist()]
        if len(begun) <= _FEW:
            frontier = self._singly(begun, self._walks.tokens(reading=0), found)
        else:
            frontier = _Frontier(*np.array(begun, dtype=np.int32).T.copy())
        walks = self._walks
        tokens = walks.tokens(reading=0)
        while size := len(frontier.nodes):
            if size <= _FEW:
                begun = list(zip(*(part.tolist() for part in frontier), strict=True))
                frontier = self._singly(begun, tokens, found)
                continue
            if (made := walks.tokens(reading=size)) is not tokens:
                # Intervals are of one order of the tokens.
                self._take(found, tokens)
                tokens = made
            frontier = self._together(frontier, tokens, found)
        self._take(found, tokens)

    def _take(self, found: _Found, tokens: Subtrees) -> None:
        """Make ids or a row of the intervals so far."""
        if found.begins:
            begins, ends = np.concatenate(found.begins), np.concatenate(found.ends)
            found.begins.clear()
            found.ends.clear()
            found.add(*tokens_of(tokens, begins, ends, self._vocab_size))

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
        octets = trie.octets[nodes]
        targets = lexer.targets(states, octets)
        ended = np.flatnonzero(targets == DEAD)
        accept_sets = lexer.accept_numbers[states[ended]]
        accepting = accept_sets != NO_ACCEPT
        ended, accept_sets = ended[accepting], accept_sets[accepting]
        if len(ended):
            walks.parsed += len(ended)
            places[ended], starts = self._after(places[ended], accept_sets)
            waiting = ended[starts == _PENDING]
            found.pending.append((nodes[waiting], places[waiting]))
            targets[ended] = lexer.targets(np.maximum(starts, DEAD), octets[ended])
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

    def _singly(
        self, pending: list[tuple[int, int, int]], tokens: Subtrees, found: _Found
    ) -> _Frontier:
        """The same node by node, and on to the nodes below as long as they are few."""
        octets, first, ids, begin, end, own, below = self._reads.views(tokens)
        rows, accept_of, behind = self._lexer.rows, self._lexer.accept_of, self._behind
        leaving = self._walks.stays.leaving().data
        taken: list[int] = found.ids
        wholes: list[tuple[int, int]] = []
        waiting: list[tuple[int, int]] = []
        visited = parsed = 0
        while pending and len(pending) <= 2 * _FEW:
            node, place, state = pending.pop()
            visited += 1
            octet = octets[node]
            target = rows[state][octet]
            if target == DEAD:
                if accept_of[state] == NO_ACCEPT:
                    continue
                parsed += 1
                key = place << 32 | accept_of[state]
                place, start = behind.get(key) or self._behind_one(key)
                if start == _PENDING:
                    waiting.append((node, place))
                    continue
                target = rows[start][octet]
                if target == DEAD:
                    continue
            if target >= len(leaving):
                leaving = self._walks.stays.leaving().data
            low = begin[node]
            if classes := below[node]:
                if classes & leaving[target]:
                    taken.extend(ids[low : low + own[node]])
                    children = range(first[node], first[node + 1])
                    pending.extend([(child, place, target) for child in children])
                elif end[node] - low <= FEW_TOKENS:
                    taken.extend(ids[low : end[node]])
                else:
                    wholes.append((low, end[node]))
            else:
                taken.extend(ids[low : low + own[node]])
        self._walks.visited += visited
        self._walks.parsed += parsed
        if wholes:
            begins, ends = np.array(wholes, dtype=np.int32).T
            found.begins.append(begins)
            found.ends.append(ends)
        if waiting:
            nodes, places = np.array(waiting, dtype=np.int32).T
            found.pending.append((nodes, places))
        return _Frontier(*np.array(pending, dtype=np.int32).reshape(-1, 3).T)

    def _after(self, places: _Ints, accept_sets: _Ints) -> tuple[_Ints, _Ints]:
        """For each pair the place behind that lexeme, and the state of the lexer there."""
        keys = places.astype(np.int64) << 32 | accept_sets
        if len(keys) <= _MOST_WITH_DUPLICATES:
            behind = np.array([self._behind_one(key) for key in keys.tolist()], dtype=np.int32)
        else:
            different = distinct(keys)
            found = [self._behind_one(key) for key in different.tolist()]
            behind = np.array(found, dtype=np.int32)[np.searchsorted(different, keys)]
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
        number = self._number(head, frames)
        if head == REFUSED:
            return number, DEAD
        allowed = self._heads.view(head).allowed
        return number, _PENDING if needs_frame else self._lexer.start(allowed)

    def _number(self, head: int, frames: int) -> int:
        """The number of a place."""
        number = self._numbers.setdefault((head, frames), len(self._places))
        if number == len(self._places):
            self._places.append((head, frames))
        return number

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

    def _pending(self, found: _Found) -> list[tuple[int, Nodes]]:
        """Heads that need a frame, ascending, and the nodes there."""
        if not found.pending:
            return []
        waiting = [(nodes, places) for nodes, places in found.pending if len(nodes)]
        pairs = [(self._places[place][0], nodes) for place, nodes in grouped(waiting)]
        return sorted(pairs, key=lambda pair: pair[0])
