"""Earley's recogniser of a grammar as its author wrote it: each literal and each pattern is a
terminal of its own, with the text that stands in the grammar, whatever engine reads texts.

    a ::= "x" "y" | "xz"   ->   expected "y" after x, or inside "xz"

It may read more than the grammar's members, where long counts and operations on expressions would
take too many states: they are loosened, ``x{2,1000}`` to ``x+`` and ``A & B`` to ``A``. Which of
its items count is said by the engine's own machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from constrain.artifacts.earley.recogniser import Earley

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..earley.tables import layout, stacked
from ..grammar import tree
from ..grammar.expand_permutations import in_any_number
from ..limits import Limits, blaming, of_later
from ..lnf import normalize_without_nullable
from ..lnf.empty_patterns import without_exceptions

# Counts up to which copies are made where anything is loosened.
_FEW_TIMES = 3


def authored(grammar: tree.Grammar, limits: Limits, *, loosens: bool) -> Callable[[], Earley]:
    """What gives the recogniser before any text; ``loosens``: of the grammar loosened. Raises
    ``LimitError``."""
    limits = of_later(limits)
    with blaming([grammar.start]):
        written = _rewritten(in_any_number(grammar), loosens=loosens)
        resolved = without_exceptions(written, limits)
        lnf = normalize_without_nullable(resolved, limits, merge=False)
        found = layout(lnf, limits, join=False)
        dfas = stacked(found.nodes, limits, len(grammar.tokens))
    return lambda: Earley(found.tables, dfas, len(dfas.table))


def _rewritten(grammar: tree.Grammar, *, loosens: bool) -> tree.Grammar:
    is_written = not (grammar.is_of_schemas or grammar.embedded)
    text = grammar.source.text

    def rewritten(expr: tree.Expr, parts: Sequence[tree.Expr]) -> tree.Expr:
        if isinstance(expr, tree.Literal) and expr.data and is_written:
            # Patterns side by side are terminals of their own, and literals become one.
            return tree.Pattern(
                regex.lit(expr.data), text[expr.span.start : expr.span.end], expr.span
            )
        if isinstance(expr, tree.Pattern) and loosens:
            return replace(expr, node=fold(expr.node, regex.parts_of, _loosened))
        if loosens and isinstance(expr, tree.Difference):
            return parts[0]
        if loosens and isinstance(expr, tree.Excluding):
            return tree.Pattern(regex.EVERYTHING, text[expr.span.start : expr.span.end], expr.span)
        if isinstance(expr, tree.Difference | tree.Excluding):
            return expr
        found = expr if not parts else tree.with_children(expr, tuple(parts))
        if (
            isinstance(found, tree.Repetition)
            and loosens
            and _is_long(found.min_times, found.max_times)
        ):
            return replace(found, min_times=min(found.min_times, 1), max_times=None)
        return found

    rules = tuple(replace(r, body=fold(r.body, tree.children, rewritten)) for r in grammar.rules)
    ignored = tuple(fold(each, tree.children, rewritten) for each in grammar.ignored)
    return replace(grammar, rules=rules, ignored=ignored)


def _loosened(node: regex.Node, parts: Sequence[regex.Node]) -> regex.Node:
    match node:
        case regex.Repeat(_, least, most) if _is_long(least, most):
            return regex.repeat(parts[0], min(least, 1), None, node.text)
        case regex.And():
            return parts[0]
        case regex.Not():
            return regex.EVERYTHING
        case regex.Around():
            return regex.EPSILON
        case _:
            return regex.with_parts(node, parts)


def _is_long(least: int, most: int | None) -> bool:
    return max(least, most or 0) > _FEW_TIMES
