"""The machine of artifacts of the kind ``greedy``, from their sections."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..dfa.stacked_dfas import StackedDfas
from ..maximal_munch.lexer import LexerTables
from ..maximal_munch.machine import MaximalMunchMasks
from ..maximal_munch.parser_transitions import ParserTransitionTables
from ..maximal_munch.slices import Slice, Slices
from ..maximal_munch.summary_tables import HeadSummaryTables
from ..maximal_munch.tables import MaximalMunchTables
from ..network.tables import NetworkTables
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary


@dataclass(eq=False)
class MaximalMunchParser:
    """What is made of the tables when a matcher first needs it; matchers share one machine."""

    manifest: Manifest
    arrays: Mapping[str, NDArray[Any]]
    vocabulary: Vocabulary
    trie: Callable[[], Trie]
    _masks: MaximalMunchMasks | None = None

    def canonical(self) -> None:
        """There are no canonical masks of longest matches."""

    def machine(self) -> MaximalMunchMasks:
        """The machine of the next matcher; it answers the rows as well."""
        m = self.manifest
        if self._masks is None or self._masks.is_full:
            self._masks = MaximalMunchMasks(
                self.tables,
                self._whole_trie,
                self.vocabulary,
                m.eos,
                m.vocab_size,
                self._slices if len(self.arrays["slices.starts"]) else None,
                HeadSummaryTables.from_arrays(self.arrays),
                ParserTransitionTables.from_arrays(self.arrays),
            )
        return self._masks

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        configurations = self.machine().configurations
        return configurations.follow(configurations.start, text)[0]

    @property
    def named(self) -> list[NDArray[np.int32]]:
        """Token terminals, of which there are none."""
        return []

    @cached_property
    def tables(self) -> MaximalMunchTables:
        """The network over lexemes, and the lexer."""
        a, m = self.arrays, self.manifest
        assert m.parser is not None
        network = NetworkTables(
            a["network.table"],
            a["network.classes"],
            a["network.accepting"],
            a["network.call_offsets"],
            a["network.call_starts"],
            a["network.call_returns"],
            m.byte_start,
            m.parser.nullable_start,
            m.parser.called,
            a["network.entries"],
        )
        dfas = StackedDfas(
            a["lexer.table"], a["lexer.columns"], a["lexer.accepting"], a["lexer.starts"]
        )
        lexer = LexerTables(dfas, a["lexer.priorities"], a["lexer.ignored"], m.parser.texts)
        return MaximalMunchTables(network, lexer)

    def _whole_trie(self) -> Trie:
        """The trie in the file where masks were left to the run time, else one that is built."""
        a = self.arrays
        if "trie.octets" not in a:
            return self.trie()
        return Trie(a["trie.octets"], a["trie.first"], a["trie.ids"], a["trie.held"])

    def _slices(self) -> Slices:
        a = self.arrays
        table, classes = a["slices.table"], a["slices.classes"]
        slices = [Slice(table, classes, start) for start in a["slices.starts"].tolist()]
        return Slices(slices, self._whole_trie(), self.manifest.vocab_size)
