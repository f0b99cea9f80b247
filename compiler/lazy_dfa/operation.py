"""The conjunctions of a grammar that is an intersection or a complement."""

from ..diagnostics import LimitError
from ..grammar.tree import Grammar
from ..limits import Limits, blaming
from .conjunctions import Operation, operation_of
from .expression import expression_of


def operation_in(grammar: Grammar, limits: Limits) -> Operation | None:
    """The conjunctions; None for other grammars, for one without a member, which is refused where
    that is said of any grammar, and beyond a limit of counts. Raises ``LimitError`` on time and
    resident memory."""
    node = expression_of(grammar)
    if node is None:
        return None
    try:
        with blaming([grammar.start]):
            found = operation_of(node, limits)
    except LimitError as error:
        if error.is_measured:
            raise
        # What is built may be small, though a member of it is not found so.
        return None
    return found if found is not None and found.conjunctions else None
