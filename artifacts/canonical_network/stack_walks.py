"""Walks of the token trie down the stacks of a place: where one is suspended, others go on below.

In a network with sets of parts those that would read nothing are not begun; and where a text is
parts in several ways, the same walk goes on above as many sets, within bounds.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from ..network.configurations import Network
from ..network.sets import MOST_BELOW, check_ways
from ..walk.node_sets import ROOT
from .trie_walk import TokenWalks, Walk, WalkKey

# A walk, and the stacks below it.
Begun: TypeAlias = tuple[WalkKey, int]


def from_root(state: int, pre_state: int, node: int, plane: int) -> list[Begun]:
    """The walk of all tokens from a place."""
    return [((ROOT, state, pre_state, plane), node)]


class StackWalks:
    """The walks over the stacks of ``network``; ``walks``: which tokens they read."""

    def __init__(self, network: Network, walks: TokenWalks) -> None:
        self._network, self._walks = network, walks

    def of(
        self,
        begin: Sequence[Begun],
        walked: Callable[[WalkKey, int], Walk] | None = None,
        leave: Callable[[Begun], bool] | None = None,
    ) -> Iterator[tuple[WalkKey, Walk, int]]:
        """Some walks and those that go on below them, with the stacks below each; as far as frames
        are known. ``walked``: gives a walk over some stacks, in place of ``walks``. ``leave``:
        whether one that goes on is somebody else's.

        Raises ``AmbiguousPartsError`` where a text is parts of a permutation in too many ways.
        """
        network, has_sets = self._network, self._network.tables.has_sets
        waiting = list(begin)
        seen, keys, ways = set(waiting), set[WalkKey](), 0
        for key, below in waiting:
            if has_sets:
                ways = network.add_ways(ways, below) + (key in keys)
                keys.add(key)
                check_ways(ways, MOST_BELOW)
            walk = self._walks.walk(*key) if walked is None else walked(key, below)
            yield key, walk, below
            for more in self._goes_on(key[1], walk, below):
                if more not in seen:
                    seen.add(more)
                    if leave is None or not leave(more):
                        waiting.append(more)

    def _goes_on(self, state: int, walk: Walk, below: int) -> Iterator[Begun]:
        """The walks that go on where one from ``state`` over the stacks of ``below`` leaves off, as
        far as known."""
        network = self._network
        for key, frames in walk.others:
            node = below
            for frame in frames:
                node = network.stacks.push(frame, node)
            yield key, node
        for after, left, left_plane in self._walks.left_by(walk, state):
            if network.tables.has_sets:
                popped = network.popped_to(below, partial(self._walks.may_go_on, left))
            else:
                popped = network.popped(below)
            for frame, lower in popped:
                yield (left, frame, after, left_plane), lower
