"""Artifacts of the kind ``network`` under canonical tokenization: a grammar that nests, as the
tokenizer encodes its members."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..canonical_network.check import check_inert, check_precomputed, check_stored
from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require
from ..matcher import Begun
from ..network.sets import NAMES
from ..normalizer.machine import WithNormalForm
from ..tokens.allowance import Allowance, Precomputed
from ..tokens.vocabulary import TEXT
from . import network
from .check_tokenizer import check_normal_form, check_pairs, check_pretokenizer
from .contents import Contents
from .first_row import FIRST_ROW
from .generations import Generations
from .network import NetworkGrammar

if TYPE_CHECKING:
    from ..canonical_network.closure.precomputation import Precomputation
    from ..canonical_network.machine import CanonicalMachine
    from .mask_walks import MaskWalks


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    if network.COUNTED in arrays:
        from . import counting_network

        counting_network.check_counted(manifest, arrays)
        require(f"set.{NAMES[0]}" not in arrays, f"set.{NAMES[0]}")
    else:
        network.check(manifest, arrays)
        # Grammars that name tokens have no canonical network.
        require(len(arrays["terminals.ids"]) == 0, "terminals.ids")
    check_types(arrays, {"cuts.final": ("u1", 1)})
    check_pretokenizer(manifest, arrays)
    merged = check_pairs(manifest, arrays)
    check_normal_form(manifest, arrays)
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
    check_stored(manifest, arrays)


class CanonicalNetworkRuntime(NetworkGrammar):
    """Matchers share one machine until it is full, as those of a plain network."""

    @property
    def names_tokens(self) -> bool:
        """Grammars that do have no canonical network."""
        return False

    def machine(self) -> "CanonicalMachine":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """The rows that are needed where texts have been come first, then those of all other
        places. Matchers go on with what was found when the call ends. Where single tokens are left
        to searches while decoding, masks that walks by masks meet come last; with counters these
        are all."""
        c, allowance = self.contents, Allowance(seconds, answers)
        with c.precomputing:
            if self.network.counters is not None:
                return self._walks.precompute(allowance, 0)
            with c.lock:
                work = self._work = self._work or self._begun_work()
                live = self._generations.latest()
                met = (live.inner if isinstance(live, WithNormalForm) else live).pairs_met()
            before, was_complete = work.results, work.is_complete
            ended = work.go_on(met, allowance)
            found = work.results - before
            # What the file has is more than that at first.
            if work.results > len(c.arrays.get("closed.keys", ())) and (
                found or work.is_complete > was_complete
            ):
                self._sections = {**c.arrays, **work.arrays()}
                self._generations.renew()
            if ended is None:
                return self._walks.precompute(allowance, found)
            return Precomputed(found, ended)

    # What was precomputed since the artifact was loaded, and how far that has come.
    _sections: "Arrays | None" = None
    _work: "Precomputation | None" = None

    @property
    def sections(self) -> Arrays:
        """Those of the file, with what was precomputed since."""
        return self._sections or self.contents.arrays

    def _begun_work(self) -> "Precomputation":
        from ..canonical_network.closure.precomputation import Precomputation
        from ..canonical_network.pretokenized import PretokenizedNetwork

        c = self.contents
        own = PretokenizedNetwork.from_arrays(self.network, c.arrays, c.vocabulary, c.caches)
        is_complete = "closed.all" in c.arrays and bool(c.arrays["closed.all"][1])
        return Precomputation(own, c.arrays, c.caches.limit, is_complete=is_complete)

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
        arrays, eos = self.sections, c.manifest.eos
        if full is not None:
            machine = following_machine(full, arrays, eos, c.caches)
        else:
            machine = canonical_machine(self.network, arrays, eos, c.vocabulary, c.caches, c.lock)
        if FIRST_ROW in c.arrays:
            machine.begin_with(c.arrays[FIRST_ROW])
        return machine


def runtime(contents: Contents) -> CanonicalNetworkRuntime:
    """What runs the artifact."""
    return CanonicalNetworkRuntime(contents)
