"""Words that become the unknown token: one letter of its own for each of them.

A word is unknown if it has a character that no token has, if no token matches
somewhere in it, or if it is too long. ``with_unknown_words`` takes canonical text, in which
``OTHER_BYTE`` stands for characters that no token has, to the texts where the same byte stands
for whole unknown words: ``a \\xffb c`` becomes ``a \\xff c``. Several texts become one then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.memo import memoised
from constrain.artifacts.tokens.trie import Trie, walk
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.artifacts.wordpiece.dead_ends import SPACE
from constrain.artifacts.wordpiece.trie import NONE, OTHER_BYTE, ROOT, WordTrie

from ..automata.determinize import determinize
from ..automata.dfa import DEAD, Dfa, as_nfa
from ..automata.minimize import minimize
from ..automata.nfa import Arc, Nfa
from ..limits import Limits

_STAGE = "unknown words"

# What a step of a word is: a character with a token at its place, one without, or OTHER_BYTE.
_SAFE, _UNSAFE, _OTHER = range(3)

# A set of states, bit i for state i.
_States = int

# Each character with what it is at the start of a word and in the rest.
Characters = Mapping[bytes, tuple[int, int]]


def with_unknown_words(
    dfa: Dfa, trie: WordTrie, characters: Characters, max_chars: int, limits: Limits
) -> Dfa:
    """The texts of ``dfa`` with ``OTHER_BYTE`` for each unknown word; minimal.

    Letters of unknown words stay beside it: no sequence of tokens spells them. ``trie``: of the
    tokens, ``characters``: all that they have. Raises ``LimitError``.
    """
    words = _Words(dfa, trie, characters, max_chars, limits)
    nfa = _letters_alone(dfa)
    behind: dict[int, int] = {}
    for start in words.starts:
        limits.check_resources(_STAGE)
        for end in _members(words.unknown_from(start)):
            if end not in behind:
                behind[end] = len(nfa.arcs)
                after = int(dfa.table[end, dfa.classes[SPACE]])
                nfa.arcs.append([Arc(SPACE, SPACE, after, frozenset())] if after else [])
                nfa.epsilon.append([])
            nfa.arcs[start].append(Arc(OTHER_BYTE, OTHER_BYTE, behind[end], frozenset()))
    accepting = np.flatnonzero(dfa.accepting).tolist()
    ended = (behind[end] for end in accepting if end in behind)
    nfa.finals = frozenset((*accepting, *ended))
    return minimize(determinize(nfa, limits), limits)


def _letters_alone(dfa: Dfa) -> Nfa:
    """The same states and edges, without those by ``OTHER_BYTE``, the last byte."""
    nfa = as_nfa(dfa, keep_origins=False)
    nfa.arcs = [
        [arc._replace(high=min(arc.high, OTHER_BYTE - 1)) for arc in arcs if arc.low < OTHER_BYTE]
        for arcs in nfa.arcs
    ]
    return nfa


def characters_of(
    used: Iterable[str], initial: Mapping[bytes, int], suffixes: Mapping[bytes, int]
) -> Characters:
    """Whether each character, in UTF-8, is a token at the start and in the rest of a word."""
    encoded = sorted(c.encode("utf-8") for c in used)
    return {c: (_UNSAFE - (c in initial), _UNSAFE - (c in suffixes)) for c in encoded}


@dataclass(eq=False)
class _Words:
    """Which states end the unknown words that begin at a state."""

    dfa: Dfa
    trie: WordTrie
    characters: Characters
    max_chars: int
    limits: Limits

    @cached_property
    def starts(self) -> list[int]:
        """Where words begin."""
        behind = self.dfa.table[:, self.dfa.classes[SPACE]]
        return sorted({self.dfa.start, *behind.tolist()} - {DEAD})

    def unknown_from(self, start: int) -> _States:
        """The ends of unknown words from ``start``.

        Most are found without the tokens: by a character that has none, or by length. Only ends
        after a character that lacks a token at its place are left to search for.
        """
        found = self._after[_OTHER][start] | self._too_long[start]
        possible = 0
        for kind, target in self._edges[0][start]:
            possible |= self._ends[target] if kind == _UNSAFE else self._after[_UNSAFE][target]
        return found | self._unmatched(start, possible & ~found) if possible & ~found else found

    def _unmatched(self, start: int, wanted: _States) -> _States:
        """Those of ``wanted`` that words without a match lead to: a walk of text and trie."""
        found = 0
        pending = [(start, ROOT)]
        seen = set(pending)
        while pending and wanted & ~found:
            state, node = pending.pop()
            if node != ROOT and self.trie.flush(node) is None:
                found |= self._ends[state] & (1 << state)
            for character, target in self._characters_of(state):
                below = self.trie.read(node, character)
                if below == NONE:
                    found |= self._ends[target]
                elif (target, below) not in seen and self._ends[target] & wanted & ~found:
                    seen.add((target, below))
                    pending.append((target, below))
            self.limits.check_states(len(seen), _STAGE)
            self.limits.check_resources(_STAGE)
        return found & wanted

    @memoised
    def _characters_of(self, state: int) -> list[tuple[bytes, int]]:
        """The characters that go on from ``state``, those without a token of their own last."""
        texts, trie = self._spelled
        hits = walk(trie, self.dfa.table, self.dfa.classes, np.array([state]))
        found = [(texts[i], int(s)) for h in hits for i, s in zip(h.tokens, h.states, strict=True)]
        return sorted(found, key=lambda edge: self.characters[edge[0]][1])

    @cached_property
    def _spelled(self) -> tuple[list[bytes], Trie]:
        texts = list(self.characters)
        vocabulary = Vocabulary.from_tokens(dict(enumerate(texts)), (), len(texts))
        return texts, Trie.from_vocabulary(vocabulary)

    @cached_property
    def _edges(self) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
        """For first characters and for the rest: kinds and targets of each state's edges."""
        texts, trie = self._spelled
        kinds = np.array([self.characters[text] for text in texts], dtype=np.int64).reshape(-1, 2)
        edges: list[list[set[tuple[int, int]]]] = [
            [set() for _ in range(self.dfa.states)] for _ in range(2)
        ]
        states = np.arange(1, self.dfa.states)
        for hits in walk(trie, self.dfa.table, self.dfa.classes, states):
            for place, found in enumerate(edges):
                table = np.column_stack((hits.rows, kinds[hits.tokens, place], hits.states))
                for row, kind, target in np.unique(table, axis=0).tolist():
                    found[row + 1].add((kind, target))
        other = self.dfa.table[:, self.dfa.classes[OTHER_BYTE]]
        for state in np.flatnonzero(other != DEAD).tolist():
            for found in edges:
                found[state].add((_OTHER, int(other[state])))
        return [sorted(e) for e in edges[0]], [sorted(e) for e in edges[1]]

    @cached_property
    def _ends(self) -> list[_States]:
        """The ends of words that lie ahead, the state itself among them if it is one."""
        after = self.dfa.table[:, self.dfa.classes[SPACE]]
        is_end = (self.dfa.accepting | (after != DEAD)).tolist()
        own = [(1 << state) if end else 0 for state, end in enumerate(is_end)]
        return self._closed(own)

    @cached_property
    def _after(self) -> dict[int, list[_States]]:
        """By its kind, the ends ahead after a character without a token of its own in a word."""
        return {kind: self._closed([0] * self.dfa.states, kind) for kind in (_UNSAFE, _OTHER)}

    def _closed(self, own: list[_States], wanted: int = -1) -> list[_States]:
        """The least fixed point: own states, and for each edge what its target has, or all ends
        ahead behind one of the kind ``wanted``."""
        found = own.copy()
        sources: list[list[int]] = [[] for _ in found]
        for state, edges in enumerate(self._edges[1]):
            for _, target in edges:
                sources[target].append(state)
        pending = list(range(len(found)))
        waiting = set(pending)
        while pending:
            state = pending.pop()
            waiting.discard(state)
            union = found[state]
            for kind, target in self._edges[1][state]:
                union |= self._ends[target] if kind == wanted else found[target]
            if union != found[state]:
                found[state] = union
                for source in sources[state]:
                    if source not in waiting:
                        waiting.add(source)
                        pending.append(source)
        return found

    @cached_property
    def _too_long(self) -> list[_States]:
        """The ends ahead at more than ``max_chars`` characters."""
        found = self._ends
        for _ in range(self.max_chars + 1):
            self.limits.check_resources(_STAGE)
            grown = []
            for edges in self._edges[1]:
                union = 0
                for _, target in edges:
                    union |= found[target]
                grown.append(union)
            found = grown
            if not any(found):
                break
        return found


def _members(states: _States) -> list[int]:
    """The states of a set, ascending."""
    packed = np.frombuffer(states.to_bytes(states.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    members: NDArray[np.int64] = np.flatnonzero(np.unpackbits(packed, bitorder="little"))
    found: list[int] = members.tolist()
    return found
