"""The machines of artifacts of the kinds ``network`` and ``earley``, from their sections."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..canonical_network.machine import CanonicalMachine, canonical_machine
from ..container.manifest import EARLEY, NETWORK, Manifest, ParserNames
from ..dfa.stacked_dfas import StackedDfas
from ..earley.machine import EarleyMasks, EarleyMemo
from ..earley.recogniser import Earley
from ..earley.tables import EarleyTables
from ..network.configurations import Network
from ..network.machine import NetworkMasks
from ..network.mask_automaton import MaskAutomaton
from ..network.summary_tables import SummaryTables
from ..network.tables import NetworkTables
from ..network.token_steps import TokenEffects
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary


@dataclass(eq=False)
class Parsers:
    """What is made of the tables when a matcher first needs it.

    Matchers of a network share one machine, which grows with what they meet; an Earley
    recogniser holds one text, so each matcher has its own, over one memo. What has grown too
    large is left to the matchers that use it, and the next one begins anew.
    """

    manifest: Manifest
    arrays: Mapping[str, NDArray[Any]]
    vocabulary: Vocabulary
    trie: Callable[[], Trie]
    _network_masks: NetworkMasks | None = None
    _canonical: CanonicalMachine | None = None
    _memo: EarleyMemo = field(default_factory=EarleyMemo)

    def canonical(self) -> CanonicalMachine | None:
        """The machine of the next matcher under ``canonical``, else None."""
        if self.manifest.tokenization != "canonical":
            return None
        if self._canonical is None or self._canonical.is_full:
            self._canonical = canonical_machine(
                self.network, self.arrays, self.manifest.eos, self.vocabulary
            )
        return self._canonical

    def machine(self) -> NetworkMasks | EarleyMasks | CanonicalMachine:
        """The machine of the next matcher; it answers the rows as well."""
        m = self.manifest
        if canonical := self.canonical():
            return canonical
        if m.kind == EARLEY:
            if self._memo.is_full:
                self._memo = EarleyMemo()
            return EarleyMasks(
                self.recogniser(),
                self.trie(),
                self.vocabulary,
                m.eos,
                m.vocab_size,
                self.named,
                memo=self._memo,
            )
        if self._network_masks is None or self._network_masks.is_full:
            self._network_masks = NetworkMasks(
                self.network,
                self.trie,
                self.vocabulary,
                m.eos,
                m.vocab_size,
                self.named,
                SummaryTables.from_arrays(self.arrays),
                MaskAutomaton.from_arrays(self.arrays),
                TokenEffects.from_arrays(self.arrays),
            )
            if len(self.arrays["memo.keys"]):
                # Every text needs it; and then no other one is the first.
                self._network_masks.row(self._network_masks.start)
        return self._network_masks

    def recogniser(self) -> Earley:
        """An Earley recogniser before any text; both kinds have its tables."""
        return Earley(self.earley_tables, self.lexer, len(self.lexer.table))

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        if self.manifest.kind == NETWORK:
            return self._texts.viable(text)
        return self.recogniser().feed(text)

    @cached_property
    def _texts(self) -> Network:
        """Reads texts alone."""
        return Network(self.network)

    @cached_property
    def names(self) -> ParserNames:
        """The rules and terminals of the tables, and where they begin."""
        assert self.manifest.parser is not None
        return self.manifest.parser

    @cached_property
    def named(self) -> list[NDArray[np.int32]]:
        """The ids of each token terminal."""
        ids, offsets = self.arrays["terminals.ids"], self.arrays["terminals.offsets"]
        return np.split(ids, offsets[1:-1])[: len(offsets) - 1]

    @cached_property
    def earley_tables(self) -> EarleyTables:
        """The productions."""
        a, names = self.arrays, self.names
        return EarleyTables(
            a["earley.symbols"],
            a["earley.bodies"],
            a["earley.first"],
            names.start,
            names.nullable_start,
            names.rules,
            names.texts,
            a["earley.paths"],
            a["earley.path_offsets"],
            a["earley.rests"],
        )

    @cached_property
    def lexer(self) -> StackedDfas:
        """The terminals' automata."""
        a = self.arrays
        return StackedDfas(
            a["lexer.table"], a["lexer.columns"], a["lexer.accepting"], a["lexer.starts"]
        )

    @cached_property
    def network(self) -> NetworkTables:
        """The network (kind ``network`` alone)."""
        a, names = self.arrays, self.names
        return NetworkTables(
            a["network.table"],
            a["network.classes"],
            a["network.accepting"],
            a["network.call_offsets"],
            a["network.call_starts"],
            a["network.call_returns"],
            self.manifest.byte_start,
            names.nullable_start,
            names.called,
            a["network.entries"],
        )
