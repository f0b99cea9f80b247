"""The classes of a tree's nodes, and a fold over trees, bottom up and without recursion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, dataclass_transform

Node = TypeVar("Node")
Result = TypeVar("Result")


@dataclass_transform(eq_default=False, frozen_default=True)
def node_class(cls: type[Node]) -> type[Node]:
    """A class as by ``@dataclass(frozen=True, slots=True, eq=False)``, but that only the type
    checker sees that it is frozen: else each field is set by a call, and reading a grammar takes a
    third longer. One that keeps what it computed has no slots."""
    keeps = any(isinstance(value, cached_property) for value in vars(cls).values())
    return dataclass(slots=not keeps, eq=False)(cls)


def fold(
    root: Node,
    inside: Callable[[Node], Sequence[Node]],
    combine: Callable[[Node, list[Result]], Result],
) -> Result:
    """``combine(root, results)``, the results being those of the nodes ``inside(root)``.

    A node that stands in several places is folded once. No depth overflows Python's stack.
    """
    done: dict[int, Result] = {}
    opened: dict[int, Sequence[Node]] = {}
    pending = [root]
    while pending:
        node = pending[-1]
        key = id(node)
        if key not in done:
            parts = opened.get(key)
            if parts is None:
                parts = opened[key] = inside(node)
                missing = [part for part in parts if id(part) not in done] if parts else None
                if missing:
                    pending += missing
                    continue
            done[key] = combine(node, [done[id(part)] for part in parts] if parts else [])
        pending.pop()
    return done[id(root)]
