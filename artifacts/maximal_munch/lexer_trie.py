"""What walks of the token trie by a lexer share: the trie, and numbers of what they give."""

from collections.abc import Callable

import numpy as np

from ..tokens.memo import memoised
from ..tokens.trie import Trie
from ..walk.node_sets import ROOT, Nodes, NodeSets
from ..walk.summary_rows import RowTable
from .summary_tables import HeadSummaryTables


class LexerTrie:
    """The token trie of walks by a lexer. ``rows`` and ``suspended`` number what they give.

    ``stored``: what these begin with. ``row_bytes``: that all other rows may take. ``trie`` is
    called for the first walk. ``visited`` and ``parsed`` count the trie nodes that
    walks have read, and those of them at which a lexeme ended.
    """

    def __init__(
        self,
        trie: Callable[[], Trie],
        vocab_size: int,
        stored: HeadSummaryTables | None = None,
        row_bytes: int = 0,
    ) -> None:
        self._make_trie = trie
        self.rows = RowTable(vocab_size, None if stored is None else stored.rows, row_bytes)
        self.suspended = NodeSets()
        if stored is not None:
            self.suspended = NodeSets(stored.exits, stored.exits_offsets)
        self.visited = self.parsed = 0

    @memoised
    def trie(self) -> Trie:
        """The trie. Raises ``ArtifactError`` if stored sets name nodes that it does not have."""
        trie = self._make_trie()
        self.suspended.check(trie, "greedy.exits")
        return trie

    def nodes(self, suspended: int) -> Nodes:
        """int32: the nodes of a set, for ``ROOT`` the first bytes of all tokens."""
        first = self.trie().first
        if suspended == ROOT:
            return np.arange(first[0], first[1], dtype=np.int32)
        return self.suspended[suspended]
