"""Sets of trie nodes as numbers: equal ones are one.

A trie node is *suspended* where a token is in the middle of what a call reads and the call ends, or
in the middle of two lexemes: what lies below decides how the token goes on.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from ..tokens.memo import ENTRY_BYTES
from ..tokens.trie import Trie

Nodes = NDArray[np.int32]

# Nodes that are fewer than one in so many are sorted, others are counted off.
_SPARSE = 64

# The sets that hold nothing, and the root of the token trie.
NOTHING, ROOT = 0, 1


class NodeSets:
    """``sets[n]``: int32, ascending nodes. Those of a file are the first: set n is
    ``nodes[offsets[n]:offsets[n + 1]]`` (int32; int64 (X + 1,)); without a file there are
    ``NOTHING`` and ``ROOT``."""

    def __init__(
        self, nodes: Nodes | None = None, offsets: NDArray[np.int64] | None = None
    ) -> None:
        self._stored = np.zeros(1, dtype=np.int32) if nodes is None else nodes
        self._offsets = np.array([0, 0, 1], np.int64) if offsets is None else offsets
        self._first = len(self._offsets) - 1
        self.forget()

    def forget(self) -> None:
        """Go back to the sets of the file; other numbers are given again."""
        self._added: list[Nodes] = []
        # By content; filled when the first new set is numbered.
        self._numbers: dict[bytes, int] = {}
        # About the size of the sets that were added, with their keys.
        self.nbytes = 0

    def __len__(self) -> int:
        """How many sets have a number."""
        return self._first + len(self._added)

    def __getitem__(self, number: int) -> Nodes:
        """The nodes of a set."""
        if number >= self._first:
            return self._added[number - self._first]
        return self._stored[int(self._offsets[number]) : int(self._offsets[number + 1])]

    def number(self, nodes: Nodes) -> int:
        """The number of a set; its nodes ascend."""
        if not self._numbers:
            self._numbers = {self[i].tobytes(): i for i in range(self._first)}
        key = nodes.tobytes()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self)
            self._added.append(nodes)
            self.nbytes += 2 * nodes.nbytes + ENTRY_BYTES
        return number

    def check(self, trie: Trie, section: str) -> None:
        """Raise ``ArtifactError`` naming the file's section if some node is not in a trie."""
        # As an unsigned number one below zero is larger than all others.
        if int(self._stored.view(np.uint32).max(initial=0)) >= len(trie.octets):
            raise ArtifactError(f"section {section!r} is damaged: there are no such nodes")


def merged(parts: Sequence[Nodes | list[int]], size: int) -> Nodes:
    """The nodes of all parts, int32, ascending, each once; all are below ``size``."""
    if not parts:
        return np.zeros(0, dtype=np.int32)
    nodes = np.concatenate(parts, dtype=np.int32)
    if len(nodes) * _SPARSE < size:
        nodes.sort()
        first = np.ones(len(nodes), dtype=np.bool_)
        np.not_equal(nodes[1:], nodes[:-1], out=first[1:])
        return nodes[first]
    flags = np.zeros(size, dtype=np.bool_)
    flags[nodes] = True
    return np.flatnonzero(flags).astype(np.int32)
