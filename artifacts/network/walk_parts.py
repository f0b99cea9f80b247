"""What a walk of the token trie has met so far (``summary_walk``)."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..summaries.node_sets import Nodes
from .few_nodes import FewMet
from .loops import LoopWalk

States: TypeAlias = NDArray[np.int32]


class Found:
    """What a walk has met. ``single``: nodes without what is below them; ``whole``: with it;
    ``stopped``: nodes and states where calls begin or end. What does not fit is known if
    ``is_known``: of the nodes that were ``read``, those that were not live; and below ``left``, all
    but what was met after the first ``before`` of ``single`` and ``whole``. ``loops``: states with
    what they read by looping, which is counted beside."""

    def __init__(self, *, is_known: bool) -> None:
        self.single: list[Nodes] = []
        self.whole: list[Nodes] = []
        self.stopped: list[tuple[Nodes, States]] = []
        # Nodes that are whole, with the state that they and all below them stop in.
        self.stopped_whole: list[tuple[Nodes, States]] = []
        self.is_known = is_known
        self.read: list[tuple[Nodes, NDArray[np.bool_]]] = []
        self.left: list[Nodes] = []
        self.before = (0, 0)
        self.count = 0
        self.loops: list[tuple[int, LoopWalk]] = []

    def add(self, nodes: Nodes, met: FewMet, *, is_complete: bool) -> None:
        """What was met below ``nodes`` node by node; what does not fit was not noted there."""
        self.count += len(met.single) + len(met.whole)
        self.is_known &= is_complete
        self.left.append(nodes)
        self.before = len(self.single), len(self.whole)
        self.single.append(np.array(met.single, dtype=np.int32))
        self.whole.append(np.array(met.whole, dtype=np.int32))
        if met.stopped:
            pairs = np.array(met.stopped, dtype=np.int32)
            self.stopped.append((pairs[:, 0], pairs[:, 1]))


def joined(parts: Sequence[Nodes]) -> Nodes:
    """All parts one after the other, int32; none are no nodes."""
    return np.concatenate([np.zeros(0, dtype=np.int32), *parts])
