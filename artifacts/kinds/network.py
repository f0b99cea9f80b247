"""Artifacts of the kind ``network``: a grammar that nests, as a recursive transition network,
under any tokenization."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..matcher import Begun
from ..network.check import check_effects, check_network, check_summaries
from ..tokens.allowance import Allowance, Precomputed
from .check_tokenizer import FIRST_ROW, check_first_row, check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import Generations
from .parser import NestingGrammar, check_earley, names_of, network_of

if TYPE_CHECKING:
    from ..network.machine import NetworkMasks
    from ..network.tables import NetworkTables
    from .mask_walks import MaskWalks
    from .met_states import MetStatesRuntime

# A section of networks whose states are made when they are met.
POSITIONS = "positions.arcs"


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    if POSITIONS in arrays and manifest.tokenization != "canonical":
        from . import met_states

        met_states.check(manifest, arrays)
        return
    check_vocabulary(manifest, arrays)
    names = names_of(manifest)
    states = check_network(manifest, names, arrays, check_earley(manifest, names, arrays))
    check_summaries(manifest, arrays, states)
    check_effects(arrays, manifest.vocab_size, states)
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)


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


class NetworkRuntime(NetworkGrammar):
    """Matchers share one machine, which interns the configurations that they meet, until it is
    full."""

    def machine(self) -> "NetworkMasks":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks along random texts that the masks allow."""
        with self.contents.precomputing:
            return self._walks.precompute(Allowance(seconds, answers))

    @cached_property
    def _walks(self) -> "MaskWalks":
        from .mask_walks import MaskWalks

        c, m = self.contents, self.contents.manifest
        return MaskWalks(partial(self.begun, ()), c.vocabulary, m.eos, m.vocab_size)

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return self._generations.begun()

    @cached_property
    def _generations(self) -> "Generations[NetworkMasks]":
        return Generations(self.contents.lock, self._following)

    def _following(self, full: "NetworkMasks | None") -> "NetworkMasks":
        row = self.contents.arrays.get(FIRST_ROW)
        machine = self._made() if full is None else full.following()
        if row is not None:
            machine.begin_with(row)
        elif full is None and len(self.contents.arrays["memo.keys"]):
            # Every text needs the first row; and then no other one is the first.
            machine.row(machine.start)
        return machine

    def _made(self) -> "NetworkMasks":
        from ..network.machine import NetworkMasks
        from ..network.mask_automaton import MaskAutomaton
        from ..network.summary_tables import SummaryTables
        from ..network.token_steps import TokenEffects

        c = self.contents
        a, m = c.arrays, c.manifest
        return NetworkMasks(
            self.network,
            lambda: c.trie,
            c.vocabulary,
            m.eos,
            m.vocab_size,
            self.named,
            SummaryTables.from_arrays(a),
            MaskAutomaton.from_arrays(a),
            TokenEffects.from_arrays(a),
            c.caches,
            c.lock,
        )


def runtime(contents: Contents) -> "NetworkRuntime | MetStatesRuntime":
    """What runs the artifact."""
    if POSITIONS in contents.arrays:
        from . import met_states

        return met_states.runtime(contents)
    return NetworkRuntime(contents)
