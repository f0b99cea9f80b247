"""Artifacts of the kind ``network``: a grammar that nests, as a recursive transition network,
under any tokenization."""

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
from .parser import NestingGrammar, check_earley, names_of, network_of

if TYPE_CHECKING:
    from ..machine.masks import MetMasks
    from ..network.tables import NetworkTables
    from .met_states import MetStatesRuntime

# A section of networks whose states are made when they are met.
POSITIONS = "positions.arcs"

# How much of a budget unions of stored rows may take.
_UNIONS = 4


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    if POSITIONS in arrays and manifest.tokenization != "canonical":
        from . import met_states

        met_states.check(manifest, arrays)
        return
    check_summaries(arrays, manifest.vocab_size, check_texts(manifest, arrays))
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)


def check_texts(manifest: Manifest, arrays: Arrays) -> int:
    """Check what reads texts; the number of states."""
    check_vocabulary(manifest, arrays)
    names = names_of(manifest)
    return check_network(manifest, names, arrays, check_earley(manifest, names, arrays))


class NetworkGrammar(NestingGrammar):
    """The network of an artifact that has one."""

    @cached_property
    def network(self) -> "NetworkTables":
        """The network over bytes."""
        return network_of(self.contents)

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        from ..network.counted_stacks import network_over

        # A network for each text: matchers share no configuration with it, nor threads.
        return network_over(self.network).viable(text)


class NetworkRuntime(SharedMachine["MetMasks"], NetworkGrammar):
    """Matchers share one machine, which interns the configurations that they meet, until it is
    full."""

    def _following(self, full: "MetMasks | None") -> "MetMasks":
        from ..machine.masks import MetMasks
        from ..machine.table_states import TableStates
        from ..walk.summary_tables import StoredRows, SummaryTables

        c = self.contents
        a, m, size = c.arrays, c.manifest, c.manifest.vocab_size
        tables, limit = SummaryTables.from_arrays(a), c.caches.limit // _UNIONS
        stored = StoredRows(tables, size, self.network.states, limit)
        tokens = (lambda: c.trie), c.vocabulary, m.eos, size, c.caches, c.lock
        named = [tokenset.from_ids(ids, size) for ids in self.named]
        machine = MetMasks(TableStates(self.network), *tokens, named, stored)
        if FIRST_ROW in a:
            machine.begin_with(a[FIRST_ROW])
        elif full is None and len(tables.keys):
            # Every text needs the first row; and then no other one is the first.
            machine.row(machine.start)
        return machine


def runtime(contents: Contents) -> "NetworkRuntime | MetStatesRuntime":
    """What runs the artifact."""
    if POSITIONS in contents.arrays:
        from . import met_states

        return met_states.runtime(contents)
    return NetworkRuntime(contents)
