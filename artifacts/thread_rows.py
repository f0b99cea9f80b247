"""The tokens that fit one thread of a network, worked out when they are first asked for.

A thread is a state, a state of the cuts and a set of stacks. Its row is found by walks of the
token trie down the stacks (``piece_walk``), which part the tokens into those that lead to open
places, whatever the stacks of a context, and *doubtful* ones, of which ``dead_ends`` decides.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .cuts import Cuts
from .dead_ends import DeadEnds
from .endings import Endings
from .first_tokens import FirstTokens
from .network import Network
from .network_tables import DEAD
from .numbered_rows import NOTHING, NumberedRows
from .piece_walk import ROOT, Group, PieceWalks, WalkKey, piece_tries
from .rectangles import ForbiddenPairs
from .trie import Trie
from .vocabulary import Vocabulary

# The row of what leads to open places, and the groups that lead to others.
_Parted: TypeAlias = tuple[int, tuple[Group, ...]]


class ThreadRows:
    """``rows``: where the rows that are found are numbered. ``final`` and ``continued``: see
    ``Endings``. ``reader``: says what each token reads, and these cuts what may follow it; its
    states of the cuts are states of these."""

    def __init__(
        self,
        network: Network,
        cuts: Cuts,
        final: NDArray[np.bool_],
        pairs: ForbiddenPairs,
        vocabulary: Vocabulary,
        rows: NumberedRows,
        continued: int | None = None,
        reader: "ThreadRows | None" = None,
    ) -> None:
        self._network, self._rows, self._vocab_size = network, rows, vocabulary.size
        self.cuts = cuts
        beside: Endings | None = None if reader is None else reader.endings
        self.endings: Endings = Endings(network.tables, cuts, final, continued, beside)
        tries: Sequence[Trie] = (
            reader.walks.tries if reader else piece_tries(cuts, pairs, vocabulary)
        )
        self.walks: PieceWalks = PieceWalks(network.tables, cuts, self.endings, tries)
        self._read = (reader or self).walks.walk
        self.firsts = FirstTokens(network, cuts, self.endings, pairs, self.walks.trie)
        self.dead_ends = DeadEnds(network, self.endings, self.walks, self.firsts, pairs)
        self._sure: dict[tuple[WalkKey, int], _Parted] = {}
        self._survivors: dict[tuple[int, int], int] = {}

    def row(self, state: int, cut: int, node: int, plane: int) -> int:
        """The number of a row; the tokens begin in ``plane``. Walks down the stacks of ``node``
        until nothing is pending. Raises ``ArtifactError`` where a search meets too much."""
        stacks = self._network.stacks
        row = NOTHING
        waiting = [((ROOT, state, cut, plane), node)]
        seen = set(waiting)
        for key, below in waiting:
            sure, doubtful = self._parted(key, self.endings.of_node(stacks, below))
            row = self._rows.union(row, sure)
            for group in doubtful:
                row = self._rows.union(row, self._surviving(group, below))
            for after, left, left_plane in self._read(*key).pending:
                for frame, rest in stacks.entries[below]:
                    more = (left, frame, after, left_plane), rest
                    if frame != DEAD and more not in seen:
                        seen.add(more)
                        waiting.append(more)
        return row

    def forget(self) -> None:
        """The rows have been numbered anew."""
        self._sure.clear()
        self._survivors.clear()

    def _parted(self, key: WalkKey, context: int) -> _Parted:
        """The tokens of a walk that lead to open places, whatever the stacks of a context; and
        the groups that lead to other places."""
        known = self._sure.get((key, context))
        if known is None:
            endings = self.endings
            found: list[NDArray[np.int32]] = []
            doubtful = []
            for group in self._read(*key).groups:
                pair = endings.number(group.state, group.cut)
                above = context
                for frame in group.frames:
                    above = endings.push(frame, above)
                if endings.is_open(pair, above):
                    found.append(group.ids)
                elif endings.is_live(pair, above):
                    doubtful.append(group)
            ids = np.concatenate(found) if found else np.zeros(0, dtype=np.int32)
            row = self._rows.number(tokenset.from_ids(ids, self._vocab_size))
            known = self._sure[key, context] = row, tuple(doubtful)
        return known

    def _surviving(self, group: Group, node: int) -> int:
        """The row of the tokens of a doubtful group that are no dead ends above ``node``."""
        row = self._survivors.get((group.number, node))
        if row is None:
            ids = self.dead_ends.survivors(group, node)
            row = self._rows.number(tokenset.from_ids(ids, self._vocab_size))
            self._survivors[group.number, node] = row
        return row
