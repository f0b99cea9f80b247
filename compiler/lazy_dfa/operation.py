"""The conjunctions of a grammar that is an intersection or a complement, or whose DFA grows."""

from dataclasses import replace

from ..automata import regex_ir as regex
from ..diagnostics import LimitError
from ..grammar.tree import Grammar
from ..limits import Limits, blaming
from .conjunctions import Operation, operation_of
from .expression import expression_of, expression_of_rule
from .growth import grows, may_count


def operation_in(grammar: Grammar, limits: Limits) -> Operation | None:
    """The conjunctions; None for other grammars, for one without a member, which is refused where
    that is said of any grammar, and beyond a limit of counts. Raises ``LimitError`` on time and
    resident memory."""
    node = expression_of(grammar)
    return None if node is None else _operation(node, grammar.start, limits)


def any_operation_in(grammar: Grammar, limits: Limits) -> Operation | None:
    """The same of any regular grammar, however small its DFA may be."""
    return operation_in(grammar, limits) or growing_operation_in(grammar, 0, limits)


def growing_operation_in(grammar: Grammar, most: int, limits: Limits) -> Operation | None:
    """That of a regular grammar that is no operation, if its DFA has more than ``most`` states
    and many times those of its NFA (``growth``)."""
    if grammar.tokens or grammar.ignored:
        return None
    if most and not may_count(grammar.rules):
        return None
    return growing_operation_of(grammar, grammar.start, most, limits)


def growing_operation_of(
    grammar: Grammar, rule: str, most: int, limits: Limits
) -> Operation | None:
    """The same of one rule."""
    node = expression_of_rule(grammar, rule)
    with blaming([rule]):
        if node is None or not grows(node, most, limits):
            return None
    found = _operation(node, rule, limits)
    return None if found is None else replace(found, what="the automaton")


def _operation(node: regex.Node, rule: str, limits: Limits) -> Operation | None:
    try:
        with blaming([rule]):
            found = operation_of(node, limits)
    except LimitError as error:
        if error.is_measured:
            raise
        # What is built may be small, though a member of it is not found so.
        return None
    return found if found is not None and found.conjunctions else None
