"""Artifacts of the kind ``network`` under any tokenization: a grammar as a recursive transition
network. That of a regular grammar has no calls: it is the grammar's byte DFA."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..network.check import check_network
from ..tokens import tokenset
from ..walk.summary_tables import check_summaries
from .check_tokenizer import FIRST_ROW, check_first_row, check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import SharedMachine
from .parser import NestingGrammar, check_earley, has_productions, names_of, network_of

if TYPE_CHECKING:
    from ..machine.masks import MetMasks, StoredMasks
    from ..network.tables import NetworkTables
    from .met_states import MetStatesRuntime

# A section of networks whose states are made when they are met.
POSITIONS = "positions.arcs"

# How much of a budget unions of stored rows may take, or those that are packed.
_UNIONS = 4


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    if POSITIONS in arrays and manifest.tokenization != "canonical":
        from . import met_states

        met_states.check(manifest, arrays)
        return
    states = check_texts(manifest, arrays)
    if not manifest.is_regular:
        check_summaries(arrays, manifest.vocab_size, states)
    elif any(name.startswith("row") for name in arrays):
        from ..dfa.check import check_stored_rows

        check_stored_rows(manifest, arrays, states)
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)


def check_texts(manifest: Manifest, arrays: Arrays) -> int:
    """Check what reads texts; the number of states."""
    check_vocabulary(manifest, arrays)
    if manifest.is_regular:
        from ..dfa.check import check_byte_dfa

        return check_byte_dfa(manifest, arrays)
    names = names_of(manifest)
    has_others = has_productions(manifest, arrays)
    named = check_earley(manifest, names, arrays) if has_others else 0
    return check_network(manifest, names, arrays, named)


class NetworkGrammar(NestingGrammar, ABC):
    """The network of an artifact that has one; of regular grammars, which have no productions, the
    byte DFA."""

    @cached_property
    def network(self) -> "NetworkTables":
        """The network over bytes."""
        return network_of(self.contents)

    @abstractmethod
    def network_state(self, state: int) -> int:
        """The state of the network that a state of the machine stands for (of several, one)."""

    def byte_state_of(self, state: int) -> int:
        """The same of the byte DFA."""
        found, dfa = self.network_state(state), self.contents.byte_dfa
        # Those of a prefix, and a copy of the start, are after all others.
        return found if found < dfa.states else dfa.start

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        from ..network.counted_stacks import network_over

        if self.contents.manifest.is_regular:
            return self.contents.byte_dfa.viable_bytes(text)
        # A network for each text: matchers share no configuration with it, nor threads.
        return network_over(self.network).viable(text)


class NetworkRuntime(SharedMachine["MetMasks"], NetworkGrammar):
    """Matchers share one machine, which interns the configurations that they meet, until it is
    full."""

    def _following(self, full: "MetMasks | None") -> "MetMasks":
        from ..machine.masks import MetMasks
        from ..machine.table_states import TableStates

        c = self.contents
        a, m, size, stored = c.arrays, c.manifest, c.manifest.vocab_size, self._stored()
        tokens = (lambda: c.trie), c.vocabulary, m.eos, size, c.caches, c.lock
        named = [tokenset.from_ids(ids, size) for ids in self.named]
        if m.is_regular and not named:
            from .without_calls import DfaMasks

            machine: MetMasks = DfaMasks(c.byte_dfa, *tokens, stored)
        else:
            machine = MetMasks(TableStates(self.network), *tokens, named, stored)
        if FIRST_ROW in a:
            machine.begin_with(a[FIRST_ROW])
        elif full is None and stored is not None:
            # Every text needs the first row; and then no other one is the first.
            machine.row(machine.start)
        return machine

    def _stored(self) -> "StoredMasks | None":
        """The rows of the file."""
        from ..walk.summary_tables import StoredRows, SummaryTables

        a, m = self.contents.arrays, self.contents.manifest
        limit = self.contents.caches.limit // _UNIONS
        if m.is_regular:
            from .without_calls import RowsOfStates

            return RowsOfStates(a, m.vocab_size, limit) if "rows" in a else None
        tables = SummaryTables.from_arrays(a)
        if not len(tables.keys):
            return None
        return StoredRows(tables, m.vocab_size, self.network.states, limit)

    def network_state(self, state: int) -> int:
        """The state of the network that a configuration begins with."""
        return self.latest().network.threads[state][-1][0]


def runtime(contents: Contents) -> "NetworkRuntime | MetStatesRuntime":
    """What runs the artifact."""
    if POSITIONS in contents.arrays:
        from . import met_states

        return met_states.runtime(contents)
    return NetworkRuntime(contents)
