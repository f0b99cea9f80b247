"""Artifacts of the kind ``network`` under canonical tokenization: a grammar that nests, as the
tokenizer encodes its members."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..canonical_network.check import check_inert, check_precomputed
from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require
from ..tokens.vocabulary import TEXT
from . import network
from .check_tokenizer import check_normal_form, check_pairs, check_pretokenizer
from .contents import Contents
from .network import NetworkGrammar

if TYPE_CHECKING:
    from ..canonical_network.machine import CanonicalMachine


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    network.check(manifest, arrays)
    check_types(arrays, {"cuts.final": ("u1", 1)})
    check_pretokenizer(manifest, arrays)
    check_pairs(manifest, arrays)
    check_normal_form(manifest, arrays)
    # Grammars that name tokens have no canonical network.
    require(len(arrays["terminals.ids"]) == 0, "terminals.ids")
    require(len(arrays["cuts.final"]) == len(arrays["cuts.table"]), "cuts.final")
    # What merging gives is text; so is what fills in for it.
    text = (arrays["vocab.kinds"] == TEXT) & (np.diff(arrays["vocab.offsets"]) > 0)
    require(bool(text[arrays["pairs.order"]].all()), "pairs.order")
    fallback = arrays["cuts.fallback"]
    require(bool(text[fallback[fallback >= 0]].all()), "cuts.fallback")
    require(bool(text[arrays.get("cuts.whole", fallback[:0])].all()), "cuts.whole")
    if "stable.table" in arrays:
        check_inert(arrays)
    if "closed.keys" in arrays:
        check_precomputed(manifest, arrays)


class CanonicalNetworkRuntime(NetworkGrammar):
    """Matchers share one machine until it has grown too large, as those of a plain network."""

    _machine: "CanonicalMachine | None" = None

    def machine(self) -> "CanonicalMachine":
        """The machine of the next matcher."""
        if self._machine is None or self._machine.is_full:
            self._machine = self._made()
        return self._machine

    def after_prompt(self, prompt: Sequence[int]) -> "tuple[CanonicalMachine, int]":
        """By the boundaries that the prompt may have, and its last token."""
        machine = self.machine()
        return machine, machine.state_after(prompt)

    def _made(self) -> "CanonicalMachine":
        from ..canonical_network.machine import canonical_machine

        c = self.contents
        return canonical_machine(self.network, c.arrays, c.manifest.eos, c.vocabulary, c.caches)


def runtime(contents: Contents) -> CanonicalNetworkRuntime:
    """What runs the artifact."""
    return CanonicalNetworkRuntime(contents)
