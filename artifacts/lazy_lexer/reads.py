"""What tokens make of a state with lazy DFAs: each lexeme is walked by itself, then all together.

    HOST after 3 characters    ends of its walk: (state of the labels, characters), some hundred
    nodes at which a lexeme     those after an end at which HOST may end, and at which no lexeme
    ends                        that was begun goes on

A walk of a lazy DFA serves all numbers of characters, and what is made of it all those by which the
same ends are live.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.conjunctions import UNBOUNDED
from ..dfa.lazy_reader import Thread
from ..dfa.lengths import NEVER
from ..dfa.node_walks import Met, decided, from_nodes, from_root, place_of
from ..dfa.stacked_dfas import DEAD
from ..dfa.token_rows import TokenRows
from ..dfa.token_walks import TrieParts, TrieWalk, tries_of
from ..dfa.walked import Allowed, Walked
from ..maximal_munch.lexer import NO_ACCEPT
from ..maximal_munch.lexer_reads import LexerRead, LexerReads
from ..maximal_munch.lexer_trie import LexerTrie
from ..maximal_munch.lexer_walk import ALONE, LexerWalk
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from ..walk.node_sets import ROOT, Nodes
from .exits import Exits, Following
from .lexer import LazyLexer, Parts

# Up to so many tokens are kept as ids, more as a row.
_FEW_TOKENS = 256


class _NodeSet:
    """Suspended nodes, ascending, and what is read from them, by state."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.reads: dict[int, LexerRead] = {}


class _Walk(NamedTuple):
    """Nodes that are read, and the state of the lexer of all other lexemes at each."""

    nodes: Nodes
    states: NDArray[np.int32]


class _Decided(NamedTuple):
    """A walk of one thread of a lexeme: which of its ends are live, and at which it may end."""

    lexeme: int
    met: Met
    live: Allowed
    accepts: Allowed

    def key(self, thread: Thread, walked: Walked) -> list[object]:
        """What decides it."""
        place = place_of(thread, walked)
        flags = self.live.tobytes(), self.accepts.tobytes()
        return [self.lexeme, thread.conjunction, place, *flags]


class LazyReads(LexerReads):
    """Of one lexer and trie. ``nbytes``: about the size of what is kept."""

    def __init__(
        self,
        walks: LexerTrie,
        lexer: LazyLexer,
        vocab_size: int,
        following: Following,
        caches: CacheBudget,
    ) -> None:
        self._walks, self._vocab_size = walks, vocab_size
        self._lazily, self._following = lexer, following
        self._walk = LexerWalk(lexer, walks.trie, vocab_size, lambda *_: (0, 0))
        walked = {lexeme: reader.walked for lexeme, reader in lexer.readers.items()}
        every = [each for some in walked.values() for each in some]
        counts = np.cumsum([0, *map(len, walked.values())]).tolist()
        self._firsts = dict(zip(walked, counts, strict=False))
        self._rows = TokenRows(every, walks.trie, vocab_size, caches)
        self.forget()

    def forget(self) -> None:
        """Forget all sets."""
        self.nbytes = 0
        self._sets: dict[bytes, _NodeSet] = {}
        self._rows_of_others: dict[int, Words] = {}
        # Exits of a lexeme that is read alone, or of any, and what is found by walks to them.
        self._exits: dict[int | None, Exits] = {}
        self._tries: dict[tuple[int | None, int, int], TrieWalk] = {}
        self._met: dict[tuple[object, ...], Met] = {}
        self._others: dict[tuple[object, int], _Walk] = {}
        # By what decides it; those from the root by their rows and ends, too, and with the first
        # state of each.
        self._alike: dict[tuple[object, ...], LexerRead] = {}
        self._same: dict[tuple[object, ...], tuple[LexerRead, Sequence[Words]]] = {}
        self._standing: dict[int, int] = {}
        self._spans: dict[tuple[object, ...], tuple[int, int]] = {}

    def reads(self, state: int) -> bool:
        """Whether some lazy DFA is left in a state."""
        return state in self._lazily.parts

    def read(self, nodes: Nodes, state: int) -> LexerRead:
        """What is read from nodes in such a state, their own bytes first."""
        key = nodes.tobytes()
        inner = self._sets.get(key)
        if inner is None:
            inner = self._sets[key] = _NodeSet(nodes)
            self.nbytes += 2 * nodes.nbytes + 2 * ENTRY_BYTES
        found = inner.reads.get(state)
        if found is None:
            # What is read is shared by states, and counted once.
            found = inner.reads[state] = self._read(inner, state)
            self.nbytes += ENTRY_BYTES
        return found

    def alike(self, state: int) -> int:
        """The first state in which all tokens are read as in this one."""
        parts = self._lazily.parts.get(state)
        if parts is None:
            return state
        if self._lazily.may_end_all(state):
            return state
        alone = _alone(parts)
        places = tuple(
            (lexeme, tuple(self._usual(alone, lexeme, thread) for thread in threads))
            for lexeme, threads in parts.places
        )
        if places != parts.places:
            state = self._lazily.same(Parts(parts.others, places))
        read = self.read(self._walks.nodes(ROOT), state)
        return self._standing.setdefault(id(read), state)

    def _exits_of(self, alone: int | None) -> Exits:
        """The exits of a lexeme that is read alone, or of any."""
        found = self._exits.get(alone)
        if found is None:
            found = self._exits[alone] = self._following.exits(alone, self._parts)
            self.nbytes += found.nbytes
        return found

    def _usual(self, alone: int | None, lexeme: int, thread: Thread) -> Thread:
        """The thread with the least number of characters of those that are as far from bounds."""
        walked = self._lazily.readers[lexeme].walked[thread.conjunction]
        c, number = walked.conjunction, thread.characters
        if not number or walked.operands:
            return thread
        if number < c.least:
            # After any token there are too few, and what is needed further is as ever.
            further, _ = self._span(alone, lexeme, thread, walked)
            is_far = number <= c.least - further - max(len(walked.lengths.rows) - 1, 1)
            return thread._replace(characters=0) if is_far else thread
        if c.most == UNBOUNDED:
            return thread
        _, needed = self._span(alone, lexeme, thread, walked)
        return thread._replace(characters=c.least) if number <= c.most - needed else thread

    def _span(
        self, alone: int | None, lexeme: int, thread: Thread, walked: Walked
    ) -> tuple[int, int]:
        """The most characters of a token that is read in a state, and the most that it takes to a
        member by way of one."""
        key = alone, lexeme, thread.conjunction, thread.state
        found = self._spans.get(key)
        if found is None:
            most = needed = 0
            number = self._firsts[lexeme] + thread.conjunction
            met = self._walk_to_exits(alone, lexeme, thread, walked)
            for ends in (met, self._rows.ends(number, thread.state)):
                fewest = walked.lengths.fewest(np.zeros_like(ends.states), ends.states)
                further = (ends.characters + fewest)[fewest < NEVER]
                most = max(most, int(ends.characters.max(initial=0)))
                needed = max(needed, int(further.max(initial=0)))
            found = self._spans[key] = most, needed
        return found

    def _read(self, nodes: _NodeSet, state: int) -> LexerRead:
        parts = self._lazily.parts[state]
        ends_all = self._lazily.may_end_all(state)
        if not ends_all and np.array_equal(nodes.nodes, self._walks.nodes(ROOT)):
            return self._read_from_root(nodes, state, parts)
        found = list[_Decided]()
        key: list[object] = [nodes, parts.others, self._lazily.accept_of[state]]
        for lexeme, thread, walked in self._threads(parts):
            met = self._walk_from(nodes, lexeme, thread, walked)
            found.append(_Decided(lexeme, met, *decided(walked, met, thread.characters)))
            key += found[-1].key(thread, walked)
        read = self._alike.get(tuple(key))
        if read is None:
            trie = self._parts.trie
            walk = self._walk_of_others(nodes, parts.others, trie, nodes.nodes)
            goes_on, codes, accept_sets = self._combined(found, walk, len(trie.octets))
            if ends_all:
                below = self._below_ends_of_all(found, walk)
                goes_on[below], codes[below] = False, 0
            ids = self._tokens(np.flatnonzero(goes_on))
            ending = np.flatnonzero(codes).astype(np.int32)
            fan_out = trie.fan_out[ending]
            children = ranges(trie.first[ending], fan_out)
            of = codes[ending].repeat(fan_out)
            row = None
            if len(ids) > _FEW_TOKENS:
                row, ids = tokenset.from_ids(ids, self._vocab_size), ids[:0]
            begun = nodes.nodes[~goes_on[nodes.nodes]]
            left = ~goes_on[children]
            ends = self._ends(state, begun, children[left], of[left], accept_sets)
            read = self._alike[tuple(key)] = LexerRead(row, ids.tolist(), ends)
            self._count(read)
        return read

    def _read_from_root(self, nodes: _NodeSet, state: int, parts: Parts) -> LexerRead:
        """The same for all tokens: rows by themselves, and of the ends of lexemes the exits."""
        alone = _alone(parts)
        exits = self._exits_of(alone)
        found, rows, is_kept = list[_Decided](), list[Words](), True
        key: list[object] = [alone, parts.others, self._lazily.accept_of[state]]
        for lexeme, thread, walked in self._threads(parts):
            number = self._firsts[lexeme] + thread.conjunction
            rows.append(self._rows.row(number, thread.state, thread.sets, thread.characters))
            met = self._walk_to_exits(alone, lexeme, thread, walked)
            found.append(_Decided(lexeme, met, *decided(walked, met, thread.characters)))
            key += [*found[-1].key(thread, walked), id(rows[-1])]
            is_kept &= not walked.operands
        read = self._alike.get(tuple(key)) if is_kept else None
        if read is not None:
            return read
        small = exits.parts
        below = np.arange(*small.trie.first[:2].tolist(), dtype=np.int32)
        walk = self._walk_of_others(alone, parts.others, small.trie, below)
        goes_on, codes, accept_sets = self._combined(found, walk, len(small.trie.octets))
        left = ~goes_on[exits.places]
        above = small.trie.above[exits.places]
        begun = exits.nodes[left & (above == 0)]
        of = codes[above]
        left &= of > 0
        ends = self._ends(state, begun, exits.nodes[left], of[left], accept_sets)
        if parts.others != DEAD:
            rows.append(self._row_of_others(parts.others))
        same = (
            *(id(row) for row in rows),
            *((accept_set, reached.tobytes()) for accept_set, reached in ends),
            parts.others,
        )
        kept = self._same.get(same)
        if kept is None:
            # subtle: rows are known by what they are, so they stay as long as this is known.
            kept = self._same[same] = LexerRead(np.bitwise_or.reduce(rows), (), ends), rows
            self._count(kept[0])
        if is_kept:
            self._alike[tuple(key)] = kept[0]
            self.nbytes += 2 * ENTRY_BYTES
        return kept[0]

    def _row_of_others(self, state: int) -> Words:
        """The tokens that end inside a lexeme of the lexer of all others, begun in its state."""
        found = self._rows_of_others.get(state)
        if found is None:
            found = np.zeros(tokenset.word_count(self._vocab_size), dtype=np.uint32)
            for _ in self._walk.walk(self._walks.nodes(ROOT), state, ALONE, found):
                pass
            self._walks.visited += self._walk.visited
            self._rows_of_others[state] = found
            self.nbytes += found.nbytes
        return found

    def _count(self, read: LexerRead) -> None:
        size = ENTRY_BYTES + 8 * len(read.ids) + (0 if read.row is None else read.row.nbytes)
        self.nbytes += size + sum(ENTRY_BYTES + nodes.nbytes for _, nodes in read.ends)

    def _threads(self, parts: Parts) -> Iterator[tuple[int, Thread, Walked]]:
        for lexeme, threads in parts.places:
            for thread in threads:
                yield lexeme, thread, self._lazily.readers[lexeme].walked[thread.conjunction]

    def _walk_from(self, nodes: _NodeSet, lexeme: int, thread: Thread, walked: Walked) -> Met:
        """What a thread meets below nodes, whose bytes are read first."""
        key = nodes, lexeme, thread.conjunction, thread.state
        found = self._met.get(key)
        if found is None:
            found = from_nodes(nodes.nodes, thread, walked, self._parts, own=True)
            self._keep(key, found, walked)
        return found

    def _walk_to_exits(self, alone: int | None, lexeme: int, thread: Thread, walked: Walked) -> Met:
        """What a thread meets on the paths from the root to exits."""
        key = alone, lexeme, thread.conjunction, thread.state
        found = self._met.get(key)
        if found is None:
            parts = self._exits_of(alone).parts
            if walked.operands:
                begun = np.arange(*parts.trie.first[:2].tolist(), dtype=np.int32)
                found = from_nodes(begun, thread, walked, parts, own=True)
            else:
                walk = self._tries.get((alone, lexeme, thread.conjunction))
                if walk is None:
                    walk = TrieWalk(walked.conjunction, parts, parts.most + 1)
                    self._tries[alone, lexeme, thread.conjunction] = walk
                found = from_root(walk, thread.state, parts)
            self._keep(key, found, walked)
        return found

    def _keep(self, key: tuple[object, ...], found: Met, walked: Walked) -> None:
        self._walks.visited += len(found.nodes)
        # subtle: with operands, ends are states that the next walk has to find again.
        if not walked.operands:
            self._met[key] = found
            self.nbytes += found.nbytes + ENTRY_BYTES

    @property
    def _parts(self) -> TrieParts:
        return tries_of(self._walks.trie()).whole

    def _walk_of_others(self, place: object, state: int, trie: Trie, nodes: Nodes) -> _Walk:
        """What the lexer of all other lexemes reads below ``nodes`` of a trie, known by ``place``,
        their own bytes first."""
        found = self._others.get((place, state))
        if found is None:
            lexer = self._lazily
            below, states = nodes, np.full(len(nodes), state, dtype=np.int32)
            met, ends = [below[:0]], [states[:0]]
            while len(below) and state != DEAD:
                targets = lexer.table[states, lexer.columns[trie.octets[below]]]
                read = targets != DEAD
                below, states = below[read], targets[read]
                met.append(below)
                ends.append(states)
                fan_out = trie.fan_out[below]
                below, states = ranges(trie.first[below], fan_out), states.repeat(fan_out)
            found = self._others[place, state] = _Walk(np.concatenate(met), np.concatenate(ends))
            self._walks.visited += len(found.nodes)
            self.nbytes += found.nodes.nbytes + found.states.nbytes + ENTRY_BYTES
        return found

    def _combined(
        self, found: list[_Decided], walk: _Walk, size: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64], Callable[[int], int]]:
        """Of all lexemes that were begun: for each node of a trie whether one goes on, bool (N,);
        and a code of those that may end there, int64 (N,), 0 for none, which the last turns into
        an accept set."""
        lexer = self._lazily
        goes_on = np.zeros(size, dtype=np.bool_)
        codes = np.zeros(size, dtype=np.int64)
        for place, each in enumerate(found):
            goes_on[each.met.nodes[each.live[each.met.ends]]] = True
            codes[each.met.nodes[each.accepts[each.met.ends]]] |= 1 << place
        goes_on[walk.nodes] = True
        others = distinct(walk.states).tolist()
        for number, state in enumerate(others):
            if lexer.ended(state):
                codes[walk.nodes[walk.states == state]] |= (number + 1) << len(found)

        def accept_set(code: int) -> int:
            lexemes = {each.lexeme for i, each in enumerate(found) if code >> i & 1}
            number = code >> len(found)
            lexemes |= set(lexer.ended(others[number - 1]) if number else ())
            return lexer.accept_set(sorted(lexemes))

        return goes_on, codes, accept_set

    def _below_ends_of_all(self, found: list[_Decided], walk: _Walk) -> NDArray[np.bool_]:
        """The nodes below those where one of the shortest lexemes ends, bool (N,): no lexeme goes
        on there."""
        lexer, trie = self._lazily, self._parts.trie
        over = [
            each.met.nodes[each.accepts[each.met.ends]]
            for each in found
            if lexer.is_shortest(each.lexeme)
        ]
        states = distinct(walk.states).tolist()
        states = [s for s in states if any(map(lexer.is_shortest, lexer.ended(s)))]
        nodes = np.concatenate([*over, walk.nodes[np.isin(walk.states, states)]])
        below = np.zeros(len(trie.octets), dtype=np.bool_)
        while len(nodes):
            nodes = distinct(ranges(trie.first[nodes], trie.fan_out[nodes]))
            below[nodes] = True
        return below

    def _ends(
        self,
        state: int,
        begun: Nodes,
        nodes: Nodes,
        codes: NDArray[np.int64],
        accept_set: Callable[[int], int],
    ) -> list[tuple[int, Nodes]]:
        """Where lexemes end, by accept set: at the first bytes ``begun`` that none reads, and at
        ``nodes`` by the codes of those above."""
        ends: dict[int, list[Nodes]] = {}
        now = self._lazily.accept_of[state]
        if now != NO_ACCEPT and len(begun):
            ends[now] = [begun]
        for code in distinct(codes).tolist():
            ends.setdefault(accept_set(code), []).append(nodes[codes == code])
        return [(number, _united(parts)) for number, parts in ends.items()]

    def _tokens(self, nodes: NDArray[np.integer]) -> NDArray[np.int32]:
        """The tokens that end at nodes."""
        trie = self._parts.trie
        held = trie.held[nodes]
        ids: NDArray[np.int32] = trie.ids[ranges(held, trie.held[nodes + 1] - held)]
        return ids


def _alone(parts: Parts) -> int | None:
    """The lexeme that is read alone; None where there are several."""
    is_one = parts.others == DEAD and len(parts.places) == 1
    return parts.places[0][0] if is_one else None


def _united(parts: Iterable[Nodes]) -> Nodes:
    """All nodes, ascending."""
    found = np.concatenate(list(parts))
    found.sort()
    return found
