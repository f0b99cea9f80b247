"""What tokens make of a state with lazy DFAs: each lexeme is walked by itself, then all together.

    HOST behind 3 characters    ends of its walk: (state of the labels, characters), some hundred
    nodes at which a lexeme     those behind an end at which HOST may end, and at which no lexeme
    ends                        that was begun goes on

A walk of a lazy DFA serves all numbers of characters, and what is made of it all those by which the
same ends are live.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..lazy_dfa.lengths import NEVER
from ..lazy_dfa.node_walks import Met, decided, from_nodes, from_root, place_of
from ..lazy_dfa.reader import Thread
from ..lazy_dfa.tables import UNBOUNDED
from ..lazy_dfa.token_walks import TrieParts, TrieWalk, tries_of
from ..lazy_dfa.walked import Allowed, Walked
from ..maximal_munch.lexer import NO_ACCEPT
from ..maximal_munch.lexer_reads import FEW_TOKENS, LexerRead, LexerReads, NodeSet
from ..maximal_munch.lexer_trie import LexerTrie
from ..summaries.node_sets import Nodes
from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES
from ..tokens.trie import ranges
from .lexer import LazyLexer, Parts


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


class LazyReads(LexerReads):
    """Of one lexer and trie. ``nbytes``: about the size of what is kept."""

    def __init__(self, walks: LexerTrie, lexer: LazyLexer, vocab_size: int) -> None:
        super().__init__(walks, lexer, vocab_size)
        self._lazily = lexer
        self._tries: dict[tuple[int, int], TrieWalk] = {}
        self._met: dict[tuple[NodeSet | None, int, int, object], Met] = {}
        self._others: dict[tuple[NodeSet, int], _Walk] = {}
        self._alike: dict[tuple[object, ...], LexerRead] = {}
        self._spans: dict[tuple[int, int, int], tuple[int, int]] = {}

    def forget(self) -> None:
        """Forget all sets."""
        super().forget()
        self._met.clear()
        self._others.clear()
        self._alike.clear()

    def alike(self, state: int) -> int:
        """The state with the same masks whose numbers of characters are the least of those far from
        all bounds."""
        parts = self._lazily.parts.get(state)
        if parts is None:
            return state
        places = tuple(
            (lexeme, tuple(self._usual(lexeme, thread) for thread in threads))
            for lexeme, threads in parts.places
        )
        return state if places == parts.places else self._lazily.same(Parts(parts.others, places))

    def _usual(self, lexeme: int, thread: Thread) -> Thread:
        walked = self._lazily.readers[lexeme].walked[thread.conjunction]
        c, number = walked.conjunction, thread.characters
        if not number or walked.operands:
            return thread
        if number < c.least:
            # Behind any token there are too few, and what is needed further is as ever.
            further, _ = self._span(lexeme, thread, walked)
            is_far = number <= c.least - further - max(len(walked.lengths.rows) - 1, 1)
            return thread._replace(characters=0) if is_far else thread
        if c.most == UNBOUNDED:
            return thread
        _, needed = self._span(lexeme, thread, walked)
        return thread._replace(characters=c.least) if number <= c.most - needed else thread

    def _span(self, lexeme: int, thread: Thread, walked: Walked) -> tuple[int, int]:
        """The most characters of a token that is read in a state, and the most that it takes to a
        member by way of one."""
        key = lexeme, thread.conjunction, thread.state
        found = self._spans.get(key)
        if found is None:
            met = self._walk(None, lexeme, thread, walked)
            fewest = walked.lengths.fewest(np.zeros_like(met.states), met.states)
            needed = (met.characters + fewest)[fewest < NEVER]
            most = int(met.characters.max(initial=0)), int(needed.max(initial=0))
            found = self._spans[key] = most
        return found

    def _read(self, nodes: NodeSet, state: int) -> LexerRead:
        parts = self._lazily.parts.get(state)
        if parts is None:
            return super()._read(nodes, state)
        found = list[_Decided]()
        key: list[object] = [nodes, parts.others, self._lazily.accept_of[state]]
        begun = None if self._is_root(nodes) else nodes
        for lexeme, threads in parts.places:
            for thread in threads:
                walked = self._lazily.readers[lexeme].walked[thread.conjunction]
                met = self._walk(begun, lexeme, thread, walked)
                live, accepts = decided(walked, met, thread.characters)
                found.append(_Decided(lexeme, met, live, accepts))
                key += [lexeme, thread.conjunction, place_of(thread, walked)]
                key += [live.tobytes(), accepts.tobytes()]
        read = self._alike.get(tuple(key))
        if read is None:
            read = self._alike[tuple(key)] = self._together(nodes, state, parts.others, found)
            self._count(read)
        return read

    def _walk(self, nodes: NodeSet | None, lexeme: int, thread: Thread, walked: Walked) -> Met:
        """What a thread meets below nodes, whose bytes are read first; of None from the root."""
        key = nodes, lexeme, thread.conjunction, place_of(thread, walked)
        found = self._met.get(key)
        if found is None:
            parts = self._parts
            if nodes is not None or walked.operands:
                first = parts.trie.first
                begun = np.arange(int(first[0]), int(first[1]), dtype=np.int32)
                if nodes is not None:
                    begun = nodes.nodes
                found = from_nodes(begun, thread, walked, parts, own=True)
            else:
                walk = self._tries.get((lexeme, thread.conjunction))
                if walk is None:
                    walk = TrieWalk(walked.conjunction, parts, parts.most + 1)
                    self._tries[lexeme, thread.conjunction] = walk
                found = from_root(walk, thread.state, parts)
            self._walks.visited += len(found.nodes)
            # subtle: with operands, ends are states that the next walk makes anew.
            if not walked.operands:
                self._met[key] = found
                self.nbytes += found.nbytes + ENTRY_BYTES
        return found

    @property
    def _parts(self) -> TrieParts:
        return tries_of(self._walks.trie()).whole

    def _walk_of_others(self, nodes: NodeSet, state: int) -> _Walk:
        """What the lexer of all other lexemes reads."""
        found = self._others.get((nodes, state))
        if found is None:
            trie, lexer = self._parts.trie, self._lazily
            below, states = nodes.nodes, np.full(len(nodes.nodes), state, dtype=np.int32)
            met, ends = [below[:0]], [states[:0]]
            while len(below):
                targets = lexer.table[states, lexer.columns[trie.octets[below]]]
                read = targets != DEAD
                below, states = below[read], targets[read]
                met.append(below)
                ends.append(states)
                fan_out = trie.fan_out[below]
                below, states = ranges(trie.first[below], fan_out), states.repeat(fan_out)
            found = self._others[nodes, state] = _Walk(np.concatenate(met), np.concatenate(ends))
            self._walks.visited += len(found.nodes)
            self.nbytes += found.nodes.nbytes + found.states.nbytes + ENTRY_BYTES
        return found

    def _together(
        self, nodes: NodeSet, state: int, others: int, found: list[_Decided]
    ) -> LexerRead:
        """What all lexemes that were begun make of nodes."""
        trie, lexer = self._parts.trie, self._lazily
        size = len(trie.octets)
        goes_on = np.zeros(size, dtype=np.bool_)
        # By node which lexemes may end there, 0 for none.
        codes = np.zeros(size, dtype=np.int64)
        combined: dict[int, list[int]] = {}
        for place, each in enumerate(found):
            goes_on[each.met.nodes[each.live[each.met.ends]]] = True
            ending = each.met.nodes[each.accepts[each.met.ends]]
            codes[ending] |= 1 << place
        if others != DEAD:
            walk = self._walk_of_others(nodes, others)
            goes_on[walk.nodes] = True
            for number, reached in enumerate(distinct(walk.states).tolist()):
                ended = lexer.ended(reached)
                if ended:
                    codes[walk.nodes[walk.states == reached]] |= (number + 1) << len(found)
                    combined[number + 1] = list(ended)
        ids = self._tokens(np.flatnonzero(goes_on))
        ends: dict[int, list[Nodes]] = {}
        if lexer.accept_of[state] != NO_ACCEPT:
            behind = nodes.nodes[~goes_on[nodes.nodes]]
            if len(behind):
                ends[lexer.accept_of[state]] = [behind]
        ending = np.flatnonzero(codes).astype(np.int32)
        fan_out = trie.fan_out[ending]
        children, of = ranges(trie.first[ending], fan_out), codes[ending].repeat(fan_out)
        ended_here = ~goes_on[children]
        children, of = children[ended_here], of[ended_here]
        for code in distinct(of).tolist():
            lexemes = {each.lexeme for i, each in enumerate(found) if code >> i & 1}
            lexemes |= set(combined.get(code >> len(found), ()))
            accept_set = lexer.accept_set(sorted(lexemes))
            ends.setdefault(accept_set, []).append(children[of == code])
        row = None
        if len(ids) > FEW_TOKENS:
            row, ids = tokenset.from_ids(ids, self._vocab_size), ids[:0]
        united = [(accept_set, _united(parts)) for accept_set, parts in ends.items()]
        return LexerRead(row, ids.tolist(), united)

    def _tokens(self, nodes: NDArray[np.integer]) -> NDArray[np.int32]:
        """The tokens that end at nodes."""
        trie = self._parts.trie
        held = trie.held[nodes]
        ids: NDArray[np.int32] = trie.ids[ranges(held, trie.held[nodes + 1] - held)]
        return ids


def _united(parts: Iterable[Nodes]) -> Nodes:
    """All nodes, ascending."""
    found = np.concatenate(list(parts))
    found.sort()
    return found
