"""Which bytes states may read first, and which follow sets of trie nodes: FIRST sets, as bits.

Between the parts of a permutation nearly all others may begin, and few of them read what a token
goes on with: what would read nothing need not be walked.
"""

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from ..network.tables import NetworkTables
from ..summaries.node_sets import ROOT
from ..tokens.memo import ENTRY_BYTES, solve_recursive


class FirstOctets:
    """``following``: the bytes that follow the trie nodes of a set in tokens, uint8, some of them
    several times. Computed lazily, and cached as one bit by byte class."""

    def __init__(
        self, tables: NetworkTables, following: Callable[[int], NDArray[np.uint8]]
    ) -> None:
        self._tables, self._octets = tables, following
        self._classes = int(tables.classes.max()) + 1
        self._firsts: dict[int, int] = {}
        self._following: dict[int, int] = {}

    @property
    def nbytes(self) -> int:
        """About the size of what is cached by set."""
        return ENTRY_BYTES * len(self._following)

    def forget(self) -> None:
        """Sets that are found from now on have other numbers."""
        self._following.clear()

    def meet(self, nodes: int, state: int) -> bool:
        """Whether a walk from a set of trie nodes in ``state`` may read something, or end its call
        where it begins. True of ``ROOT``, where token terminals may be read, too."""
        if nodes == ROOT:
            return True
        firsts = self._firsts.get(state)
        if firsts is None:
            firsts = solve_recursive(state, self._firsts.get, self._steps)
        following = self._following.get(nodes)
        if following is None:
            classes = self._tables.classes[self._octets(nodes)]
            following = self._following[nodes] = self._bits(classes)
        return firsts & following != 0

    def _steps(self, state: int) -> Generator[int, int, int]:
        """The bytes of a state, and of all that it calls: no chain of first calls leads back to its
        beginning. All of them where it may end its call."""
        tables = self._tables
        if tables.ends[state]:
            firsts = (1 << self._classes) - 1
        else:
            firsts = self._bits(np.flatnonzero(tables.table[state, : self._classes]))
            for start, _ in tables.calls[state]:
                firsts |= yield start
        self._firsts[state] = firsts
        return firsts

    def _bits(self, classes: NDArray[np.unsignedinteger | np.signedinteger]) -> int:
        flags = np.zeros(self._classes, dtype=np.bool_)
        flags[classes] = True
        return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
