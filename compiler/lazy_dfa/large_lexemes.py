"""Terminals whose automata are too large to be built, as conjunctions that are walked lazily.

    /[a-z]{1,5000}/        ->   [a-z]*, of 1 to 5,000 characters
    /"[^"]{0,1000}"/       ->   "[^"]*", of 2 to 1,002 characters
    text - too_long        ->   text, and not too_long

Their states are made while decoding (``constrain.artifacts.lazy_lexer``). What stands for them in
the tables of all lexemes reads their first byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from constrain.artifacts.dfa.conjunctions import Conjunction
from constrain.artifacts.dfa.lazy_reader import Reader
from constrain.artifacts.dfa.walked import Walked
from constrain.artifacts.lazy_lexer.check import MOST_THREADS
from constrain.artifacts.tokens.memo import Numbered, memoised

from ..automata import regex_ir as regex
from ..automata.dfa import DEAD, Dfa
from ..automata.folding import fold
from ..automata.minimize import minimize
from ..diagnostics import LimitError
from ..grammar import tree
from ..limits import Limits, blaming
from .conjunctions import Operation, operation_of, searching
from .expression import bodies_of, expression_in, is_text
from .joined_characters import with_joined_characters
from .signed_parts import repeated_character

_PART = "(part)"

# Alternatives in alternatives, deeper than anyone writes.
_DEEPEST = 50


@dataclass(eq=False)
class LargeLexemes:
    """``most_states``: of an automaton that is built."""

    grammar: tree.Grammar
    limits: Limits
    most_states: int

    def __post_init__(self) -> None:
        self._threads = 0
        self._bodies = bodies_of(self.grammar)

    @property
    def few(self) -> Limits:
        """The limits within which an automaton is built without a look at other ways."""
        return self.limits.within(self.most_states)

    def seen(self, expr: tree.Expr) -> Operation | None:
        """The conjunctions of a terminal that is seen to be large; None for all others."""
        node = self._node(expr)
        return self._of(node) if node is not None and self._may_be_large(node) else None

    def tried(self, expr: tree.Expr) -> Operation | None:
        """The same of one whose automaton has too many states."""
        node = self._node(expr)
        is_long = node is not None and any(map(_is_repeated_or_operation, regex.walk(node)))
        return self._of(node) if node is not None and is_long else None

    def without_exceptions(self) -> tree.Grammar:
        """The grammar in which those exceptions are patterns whose automata are large."""
        rules = []
        for rule in self.grammar.rules:
            if any(
                isinstance(part, tree.Difference | tree.Excluding) for part in tree.walk(rule.body)
            ):
                with blaming([rule.name]):
                    body = fold(rule.body, _outside, self._replaced)
                rule = rule if body is rule.body else replace(rule, body=body)
            rules.append(rule)
        return replace(self.grammar, rules=tuple(rules))

    def _replaced(self, expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
        if isinstance(expr, tree.Difference | tree.Excluding):
            node = self._node(expr)
            if node is None or self._of(node) is None:
                return expr
            text = self.grammar.source.text[expr.span.start : expr.span.end]
            return tree.Pattern(node, text, expr.span)
        same = all(new is old for new, old in zip(parts, tree.children(expr), strict=True))
        return expr if same else tree.with_children(expr, tuple(parts))

    def _node(self, expr: tree.Expr) -> regex.Node | None:
        """The expression of a terminal."""
        seen = set[str]()
        while isinstance(expr, tree.Reference) and expr.name not in seen:
            seen.add(expr.name)
            if len(bodies := self._bodies[expr.name]) > 1:
                break
            expr = bodies[0].body
        if isinstance(expr, tree.Literal):
            return None
        if isinstance(expr, tree.Pattern):
            return expr.node if is_text(expr.node) else None
        self._bodies[_PART] = [tree.Rule(_PART, expr.span, expr, expr.span)]
        return expression_in(self._bodies, _PART)

    def _may_be_large(self, node: regex.Node) -> bool:
        parts = list(regex.walk(node))
        if any(isinstance(part, regex.And | regex.Not) for part in parts):
            return True
        if not any(isinstance(part, regex.Repeat) for part in parts):
            return False
        return fold(node, regex.parts_of, _copies) > self.most_states

    @memoised
    def _of(self, node: regex.Node) -> Operation | None:
        try:
            found = operation_of(_bounded(with_joined_characters(node)), self.limits)
        except LimitError as error:
            if error.is_measured:
                raise
            return None
        if found is None or found.states <= self.most_states or not found.conjunctions:
            return None
        gains = any(each.operands or each.least > 1 or each.most > 0 for each in found.conjunctions)
        threads = self._threads + len(found.conjunctions)
        if not gains or threads > MOST_THREADS:
            return None
        self._threads = threads
        return found


def _is_repeated_or_operation(node: regex.Node) -> bool:
    """Whether a node may stand for more states than are written."""
    return isinstance(node, regex.And | regex.Not | regex.Repeat)


def _outside(expr: tree.Expr) -> tuple[tree.Expr, ...]:
    """The expressions inside one that is no exception."""
    return () if isinstance(expr, tree.Difference | tree.Excluding) else tree.children(expr)


def _copies(node: regex.Node, parts: list[int]) -> int:
    """About how many states an NFA has."""
    match node:
        case regex.Lit(data):
            return len(data)
        case regex.Repeat(_, low, high):
            return parts[0] * max(low, high or 1, 1)
        case regex.Embedded():
            return 0
    return sum(parts) or 1


def _bounded(node: regex.Node, depth: int = 0) -> regex.Node:
    """The same members, where one repetition of a character is what makes a sequence long: all of
    any such length, within bounds of the length."""
    match node:
        case regex.Alt(options) if depth < _DEEPEST:
            return regex.Alt(tuple(_bounded(option, depth + 1) for option in options))
        case regex.Optional(inner) if depth < _DEEPEST:
            return regex.Optional(_bounded(inner, depth + 1))
        case regex.Repeat() if repeated_character(node) is not None:
            length = regex.Repeat(regex.ANY_CHARACTER, node.min_times, node.max_times)
            return regex.And((regex.Repeat(node.node, 0, None), length))
        case regex.Seq(parts):
            bounds = [repeated_character(part) for part in parts]
            lengths = [_length(p) for p, bound in zip(parts, bounds, strict=True) if bound is None]
            long = [i for i, bound in enumerate(bounds) if bound is not None]
            if len(long) != 1 or None in lengths:
                return node
            repeated = bounds[long[0]]
            assert repeated is not None
            low, high = repeated.min_times, repeated.max_times
            others = sum(length for length in lengths if length is not None)
            any_times = regex.Repeat(repeated.node, 0, None)
            free = regex.seq(*parts[: long[0]], any_times, *parts[long[0] + 1 :])
            most = None if high is None else high + others
            return regex.And((free, regex.Repeat(regex.ANY_CHARACTER, low + others, most)))
    return node


def _length(node: regex.Node, depth: int = 0) -> int | None:
    """How many characters all members have; None if that is not seen."""
    if depth > _DEEPEST:
        return None
    match node:
        case regex.Lit(data):
            return len(data.decode("utf-8"))
        case regex.CharClass():
            return 1
        case regex.Seq(parts):
            lengths = [_length(part, depth + 1) for part in parts]
            return None if None in lengths else sum(n for n in lengths if n is not None)
        case regex.Alt(options) if options:
            lengths = [_length(option, depth + 1) for option in options]
            return lengths[0] if len(set(lengths)) == 1 else None
        case regex.Repeat(inner, low, high) if low == high:
            length = _length(inner, depth + 1)
            return None if length is None else low * length
    return None


def first_bytes(conjunctions: Sequence[Conjunction], limits: Limits) -> Dfa:
    """What stands for a lexeme in the tables of all: it reads the first byte of its members. Raises
    ``LimitError``."""
    table = np.zeros((3, 256), dtype=np.int32)
    with searching(limits) as watch:
        for each in conjunctions:
            walked = Walked(each, watch=watch)
            for octet in range(256):
                reached = walked.read(*walked.first, bytes([octet]))
                if reached is not None and walked.is_live(*reached):
                    table[1, octet] = 2
    accepting = np.array([False, False, True])
    origins = (frozenset[int](),) * 3
    return minimize(Dfa(table, np.arange(256, dtype=np.uint8), accepting, 1, origins))


def reads_all(dfa: Dfa, operation: Operation, limits: Limits) -> bool:
    """Whether conjunctions match all that a DFA of finitely many texts does. Raises
    ``LimitError``."""
    with searching(limits) as watch:
        reader = Reader(operation.conjunctions, watch=watch)
        places = Numbered([(dfa.start, reader.start)])
        for state, threads in places:
            if dfa.accepting[state] and not reader.accepts(threads):
                return False
            for octet, target in enumerate(dfa.table[state][dfa.classes].tolist()):
                if target == DEAD:
                    continue
                reached = target, reader.read(threads, bytes([octet]))
                if not reached[1]:
                    return False
                places.number(reached)
            watch(1, 0)
    return True


def key_of(operation: Operation) -> tuple[object, ...]:
    """Equal for conjunctions that are the same."""
    return tuple(
        (
            *(each.table.tobytes(), each.classes.tobytes(), each.accepting.tobytes()),
            *(each.start, each.least, each.most),
            *((o.excludes, o.offsets.tobytes(), o.targets.tobytes()) for o in each.operands),
        )
        for each in operation.conjunctions
    )
