"""Artifacts of the kind ``network`` under canonical tokenization: a grammar that nests, as the
tokenizer encodes its members."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..canonical_network.check import check_inert, check_precomputed, check_stored
from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require
from ..matcher import Begun
from ..tokens.allowance import Allowance, Precomputed
from ..tokens.vocabulary import TEXT
from . import network
from .check_tokenizer import check_normal_form, check_pairs, check_pretokenizer
from .contents import Contents
from .first_row import FIRST_ROW
from .generations import Generations
from .network import NetworkGrammar

if TYPE_CHECKING:
    from ..canonical_network.machine import CanonicalMachine
    from .mask_walks import MaskWalks


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    network.check(manifest, arrays)
    check_types(arrays, {"cuts.final": ("u1", 1)})
    check_pretokenizer(manifest, arrays)
    merged = check_pairs(manifest, arrays)
    check_normal_form(manifest, arrays)
    # Grammars that name tokens have no canonical network.
    require(len(arrays["terminals.ids"]) == 0, "terminals.ids")
    require(len(arrays["cuts.final"]) == len(arrays["cuts.table"]), "cuts.final")
    # What merging gives is text; so is what fills in for it.
    offsets = arrays["vocab.offsets"]
    text = (arrays["vocab.kinds"] == TEXT) & (offsets[1:] > offsets[:-1])
    require(bool((merged <= text).all()), "pairs.order")
    fallback = arrays["cuts.fallback"]
    require(bool(text[fallback[fallback >= 0]].all()), "cuts.fallback")
    whole = arrays.get("cuts.whole", fallback[:0])
    require(bool(text[whole].all()), "cuts.whole")
    require(not len(whole) or arrays["cuts.table"].shape[1] == 4, "cuts.whole")
    if "stable.table" in arrays:
        check_inert(arrays)
    if "closed.keys" in arrays:
        check_precomputed(manifest, arrays)
    check_stored(arrays)


class CanonicalNetworkRuntime(NetworkGrammar):
    """Matchers share one machine until it is full, as those of a plain network."""

    def machine(self) -> "CanonicalMachine":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks that walks by masks meet."""
        with self.contents.precomputing:
            return self._walks.precompute(Allowance(seconds, answers))

    @cached_property
    def _walks(self) -> "MaskWalks":
        from .mask_walks import MaskWalks

        c = self.contents
        return MaskWalks(
            partial(self.begun, ()), c.vocabulary, c.manifest.eos, c.manifest.vocab_size
        )

    def begun(self, prompt: Sequence[int]) -> Begun:
        """By the boundaries that the prompt may have, and its last token."""
        generation, machine = self._generations.current()
        start = machine.state_after(prompt) if prompt else machine.start
        return Begun(generation, machine, start)

    @cached_property
    def _generations(self) -> "Generations[CanonicalMachine]":
        return Generations(self.contents.lock, self._following)

    def _following(self, full: "CanonicalMachine | None") -> "CanonicalMachine":
        from ..canonical_network.machine import canonical_machine, following_machine

        c = self.contents
        if full is not None:
            machine = following_machine(full, c.arrays, c.manifest.eos, c.caches)
        else:
            machine = canonical_machine(
                self.network, c.arrays, c.manifest.eos, c.vocabulary, c.caches, c.lock
            )
        if FIRST_ROW in c.arrays:
            machine.begin_with(c.arrays[FIRST_ROW])
        return machine


def runtime(contents: Contents) -> CanonicalNetworkRuntime:
    """What runs the artifact."""
    return CanonicalNetworkRuntime(contents)
