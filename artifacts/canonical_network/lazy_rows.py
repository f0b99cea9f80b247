"""Rows of canonical masks that were not precomputed: the live tokens of one thread.

A row is found by walks of the token trie from a thread's state down its stacks. What leads to the
end of a piece is live; of the others ``liveness`` says which are. With counters a row serves as
many counts as can be shown (``usual_counts``).
"""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..summaries.rows import RowTable
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES
from .pretokenized import PretokenizedNetwork
from .stack_walks import StackWalks
from .trie_walk import Group, Walk, WalkKey

if TYPE_CHECKING:
    from .usual_counts import UsualCounts

# State, pre-tokenizer state, set of stacks, and the plane in which tokens begin.
Thread: TypeAlias = tuple[int, int, int, int]

# The number of a row, or the ids of a few tokens.
_Tokens: TypeAlias = int | NDArray[np.int32]

# What leads to a boundary, and the groups that lead to other places.
_Split: TypeAlias = tuple[_Tokens, tuple[Group, ...]]

# So many tokens are a row.
_FEW = 256

# In place of the row of many counts where it is not the same for all.
_BY_COUNTS = -1


class LazyRows:
    """The live tokens of a thread, found by walks of the token trie down its stacks.

    ``network``: says what each token reads and what may follow it (``reader``: another one says
    what it reads). ``rows``: where the rows that are found are numbered.
    """

    def __init__(self, network: PretokenizedNetwork, rows: RowTable) -> None:
        self._network, self._rows = network, rows
        self._contexts = network.contexts
        self._stack_contexts = network.stack_contexts
        self._stack_walks = StackWalks(network.network, network.reading)
        self._splits: dict[tuple[WalkKey, int], _Split] = {}
        # By group and set of stacks, and by group and context where that decides.
        self._live: dict[tuple[int, int], _Tokens] = {}
        self._live_above: dict[tuple[int, int], _Tokens | None] = {}
        self.usual = _usual_counts(network)
        self._usual_rows: dict[tuple[int, ...], int] = {}
        # No token begins or ends more items.
        self._most_items = int(network.vocabulary.lengths.max(initial=0)) + 2
        # Rows where more must follow.
        self._far_rows: dict[tuple[int, ...], int] = {}
        self._needs_counts = False

    def row(self, state: int, pre_state: int, node: int, plane: int) -> int:
        """The number of a row; the tokens begin in ``plane``. Raises ``ArtifactError`` where a
        search meets too much, or parts of a permutation cannot be distinguished."""
        if self.usual is not None:
            less, more = self.usual.between(node)
            if more != node:
                row = self._usual_row(state, pre_state, more, plane)
                if row == self._usual_row(state, pre_state, less, plane):
                    return row
            far = self.usual.far_below(
                node, self._most_items, self._contexts.push, self._stack_contexts.of_node
            )
            if far is not None:
                return self._far_row((state, pre_state, node, plane), far)
        return self._row(state, pre_state, node, plane)

    def _far_row(self, thread: Thread, far: tuple[int, ...]) -> int:
        """The row of a thread, which is that of all with stacks like ``far`` if their contexts
        decide it."""
        state, pre_state, _, plane = thread
        key = state, pre_state, plane, *far
        known = self._far_rows.get(key)
        if known is not None and known != _BY_COUNTS:
            return known
        self._needs_counts = False
        row = self._row(*thread)
        if known is None:
            self._far_rows[key] = _BY_COUNTS if self._needs_counts else row
        return row

    def _usual_row(self, *thread: int) -> int:
        row = self._usual_rows.get(thread)
        if row is None:
            row = self._usual_rows[thread] = self._row(*thread)
        return row

    def _row(self, state: int, pre_state: int, node: int, plane: int) -> int:
        """Walks down the stacks of ``node`` until nothing is suspended."""
        parts, few = set[int](), list[NDArray[np.int32]]()
        for key, walk, below in self._stack_walks.of(state, pre_state, node, plane):
            at_boundary, others = self._split(key, walk, self._stack_contexts.of_node(below))
            found = [at_boundary, *(self._live_tokens(group, below) for group in others)]
            for tokens in found:
                if isinstance(tokens, int):
                    parts.add(tokens)
                else:
                    few.append(tokens)
        if few:
            parts.add(self._number(np.concatenate(few)))
        return self._rows.union(parts)

    @property
    def nbytes(self) -> int:
        """About the size of what is found beside rows."""
        found = len(self._live) + len(self._live_above)
        found += len(self._usual_rows) + len(self._far_rows)
        return ENTRY_BYTES * (2 * len(self._splits) + found)

    def forget(self) -> None:
        """Rows are numbered from 0 again."""
        self._splits.clear()
        self._live.clear()
        self._live_above.clear()
        self._usual_rows.clear()
        self._far_rows.clear()

    def _split(self, key: WalkKey, walk: Walk, context: int) -> _Split:
        """The tokens of a walk that lead to a boundary, whatever the stacks of a context; and the
        groups that lead to other places from which something goes on."""
        cached = self._splits.get((key, context))
        if cached is None:
            contexts = self._contexts
            found: list[NDArray[np.int32]] = []
            others = []
            for group in walk.groups:
                pair = contexts.number(group.state, group.pre_state)
                above = contexts.push_all(group.frames, context)
                if contexts.at_boundary(pair, above):
                    found.append(group.ids)
                elif contexts.is_live(pair, above):
                    others.append(group)
            ids = np.concatenate(found) if found else np.zeros(0, dtype=np.int32)
            cached = self._splits[key, context] = self._tokens(ids), tuple(others)
        return cached

    def _live_tokens(self, group: Group, node: int) -> _Tokens:
        """The tokens of a group that are no dead ends above ``node``."""
        above = group.number, self._stack_contexts.of_node(node)
        if above not in self._live_above:
            ids = self._network.dead_ends.live_above(group, above[1])
            self._live_above[above] = None if ids is None else self._tokens(ids)
        found = self._live_above[above]
        if found is not None:
            return found
        self._needs_counts = True
        found = self._live.get((group.number, node))
        if found is None:
            ids = self._network.dead_ends.live_tokens(group, node)
            found = self._live[group.number, node] = self._tokens(ids)
        return found

    def _tokens(self, ids: NDArray[np.int32]) -> _Tokens:
        # A row for each few tokens would be most of all memory.
        return ids if len(ids) < _FEW else self._number(ids)

    def _number(self, ids: NDArray[np.int32]) -> int:
        return self._rows.number(tokenset.from_ids(ids, self._network.vocabulary.size))


def _usual_counts(network: PretokenizedNetwork) -> "UsualCounts | None":
    counters = network.network.tables.counters
    if counters is None or not counters.rows:
        return None
    from .usual_counts import UsualCounts

    return UsualCounts(network.network)
