"""What nodes of a graph lead to."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """``starts`` and all that they lead to, each once, breadth first. What follows a node is asked
    for when the one behind it is."""
    found = dict.fromkeys(starts)
    pending = list(found)
    for node in pending:
        yield node
        for other in following(node):
            if other not in found:
                found[other] = None
                pending.append(other)
