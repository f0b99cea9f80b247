"""Patterns as automata: where they match, which edges a match takes, and short words through them.

An *edge* goes from one state of the minimal DFA to another by one character. What lies inside the
UTF-8 of a character is part of the edge: a class of all characters has two edges, one by ASCII and
one by any other character. A pattern of too many states has no edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from constrain.artifacts.dfa.lazy_reader import Reader
from constrain.artifacts.tokens.memo import Made

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimal
from ..automata.nfa import Nfa, without_dead_ends
from ..automata.thompson import thompson
from ..diagnostics import LimitError
from ..grammar.tree import Expr
from ..lazy_dfa.conjunctions import Operation, operation_of
from ..limits import Limits

# A pattern whose minimal DFA has more states is not divided into edges.
MOST_STATES = 2_000

# Steps of an NFA's subsets that are remembered.
_STEPS = 1 << 16


def rank(octet: int) -> int:
    """Which byte people would rather read in a short member."""
    char = chr(octet)
    groups = (
        "a" <= char <= "z",
        char.isdigit() and octet < 0x80,
        "A" <= char <= "Z",
        char == "_",
        char == " ",
        0x21 <= octet < 0x7F,
        octet == 0xC3,
        octet == 0xA4,
        octet >= 0x80,
        octet in b"\n\t",
    )
    return (groups.index(True) if any(groups) else len(groups)) << 8 | octet


_BY_RANK = sorted(range(256), key=rank)


class Edge(NamedTuple):
    """By a character from one state to another; ``wide``: it takes more than one byte."""

    source: int
    target: int
    wide: bool


@dataclass(frozen=True, slots=True)
class EdgeWords:
    """``before`` leads to an edge's source, ``char`` is a character of it, ``behind`` leads to the
    end, all of them short; ``ranges``: of the bytes of a character that is ASCII or one byte."""

    edge: Edge
    before: bytes
    char: bytes
    behind: bytes
    ranges: tuple[tuple[int, int], ...]


class Matcher(Protocol):
    """Something that matches parts of a text."""

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """Where what begins at ``begin`` may end, after it and up to ``end``, ascending."""
        ...

    @property
    def nullable(self) -> bool:
        """Whether it matches ε."""
        ...


class Matching(Protocol):
    """Gives the matchers of leaves, and of a pattern that is matched by a tree that tree."""

    def __call__(self, expr: Expr) -> Matcher:
        """The matcher of a leaf."""
        ...

    def tree_of(self, expr: Expr) -> Expr | None:
        """The tree by which a pattern is matched, if it is."""
        ...


class LiteralMatcher:
    """One text."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.nullable = not data

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        found = begin + len(self._data)
        fits = self._data and found <= end and text.startswith(self._data, begin)
        return (found,) if fits else ()


class NoMatcher:
    """Nothing, such as what only a token matches."""

    nullable = False

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        return ()


class DfaMatcher:
    """A minimal DFA, whose edges are known."""

    def __init__(self, dfa: Dfa) -> None:
        self.dfa = dfa
        self._rows: list[list[int]] = dfa.table[:, dfa.classes].tolist()
        self._accepting: list[bool] = dfa.accepting.tolist()
        self.nullable = self._accepting[dfa.start]

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        rows, accepting = self._rows, self._accepting
        state, found = self.dfa.start, []
        for place in range(begin, end):
            state = rows[state][text[place]]
            if state == DEAD:
                break
            if accepting[state]:
                found.append(place + 1)
        return found

    def edges_of(self, word: bytes) -> set[Edge]:
        """The edges on the way of a word that is matched."""
        rows, inside = self._rows, self._inside
        source = state = self.dfa.start
        found, wide = set(), False
        for octet in word:
            state = rows[state][octet]
            if state in inside:
                wide = True
            else:
                found.add(Edge(source, state, wide))
                source, wide = state, False
        return found

    @cached_property
    def _targets(self) -> list[dict[int, int]]:
        """Of each state the targets, and of each the byte that people would rather read."""
        return [
            {target: octet for octet in reversed(_BY_RANK) if (target := row[octet]) != DEAD}
            if state != DEAD
            else {}
            for state, row in enumerate(self._rows)
        ]

    @cached_property
    def _inside(self) -> set[int]:
        """The states inside the UTF-8 of a character: nothing but continuation bytes leaves
        them."""
        found = set()
        for state, row in enumerate(self._rows):
            if state in (DEAD, self.dfa.start) or self._accepting[state]:
                continue
            leaving = [octet for octet, target in enumerate(row) if target != DEAD]
            if leaving and leaving[0] >= 0x80 and leaving[-1] < 0xC0:
                found.add(state)
        return found

    def _prefixes(self) -> dict[int, bytes]:
        """A short word to each state."""
        found = {self.dfa.start: b""}
        pending = [] if self.dfa.start == DEAD else [self.dfa.start]
        for state in pending:
            for target, octet in self._by_rank(state):
                if target not in found:
                    found[target] = found[state] + bytes([octet])
                    pending.append(target)
        return found

    def _by_rank(self, state: int) -> list[tuple[int, int]]:
        return sorted(self._targets[state].items(), key=lambda each: rank(each[1]))

    @cached_property
    def _suffixes(self) -> dict[int, bytes]:
        """A short word from each state to an accepting one."""
        sources: dict[int, list[tuple[int, int]]] = {}
        for state, targets in enumerate(self._targets):
            for target, octet in targets.items():
                sources.setdefault(target, []).append((state, octet))
        pending = [s for s, accepts in enumerate(self._accepting) if accepts]
        found = dict.fromkeys(pending, b"")
        for state in pending:
            for source, octet in sorted(sources.get(state, ()), key=lambda each: rank(each[1])):
                if source not in found:
                    found[source] = bytes([octet]) + found[state]
                    pending.append(source)
        return found

    @cached_property
    def shortest(self) -> bytes | None:
        """A shortest word; None if there is none."""
        return self._suffixes.get(self.dfa.start)

    @cached_property
    def shortest_with_text(self) -> bytes | None:
        """A shortest word that is not ε."""
        found = [
            bytes([octet]) + self._suffixes[target]
            for target, octet in self._by_rank(self.dfa.start)
            if target in self._suffixes
        ]
        return min(found, key=len, default=None)

    @cached_property
    def edges(self) -> Sequence[EdgeWords]:
        """All edges in the order of their sources, and short words through each."""
        prefixes, suffixes = self._prefixes(), self._suffixes
        found = []
        for source in prefixes:
            if source in self._inside:
                continue
            chars: dict[Edge, bytes] = {}
            pending = [(source, b"")]
            seen = {source}
            for state, word in pending:
                for target, octet in self._by_rank(state):
                    char = word + bytes([octet])
                    if target not in self._inside:
                        chars.setdefault(Edge(source, target, bool(word)), char)
                    elif target not in seen:
                        seen.add(target)
                        pending.append((target, char))
            found += [
                EdgeWords(edge, prefixes[source], char, suffixes[edge.target], self._ranges(edge))
                for edge, char in chars.items()
                if edge.target in suffixes
            ]
        return found

    def _ranges(self, edge: Edge) -> tuple[tuple[int, int], ...]:
        if edge.wide:
            return ()
        row = self._rows[edge.source]
        return regex.normalized((o, o) for o in range(256) if row[o] == edge.target)


class NfaMatcher:
    """An NFA, whose subsets are made when they are first met."""

    def __init__(self, nfa: Nfa) -> None:
        self._nfa = without_dead_ends(nfa)
        step = self._nfa.step
        self._steps = Made[tuple[frozenset[int], int], frozenset[int]](
            lambda read: frozenset(step(*read)), _STEPS
        )
        self._start = frozenset(self._nfa.epsilon_closure({nfa.start}))
        self.nullable = not nfa.finals.isdisjoint(self._start)

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        subset, found = self._start, []
        for place in range(begin, end):
            subset = self._steps[subset, text[place]]
            if not subset:
                break
            if not self._nfa.finals.isdisjoint(subset):
                found.append(place + 1)
        return found

    @cached_property
    def shortest(self) -> bytes | None:
        """A shortest word; None if there is none."""
        return b"" if self.nullable else self.shortest_with_text

    @cached_property
    def shortest_with_text(self) -> bytes | None:
        """A shortest word that is not ε."""
        nfa = self._nfa
        words: dict[int, bytes] = {}
        level = dict.fromkeys(sorted(nfa.epsilon_closure({nfa.start})), b"")
        while level:
            further: dict[int, bytes] = {}
            for state, word in level.items():
                for low, high, target, _ in nfa.arcs[state]:
                    if target not in words and low < 256:
                        octet = min(range(low, high + 1), key=rank)
                        for reached in sorted(nfa.epsilon_closure({target})):
                            if reached not in words:
                                words[reached] = further[reached] = word + bytes([octet])
                                if reached in nfa.finals:
                                    return words[reached]
            level = further
        return None


class OperationMatcher:
    """Intersections and complements, whose states are made when they are first met."""

    def __init__(self, operation: Operation) -> None:
        self._reader = Reader(operation.conjunctions)
        self.nullable = self._reader.accepts(self._reader.start)

    def ends(self, text: bytes, begin: int, end: int) -> Sequence[int]:
        """See ``Matcher``."""
        reader, found = self._reader, []
        threads = reader.start
        for place in range(begin, end):
            threads = reader.read(threads, text[place : place + 1])
            if not threads:
                break
            if reader.accepts(threads):
                found.append(place + 1)
        return found


def small_matcher_of(node: regex.Node, limits: Limits) -> DfaMatcher | None:
    """What matches an expression, if its DFA is small. Raises ``LimitError`` on what is
    measured."""
    few = limits.within(MOST_STATES)
    try:
        return DfaMatcher(minimal(thompson(resolved(node, few), few), few))
    except LimitError as error:
        if error.is_measured:
            raise
        return None


def large_matcher_of(node: regex.Node, limits: Limits) -> Matcher:
    """What matches any other expression. Raises ``LimitError``."""
    if any(isinstance(part, regex.And | regex.Not) for part in regex.walk(node)):
        operation = operation_of(node, limits)
        if operation is not None and operation.conjunctions:
            return OperationMatcher(operation)
    return NfaMatcher(thompson(resolved(node, limits), limits))
