"""Walks of the token trie from exit sets, by a network's own edges (``residual.py``).

A large exit set is asked with many states, of which most go on with few bytes. So its children
are laid out by the column of their byte, once, and a walk begins with those whose column its
state goes on by. An exit set may hold a node and another below it; what a walk has met before in
the same state it does not follow again.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .frontiers import ranges
from .network_tables import DEAD, NetworkTables
from .trie import Trie

Nodes = NDArray[np.int32]

# Exit sets from so many nodes on have their children laid out. Children that are kept so, over
# all sets; beyond them they are laid out anew.
_LARGE, _KEPT = 256, 1 << 24

# Nodes that are fewer than one in so many are sorted, others are counted off.
_SPARSE = 64


class Walked(NamedTuple):
    """``tokens``: int32, the ids of those that were met, some more than once. ``stopped``: by
    state, ascending, the nodes with children (int32, ascending) where calls begin or end."""

    tokens: NDArray[np.int32]
    stopped: list[tuple[int, Nodes]]


class _Children(NamedTuple):
    """The children of an exit set by column, those of column c from ``starts[c]`` on."""

    nodes: Nodes
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]


class ResidualWalk:
    """Walks one trie by one network."""

    def __init__(self, tables: NetworkTables, trie: Trie) -> None:
        self._trie = trie
        self._table = np.ascontiguousarray(tables.table)
        self._flat = self._table.ravel()
        self._narrow = np.uint16 if len(self._table) <= 1 << 16 else np.int32
        self._columns = tables.classes[trie.octets]
        self._fan_out = np.diff(trie.first)
        self._byte_columns = int(tables.classes.max()) + 1
        self._stops = (tables.accepting != 0) | (np.diff(tables.call_offsets) > 0)
        self._children: dict[int, _Children] = {}
        self._kept = 0
        # For each node the walk and the state that it was met in last.
        self._met = np.zeros(len(trie.octets), dtype=np.int64)
        self._walks = 0

    def walk(self, number: int, exits: Nodes, state: int) -> Walked:
        """What tokens come to from exit set ``number``, whose nodes ``exits`` are."""
        trie, width = self._trie, np.int32(self._table.shape[1])
        met: list[Nodes] = []
        stopped: list[tuple[Nodes, NDArray[np.int32]]] = []
        # Nodes that a walk comes to in so many bytes have different nodes above them, and each
        # has one state. So only what was met in fewer bytes can be met again.
        nodes, states = self._first(number, exits, state)
        while len(nodes):
            if len(exits) > 1:
                nodes, states = self._unmet(nodes, states)
            met.append(nodes)
            fan_out = self._fan_out.take(nodes)
            inner = fan_out.nonzero()[0]
            nodes, states, fan_out = nodes.take(inner), states.take(inner), fan_out.take(inner)
            stops = self._stops.take(states)
            if stops.any():
                stopped.append((nodes[stops], states[stops]))
            children = ranges(trie.first.take(nodes), fan_out)
            places = (states * width).repeat(fan_out)
            places += self._columns.take(children)
            targets = self._flat.take(places)
            live = targets.nonzero()[0]
            nodes, states = children.take(live), targets.take(live)
        self._walks += 1
        return Walked(self._tokens(met), self._by_state(exits, state, stopped))

    def forget(self) -> None:
        """The numbers of exit sets begin anew."""
        self._children.clear()
        self._kept = 0

    def merged(self, parts: Sequence[Nodes]) -> Nodes:
        """The nodes of all parts, int32, ascending, each once."""
        if not parts:
            return np.zeros(0, dtype=np.int32)
        nodes = np.concatenate(parts)
        size = len(self._fan_out)
        if len(nodes) * _SPARSE < size:
            nodes.sort()
            return nodes[np.diff(nodes, prepend=-1) > 0]
        flags = np.zeros(size, dtype=np.bool_)
        flags[nodes] = True
        return np.flatnonzero(flags).astype(np.int32)

    def _first(self, number: int, exits: Nodes, state: int) -> tuple[Nodes, NDArray[np.int32]]:
        """The children of an exit set that a state leads to, and the states there."""
        row = self._table[state]
        if len(exits) < _LARGE:
            children = ranges(self._trie.first[exits], self._fan_out[exits])
            targets = row[self._columns[children]]
            alive = targets != DEAD
            return children[alive], targets[alive]
        laid_out = self._children.get(number) or self._laid_out(number, exits)
        row = row[: len(laid_out.counts)]
        live = (row != DEAD) & (laid_out.counts > 0)
        counts = laid_out.counts[live]
        nodes = laid_out.nodes[ranges(laid_out.starts[live], counts)]
        return nodes, np.repeat(row[live], counts)

    def _laid_out(self, number: int, exits: Nodes) -> _Children:
        trie = self._trie
        children = ranges(trie.first[exits], self._fan_out[exits])
        columns = self._columns[children]
        counts = np.bincount(columns, minlength=self._byte_columns)
        order = np.argsort(columns, kind="stable")
        laid_out = _Children(children[order], np.cumsum(counts) - counts, counts)
        if self._kept + len(children) > _KEPT:
            self.forget()
        self._children[number] = laid_out
        self._kept += len(children)
        return laid_out

    def _unmet(self, nodes: Nodes, states: NDArray[np.int32]) -> tuple[Nodes, NDArray[np.int32]]:
        """What was not met before in the same state, which is remembered."""
        meeting = states + self._walks * len(self._table)
        new = self._met[nodes] != meeting
        nodes, states = nodes[new], states[new]
        self._met[nodes] = meeting[new]
        return nodes, states

    def _tokens(self, met: list[Nodes]) -> NDArray[np.int32]:
        trie = self._trie
        nodes = np.concatenate(met) if met else np.zeros(0, dtype=np.int32)
        held = trie.held[nodes]
        found: NDArray[np.int32] = trie.ids[ranges(held, trie.held[nodes + 1] - held)]
        return found

    def _by_state(
        self, exits: Nodes, state: int, stopped: list[tuple[Nodes, NDArray[np.int32]]]
    ) -> list[tuple[int, Nodes]]:
        groups: dict[int, list[Nodes]] = {state: [exits]} if self._stops[state] else {}
        if stopped:
            nodes = np.concatenate([nodes for nodes, _ in stopped])
            states = np.concatenate([states for _, states in stopped])
            # Numpy sorts 16 bits in time linear in their number.
            order = np.argsort(states.astype(self._narrow), kind="stable")
            nodes, states = nodes[order], states[order]
            cuts = (states[1:] != states[:-1]).nonzero()[0] + 1
            heads = states[np.append(0, cuts)].tolist()
            for head, part in zip(heads, np.split(nodes, cuts), strict=True):
                groups.setdefault(head, []).append(part)
        return [
            (head, exits if parts[0] is exits and len(parts) == 1 else self.merged(parts))
            for head, parts in sorted(groups.items())
        ]
