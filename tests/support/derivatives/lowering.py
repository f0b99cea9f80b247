"""Lower the regex IR, whose classes hold code points, to hash-consed expressions over bytes.

A class of code points becomes the expression of its UTF-8 automaton, inside out: lead bytes
with the same continuations share one expression for these.
"""

from constrain.compiler.automata import utf8
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.folding import fold
from constrain.compiler.automata.nfa import FIRST_TERMINAL, Nfa
from constrain.compiler.automata.regex_ir import (
    EVERYTHING,
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
    looks,
    parts_of,
)
from constrain.compiler.automata.utf8 import CodePoints
from constrain.compiler.limits import Limits

from .byte_expressions import EPSILON, NONE, Expressions, Id


def lowered(node: Node, build: Expressions, limits: Limits) -> Id:
    """The expression of a node. Raises ``LimitError``.

    Assertions look at what is around them, which derivatives do not have: an expression with
    one is resolved first, as it is for Thompson's construction.
    """
    if looks(node):
        node = resolved(node, limits)
    return _Lowering(build, limits).of(node)


class _Lowering:
    def __init__(self, build: Expressions, limits: Limits) -> None:
        self._build = build
        self._limits = limits
        self._classes: dict[CodePoints, Id] = {}
        self._texts: Id | None = None

    def of(self, node: Node) -> Id:
        return fold(node, parts_of, self._node)

    def _node(self, node: Node, parts: list[Id]) -> Id:
        build = self._build
        match node:
            case Lit(data):
                return self._sequence([build.symbols(1 << octet) for octet in data])
            case CharClass(ranges):
                if ranges not in self._classes:
                    self._classes[ranges] = self._char_class(ranges)
                return self._classes[ranges]
            case ByteClass(ranges):
                return build.symbols(sum(_mask(low, high) for low, high in ranges))
            case TokenTerminal(index):
                return build.symbols(1 << (FIRST_TERMINAL + index))
            case Embedded(automaton):
                return self._embedded(automaton)
            case Seq():
                return self._sequence(parts)
            case Alt():
                return build.alt(parts)
            case Optional():
                return build.alt([EPSILON, *parts])
            case Repeat(_, low, high, text):
                if text:
                    build.texts.setdefault(parts[0], text)
                return build.rep(parts[0], low, high)
            case And():
                return build.intersection(parts)
            case Not():
                # The complement is that within valid UTF-8.
                if self._texts is None:
                    self._texts = self.of(EVERYTHING)
                return build.intersection([self._texts, build.negation(parts[0])])
            case Look() | Around():
                raise TypeError("an assertion in an expression without one")

    def _sequence(self, parts: list[Id]) -> Id:
        result = EPSILON
        for part in reversed(parts):
            result = self._build.seq(part, result)
        return result

    def _char_class(self, ranges: CodePoints) -> Id:
        """Bottom up: node 1 is the end, and edges lead to nodes that are finished earlier."""
        masks: dict[int, dict[int, int]] = {}
        for source, low, high, target in utf8.automaton(ranges):
            of_target = masks.setdefault(source, {})
            of_target[target] = of_target.get(target, 0) | _mask(low, high)
        done = {1: EPSILON}
        pending = [0]
        while pending:
            node = pending[-1]
            missing = [target for target in masks.get(node, ()) if target not in done]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            if node not in done:
                done[node] = self._build.alt(
                    self._build.seq(self._build.symbols(mask), done[target])
                    for target, mask in masks.get(node, {}).items()
                )
        return done[0]

    def _embedded(self, automaton: Nfa) -> Id:
        terminals = self._build.width - FIRST_TERMINAL
        dfa = determinize(automaton, self._limits, terminals)
        if dfa.is_empty:
            return NONE
        self._build.dfas.append(dfa)
        return self._build.at(len(self._build.dfas) - 1, dfa.start)


def _mask(low: int, high: int) -> int:
    return (1 << (high + 1)) - (1 << low)
