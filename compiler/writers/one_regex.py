"""Write a regular grammar as one regular expression that matches the whole text.

    pair ::= key "=" key;   key ::= #"[a-z]+";     ->     [a-z]+=[a-z]+

Where rules stand inside others they are written out. A rule that uses itself, and what exists as
an automaton only (exceptions, substrings), goes through its minimal DFA and ``eliminate_states``.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.dfa import Dfa
from ..automata.eliminate_states import NotTextError, TooLongError, eliminate_states
from ..automata.folding import fold
from ..automata.graphs import components_by, on_cycles, reached
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..diagnostics import CheckError, Diagnostic, Span
from ..grammar import tree
from ..grammar.productive import uses_of
from ..limits import Limits
from ..lnf import normalize
from ..lnf.automaton import to_nfa
from ..lnf.resolve_exclusions import resolve_exclusions
from .printer import NoCounterpart, WriterError, node_text
from .regex import RegexStyle

Made = TypeVar("Made")

# About as many characters as an expression may have.
LONGEST = 1_000_000


def write_regex(
    grammar: tree.Grammar, limits: Limits | None = None, *, longest: int = LONGEST
) -> str:
    """The grammar as one expression and a line break.

    Raises ``NotRegularError``, ``WriterError`` where the expression would have more than about
    ``longest`` characters or a member is no UTF-8 text, and ``LimitError``.
    """
    limits = (limits or Limits()).started()
    return _Inlining(resolve_exclusions(grammar, limits), limits, longest).text() + "\n"


class _Inlining:
    """The expressions of a grammar's rules, and how long they become."""

    def __init__(self, grammar: tree.Grammar, limits: Limits, longest: int) -> None:
        self._grammar = grammar
        self._limits = limits
        self._longest = longest
        self._rules: dict[str, list[tree.Rule]] = {}
        for rule in grammar.rules:
            self._rules.setdefault(rule.name, []).append(rule)
        self._nodes: dict[str, regex.Node] = {}
        self._sizes: dict[str, int] = {}

    def text(self) -> str:
        """The expression of the start rule."""
        for name, recursive in self._in_order():
            rule = self._rules[name][0]
            if recursive:
                made = self._at(rule.name_span, partial(self._recursive, name))
                self._note(name, made, _length(made), rule.name_span)
                continue
            bodies = self._rules[name]
            size = sum(fold(r.body, tree.children, self._size) for r in bodies)
            self._note(name, regex.EPSILON, size, rule.name_span)
            self._nodes[name] = regex.alt(
                *(fold(r.body, tree.children, self._node) for r in bodies)
            )
        start = self._rules[self._grammar.start][0]
        node = self._nodes[self._grammar.start]
        if node is regex.NOTHING:
            raise self._error("no finite text matches this", start.name_span)
        return self._at(start.name_span, lambda: node_text(node, RegexStyle()).text)

    def _in_order(self) -> list[tuple[str, bool]]:
        """The rules that are written, those that others use first; whether they are recursive.

        What a recursive rule uses is part of its automaton.
        """
        uses = uses_of(self._grammar.rules)
        recursive = {name for members in on_cycles(uses) for name in members}
        start = self._grammar.start
        wanted = set(reached([start], lambda name: () if name in recursive else uses[name]))
        order = (name for members in components_by(uses) for name in members if name in wanted)
        return [(name, name in recursive) for name in order]

    def _note(self, name: str, node: regex.Node, size: int, span: Span) -> None:
        if size > self._longest:
            raise self._too_long(span)
        self._nodes[name], self._sizes[name] = node, size

    def _size(self, expr: tree.Expr, inside: list[int]) -> int:
        match expr:
            case tree.Literal():
                return len(expr.data)
            case tree.Reference():
                return self._sizes[expr.name]
            case tree.Pattern():
                return _length(expr.node)
            case _:
                return sum(inside) + 1

    def _node(self, expr: tree.Expr, inside: list[regex.Node]) -> regex.Node:
        match expr:
            case tree.Reference():
                return self._nodes[expr.name]
            case tree.Pattern():
                node = self._alone(expr)
                return self._at(expr.span, lambda: fold(node, regex.parts_of, self._spelled))
            case tree.Token():
                raise self._error("a regex has no token terminals", expr.span)
            case tree.Permutation():
                message = f"the orders of {len(expr.parts)} parts are too many to be written"
                raise self._error(message, expr.span)
            case _:
                return tree.regex_of(expr, inside)

    def _alone(self, pattern: tree.Pattern) -> regex.Node:
        """A pattern whose assertions look at its own text, wherever it is put."""
        if len(self._grammar.rules) == 1 and self._grammar.rules[0].body is pattern:
            operations = (regex.And, regex.Not)
            if not any(isinstance(node, operations) for node in regex.walk(pattern.node)):
                return pattern.node
        return resolved(pattern.node, self._limits)

    def _spelled(self, node: regex.Node, inside: list[regex.Node]) -> regex.Node:
        """A node without automata in it."""
        if not isinstance(node, regex.Embedded):
            return regex.with_parts(node, inside)
        return self._eliminated(minimize(determinize(thompson(node, self._limits), self._limits)))

    def _recursive(self, name: str) -> regex.Node:
        try:
            lnf = normalize(replace(self._grammar, start=name), self._limits)
        except CheckError:
            return regex.NOTHING  # Its recursion does not end.
        nfa, _ = to_nfa(lnf, self._limits)
        return self._eliminated(minimize(determinize(nfa, self._limits), self._limits))

    def _eliminated(self, dfa: Dfa) -> regex.Node:
        if dfa.table.shape[1] > dfa.byte_columns:
            raise NoCounterpart("a regular expression has no tokens")
        return eliminate_states(dfa, self._longest, self._limits)

    def _at(self, span: Span, make: Callable[[], Made]) -> Made:
        """What ``make`` makes; its complaints are about ``span``."""
        try:
            return make()
        except NoCounterpart as reason:
            raise self._error(str(reason), span) from None
        except NotTextError:
            raise self._error("this matches bytes that are no UTF-8 text", span) from None
        except TooLongError:
            raise self._too_long(span) from None

    def _too_long(self, span: Span) -> WriterError:
        message = f"as one regular expression this has more than {self._longest:,} characters"
        return self._error(message, span)

    def _error(self, message: str, span: Span) -> WriterError:
        return WriterError(self._grammar.source, [Diagnostic(message, span)])


def _length(node: regex.Node) -> int:
    """About how many characters a node's text has."""

    def size(part: regex.Node, inside: list[int]) -> int:
        match part:
            case regex.Lit():
                return len(part.data)
            case regex.CharClass():
                return 2 + 3 * len(part.ranges)
            case regex.Embedded():
                return part.automaton.states
            case _:
                return sum(inside) + 2

    return fold(node, regex.parts_of, size)
