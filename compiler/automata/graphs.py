"""Graphs: what nodes lead to, components of those that lead to each other, orders and numbers."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from constrain.artifacts.tokens.memo import top_down

Node = TypeVar("Node", bound=Hashable)
Inner = TypeVar("Inner")

# All that some nodes lead to, and these; what follows a node is asked for when the one after it is.
reached = top_down


def descended(root: Inner, inside: Callable[[Inner], Sequence[Inner]]) -> Iterator[Inner]:
    """A node of a tree, and then all that it leads to, in order: each before what is inside it."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(inside(node)))


def components_by(uses: Mapping[Node, Iterable[Node]]) -> list[tuple[Node, ...]]:
    """Nodes that lead to each other, those that others use first; ``uses`` of what is no key of it
    do not count.

    ``uses={"a": "b", "b": "a", "c": "a"} -> [("a", "b"), ("c",)]``
    """
    nodes = list(uses)
    place = {node: i for i, node in enumerate(nodes)}
    graph = [sorted({place[used] for used in each if used in place}) for each in uses.values()]
    return [tuple(nodes[i] for i in members) for members in strongly_connected(graph)]


def on_cycles(uses: Mapping[Node, Iterable[Node]]) -> list[tuple[Node, ...]]:
    """Those of them that lead to themselves, by way of others or not."""
    return [each for each in components_by(uses) if len(each) > 1 or each[0] in uses[each[0]]]


def strongly_connected(
    uses: Sequence[Sequence[int]], without: int | None = None
) -> list[tuple[int, ...]]:
    """Tarjan's algorithm, without recursion; a component comes after all that it uses. ``without``:
    a node that is left out.

    ``uses=[[1], [0], [0]] -> [(0, 1), (2,)]``
    """
    count = len(uses)
    # When a node was first met, from 1, and later than any where its component is complete.
    met, low = [0] * count, [0] * count
    complete, number = count + 1, 0
    if without is not None:
        met[without] = complete
    path: list[int] = []
    found: list[tuple[int, ...]] = []
    # Most nodes are on no cycle, and stand in front of all that they use, or after it.
    for node in (*range(count - 1, -1, -1), *range(count)):
        if not met[node]:
            for target in uses[node]:
                if not met[target]:
                    break
            else:
                met[node] = complete
                found.append((node,))
    for root in range(count):
        if met[root]:
            continue
        number += 1
        met[root] = low[root] = number
        path.append(root)
        calls = [(root, iter(uses[root]))]
        while calls:
            node, targets = calls[-1]
            for target in targets:
                seen = met[target]
                if not seen:
                    number += 1
                    met[target] = low[target] = number
                    path.append(target)
                    calls.append((target, iter(uses[target])))
                    break
                if seen < low[node]:
                    low[node] = seen
            else:
                calls.pop()
                least = low[node]
                if least == met[node]:
                    members = [path.pop()]
                    while members[-1] != node:
                        members.append(path.pop())
                    for member in members:
                        met[member] = complete
                    found.append(tuple(sorted(members)))
                elif least < low[calls[-1][0]]:
                    low[calls[-1][0]] = least
    return found


def shortest_path(
    source: Node, target: Node, following: Callable[[Node], Iterable[Node]]
) -> list[Node]:
    """A shortest path to a node that is reached, both ends included."""
    came = {source: source}
    pending = [source]
    for node in pending:
        if node == target:
            break
        for other in following(node):
            if other not in came:
                came[other] = node
                pending.append(other)
    path = [target]
    while path[-1] != source:
        path.append(came[path[-1]])
    return path[::-1]


def reverse_postorder(
    count: int, starts: Sequence[int], following: Callable[[int], Sequence[int]]
) -> list[int]:
    """The nodes that are reached, each before those that it leads to as far as there are no cycles:
    the reverse of the order in which a depth-first search leaves them. Of what a node leads to, the
    last is searched first."""
    seen = bytearray(count)
    found: list[int] = []
    pending = list(reversed(starts))
    while pending:
        node = pending.pop()
        if node < 0:
            found.append(~node)
        elif not seen[node]:
            seen[node] = 1
            pending.append(~node)
            pending += following(node)
    found.reverse()
    return found


def refined(
    classes: Mapping[Node, int], leads: Callable[[Node, Mapping[Node, int]], Hashable]
) -> Mapping[Node, int]:
    """Classes of nodes, divided until those of one are alike: by what a node leads to, as ``leads``
    says of it by the classes so far (Moore 1956)."""
    count = len(set(classes.values()))
    while True:
        numbers: dict[Hashable, int] = {}
        classes = {
            node: numbers.setdefault((own, leads(node, classes)), len(numbers))
            for node, own in classes.items()
        }
        if len(numbers) == count:
            return classes
        count = len(numbers)


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
