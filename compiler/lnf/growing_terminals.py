"""Terminals inside a grammar whose automata are too large become symbols.

    url ::= "https://" host    ->    url ::= "https://" <terminal 0>

The symbols are token terminals of the tree, in whose place the network calls lazy DFAs. One that
matches the empty text, which no call may, is optional there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from constrain.artifacts.dfa.conjunctions import Conjunction

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..diagnostics import Span
from ..grammar import tree
from ..grammar.productive import used_rules
from ..lazy_dfa.conjunctions import Operation, is_nullable, operation_of, without_empty
from ..lazy_dfa.expression import (
    bodies_of,
    expression_in,
    expression_of_rule,
    is_operation,
    is_text,
    may_operate,
)
from ..lazy_dfa.growth import grows, may_count, may_grow
from ..lazy_dfa.operation import growing_operation_in, growing_operation_of, operation_in
from ..limits import Limits, blaming
from ..thresholds import MANY
from .empty_patterns import empty_patterns
from .resolve_exclusions import resolve_exclusions

_PART = "(part)"


@dataclass(frozen=True, slots=True, eq=False)
class LazyTerminals:
    """``grammar``: the tree with symbols, without exceptions. ``terminals``: what these stand
    for."""

    grammar: tree.Grammar
    terminals: Sequence[Operation]

    @property
    def conjunctions(self) -> tuple[Conjunction, ...]:
        """Those of all terminals, in order."""
        return tuple(each for terminal in self.terminals for each in terminal.conjunctions)


def lazy_terminals(grammar: tree.Grammar, limits: Limits, most: int) -> LazyTerminals | None:
    """The grammar with symbols in place of terminals whose automata have more than ``most`` states,
    or grow beyond them; None if there are none. Raises ``LimitError``."""
    operates = may_operate(grammar)
    is_schema = grammar.source.dialect == "json-schema"
    counts = not is_schema and (not most or may_count(grammar.rules))
    if grammar.tokens or grammar.ignored or not (operates or counts):
        return None
    replacing = _Replacing(grammar, limits, most, {})
    rules = []
    for rule in grammar.rules:
        # Most rules have none, and a look takes less time than to make them again.
        if not counts and not any(map(_may_hold, tree.walk(rule.body))):
            rules.append(rule)
            continue
        with blaming([rule.name]):
            body = fold(rule.body, _inside, replacing.replaced)
        rules.append(rule if body is rule.body else replace(rule, body=body))
    if counts:
        rules = _growing_replaced(replace(grammar, rules=tuple(rules)), replacing)
    found = replacing.found
    if not found:
        return None
    if is_schema:
        rules = _lengths_replaced(replace(grammar, rules=tuple(rules)), replacing)
    return replacing.done(rules)


def alone(grammar: tree.Grammar, operation: Operation, limits: Limits) -> LazyTerminals:
    """A grammar that is one such terminal."""
    replacing = _Replacing(grammar, limits, 0, {})
    (rule, *_) = (rule for rule in grammar.rules if rule.name == grammar.start)
    symbol = replacing.symbol(operation, rule.span, alone=True)
    return replacing.done([replace(rule, body=symbol)])


def _growing_replaced(grammar: tree.Grammar, replacing: "_Replacing") -> list[tree.Rule]:
    """The rules, those whose automata grow as symbols; the smaller first, which others use."""
    rules, found = list(grammar.rules), len(replacing.found)
    sizes, growing = {}, set[str]()
    bodies, done = bodies_of(grammar), dict[str, regex.Node]()
    for name in used_rules(rules, [grammar.start]):
        node = expression_in(bodies, name, done)
        if node is not None:
            sizes[name] = sum(1 for _ in regex.walk(node))
            if may_grow(node, replacing.most):
                growing.add(name)
    for name in sorted(sizes, key=lambda name: sizes[name]):
        if name == grammar.start and not replacing.found:
            # Of the grammar as a whole that is asked before.
            continue
        if name not in growing and len(replacing.found) == found:
            # Rules that name symbols by now are other expressions.
            continue
        operation = growing_operation_of(grammar, name, replacing.most, replacing.limits)
        if operation is not None:
            place = next(i for i, rule in enumerate(rules) if rule.name == name)
            rule = rules[place]
            body = replacing.symbol(operation, rule.span)
            others = [rule for rule in rules if rule.name != name]
            rules = [*others[:place], replace(rule, body=body), *others[place:]]
            grammar = replace(grammar, rules=tuple(rules))
    return rules


def _lengths_replaced(grammar: tree.Grammar, replacing: "_Replacing") -> list[tree.Rule]:
    """The rules, those of strings of many characters as symbols, too."""
    rules = []
    for rule in grammar.rules:
        body = rule.body
        if rule.terminal and isinstance(body, tree.Sequence):
            repeated = [part for part in body.items if isinstance(part, tree.Repetition)]
            if any(max(part.min_times, part.max_times or 0) >= MANY for part in repeated):
                node = expression_of_rule(grammar, rule.name)
                operation = None if node is None else operation_of(node, replacing.limits)
                if operation is not None and not any(c.operands for c in operation.conjunctions):
                    body = replacing.symbol(operation, rule.span)
        rules.append(replace(rule, body=body))
    return rules


def _may_hold(expr: tree.Expr) -> bool:
    """Whether an expression is an operation, or a pattern with one inside."""
    if isinstance(expr, tree.Pattern):
        return any(isinstance(part, regex.And | regex.Not) for part in regex.walk(expr.node))
    return isinstance(expr, tree.Difference | tree.Excluding)


def _inside(expr: tree.Expr) -> tuple[tree.Expr, ...]:
    """The expressions inside one that is no operation."""
    return () if isinstance(expr, tree.Difference | tree.Excluding) else tree.children(expr)


@dataclass(frozen=True, slots=True, eq=False)
class _Replacing:
    grammar: tree.Grammar
    limits: Limits
    most: int
    found: dict[str, Operation]

    def replaced(self, expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
        """The expression around ``parts``; a large operation becomes a symbol."""
        if parts:
            same = all(new is old for new, old in zip(parts, tree.children(expr), strict=True))
            return expr if same else tree.with_children(expr, tuple(parts))
        if isinstance(expr, tree.Pattern) and not is_operation(expr.node):
            if _holds_operation(expr.node):
                return self._divided(expr)
            is_large = is_text(expr.node) and grows(expr.node, self.most, self.limits)
            return self._symbol_of(expr) if is_large else expr
        if not isinstance(expr, tree.Pattern | tree.Difference | tree.Excluding):
            return expr
        operation = operation_in(self._with(expr), self.limits)
        if operation is None or operation.states <= self.most:
            return expr
        return self.symbol(operation, expr.span)

    def _symbol_of(self, pattern: tree.Pattern) -> tree.Expr:
        operation = growing_operation_in(self._with(pattern), self.most, self.limits)
        return pattern if operation is None else self.symbol(operation, pattern.span)

    def done(self, rules: Sequence[tree.Rule]) -> LazyTerminals:
        """The grammar of rules in which all symbols stand."""
        limits = self.limits
        tokens = tuple(tree.Token(name, (), False, rules[0].span) for name in self.found)
        left = replace(self.grammar, rules=tuple(rules), tokens=tokens)
        left = empty_patterns(resolve_exclusions(left, limits), limits)
        return LazyTerminals(left, tuple(self.found.values()))

    def _with(self, expr: tree.Expr) -> tree.Grammar:
        """The grammar, beginning with an expression."""
        part = tree.Rule(_PART, expr.span, expr, expr.span)
        return replace(self.grammar, rules=(*self.grammar.rules, part), start=_PART)

    def symbol(self, operation: Operation, span: Span, *, alone: bool = False) -> tree.Expr:
        """What stands in the place of an operation, which is noted. ``alone``: nothing beside it;
        then it may match the empty text, too."""
        name = f"terminal {len(self.found)}"
        self.found[name] = operation if alone else without_empty(operation, self.limits)
        symbol = tree.Token(name, (), False, span)
        return tree.Repetition(symbol, 0, 1, span) if is_nullable(operation) else symbol

    def _divided(self, pattern: tree.Pattern) -> tree.Expr:
        """A pattern with an operation inside as sequences and alternatives around that."""
        before = len(self.found)
        expr = fold(pattern.node, _outside, lambda node, parts: _expr(node, parts, pattern.span))
        divided = fold(expr, _inside, self.replaced)
        return pattern if len(self.found) == before else divided


def _holds_operation(node: regex.Node) -> bool:
    """Whether an operation is inside, and no assertion, which would look beyond a part."""
    if regex.looks(node):
        return False
    return any(isinstance(part, regex.And | regex.Not) for part in regex.walk(node))


def _outside(node: regex.Node) -> tuple[regex.Node, ...]:
    """The parts of a node around an operation."""
    if isinstance(node, regex.And | regex.Not) or not _holds_operation(node):
        return ()
    return regex.parts_of(node)


def _expr(node: regex.Node, parts: list[tree.Expr], span: Span) -> tree.Expr:
    match node:
        case regex.Seq() if parts:
            return tree.Sequence(tuple(parts), span)
        case regex.Alt() if parts:
            return tree.Choice(tuple(parts), span)
        case regex.Optional() if parts:
            return tree.Repetition(parts[0], 0, 1, span)
        case regex.Repeat(_, low, high) if parts:
            return tree.Repetition(parts[0], low, high, span)
    return tree.Pattern(node, "", span)
