"""The conjunctions of a grammar that is an intersection or a complement."""

from ..grammar.tree import Grammar
from ..limits import Limits, blaming
from .conjunctions import Operation, operation_of
from .expression import expression_of


def operation_in(grammar: Grammar, limits: Limits) -> Operation | None:
    """The conjunctions; None for other grammars, and for one without a member, which is refused
    where that is said of any grammar. Raises ``LimitError``."""
    node = expression_of(grammar)
    if node is None:
        return None
    with blaming([grammar.start]):
        found = operation_of(node, limits)
    return found if found is not None and found.conjunctions else None
