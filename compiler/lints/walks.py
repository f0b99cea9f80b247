"""Questions about expressions, answered from the inside out without recursion."""

from collections.abc import Callable

from ..grammar.tree import Expr, children


def bottom_up(expr: Expr, answer: Callable[[Expr, list[bool]], bool]) -> bool:
    """``answer`` for a node from the answers of what is inside it, without recursion."""
    done: dict[int, bool] = {}
    pending = [expr]
    while pending:
        current = pending[-1]
        missing = [child for child in children(current) if id(child) not in done]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        done[id(current)] = answer(current, [done[id(child)] for child in children(current)])
    return done[id(expr)]
