"""Print a tree as text: one node a line, indented by depth, with its span."""

from constrain.artifacts.errors import visible

from ..diagnostics import Span
from . import tree


def tree_text(grammar: tree.Grammar) -> str:
    """The rules of a grammar; linear in the tree, and no recursion over its depth."""
    lines = [f"{grammar.source.dialect} grammar, start {grammar.start}"]
    bodies = [(_rule_head(rule), rule.body, rule.span) for rule in grammar.rules]
    bodies += [("ignored", expr, expr.span) for expr in grammar.ignored]
    for head, body, span in bodies:
        lines.append(f"{head}  {_span(span)}")
        pending: list[tuple[int, tree.Expr]] = [(1, body)]
        while pending:
            depth, expr = pending.pop()
            lines.append(f"{'  ' * depth}{_head(expr)}  {_span(expr.span)}")
            pending.extend((depth + 1, child) for child in reversed(tree.children(expr)))
    return "\n".join(map(visible, lines)) + "\n"


def permutation_label(expr: tree.Permutation) -> str:
    """Which parts a permutation has, as ``of #1 #2? #3*, and what separates them``."""
    marks = {(True, False): "", (False, False): "?", (True, True): "+", (False, True): "*"}
    parts = [f"#{i + 1}{marks[p.is_required, p.is_repeated]}" for i, p in enumerate(expr.parts)]
    between = "" if expr.separator is None else ", and what separates them"
    count = ""
    if expr.least or expr.most is not None:
        count = f", {expr.least} to {len(parts) if expr.most is None else expr.most} of them"
    return f"of {' '.join(parts)}{between}{count}"


def _rule_head(rule: tree.Rule) -> str:
    kind = "terminal" if rule.terminal else "rule"
    return f"{kind} {rule.name}" + (f", priority {rule.priority}" if rule.priority else "")


def _span(span: Span) -> str:
    return f"[{span.start}, {span.end})"


def _head(expr: tree.Expr) -> str:
    match expr:
        case tree.Literal():
            return f"literal {expr.data.decode('utf-8')!r}"
        case tree.Pattern():
            return f"pattern {expr.text!r}"
        case tree.Token():
            return f"token {expr.text}"
        case tree.Reference():
            return f"reference {expr.name}"
        case tree.Sequence():
            return "sequence"
        case tree.Choice():
            return "choice"
        case tree.Repetition():
            most = "" if expr.max_times is None else expr.max_times
            return f"repetition {{{expr.min_times},{most}}}"
        case tree.Permutation():
            return f"permutation {permutation_label(expr)}"
        case tree.Difference():
            return "difference"
        case tree.Excluding():
            return "excluding" if expr.at_most is None else f"excluding, at most {expr.at_most}"
