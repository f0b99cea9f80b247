r"""Resolve assertions, intersections and complements, which Thompson's construction lacks.

    \bfoo\b(?s:.*) & ~(.*bar)   ->   one automaton

An intersection or a complement becomes the automaton of its operands' (``boolean``). An assertion
asks for the characters on both sides of its place. Let the *classes* be the sets of characters that
the expression's assertions distinguish, and class 0 the edge of the text, where there is none: an
assertion is then a set of pairs (class before, class after). It becomes an ε-edge that is guarded
by this set. The guards are resolved for the whole expression at last: its automaton runs beside one
that remembers the class of the last character and guesses that of the next, a guard passes where
the pair is in its set, and then only characters of the guessed class are read. An operand with
assertions means something else in each surrounding, so it is resolved once for each pair of classes
(c, d), and stands between the guards "after c" and "in front of d".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from ..diagnostics import LimitError
from ..limits import Limits
from . import utf8
from .boolean import common, difference
from .determinize import determinize
from .dfa import Dfa, as_nfa
from .folding import fold
from .look_around import ASCII_WORD, GuardedThompson, without_look_around
from .minimize import minimize
from .nfa import Arc, Nfa, Origins
from .regex_ir import (
    EVERYTHING,
    And,
    Around,
    Embedded,
    Look,
    LookKind,
    Node,
    Not,
    looks_around,
    parts_of,
    walk,
)
from .thompson import Fragment, Thompson, thompson
from .unicode_properties import class_ranges
from .utf8 import ANY, CodePoints, complement, intersection

EDGE = 0

Pairs = frozenset[tuple[int, int]]

_STAGE = "the assertions"
_CR, _LF = "carriage return", "line feed"
_ASCII_SETS: Mapping[str, CodePoints] = {
    _CR: ((13, 13),),
    _LF: ((10, 10),),
    "ascii word": ASCII_WORD,
}
_CLOCK_STRIDE = 4096


@dataclass(slots=True, eq=False)
class GuardedNfa:
    """``guards[s]``: edges that leave s, with the pairs at which they may be taken."""

    nfa: Nfa
    guards: dict[int, list[tuple[Pairs, int]]] = field(default_factory=dict)


class Contexts:
    """The classes of characters that a set of assertions distinguishes.

    ``edges[c]``: the byte automaton of class c as ``utf8.automaton`` gives it. If all classes
    differ in ASCII only, a byte is a class's by itself, and a text need not be UTF-8.
    """

    def __init__(self, kinds: Iterable[LookKind]) -> None:
        names = {name for kind in kinds for name in _sets_of(kind)}
        self._sets: list[frozenset[str]] = [frozenset()]
        self.edges: list[list[tuple[int, int, int, int]]] = [[]]
        pieces: list[tuple[frozenset[str], CodePoints]] = [(frozenset(), ANY)]
        for name in sorted(names):
            members = _members(name)
            others = intersection(complement(members), ANY)
            pieces = [
                (held | extra, both)
                for held, ranges in pieces
                for extra, side in ((frozenset([name]), members), (frozenset(), others))
                if (both := intersection(ranges, side))
            ]
        for held, ranges in pieces:
            self._sets.append(held)
            if "word" in names:
                self.edges.append(utf8.automaton(ranges))
            else:
                low_ranges = [(low, high) for low, high in ranges if low < 0x80]
                self.edges.append([(0, a, b if b < 0x80 else 0xFF, 1) for a, b in low_ranges])

    @property
    def classes(self) -> range:
        """All classes, the edge too."""
        return range(len(self._sets))

    def pairs(self, kind: LookKind) -> Pairs:
        """Where an assertion holds."""
        return frozenset(
            (before, behind)
            for before in self.classes
            for behind in self.classes
            if self._holds(kind, before, behind)
        )

    def before(self, cls: int) -> Pairs:
        """Places after a character of a class."""
        return frozenset((cls, behind) for behind in self.classes)

    def behind(self, cls: int) -> Pairs:
        """Places in front of a character of a class."""
        return frozenset((before, cls) for before in self.classes)

    def _holds(self, kind: LookKind, before: int, behind: int) -> bool:
        last, first = self._sets[before], self._sets[behind]
        left, right = (any(name in side for name in _sets_of(kind)) for side in (last, first))
        match kind.name.removeprefix("ASCII_"):
            case "START_TEXT":
                return before == EDGE
            case "END_TEXT":
                return behind == EDGE
            case "START_LINE":
                return before == EDGE or left
            case "END_LINE":
                return behind == EDGE or right
            case "START_CRLF_LINE":
                return before == EDGE or (left and not (_CR in last and _LF in first))
            case "END_CRLF_LINE":
                return behind == EDGE or (right and not (_CR in last and _LF in first))
            case "WORD":
                return left != right
            case "NOT_WORD":
                return left == right
            case "WORD_START":
                return right and not left
            case "WORD_END":
                return left and not right
            case "WORD_START_HALF":
                return not left
            case _:
                return not right


def without_guards(
    guarded: GuardedNfa, contexts: Contexts, before: int, behind: int, limits: Limits
) -> Nfa:
    """What the automaton reads between a character of class ``before`` and one of ``behind``.

    A state of the result is (state, class before, class after, node): node is 0 between two
    characters, else where in the byte automaton of the guessed class; the class before is
    not needed there. Raises ``LimitError``.
    """
    source = guarded.nfa
    by_node = [_by_source(edges) for edges in contexts.edges]
    result = Nfa(rules=source.rules, arcs=[[]], epsilon=[[]])
    numbers: dict[tuple[int, int, int, int], int] = {}
    pending: list[tuple[int, int, int, int]] = []

    def number(state: int, left: int, right: int, node: int) -> int:
        key = (state, left, right, node)
        if key not in numbers:
            numbers[key] = len(result.arcs)
            if state in source.parts:
                result.parts[numbers[key]] = source.parts[state]
            result.arcs.append([])
            result.epsilon.append([])
            pending.append(key)
        return numbers[key]

    result.epsilon[0] = [number(source.start, before, c, 0) for c in contexts.classes]
    while pending:
        state, left, right, node = key = pending.pop()
        here = numbers[key]
        limits.check_states(len(result.arcs), _STAGE, (), result.parts.get(here, ""))
        if here % _CLOCK_STRIDE == 0:
            limits.check_resources(_STAGE)
        result.epsilon[here] += [number(t, left, right, node) for t in source.epsilon[state]]
        if node == 0:
            for pairs, target in guarded.guards.get(state, ()):
                if (left, right) in pairs:
                    result.epsilon[here].append(number(target, left, right, node))
        for arc in source.arcs[state]:
            for low, high, inner in by_node[right].get(node, ()):
                low, high = max(low, arc.low), min(high, arc.high)
                if low > high:
                    continue
                following = (
                    [number(arc.target, right, c, 0) for c in contexts.classes]
                    if inner == 1
                    else [number(arc.target, EDGE, right, inner)]
                )
                result.arcs[here] += [Arc(low, high, t, arc.origins) for t in following]
    result.finals = frozenset(
        place
        for (state, _, right, node), place in numbers.items()
        if state in source.finals and node == 0 and right == behind
    )
    return result


def _by_source(
    edges: Sequence[tuple[int, int, int, int]],
) -> Mapping[int, list[tuple[int, int, int]]]:
    found: dict[int, list[tuple[int, int, int]]] = {}
    for source, low, high, target in edges:
        found.setdefault(source, []).append((low, high, target))
    return found


def _sets_of(kind: LookKind) -> tuple[str, ...]:
    """The sets of characters that an assertion distinguishes, besides whether there is one."""
    if kind.name.startswith("ASCII"):
        return ("ascii word",)
    if "WORD" in kind.name:
        return ("word",)
    if kind.name.endswith("CRLF_LINE"):
        return (_CR, _LF)
    return (_LF,) if kind.name.endswith("LINE") else ()


def _members(name: str) -> CodePoints:
    return class_ranges("word") if name == "word" else _ASCII_SETS[name]


def resolved(node: Node, limits: Limits | None = None, *, is_ascii: bool = False) -> Node:
    """An expression for the same texts without ``And``, ``Not``, ``Look`` and ``Around``.

    ``node`` is the whole: what it matches is the text that its assertions look at. ``is_ascii``:
    no other characters stand beside assertions. Raises
    ``LimitError`` with the operand at fault, ``TypeError`` for token terminals besides these.
    """
    if not any(isinstance(part, And | Not | Look | Around) for part in walk(node)):
        return node
    limits = (limits or Limits()).started()
    node = fold(node, _operands, lambda part, inside: _seen_around(part, inside, limits, is_ascii))
    nodes = list(walk(node))
    contexts = Contexts({part.kind for part in nodes if isinstance(part, Look)})
    resolver = _Resolver(node, contexts, limits)

    def prepare(part: Node, _: list[None]) -> None:
        if isinstance(part, And | Not):
            resolver.prepare(part)

    fold(node, parts_of, prepare)
    return Embedded(resolver.automaton(node, EDGE, EDGE))


def _operands(node: Node) -> tuple[Node, ...]:
    """What an operation is of, each of which is the whole text as it is."""
    return parts_of(node) if isinstance(node, And | Not) else ()


def _seen_around(node: Node, inside: list[Node], limits: Limits, is_ascii: bool) -> Node:
    """An operand, or an operation of such, without look-around."""
    match node:
        case And():
            return And(tuple(inside), node.text)
        case Not():
            return Not(inside[0], node.text)
        case _ if looks_around(node):
            builder = GuardedThompson(limits, is_ascii=is_ascii)
            return Embedded(without_look_around(builder, builder.compile(node), limits)[0])
        case _:
            return node


class _Resolver:
    """Makes automata of intersections and complements, inner ones first.

    ``_made``: the automata of each, with the guards that they stand between (None where the
    surrounding does not matter).
    """

    def __init__(self, whole: Node, contexts: Contexts, limits: Limits) -> None:
        self._whole = whole
        self._contexts = contexts
        self._limits = limits
        self._made: dict[int, list[tuple[Pairs | None, Nfa, Pairs | None]]] = {}

    def prepare(self, operation: And | Not) -> None:
        """Make the automata of an operation, whose operands' are made."""
        try:
            if not any(isinstance(part, Look) for part in walk(operation)):
                self._made[id(operation)] = [(None, self._operation(operation, EDGE, EDGE), None)]
                return
            # Around the whole there is nothing.
            classes = [EDGE] if operation is self._whole else self._contexts.classes
            self._made[id(operation)] = [
                (
                    self._contexts.before(c),
                    self._operation(operation, c, d),
                    self._contexts.behind(d),
                )
                for c in classes
                for d in classes
            ]
        except LimitError as error:
            if error.part:
                raise
            raise error.blaming(error.rules, operation.text) from None

    def automaton(self, node: Node, before: int, behind: int) -> Nfa:
        """What ``node`` matches between a character of one class and one of another."""
        builder = _Guarded(self._made, self._contexts, self._limits)
        nfa = builder.finish(builder.compile(node))
        if not builder.guards:
            return nfa
        guarded = GuardedNfa(nfa, builder.guards)
        return without_guards(guarded, self._contexts, before, behind, self._limits)

    def _operation(self, operation: And | Not, before: int, behind: int) -> Nfa:
        operands = [self._dfa(part, before, behind) for part in parts_of(operation)]
        if isinstance(operation, Not):
            every = minimize(determinize(thompson(EVERYTHING)))
            result = difference(every, operands[0], self._limits)
        else:
            result = reduce(lambda a, b: common(a, b, self._limits), operands)
        return as_nfa(result, keep_origins=False)

    def _dfa(self, node: Node, before: int, behind: int) -> Dfa:
        nfa = self.automaton(node, before, behind)
        return minimize(determinize(nfa, self._limits), self._limits)


class _Guarded(Thompson):
    """Thompson's construction with guarded edges for assertions."""

    def __init__(
        self,
        made: dict[int, list[tuple[Pairs | None, Nfa, Pairs | None]]],
        contexts: Contexts,
        limits: Limits,
    ) -> None:
        super().__init__(limits)
        self._made = made
        self._contexts = contexts
        self.guards: dict[int, list[tuple[Pairs, int]]] = {}

    def _compile_other(self, node: Look | And | Not | Around, origins: Origins) -> Fragment:
        start, end = self.new_state(), self.new_state()
        if isinstance(node, Look):
            self._connect(start, end, self._contexts.pairs(node.kind))
            return Fragment(start, end)
        for before, nfa, behind in self._made[id(node)]:
            fragment = self.copy(nfa, origins)
            self._connect(start, fragment.start, before)
            self._connect(fragment.end, end, behind)
        return Fragment(start, end)

    def _connect(self, source: int, target: int, pairs: Pairs | None) -> None:
        if pairs is None:
            self.add_epsilon(source, target)
        else:
            self.guards.setdefault(source, []).append((pairs, target))
