"""The tree of a grammar as one regular expression, where that is an operation on others.

host ::= labels - too_long     ->     labels & ~too_long
"""

from collections.abc import Mapping, Sequence

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..automata.graphs import components_by, descended, reached
from ..grammar.tree import (
    Choice,
    Difference,
    Excluding,
    Expr,
    Grammar,
    Pattern,
    Permutation,
    Reference,
    Rule,
    Token,
    children,
    references,
    regex_of,
)

# Dialects whose grammars need not be looked at.
_WITHOUT_OPERATIONS = frozenset({"gbnf", "lark", "regex", "regex-plain", "tools"})

_OPERATIONS = (regex.And, regex.Not)
_EXCEPTIONS = {Difference, Excluding}


def expression_of(grammar: Grammar) -> regex.Node | None:
    """The expression of the members; None if that is no operation, if rules recur, and where
    tokens, ignored text or bytes that are no text are read."""
    if grammar.tokens or grammar.ignored or not may_operate(grammar):
        return None
    bodies = bodies_of(grammar)
    if not _is_operation(bodies[grammar.start], bodies):
        return None
    return expression_of_rule(grammar, grammar.start)


def expression_of_rule(grammar: Grammar, name: str) -> regex.Node | None:
    """The same of any rule, whether that is an operation or not."""
    return expression_in(bodies_of(grammar), name)


def expression_in(
    bodies: Mapping[str, Sequence[Rule]], name: str, done: dict[str, regex.Node] | None = None
) -> regex.Node | None:
    """The same of a rule among others, by their names. ``done``: of rules where it was found."""
    found = _joined(name, bodies, {} if done is None else done)
    return found if found is not None and is_text(found) else None


def bodies_of(grammar: Grammar) -> dict[str, list[Rule]]:
    """The rules of each name."""
    bodies: dict[str, list[Rule]] = {}
    for rule in grammar.rules:
        bodies.setdefault(rule.name, []).append(rule)
    return bodies


def may_operate(grammar: Grammar) -> bool:
    """Whether intersections, complements or exceptions stand in a grammar."""
    if grammar.source.dialect in _WITHOUT_OPERATIONS:
        return False
    return any(
        not rule.classes.isdisjoint(_EXCEPTIONS)
        or any(isinstance(n, _OPERATIONS) for part in rule.patterns for n in regex.walk(part.node))
        for rule in grammar.rules
    )


def _is_operation(rules: Sequence[Rule], bodies: Mapping[str, Sequence[Rule]]) -> bool:
    """Whether an intersection or a complement stands in no sequence and no repetition."""

    def ways(expr: Expr) -> Sequence[Expr]:
        match expr:
            case Choice(options):
                return options
            case Reference(name):
                return [rule.body for rule in bodies.get(name, ())]
            case _:
                return ()

    return any(
        is_operation(each.node)
        if isinstance(each, Pattern)
        else isinstance(each, Difference | Excluding)
        for each in reached([rule.body for rule in rules], ways)
    )


def is_operation(node: regex.Node) -> bool:
    """The same of an expression."""
    choices = regex.Alt | regex.Optional
    every = descended(node, lambda each: regex.parts_of(each) if isinstance(each, choices) else ())
    return any(isinstance(each, _OPERATIONS) for each in every)


def _joined(
    start: str, bodies: Mapping[str, Sequence[Rule]], done: dict[str, regex.Node]
) -> regex.Node | None:
    """The expression of a rule, those that it uses first; None if one uses itself."""

    def used(name: str) -> set[str]:
        return {use.name for rule in bodies[name] for use in references(rule.body)} - done.keys()

    uses = {name: used(name) for name in reached([start], used)}
    for members in components_by(uses):
        name = members[0]
        if not uses[name].isdisjoint(members):
            return None
        parts = [fold(rule.body, children, lambda e, p: _node(e, p, done)) for rule in bodies[name]]
        if any(part is None for part in parts):
            return None
        done[name] = regex.alt(*(part for part in parts if part is not None))
    return done[start]


def _node(
    expr: Expr, parts: list[regex.Node | None], done: Mapping[str, regex.Node]
) -> regex.Node | None:
    inside = [part for part in parts if part is not None]
    if len(inside) < len(parts):
        return None
    match expr:
        case Reference(name):
            return done[name]
        case Token() | Permutation():
            return None
        case Difference():
            return regex.intersection(inside[0], regex.negation(inside[1]))
        case Excluding(_, at_most):
            if regex.is_nullable(inside[0]):
                return None
            containing = regex.seq(regex.EVERYTHING, inside[0], regex.EVERYTHING)
            some = regex.repeat(regex.ANY_CHARACTER, 1, at_most)
            return regex.intersection(some, regex.negation(containing))
        case _:
            return regex_of(expr, inside)


def is_text(node: regex.Node) -> bool:
    """Whether all parts match well-formed UTF-8 alone; complements are within that."""
    for part in regex.walk(node):
        match part:
            case regex.ByteClass() | regex.TokenTerminal():
                return False
            case regex.Lit(data):
                try:
                    data.decode("utf-8")
                except UnicodeDecodeError:
                    return False
    return True
