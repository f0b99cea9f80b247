"""Procedure summaries of a network and of the lazy DFAs that it calls."""

from collections.abc import Callable, Generator

from ..network.summaries import Summaries
from ..network.tables import NetworkTables
from ..summaries.node_sets import ROOT
from ..tokens.memo import CacheBudget
from ..tokens.trie import Trie
from .terminal_walks import TerminalWalks
from .terminals import Terminals


class CallingSummaries(Summaries):
    """F for the states of a network and those inside ``terminals``; as ``Summaries``. Of what is
    left suspended in terminals only exits are kept (``exits``)."""

    def __init__(
        self,
        tables: NetworkTables,
        terminals: Terminals,
        walks: TerminalWalks,
        trie: Callable[[], Trie],
        vocab_size: int,
        caches: CacheBudget,
    ) -> None:
        super().__init__(tables, trie, vocab_size, None, caches)
        self._terminals, self._walks = terminals, walks

    def _of_few(self, suspended: int, state: int) -> tuple[int, int] | None:
        is_inside = state >= self._terminals.first
        return None if is_inside else super()._of_few(suspended, state)

    def _steps(
        self, key: tuple[int, int]
    ) -> Generator[tuple[int, int], tuple[int, int], tuple[int, int]]:
        suspended, state = key
        if state < self._terminals.first:
            return (yield from super()._steps(key))
        terminal, threads = self._terminals.inside(state)
        if suspended == ROOT:
            row, left = self._walks.from_root(terminal, threads, self._terminals.ends[state])
        else:
            row, left = self._walks.from_nodes(self.sets[suspended], terminal, threads)
        return self._found(key, (self.rows.number(row), self.sets.number(left)))
