"""From an expression to an NFA by Thompson's construction (Thompson 1968).

It follows "Compiling IR to NFA": one method a kind of node, each returning a ``Fragment`` with
one start and one end. Departures from that text: an empty literal or sequence is ε, and
classes are byte automata, not patterns. ``without_epsilon`` takes ε out of what an expression
matches.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from constrain.artifacts.tokens.memo import Made, solve_recursive

from ..limits import Limits
from . import utf8
from .folding import fold
from .graphs import descended
from .nfa import FIRST_TERMINAL, Arc, Nfa, Origins, Region, united
from .regex_ir import (
    NOTHING,
    Alt,
    And,
    Around,
    ByteClass,
    CharClass,
    Embedded,
    Lit,
    Look,
    Node,
    Not,
    Optional,
    Repeat,
    Seq,
    TokenTerminal,
    alt,
    intersection,
    nullable_inside,
    parts_of,
    repeat,
    seq,
    walk,
)

# What a state and an arc of an NFA take, roughly.
_STATE_BYTES, _ARC_BYTES = 150, 100

_STAGE = "the NFA"

# What is counted of nested repetitions: more than any limit, in a number of a few bytes.
_BEYOND = 1 << 80

# So many literals in one alternation share their beginnings, which costs the textbook's shape.
MANY_WORDS = 64


class Size(NamedTuple):
    """States and arcs that an expression becomes, before they are built."""

    states: int
    arcs: int

    @property
    def memory(self) -> int:
        """Bytes, roughly."""
        return self.states * _STATE_BYTES + self.arcs * _ARC_BYTES


class Fragment(NamedTuple):
    """A part of an automaton with one entry and one exit."""

    start: int
    end: int


class Thompson:
    """Builds an ``Nfa`` out of fragments.

    The methods that compile inner nodes are generators: they ``yield`` an inner node and
    receive its fragment, and ``compile`` runs them on an explicit stack. So they read like
    the recursive textbook, and no depth of nesting overflows Python's stack.
    """

    def __init__(self, limits: Limits, rules: Sequence[str] = ()) -> None:
        self.nfa = Nfa(rules=rules)
        self._limits = limits
        # The byte automaton of each class, made once.
        self._classes = Made[utf8.CodePoints, list[tuple[int, int, int, int]]](utf8.automaton)
        self._parts: list[str] = []
        # The rules of the expression that is compiled.
        self._blamed: Sequence[str] = ()

    def new_state(self) -> int:
        """Add a state."""
        if self._parts:
            self.nfa.parts[len(self.nfa.arcs)] = self._parts[-1]
        self.nfa.arcs.append([])
        self.nfa.epsilon.append([])
        return len(self.nfa.arcs) - 1

    def add_arc(self, source: int, low: int, high: int, target: int, origins: Origins) -> None:
        """Add an edge over low..high."""
        self.nfa.arcs[source].append(Arc(low, high, target, origins))

    def add_epsilon(self, source: int, target: int) -> None:
        """Add an edge that reads nothing."""
        self.nfa.epsilon[source].append(target)

    def finish(self, fragment: Fragment) -> Nfa:
        """The automaton whose whole is ``fragment``."""
        self.nfa.start = fragment.start
        self.nfa.finals = frozenset([fragment.end])
        return self.nfa

    def compile(self, node: Node, origins: Origins = frozenset()) -> Fragment:
        """The fragment of an expression, counted before it is built. Raises ``LimitError``."""
        self._check_size(node, origins)

        def begun(inner: Node) -> Generator[Node, Fragment, Fragment]:
            self._limits.check_resources(_STAGE, self._blamed)
            return self._compile_node(inner, origins)

        return solve_recursive(node, lambda _: None, begun)

    def copy(self, other: Nfa, origins: Origins = frozenset()) -> Fragment:
        """A copy of another automaton as a fragment; ``origins`` join those of its edges."""
        offset = self.nfa.states
        self._check(other.states, origins)
        self.nfa.regions.extend(
            Region(first + offset, last + offset, rules) for first, last, rules in other.regions
        )
        if other.parts:
            self.nfa.parts.update((s + offset, part) for s, part in other.parts.items())
        elif self._parts:
            span = range(offset, offset + other.states)
            self.nfa.parts.update(dict.fromkeys(span, self._parts[-1]))
        for arcs, epsilon in zip(other.arcs, other.epsilon, strict=True):
            self.nfa.arcs.append(
                [
                    Arc(low, high, target + offset, own | origins if origins else own)
                    for low, high, target, own in arcs
                ]
            )
            self.nfa.epsilon.append([target + offset for target in epsilon])
        if len(other.finals) == 1:
            return Fragment(other.start + offset, next(iter(other.finals)) + offset)
        end = self.new_state()
        for final in sorted(other.finals):
            self.add_epsilon(final + offset, end)
        return Fragment(other.start + offset, end)

    def _check(self, states: int, origins: Origins) -> None:
        """Raise if so many ``states`` more are too many, or if resources are exceeded."""
        limits = self._limits
        if self.nfa.states + states > limits.states:
            limits.check_states(self.nfa.states + states, _STAGE, self._rules_of(origins))
        limits.check_resources(_STAGE, self._blamed)

    def _check_size(self, node: Node, origins: Origins) -> None:
        limits = self._limits
        sizes: dict[int, Size] = {}
        if not isinstance(node, Lit):
            self._blamed = self._rules_of(origins)
        size = self.size_of(node, sizes)
        states = self.nfa.states + size.states
        if states > limits.states or size.memory > limits.memory:
            at_fault = self._rules_of(origins), _outermost_part(node, sizes)
            limits.check_states(states, _STAGE, *at_fault)
            limits.check_memory(size.memory, _STAGE, *at_fault)

    def _rules_of(self, origins: Origins) -> Sequence[str]:
        return sorted({self.nfa.rules[i] for i in origins if i < len(self.nfa.rules)})

    def size_of(self, node: Node, sizes: dict[int, Size]) -> Size:
        """What ``node`` becomes; notes the size of each node inside it in ``sizes``, by ``id``."""
        return fold(node, parts_of, lambda part, inside: self._size(part, inside, sizes))

    def _size(self, node: Node, inside: list[Size], sizes: dict[int, Size]) -> Size:
        """What ``node`` becomes: ``compile`` in numbers."""
        states, arcs = sum(part.states for part in inside), sum(part.arcs for part in inside)
        match node:
            case Lit():
                size = Size(len(node.data) + 1, len(node.data))
            case CharClass():
                edges = self._classes[node.ranges]
                # Nodes 0 and 1, and those that edges lead to.
                size = Size(max((e[3] for e in edges), default=1) + 1, len(edges))
            case ByteClass():
                size = Size(2, len(node.ranges))
            case Embedded(automaton):
                ends = len(automaton.finals) != 1
                size = Size(automaton.states + ends, sum(map(len, automaton.arcs)))
            case Seq():
                size = Size(states or 1, arcs)
            case Repeat():
                times = node.min_times + 1 if node.max_times is None else node.max_times
                size = Size(min(2 + times * states, _BEYOND), min(times * arcs, _BEYOND))
            case Alt() | Optional():
                size = Size(2 + states, arcs)
            case _:
                size = Size(2, 1)
        sizes[id(node)] = size
        return size

    def _compile_node(self, node: Node, origins: Origins) -> Generator[Node, Fragment, Fragment]:
        match node:
            case Lit():
                return self._compile_lit(node, origins)
            case CharClass():
                return self._compile_char_class(node, origins)
            case ByteClass():
                return self._compile_byte_class(node, origins)
            case TokenTerminal():
                return self._compile_token(node, origins)
            case Embedded():
                return self.copy(node.automaton, origins)
            case Seq():
                return (yield from self._compile_seq(node))
            case Alt():
                return (yield from self._compile_alt(node, origins))
            case Repeat():
                return (yield from self._compile_repeat(node))
            case Optional():
                return (yield from self._compile_optional(node))
            case Look() | And() | Not() | Around():
                return self._compile_other(node, origins)

    def _compile_lit(self, node: Lit, origins: Origins) -> Fragment:
        start = previous = self.new_state()
        for octet in node.data:
            state = self.new_state()
            self.add_arc(previous, octet, octet, state, origins)
            previous = state
        return Fragment(start, previous)

    def _compile_char_class(self, node: CharClass, origins: Origins) -> Fragment:
        edges = self._classes[node.ranges]
        start, end = self.new_state(), self.new_state()
        inner = {0: start, 1: end}
        for source, low, high, target in edges:
            if target not in inner:
                inner[target] = self.new_state()
            self.add_arc(inner[source], low, high, inner[target], origins)
        return Fragment(start, end)

    def _compile_byte_class(self, node: ByteClass, origins: Origins) -> Fragment:
        start, end = self.new_state(), self.new_state()
        for low, high in node.ranges:
            self.add_arc(start, low, high, end, origins)
        return Fragment(start, end)

    def _compile_other(self, node: Look | And | Not | Around, origins: Origins) -> Fragment:
        raise TypeError(f"{type(node).__name__}: resolve the expression first")

    def _compile_token(self, node: TokenTerminal, origins: Origins) -> Fragment:
        start, end = self.new_state(), self.new_state()
        symbol = FIRST_TERMINAL + node.index
        self.add_arc(start, symbol, symbol, end, origins)
        return Fragment(start, end)

    def _compile_seq(self, node: Seq) -> Generator[Node, Fragment, Fragment]:
        if not node.parts:
            state = self.new_state()
            return Fragment(state, state)
        first = previous = yield node.parts[0]
        for part in node.parts[1:]:
            current = yield part
            self.add_epsilon(previous.end, current.start)
            previous = current
        return Fragment(first.start, previous.end)

    def _compile_alt(self, node: Alt, origins: Origins) -> Generator[Node, Fragment, Fragment]:
        start = self.new_state()
        ends = []
        words = [(option.data, origins) for option in node.options if isinstance(option, Lit)]
        shares = len(words) >= MANY_WORDS
        if shares:
            ends.extend(self.add_trie(start, words))
        for option in node.options:
            if shares and isinstance(option, Lit):
                continue
            fragment = yield option
            self.add_epsilon(start, fragment.start)
            ends.append(fragment.end)
        end = self.new_state()
        for option_end in ends:
            self.add_epsilon(option_end, end)
        return Fragment(start, end)

    def add_trie(self, root: int, words: Sequence[tuple[bytes, Origins]]) -> list[int]:
        """The trie of ``words`` with its root at a state: an enumeration has as many subsets as
        that has nodes. An edge has the origins of the words below it. The state of each distinct
        word's end."""
        passing: dict[bytes, Origins | list[Origins]] = {}
        for word, origins in words:
            for end in range(1, len(word) + 1):
                before = passing.setdefault(word[:end], origins)
                if isinstance(before, list):
                    before.append(origins)
                elif before is not origins:
                    passing[word[:end]] = [before, origins]
        node_of = {b"": root}
        for text, parts in passing.items():  # A prefix stands before what it begins.
            node_of[text] = self.new_state()
            below = united(parts) if isinstance(parts, list) else parts
            self.add_arc(node_of[text[:-1]], text[-1], text[-1], node_of[text], below)
        return [node_of[word] for word in dict.fromkeys(word for word, _ in words)]

    def _compile_optional(self, node: Optional) -> Generator[Node, Fragment, Fragment]:
        start, end = self.new_state(), self.new_state()
        fragment = yield node.node
        self.add_epsilon(start, end)
        self.add_epsilon(start, fragment.start)
        self.add_epsilon(fragment.end, end)
        return Fragment(start, end)

    def _compile_repeat(self, node: Repeat) -> Generator[Node, Fragment, Fragment]:
        if node.text:
            self._parts.append(node.text)
        start = cursor = self.new_state()
        for _ in range(node.min_times):
            fragment = yield node.node
            self.add_epsilon(cursor, fragment.start)
            cursor = fragment.end
        end = self.new_state()
        if node.max_times is None:
            self.add_epsilon(cursor, end)
            fragment = yield node.node
            self.add_epsilon(cursor, fragment.start)
            self.add_epsilon(fragment.end, cursor)
        else:
            for _ in range(node.max_times - node.min_times):
                self.add_epsilon(cursor, end)
                fragment = yield node.node
                self.add_epsilon(cursor, fragment.start)
                cursor = fragment.end
            self.add_epsilon(cursor, end)
        if node.text:
            self._parts.pop()
        return Fragment(start, end)


def _outermost_part(node: Node, sizes: Mapping[int, Size]) -> str:
    """The outermost repetition, as its author wrote it, on the way to the largest parts."""
    while not (isinstance(node, Repeat | And | Not) and node.text):
        inside = [part for part in parts_of(node) if id(part) in sizes]
        if not inside:
            return ""
        node = max(inside, key=lambda part: sizes[id(part)])
    return node.text


def thompson(node: Node, limits: Limits | None = None) -> Nfa:
    """The NFA of an expression, by Thompson's construction. Raises ``LimitError``."""
    builder = Thompson(limits or Limits())
    return builder.finish(builder.compile(node))


def without_epsilon(node: Node) -> Node:
    """What ``node`` matches, without ε; ``NOTHING`` if that is all.

    ``(a* b?) -> a+ b? | b``

    In a sequence of nullable parts one of them is the first that is not ε, so a sequence of n
    becomes n sequences; elsewhere the size stays. Around assertions, intersections and
    complements, the longer texts are cut out instead: ``x & any byte+``.
    """
    if any(isinstance(part, And | Not | Look | Around) for part in walk(node)):
        return intersection(node, repeat(ByteClass(((0, 255),)), 1, None))
    nullable = nullable_inside(node)

    def inside(part: Node) -> Sequence[Node]:
        if id(part) not in nullable:
            return ()
        return _options(part) if isinstance(part, Alt | Optional) else parts_of(part)

    def longer(part: Node, inner: list[Node]) -> Node:
        if id(part) not in nullable:
            return part
        match part:
            case Seq():
                return alt(*(seq(p, *part.parts[i + 1 :]) for i, p in enumerate(inner)))
            case Repeat():
                return repeat(inner[0], 1, part.max_times)
            case Embedded():
                return _begun(part.automaton)
            case _:
                return alt(*inner)

    return fold(node, inside, longer)


def _begun(automaton: Nfa) -> Node:
    """The automaton without ε: it starts in a new state, which has read nothing yet."""
    closure = sorted(automaton.epsilon_closure({automaton.start}))
    first = [arc for state in closure for arc in automaton.arcs[state]]
    if not first:
        return NOTHING
    arcs, epsilon = [*automaton.arcs, first], [*automaton.epsilon, []]
    return Embedded(replace(automaton, arcs=arcs, epsilon=epsilon, start=automaton.states))


_CHOICES = Alt | Optional


def _options(node: Node) -> tuple[Node, ...]:
    """What ``node`` is a choice of, through all options inside options."""
    every = descended(node, lambda each: parts_of(each) if isinstance(each, _CHOICES) else ())
    return tuple(each for each in every if not isinstance(each, _CHOICES))
