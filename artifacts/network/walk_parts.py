"""What a walk of the token trie has met so far (``summary_walk``)."""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..summaries.node_sets import Nodes
from ..tokens import tokenset
from ..tokens.subtrees import subtrees_of
from ..tokens.tokenset import Words
from ..tokens.trie import Trie, ranges
from .few_nodes import FewMet
from .loops import LoopWalk

States: TypeAlias = NDArray[np.int32]

# Of more tokens it is looked whether those that do not fit are fewer.
_FEW_MET = 1 << 12


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


class WalkRows:
    """Rows of what walks of a trie have met."""

    def __init__(self, trie: Trie, vocab_size: int) -> None:
        self._trie, self._vocab_size = trie, vocab_size
        self._subtrees = subtrees_of(trie)

    @cached_property
    def _all(self) -> NDArray[np.bool_]:
        """All tokens, as flags."""
        flags = np.zeros(32 * tokenset.word_count(self._vocab_size), dtype=np.bool_)
        flags[self._trie.ids] = True
        return flags

    def of(self, found: Found, suspended: Nodes) -> Words:
        """The row of what a walk from ``suspended`` has met."""
        tokens = self._subtrees
        single, whole = joined(found.single), joined(found.whole)
        begins, owns = tokens.begin.take(single), tokens.own.take(single)
        firsts, lasts = tokens.begin.take(whole), tokens.end.take(whole)
        count = int(owns.sum()) + int((lasts - firsts).sum())
        if found.is_known and not found.loops and count > _FEW_MET:
            node = int(suspended[0])
            low, high = int(tokens.begin[node] + tokens.own[node]), int(tokens.end[node])
            if 2 * count > high - low:
                return self._without(found, low, high)
        begins, ends = np.concatenate((begins, firsts)), np.concatenate((begins + owns, lasts))
        row = tokens.row(begins, ends, self._vocab_size)
        for _, walk in found.loops:
            row |= walk.row
        return row

    def _without(self, found: Found, low: int, high: int) -> Words:
        """The tokens from ``low`` to ``high`` in the order of texts, without those that do not
        fit."""
        tokens = self._subtrees
        if high - low == len(tokens.ids):
            flags = self._all.copy()
        else:
            flags = np.zeros_like(self._all)
            flags[tokens.ids[low:high]] = True
        dead = joined([nodes[~live] for nodes, live in found.read])
        self._set(flags, tokens.begin.take(dead), tokens.end.take(dead), fits=False)
        left = joined(found.left)
        begins = tokens.begin.take(left) + tokens.own.take(left)
        self._set(flags, begins, tokens.end.take(left), fits=False)
        if len(left):
            singles, wholes = found.before
            single, whole = joined(found.single[singles:]), joined(found.whole[wholes:])
            begins = tokens.begin.take(single)
            self._set(flags, begins, begins + tokens.own.take(single), fits=True)
            self._set(flags, tokens.begin.take(whole), tokens.end.take(whole), fits=True)
        return tokenset.from_flags(flags)

    def _set(self, flags: NDArray[np.bool_], begins: Nodes, ends: Nodes, *, fits: bool) -> None:
        flags[self._subtrees.ids.take(ranges(begins, ends - begins))] = fits


def joined(parts: Sequence[Nodes]) -> Nodes:
    """All parts one after the other, int32; none are no nodes."""
    return np.concatenate([np.zeros(0, dtype=np.int32), *parts])
