"""Artifacts of the kind ``network``: a grammar that nests, as a recursive transition network,
under any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..network.check import check_effects, check_network, check_summaries
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .parser import NestingGrammar, check_earley, names_of, network_of

if TYPE_CHECKING:
    from ..matcher import Machine
    from ..network.configurations import Network
    from ..network.machine import NetworkMasks
    from ..network.tables import NetworkTables


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    names = names_of(manifest)
    states = check_network(manifest, names, arrays, check_earley(manifest, names, arrays))
    check_summaries(manifest, arrays, states)
    check_effects(arrays, manifest.vocab_size, states)


class NetworkGrammar(NestingGrammar):
    """The network of an artifact that has one."""

    @cached_property
    def network(self) -> "NetworkTables":
        """The network over bytes."""
        return network_of(self.contents)

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self._texts.viable(text)

    @cached_property
    def _texts(self) -> "Network":
        """Reads texts alone, so that matchers share no configuration with them."""
        from ..network.configurations import Network

        return Network(self.network)


class NetworkRuntime(NetworkGrammar):
    """Matchers share one machine, which interns the configurations that they meet; when it has
    grown too large it is left to them, and the next one is given a new one."""

    _machine: "NetworkMasks | None" = None

    def machine(self) -> "NetworkMasks":
        """The machine of the next matcher."""
        if self._machine is None or self._machine.is_full:
            self._machine = self._made()
        return self._machine

    def after_prompt(self, prompt: Sequence[int]) -> "tuple[Machine, int]":
        """Under any tokenization a prompt changes nothing."""
        machine = self.machine()
        return machine, machine.start

    def _made(self) -> "NetworkMasks":
        from ..network.machine import NetworkMasks
        from ..network.mask_automaton import MaskAutomaton
        from ..network.summary_tables import SummaryTables
        from ..network.token_steps import TokenEffects

        c = self.contents
        a, m = c.arrays, c.manifest
        machine = NetworkMasks(
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
        )
        if len(a["memo.keys"]):
            # Every text needs the first row; and then no other one is the first.
            machine.row(machine.start)
        return machine


def runtime(contents: Contents) -> NetworkRuntime:
    """What runs the artifact."""
    return NetworkRuntime(contents)
