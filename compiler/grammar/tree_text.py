"""A tree as text: one node a line, indented by depth, with its span."""

from ..diagnostics import Span
from .tree import (
    Choice,
    Difference,
    Excluding,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Reference,
    Repetition,
    Sequence,
    Token,
    children,
)


def tree_text(grammar: Grammar) -> str:
    """The rules of a grammar; linear in the tree, and no recursion over its depth."""
    lines = [f"{grammar.source.dialect} grammar, start {grammar.start}"]
    for rule in grammar.rules:
        lines.append(f"rule {rule.name}  {_span(rule.span)}")
        pending: list[tuple[int, Expr]] = [(1, rule.body)]
        while pending:
            depth, expr = pending.pop()
            lines.append(f"{'  ' * depth}{_head(expr)}  {_span(expr.span)}")
            pending.extend((depth + 1, child) for child in reversed(children(expr)))
    return "\n".join(lines) + "\n"


def _span(span: Span) -> str:
    return f"[{span.start}, {span.end})"


def _head(expr: Expr) -> str:
    match expr:
        case Literal():
            return f"literal {expr.data.decode('utf-8')!r}"
        case Pattern():
            return f"pattern {expr.text!r}"
        case Token():
            return f"token {expr.text}"
        case Reference():
            return f"reference {expr.name}"
        case Sequence():
            return "sequence"
        case Choice():
            return "choice"
        case Repetition():
            most = "" if expr.max_times is None else expr.max_times
            return f"repetition {{{expr.min_times},{most}}}"
        case Difference():
            return "difference"
        case Excluding():
            return "excluding" if expr.at_most is None else f"excluding, at most {expr.at_most}"
