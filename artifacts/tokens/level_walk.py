"""Walks of a token trie by a DFA, level by level: all nodes that one state reads.

As long as few nodes of a level are read, they alone are stepped; where a level is mostly read, all
of it is, as an array.
"""

import numpy as np
from numpy.typing import NDArray

from .trie import ranges

DEAD = 0

# So few children are looked at one by one.
_FEW = 48

# From so large a share of a level's nodes on all of the level is read.
_DENSE = 4


class LevelWalk:
    """A trie's nodes are numbered level by level, the children of a node side by side: ``octets``,
    ``first``, ``fan_out`` and ``above`` as those of ``Trie``. ``levels``: first node and end of
    each level below a root, from that of the root on. ``table``: (S, C), next state by column,
    state 0 dead. ``classes``: (256,), byte to column."""

    def __init__(
        self,
        octets: NDArray[np.uint8],
        first: NDArray[np.int32],
        fan_out: NDArray[np.int32],
        above: NDArray[np.integer],
        levels: list[tuple[int, int]],
        table: NDArray[np.integer],
        classes: NDArray[np.uint8],
    ) -> None:
        self._first, self._fan_out, self._above, self._levels = first, fan_out, above, levels
        self._flat, self._width = table.astype(np.intp).ravel(), table.shape[1]
        self._columns = classes[octets]
        # subtle: a memoryview's items are Python's own integers, which numpy's are slow to become.
        views = np.ascontiguousarray(first).data, self._flat.data, self._columns.data
        self._views = *views, self._width

    def reached(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The nodes below the root that a state reads, int32, ascending, and the states there."""
        width = self._width
        nodes: NDArray[np.int32] = np.array([self._levels[0][0]], dtype=np.int32)
        states: NDArray[np.intp] = np.array([state], dtype=np.intp)
        met: list[NDArray[np.int32]] = [nodes[:0]]
        ends: list[NDArray[np.intp]] = [states[:0]]
        level = 0
        while len(nodes):
            fan_out = self._fan_out.take(nodes)
            total = int(fan_out.sum())
            if total <= _FEW:
                few, left, levels = self._few_below(nodes, states)
                met.append(few[:, 0].astype(np.int32))
                ends.append(few[:, 1].astype(np.intp))
                nodes, states = left[:, 0].astype(np.int32), left[:, 1].astype(np.intp)
                level += levels
                continue
            (begin, end), (first, last) = self._levels[level : level + 2]
            level += 1
            if total * _DENSE > last - first:
                # All of the level, by the states of the one above: no node is looked for.
                above = np.zeros(end - begin, dtype=np.intp)
                above[nodes - begin] = states * width
                before = above.take(self._above[first:last] - begin)
                before += self._columns[first:last]
                targets = self._flat.take(before)
                live = np.flatnonzero(targets != DEAD)
                nodes, states = live.astype(np.int32), targets.take(live)
                nodes += first
            else:
                children = ranges(self._first.take(nodes), fan_out)
                before = (states * width).repeat(fan_out)
                before += self._columns.take(children)
                targets = self._flat.take(before)
                live = np.flatnonzero(targets != DEAD)
                nodes, states = children.take(live), targets.take(live)
            met.append(nodes)
            ends.append(states)
        return np.concatenate(met), np.concatenate(ends)

    def _few_below(
        self, nodes: NDArray[np.int32], states: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """The same for few children, as long as they are few: runs of one character leave few for
        a hundred levels. All nodes that are met, with the states there; those of the last level
        again, if they have many children, and else none; and how many levels that are."""
        first, flat, columns, width = self._views
        met: list[tuple[int, int]] = []
        front = list(zip(nodes.tolist(), states.tolist(), strict=True))
        levels, begun = 0, 0
        while front:
            if levels and sum(first[node + 1] - first[node] for node, _ in front) > _FEW:
                break
            for node, state in front:
                for child in range(first[node], first[node + 1]):
                    target = flat[state * width + columns[child]]
                    if target != DEAD:
                        met.append((child, target))
            front, begun, levels = met[begun:], len(met), levels + 1
        pairs = np.array(met, dtype=np.int64).reshape(-1, 2)
        return pairs, np.array(front, dtype=np.int64).reshape(-1, 2), levels
