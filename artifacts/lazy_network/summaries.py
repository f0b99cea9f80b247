"""Procedure summaries of a network and of the lazy DFAs that it calls."""

from collections.abc import Callable, Generator

from ..lazy_dfa.token_walks import TrieParts, tries_of
from ..network.summaries import Summaries
from ..network.summary_tables import key_of
from ..network.tables import NetworkTables
from ..tokens import tokenset
from ..tokens.memo import CacheBudget
from ..tokens.trie import Trie
from .terminals import Terminals


class CallingSummaries(Summaries):
    """F for the states of a network and those inside ``terminals``; as ``Summaries``."""

    def __init__(
        self,
        tables: NetworkTables,
        terminals: Terminals,
        trie: Callable[[], Trie],
        vocab_size: int,
        caches: CacheBudget,
    ) -> None:
        super().__init__(tables, trie, vocab_size, None, caches)
        self._terminals = terminals
        self._parts: TrieParts | None = None
        # Summaries by what their walks come to, as states differ in numbers of characters alone.
        self._alike: dict[tuple[object, ...], tuple[int, int]] = {}

    def forget(self) -> None:
        """Go back to the beginning; numbers of rows and sets are given again."""
        super().forget()
        self._terminals.forget()
        self._alike.clear()

    def _steps(
        self, key: tuple[int, int]
    ) -> Generator[tuple[int, int], tuple[int, int], tuple[int, int]]:
        suspended, state = key
        if state < self._terminals.first:
            return (yield from super()._steps(key))
        if self._parts is None:
            self._parts = tries_of(self._make_trie()).whole
        walks = self._terminals.walks(suspended, self.sets[suspended], state, self._parts)
        summary = self._alike.get(walks.key)
        if summary is None:
            row = tokenset.from_ids(walks.tokens(self._parts), self._vocab_size)
            still = walks.suspended(self._parts)
            summary = self._alike[walks.key] = self.rows.number(row), self.sets.number(still)
        self.results.found[key_of(suspended, state)] = summary
        self.computed += 1
        return summary
