"""From a DFA over the UTF-8 of text back to an expression over characters, by state elimination.

    s -- C3 -> t -- A9..AB -> u          ->     s -- U+00E9..U+00EB -> u
    i -- x -> s -- y -> j,  s -- z -> s  ->     i -- x z* y -> j

First the edges over bytes are read back as edges over whole characters (the inverse of
``constrain.compiler.automata.utf8.automaton``). Then states are taken out one by one, the one with
the fewest paths through it first, and edges carry expressions for what went through them
(Brzozowski and McCluskey, Signal flow graph techniques for sequential circuit state diagrams, 1963,
sections III and IV; the order is that of Delgado and Morais, Approximation to the smallest regular
expression for a given regular language, 2004, section 4, with each edge of weight one).
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from constrain.artifacts.tokens.memo import memoised

from ..limits import Limits
from . import regex_ir as regex
from .dfa import DEAD, Dfa
from .regex_ir import EPSILON, NOTHING, CodePoints, Node, normalized
from .utf8 import MAX_CODE_POINT, SURROGATES

# How many continuation bytes a lead byte has, and the first character that needs them.
_LEADS = (
    (0x00, 0x7F, 0, 0),
    (0xC2, 0xDF, 1, 0x80),
    (0xE0, 0xEF, 2, 0x800),
    (0xF0, 0xF4, 3, 0x10000),
)
_CONTINUATIONS = range(0x80, 0xC0)

# Offsets (first, last) among the characters with the same lead byte, and the state after them.
_Tails = list[tuple[int, int, int]]


class NotTextError(ValueError):
    """A member of the automaton is no UTF-8 text."""


def character_edges(dfa: Dfa) -> dict[int, dict[int, CodePoints]]:
    """For each state that whole characters lead to: the characters to each next such state.

    ``dfa``: trimmed, without token terminals. Raises ``NotTextError`` if some member is not the
    UTF-8 of a text.
    """
    characters = _Characters(dfa)
    edges: dict[int, dict[int, CodePoints]] = {}
    pending = [dfa.start] if dfa.start != DEAD else []
    while pending:
        state = pending.pop()
        if state in edges:
            continue
        found: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in characters.of(state):
            found.setdefault(target, []).append((low, high))
        edges[state] = {target: normalized(ranges) for target, ranges in found.items()}
        pending.extend(edges[state])
    return edges


class _Characters:
    """The bytes of an automaton, read as characters."""

    def __init__(self, dfa: Dfa) -> None:
        self._rows, self._accepting = dfa.table[:, dfa.classes].tolist(), dfa.accepting

    def of(self, state: int) -> Iterator[tuple[int, int, int]]:
        """All characters that may follow in a state, as (first, last, next state)."""
        row, live = self._rows[state], 0
        for first, last, more, least in _LEADS:
            for octet in range(first, last + 1):
                if row[octet] == DEAD:
                    continue
                live += 1
                bits = (octet if more == 0 else octet & (0x3F >> more)) << (6 * more)
                for low, high, target in self._tails(row[octet], more):
                    low, high = bits + low, bits + high
                    overlaps = low <= SURROGATES[1] and high >= SURROGATES[0]
                    if low < least or high > MAX_CODE_POINT or overlaps:
                        raise NotTextError
                    yield low, high, target
        if live < sum(target != DEAD for target in row):
            raise NotTextError

    @memoised
    def _tails(self, state: int, more: int) -> _Tails:
        """What ``more`` continuation bytes can be from a state on; neighbours are joined."""
        if more == 0:
            return [(0, 0, state)]
        row, bits = self._rows[state], 6 * (more - 1)
        inside = row[_CONTINUATIONS.start : _CONTINUATIONS.stop]
        if self._accepting[state] or any(row[:0x80]) or any(row[0xC0:]):
            raise NotTextError
        joined: _Tails = []
        for value, target in enumerate(inside):
            if target == DEAD:
                continue
            for low, high, end in self._tails(target, more - 1):
                low, high = (value << bits) + low, (value << bits) + high
                if joined and joined[-1][1] + 1 == low and joined[-1][2] == end:
                    low = joined.pop()[0]
                joined.append((low, high, end))
        return joined


_STAGE = "the regular expression"

# Rough number of characters that a node's text has besides its parts' texts.
_BRACKETS = 2


class TooLongError(ValueError):
    """The expression would be longer than was asked for."""


def eliminate_states(dfa: Dfa, longest: int, limits: Limits | None = None) -> Node:
    """The expression of a trimmed DFA without token terminals.

    It has about ``longest`` characters at most; its size can be exponential in that of the
    automaton. Raises ``TooLongError``, ``NotTextError`` if a member is no UTF-8 text, and
    ``LimitError`` when the time is over.
    """
    limits = (limits or Limits()).started()
    if dfa.start == DEAD:
        return NOTHING
    graph = _Graph(dfa, longest)
    queue = [(graph.paths(state), state) for state in graph.inner]
    heapify(queue)
    while queue:
        paths, state = heappop(queue)
        if state not in graph.inner:
            continue
        if paths != graph.paths(state):
            heappush(queue, (graph.paths(state), state))
            continue
        graph.eliminate(state)
        limits.check_resources(_STAGE)
    return graph.whole()


class _Edge(NamedTuple):
    """An expression and about how many characters its text has."""

    node: Node
    size: int


class _Graph:
    """States with expressions between them, one between any two."""

    def __init__(self, dfa: Dfa, longest: int) -> None:
        edges = character_edges(dfa)
        # Besides the states of the DFA: one that nothing leads to and one that nothing leaves.
        self._first, self._last = dfa.states, dfa.states + 1
        self._longest = longest
        self._total = 0
        self.inner = set(edges)
        self._out: dict[int, dict[int, _Edge]] = {s: {} for s in (*edges, self._first)}
        self._into: dict[int, dict[int, _Edge]] = {s: {} for s in (*edges, self._last)}
        classes: dict[CodePoints, Node] = {}
        for state, targets in edges.items():
            for target, ranges in targets.items():
                node = classes.setdefault(ranges, regex.char_class(ranges))
                self._add(state, target, _Edge(node, 2 + 3 * len(ranges)))
            if dfa.accepting[state]:
                self._add(state, self._last, _Edge(EPSILON, 0))
        self._add(self._first, dfa.start, _Edge(EPSILON, 0))

    def paths(self, state: int) -> int:
        """How many edges eliminating a state makes at most."""
        loop = state in self._out[state]
        return (len(self._into[state]) - loop) * (len(self._out[state]) - loop)

    def eliminate(self, state: int) -> None:
        """Take a state out, with an edge for every path through it."""
        self.inner.remove(state)
        out, into = self._out.pop(state), self._into.pop(state)
        loop = out.pop(state, None)
        into.pop(state, None)
        for target in out:
            self._total -= self._into[target].pop(state).size
        for source in into:
            self._total -= self._out[source].pop(state).size
        for source, (before, size) in into.items():
            begun = before if loop is None else _repeated(before, loop.node)
            size += 0 if loop is None else loop.size + _BRACKETS
            for target, behind in out.items():
                whole = regex.seq(begun, behind.node)
                self._add(source, target, _Edge(whole, size + behind.size))

    def whole(self) -> Node:
        """What leads from the first state to the last, once there are no others."""
        edge = self._out[self._first].get(self._last)
        return NOTHING if edge is None else edge.node

    def _add(self, source: int, target: int, edge: _Edge) -> None:
        """Add an edge, or an option to the one there is."""
        other = self._out[source].get(target)
        if other is not None:
            self._total -= other.size
            edge = _Edge(_either(other.node, edge.node), other.size + edge.size + _BRACKETS)
        self._total += edge.size
        if self._total > self._longest:
            raise TooLongError
        self._out[source][target] = self._into[target][source] = edge


def _repeated(before: Node, loop: Node) -> Node:
    """``before loop*``, simplified: ``x x*`` is ``x+``."""
    if before is loop:
        return regex.repeat(loop, 1, None)
    inner = loop.node if isinstance(loop, regex.Optional) else loop
    return regex.seq(before, regex.repeat(inner, 0, None))


def _either(left: Node, right: Node) -> Node:
    """``left | right``, simplified: ε makes an option, and one-character options one class."""
    for one, other in ((left, right), (right, left)):
        if one is EPSILON:
            return regex.optional(other)
    if isinstance(left, regex.Optional):
        return regex.optional(_either(left.node, right))
    return regex.alt(left, right)
