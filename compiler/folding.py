"""Questions about trees, answered from the inside out without recursion."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Node = TypeVar("Node")
Answer = TypeVar("Answer")


def fold(
    root: Node,
    inside: Callable[[Node], Sequence[Node]],
    answer: Callable[[Node, list[Answer]], Answer],
) -> Answer:
    """``answer`` for ``root``, given the answers for the nodes directly inside each node.

    A node that stands in several places is asked once. No depth overflows Python's stack.
    """
    done: dict[int, Answer] = {}
    pending = [root]
    while pending:
        node = pending[-1]
        parts = inside(node)
        missing = [part for part in parts if id(part) not in done]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        if id(node) not in done:
            done[id(node)] = answer(node, [done[id(part)] for part in parts])
    return done[id(root)]
