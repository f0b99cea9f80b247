"""Rows of canonical masks that were not precomputed: the live tokens of one thread.

A row is found by walks of the token trie from a thread's state down its stacks. What leads to the
end of a piece is live; of the others ``liveness`` says which are. With counters a row serves as
many counts as can be shown (``usual_counts``).
"""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import BOTTOM
from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES
from ..tokens.tokenset import Words
from ..walk.summary_rows import RowTable
from .pretokenized import PretokenizedNetwork
from .splits import Left, Split
from .stack_walks import StackWalks
from .trie_walk import Frames, Landing

if TYPE_CHECKING:
    from .usual_counts import UsualCounts

# State, pre-tokenizer state, set of stacks, and the plane in which tokens begin.
Thread: TypeAlias = tuple[int, int, int, int]

# In place of the row of many counts where it is not the same for all.
_BY_COUNTS = -1


class LazyRows:
    """The live tokens of a thread, found by walks of the token trie down its stacks.

    ``network``: says what each token reads and what may follow it (``reader``: another one says
    what it reads). ``rows``: where the rows that are found are numbered. ``inert``: the network
    beside the inert pre-tokenizer DFA, if there is one: what is live there needs no search here.
    """

    def __init__(
        self,
        network: PretokenizedNetwork,
        rows: RowTable,
        inert: PretokenizedNetwork | None = None,
    ) -> None:
        self._network, self._rows, self._inert = network, rows, inert
        self._contexts = network.contexts
        self._stack_contexts = network.stack_contexts
        self._stack_walks = StackWalks(network.network, network.reading)
        # Rows of splits.
        self._numbers: dict[Split, int] = {}
        self.usual = _usual_counts(network)
        self._usual_rows: dict[tuple[int, ...], int] = {}
        # No token begins or ends more items.
        self._most_items = int(network.vocabulary.lengths.max(initial=0)) + 2
        # Rows where more must follow.
        self._far_rows: dict[tuple[int, ...], int] = {}
        self._needs_counts = False

    def row(
        self, state: int, pre_state: int, node: int, plane: int, among: Words | None = None
    ) -> int:
        """The number of a row; the tokens begin in ``plane``. ``among``: no other tokens are live.
        Raises ``ArtifactError`` where a search meets too much, or parts of a permutation cannot be
        distinguished."""
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
        return self._row(state, pre_state, node, plane, among)

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
            state, pre_state, node, plane = thread
            row = self._usual_rows[thread] = self._row(state, pre_state, node, plane)
        return row

    def _row(
        self, state: int, pre_state: int, node: int, plane: int, among: Words | None = None
    ) -> int:
        """Walks down the stacks of ``node`` until nothing is suspended."""
        contexts, parts, few = self._contexts, set[int](), list[NDArray[np.int32]]()
        for _, walk, below in self._stack_walks.of(state, pre_state, node, plane):
            context = self._stack_contexts.of_node(below)
            for frames, landing in walk.parts:
                shown = self._shown(frames, landing, below)
                split = self._network.splits.of(landing, contexts.push_all(frames, context), shown)
                if split.many is not None:
                    parts.add(self._number(split, split.many))
                elif len(split.few):
                    few.append(split.few)
                for left in split.left:
                    ids = left.ids if among is None else left.ids[tokenset.held(among, left.ids)]
                    if len(ids) < len(left.ids):
                        left = Left(left.state, left.pre_state, ids)
                    if len(ids):
                        few.append(self._live_tokens(left, frames, below, context))
        if few:
            ids = np.concatenate(few)
            if len(ids):
                parts.add(self._rows.number(tokenset.from_ids(ids, self._network.vocabulary.size)))
        return self._rows.union(parts)

    def _shown(self, frames: Frames, landing: Landing, node: int) -> Split | None:
        """What becomes of a landing's tokens beside the inert pre-tokenizer DFA."""
        if self._inert is None:
            return None
        context = self._inert.stack_contexts.of_node(node)
        return self._inert.splits.of(landing, self._inert.contexts.push_all(frames, context))

    @property
    def nbytes(self) -> int:
        """About the size of what is found beside rows."""
        found = len(self._numbers) + len(self._usual_rows) + len(self._far_rows)
        return ENTRY_BYTES * found

    def forget(self) -> None:
        """Rows are numbered from 0 again."""
        self._numbers.clear()
        self._usual_rows.clear()
        self._far_rows.clear()

    def _live_tokens(
        self, left: Left, frames: Frames, node: int, context: int
    ) -> NDArray[np.int32]:
        """The tokens of what is left that are no dead ends above ``frames`` on ``node``."""
        dead_ends = self._network.dead_ends
        # What lies on the empty stack is looked at as a whole at once.
        found = None if node == BOTTOM else dead_ends.live_above(left, frames, context)
        if found is None:
            self._needs_counts = True
            found = dead_ends.live_tokens(left, frames, node)
        return found

    def _number(self, split: Split, row: Words) -> int:
        number = self._numbers.get(split)
        if number is None:
            number = self._numbers[split] = self._rows.number(row)
        return number


def _usual_counts(network: PretokenizedNetwork) -> "UsualCounts | None":
    counters = network.network.tables.counters
    if counters is None or not counters.rows:
        return None
    from .usual_counts import UsualCounts

    return UsualCounts(network.network)
