"""What nodes of a graph lead to, and their numbers."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """``starts`` and all that they lead to, each once, breadth first. What follows a node is asked
    for when the one after it is."""
    found = dict.fromkeys(starts)
    pending = list(found)
    for node in pending:
        yield node
        for other in following(node):
            if other not in found:
                found[other] = None
                pending.append(other)


class Numbered(dict[Node, int]):
    """Numbers of what is looked up, in the order in which it first is; ``order``: what has them
    from that of ``first`` on, which grows while it is gone through."""

    def __init__(self, first: Node, *before: Node) -> None:
        super().__init__((node, i) for i, node in enumerate((*before, first)))
        self.order = [first]

    def __missing__(self, node: Node) -> int:
        number = self[node] = len(self)
        self.order.append(node)
        return number
