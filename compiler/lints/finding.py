"""A finding of a lint: where, in which rule, and what to do about it; what searches share."""

from dataclasses import dataclass

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..diagnostics import Fix, Span
from ..grammar.tree import Expr, Pattern, Repetition, children

# Nodes of a regex that are counted.
_NODES = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """A lint's finding: where, in which rule (empty: outside the rules), and how to mend it;
    ``fix`` does that, where one is known."""

    lint: str
    message: str
    span: Span
    rule: str
    help: str
    fix: Fix | None = None


def sizes_of(whole: Expr) -> dict[int, int]:
    """How many nodes each part has, by its ``id``, counts written out roughly."""
    sizes: dict[int, int] = {}

    def note(expr: Expr, inside: list[int]) -> int:
        sizes[id(expr)] = sum(inside) + weight(expr)
        return sizes[id(expr)]

    fold(whole, children, note)
    return sizes


def weight(expr: Expr) -> int:
    """How many nodes an expression is besides those inside it."""
    if isinstance(expr, Repetition):
        return 1 + max(expr.min_times, expr.max_times or 0)
    return nodes(expr.node) if isinstance(expr, Pattern) else 1


def nodes(node: regex.Node) -> int:
    """How many nodes a regex has, counts written out roughly; at most some over the limit."""
    pending, count = [node], 0
    while pending and count <= _NODES:
        current = pending.pop()
        count += 1
        if isinstance(current, regex.Repeat):
            count += max(current.min_times, current.max_times or 0)
        if isinstance(current, regex.Embedded):
            count += current.automaton.states
        pending.extend(regex.parts_of(current))
    return count
