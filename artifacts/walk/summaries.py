"""Procedure summaries over the token trie: what tokens make of one call, whatever it is on top of.

    F(e, p) = (row, left)

``row``: the tokens below the trie nodes e, read from state p on, that end inside p's call, or
inside calls that it makes. ``left``: the nodes with children at which p's call may end; there a
token goes on in the frame below. So the tokens that fit p over the frames g1, g2, … are

    row(e0, p) | row(e1, g1) | row(e2, g2) | …     e0 the root, e(i+1) what e(i) leaves

until nothing is left. What a call leaves is strictly deeper in the trie than where it began.
Source: Sharir and Pnueli, Two approaches to interprocedural data flow analysis, 1981.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from ..network.configurations import Entries, Stacks
from ..tokens.lengths import ENDLESS
from ..tokens.memo import ENTRY_BYTES
from ..tokens.tokenset import Words, word_count
from ..tokens.trie import Trie
from .forms import kernel
from .layout import TrieLayout, layout_of
from .node_sets import NOTHING, ROOT, Nodes, NodeSets
from .summary_rows import RowTable

# What a walk costs beside the nodes that it comes to, in such nodes.
_WALK_WORK = 4_000

_Summary = tuple[int, int]


class WalksInside(Protocol):
    """Walks inside of states that the walk of the trie goes around."""

    def __call__(self, nodes: Nodes, state: int, *, is_root: bool) -> tuple[Words, Nodes]:
        """F of some nodes, ascending, for such a state."""


class Summaries:
    """F of one machine's ``states`` (``artifacts/machine/states.py``) as numbers of ``rows`` and
    ``sets``, each found when it is first asked for. ``trie``: made for the first one. ``walks``: F
    of the states that walks go around, if there are any. Not for several threads at once.

    Raises ``WalkLimitError``, and what making states raises.
    """

    def __init__(
        self,
        states: Any,
        trie: Callable[[], Trie],
        vocab_size: int,
        capacity: int = 0,
        walks: WalksInside | None = None,
    ) -> None:
        self._states, self._trie, self._vocab_size = states, trie, vocab_size
        self._capacity, self._walks = capacity, walks
        self.rows = RowTable(vocab_size, capacity=capacity)
        self.sets = NodeSets()
        self._layout: TrieLayout | None = None
        # How much was walked, in nodes.
        self.work = 0
        self.forget()

    @property
    def nbytes(self) -> int:
        """About the size of all that was found."""
        found = self.rows.nbytes + self.sets.nbytes + ENTRY_BYTES * len(self.found)
        return found + self._stacks.nbytes

    @property
    def table_bytes(self) -> int:
        """The size that ``SummaryTables`` of it have."""
        return self.rows.row_bytes * len(self.rows) + 16 * len(self.found)

    @property
    def is_full(self) -> bool:
        """Whether there is more than the capacity allows."""
        return self.nbytes > self._capacity

    def forget(self) -> None:
        """Drop what was found; numbers of rows and sets are given again."""
        self.rows.forget()
        self.sets.forget()
        self.found: dict[_Summary, _Summary] = {}
        # By identity: most states inside have a row that was given before, which stays alive here.
        self._inside_rows: dict[int, int] = {}
        self._stacks = Stacks()
        self._unseen = self._stacks.unknown(0)
        self._kernel = kernel()(self._states, self._stacks)
        self._layout = None

    def summary(self, nodes: int, state: int) -> _Summary:
        """F for a set of nodes, as the numbers of the row and of the set that is left."""
        key = nodes, state
        found = self.found.get(key)
        if found is None and (twin := self._unbounded(nodes, state)) != state:
            found = self.found[key] = self.summary(nodes, twin)
        if found is None:
            if state in self._states.inside:
                words, left = self._inside(nodes, state)
                row = self._inside_rows.get(id(words)) or self.rows.add(words)
                self._inside_rows[id(words)] = row
            else:
                words, left = self._walked(nodes, state)
                row = self.rows.number(words)
            number = self.sets.number(left) if len(left) else NOTHING
            found = self.found[key] = row, number
        return found

    def _unbounded(self, nodes: int, state: int) -> int:
        """The twin of a state where no token comes to its bounds."""
        room = self._states.rooms[state] if self._states.is_bounded else ENDLESS
        if room < ENDLESS:
            layout = self._lay_out()
            places = layout.place[self.sets[nodes]]
            if np.asarray(layout.lengths)[places].max() <= room:
                twin: int = self._states.twin(state)
                return twin
        return state

    def _inside(self, nodes: int, state: int) -> tuple[Words, Nodes]:
        assert self._walks is not None
        return self._walks(self.sets[nodes], state, is_root=nodes == ROOT)

    def _walked(self, nodes: int, state: int) -> tuple[Words, Nodes]:
        words = np.zeros(word_count(self._vocab_size), dtype=np.uint32)
        left = list[Nodes]()
        pending = [(nodes, state, self._unseen)]
        seen = set(pending)
        for begun, each, stack in pending:
            if each not in self._states.inside:
                following = self._walk(begun, each, stack, words, left)
            else:
                row, after = self.summary(begun, each)
                words |= self.rows[row]
                entries = self._stacks.entries[stack] if after != NOTHING else ()
                if any(frame < 0 for frame, _ in entries):
                    left.append(self.sets[after])
                following = [(after, frame, below) for frame, below in entries if frame > 0]
            pending += [one for one in following if one not in seen]
            seen.update(following)
        return words, np.unique(np.concatenate(left)) if left else _NO_NODES

    def _walk(
        self, nodes: int, state: int, stack: int, words: Words, left: list[Nodes]
    ) -> list[tuple[int, int, int]]:
        """Walk from some nodes until the stack is used up, or to states that walks go around."""
        layout, walk = self._lay_out(), self._kernel
        order = layout.order
        walk.summary(layout.place[self.sets[nodes]], state, stack, words)
        self.work += walk.visited + _WALK_WORK
        if walk.left:
            left.append(order[walk.left])
        return [
            (self.sets.number(np.unique(order[places])), *thread)
            for thread, places in walk.inside.items()
        ]

    def _lay_out(self) -> TrieLayout:
        if self._layout is None:
            self._layout = layout_of(self._trie(), self._vocab_size)
            self._kernel.lay_out(self._layout)
        return self._layout


_NO_NODES: Nodes = np.zeros(0, dtype=np.int32)


def down_the_stacks(
    threads: Iterable[tuple[int, int]],
    entries: Sequence[Entries],
    summary: Callable[[int, int], tuple[int, int] | None],
) -> tuple[set[int], set[int]] | None:
    """The rows, by their numbers, whose tokens together fit states over sets of stacks, and which
    sets were looked at; None where there is no ``summary``. ``entries``: those of ``Stacks``."""
    rows, looked_at = set[int](), set[int]()
    pending = [(ROOT, state, node) for state, node in threads]
    seen = set(pending)
    for nodes, state, stack in pending:
        found = summary(nodes, state)
        if found is None:
            return None
        row, left = found
        rows.add(row)
        if left != NOTHING:
            looked_at.add(stack)
            following = [(left, frame, below) for frame, below in entries[stack] if frame > 0]
            pending += [one for one in following if one not in seen]
            seen.update(following)
    return rows, looked_at
