"""A fold over trees, bottom up and without recursion."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Node = TypeVar("Node")
Result = TypeVar("Result")


def fold(
    root: Node,
    inside: Callable[[Node], Sequence[Node]],
    combine: Callable[[Node, list[Result]], Result],
) -> Result:
    """``combine(root, results)``, the results being those of the nodes ``inside(root)``.

    A node that stands in several places is folded once. No depth overflows Python's stack.
    """
    done: dict[int, Result] = {}
    pending = [root]
    while pending:
        node = pending[-1]
        if id(node) in done:
            pending.pop()
            continue
        parts = inside(node)
        missing = [part for part in parts if id(part) not in done]
        if missing:
            pending += missing
            continue
        pending.pop()
        done[id(node)] = combine(node, [done[id(part)] for part in parts])
    return done[id(root)]
