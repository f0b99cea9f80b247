"""Artifacts of the kind ``network`` under canonical tokenization: a grammar, as the tokenizer
encodes its members."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..canonical_network.check import check_inert, check_precomputed, check_stored
from ..container.manifest import Manifest
from ..container.sections import Arrays, check_sections, require
from ..network.check import check_network
from ..tokens.interning import InterningMachine
from ..tokens.vocabulary import TEXT
from . import network
from .check_tokenizer import (
    FIRST_ROW,
    check_first_row,
    check_normal_form,
    check_pairs,
    check_pretokenizer,
    check_trie_sections,
    check_vocabulary,
)
from .contents import BesideTerminals, Contents, over_sentinels
from .generations import SharedMachine
from .network import NetworkGrammar
from .parser import has_productions, names_of

if TYPE_CHECKING:
    from ..canonical_network.machine import CanonicalMachine
    from ..canonical_network.masks import CanonicalMasks
    from ..network.tables import NetworkTables
    from ..token_terminals.machine import TokenTerminalMachine
    from ..tokens.forbidden_pairs import ForbiddenPairs

    AnyMachine: TypeAlias = CanonicalMachine | TokenTerminalMachine[CanonicalMachine]


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    if not (manifest.is_regular or has_productions(manifest, arrays)):
        _check_network_alone(manifest, arrays)
    else:
        network.check_texts(manifest, arrays)
        check_trie_sections(arrays)
        manifest, arrays = over_sentinels(manifest, arrays)
        check_first_row(manifest, arrays)
    check_canonical(manifest, arrays)


def check_canonical(manifest: Manifest, arrays: Arrays) -> None:
    """The same of what canonical masks are made of beside the grammar; ``arrays``: over sentinels,
    where the grammar names tokens."""
    check_pretokenizer(manifest, arrays)
    states = len(arrays["cuts.table"])
    check_sections(arrays, {"cuts.final": "uint8 (states)"}, states=states)
    merged = check_pairs(manifest, arrays)
    check_normal_form(manifest, arrays)
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
    check_stored(manifest, arrays)


def _check_network_alone(manifest: Manifest, arrays: Arrays) -> None:
    """The same of what does not depend on the tokenization, where there are no productions."""
    check_vocabulary(manifest, arrays)
    # The grammar names no tokens.
    require("terminals.ids" not in arrays, "terminals.ids")
    check_network(manifest, names_of(manifest), arrays, 0, counted="count.items" in arrays)
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)


class CanonicalRuntime(SharedMachine["AnyMachine"], NetworkGrammar):
    """Matchers share one machine until it is full, as those of a plain network."""

    @property
    def forbidden_pairs(self) -> "ForbiddenPairs":
        """Which tokens may not follow which inside a pre-token."""
        masks = self._masks(self.machine())
        return masks.forbidden.of_first(self.contents.manifest.vocab_size)

    @cached_property
    def _beside(self) -> "BesideTerminals[CanonicalMachine]":
        return BesideTerminals(self.contents)

    @cached_property
    def _over_sentinels(self) -> "NetworkTables":
        """The network of texts and sentinels."""
        from .without_calls import with_rejecting_start

        over_terminals = with_rejecting_start(self.network)
        if not over_terminals.terminals:
            return over_terminals
        from ..token_terminals.sentinels import network_with_sentinels, prefix_of

        return network_with_sentinels(over_terminals, prefix_of(self.contents.arrays))

    def _masks(self, machine: "AnyMachine") -> "CanonicalMasks":
        found = self._beside.inner(machine)
        return found if isinstance(found, InterningMachine) else found.inner

    def network_state(self, state: int) -> int:
        """The state of the network that a state stands for (of several, one)."""
        machine = self.latest()
        masks, inner = self._masks(machine), self._beside.inner_state(machine, state)
        found = self._beside.inner(machine)
        if not isinstance(found, InterningMachine):
            inner = found.inner_state(inner)
        return masks.network.threads[masks.configuration_of(inner)][-1][0]

    def _start(self, machine: "AnyMachine", prompt: Sequence[int]) -> int:
        # By the boundaries that the prompt may have, and its last token.
        return machine.state_after(prompt) if prompt else machine.start

    def _following(self, full: "AnyMachine | None") -> "AnyMachine":
        from ..canonical_network.machine import canonical_machine, following_machine

        c = self._beside.contents_of_inner
        arrays, eos = c.arrays, c.manifest.eos
        if full is not None:
            machine = following_machine(self._beside.inner(full), arrays, eos, c.caches)
        else:
            machine = canonical_machine(
                self._over_sentinels, arrays, eos, c.vocabulary, c.caches, c.lock
            )
        if FIRST_ROW in c.arrays:
            machine.begin_with(c.arrays[FIRST_ROW])
        return self._beside.outer(machine)


def runtime(contents: Contents) -> CanonicalRuntime:
    """What runs the artifact."""
    return CanonicalRuntime(contents)
