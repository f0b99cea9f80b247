r"""Patterns that match no text become the expression of no text, which later passes know; those
that match the empty text alone become that of the empty text.

    #"a&b", #"\b", #"~.*"   ->   nothing
    #"a*&b*"               ->   ""

Only intersections, complements, assertions and automata (of exceptions) hide that: of all else
``regex_ir`` sees it when an expression is made.
"""

from dataclasses import replace

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.folding import fold
from ..automata.graphs import reached
from ..automata.thompson import thompson
from ..diagnostics import LimitError
from ..grammar.open_looks import check_looks
from ..grammar.tree import (
    Difference,
    Excluding,
    Expr,
    Grammar,
    Pattern,
    children,
    with_children,
)
from ..limits import Limits, blaming

_EXCLUDING = {Difference, Excluding}
_HIDING = (regex.And, regex.Not, regex.Look, regex.Around, regex.Embedded)


def without_exceptions(grammar: Grammar, limits: Limits, *, is_lexed: bool = False) -> Grammar:
    """A tree in which nothing is excluded or ignored any more, and patterns without members are
    known for it. Raises ``CheckError`` for look-around that only a lexer reads, unless one will."""
    if not is_lexed:
        check_looks(grammar, limits)
    if grammar.ignored:
        from .longest_ignored import weave_longest

        grammar = weave_longest(grammar, limits)
    if any(not rule.classes.isdisjoint(_EXCLUDING) for rule in grammar.rules):
        from .resolve_exclusions import resolve_exclusions

        grammar = resolve_exclusions(grammar, limits)
    return empty_patterns(grammar, limits)


def empty_patterns(grammar: Grammar, limits: Limits) -> Grammar:
    """The grammar with nothing in place of patterns without members.

    What is too large to be looked at stays as it is. Raises ``LimitError`` on time and resident
    memory.
    """
    hiding = [any(_hides(part.node) for part in rule.patterns) for rule in grammar.rules]
    if not any(hiding):
        return grammar
    rules = list(grammar.rules)
    for number in (i for i, hides in enumerate(hiding) if hides):
        rule = rules[number]
        with blaming([rule.name]):
            body = fold(rule.body, children, lambda expr, parts: _emptied(expr, parts, limits))
        rules[number] = rule if body is rule.body else replace(rule, body=body)
    return replace(grammar, rules=tuple(rules))


def _emptied(expr: Expr, parts: list[Expr], limits: Limits) -> Expr:
    if parts:
        same = all(new is old for new, old in zip(parts, children(expr), strict=True))
        return expr if same else with_children(expr, tuple(parts))
    if isinstance(expr, Pattern) and _hides(expr.node) and is_empty(expr.node, limits):
        return replace(expr, node=regex.NOTHING)
    if isinstance(expr, Pattern) and _hides(expr.node) and _is_epsilon(expr.node, limits):
        return replace(expr, node=regex.EPSILON)
    return expr


def _hides(node: regex.Node) -> bool:
    return any(isinstance(part, _HIDING) for part in regex.walk(node))


def _is_epsilon(node: regex.Node, limits: Limits) -> bool:
    """Whether an expression with members matches the empty text alone; no as in ``is_empty``."""
    if isinstance(node, regex.Embedded) or not regex.is_nullable(node):
        return False
    from ..lazy_dfa.expression import is_text

    one = regex.ANY_CHARACTER if is_text(node) else regex.ByteClass(((0, 255),))
    return is_empty(regex.intersection(node, regex.repeat(one, 1, None)), limits)


def is_empty(node: regex.Node, limits: Limits) -> bool:
    """Whether an expression matches no text; no also means too large to be looked at.

    A member of an intersection or a complement is looked for state by state: what all have together
    may be too large to be built.
    """
    from ..lazy_dfa.conjunctions import operation_of
    from ..lazy_dfa.expression import is_operation, is_text

    try:
        if is_operation(node) and is_text(node):
            operation = operation_of(node, limits)
            if operation is not None:
                return not operation.conjunctions
        if isinstance(node, regex.Embedded):
            nfa = node.automaton
        else:
            nfa = thompson(resolved(node, limits), limits)
    except LimitError as error:
        if error.is_measured:
            raise
        return False
    return not any(state in nfa.finals for state in reached([nfa.start], nfa.targets))
