"""Artifacts of the kind ``network`` whose repetitions are counted while decoding."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..counting_network.check import check_items
from ..matcher import Begun
from ..network.check import check_effects, check_network, check_summaries
from ..tokens.allowance import Allowance, Ended, Precomputed
from ..tokens.watch import unwatched
from .check_tokenizer import FIRST_ROW, check_first_row, check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import Generations
from .parser import names_of, network_of

if TYPE_CHECKING:
    from ..counting_network.machine import CountingMasks
    from ..network.tables import NetworkTables


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    states = check_counted(manifest, arrays)
    check_items(arrays, manifest.vocab_size, states)


def check_counted(manifest: Manifest, arrays: Arrays) -> int:
    """The same of what does not depend on the tokenization; the number of states."""
    check_vocabulary(manifest, arrays)
    # Productions of counted repetitions would be copies, and the grammar names no tokens.
    states = check_network(manifest, names_of(manifest), arrays, 0, counted=True)
    check_summaries(manifest, arrays, states)
    check_effects(arrays, manifest.vocab_size, states)
    check_first_row(manifest, arrays)
    check_trie_sections(arrays)
    return states


class _SpentError(Exception):
    """``ended``: why no more may be found."""

    def __init__(self, ended: Ended) -> None:
        super().__init__()
        self.ended = ended


class CountingRuntime:
    """Matchers share one machine until it is full, as those of a plain network."""

    names_tokens = False

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    @cached_property
    def network(self) -> "NetworkTables":
        """The network over bytes."""
        return network_of(self.contents)

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        from ..counting_network.configurations import CountedStacks

        return CountedStacks(self.network).viable(text)

    def machine(self) -> "CountingMasks":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """The summaries that stacks on the start need come first, for a few of all counts. They are
        there for all matchers as soon as they are found."""
        from ..counting_network.closure import needed_keys
        from ..network.closure import nearest_first

        c = self.contents
        with c.precomputing:
            summaries = self.machine().summaries
            allowance, before = Allowance(seconds, answers), summaries.computed

            def watch(work: int, size: int) -> None:
                ended = allowance.spent(summaries.computed - before)
                ended = Ended.MEMORY if summaries.is_full else ended
                if ended is not None:
                    raise _SpentError(ended)

            order = nearest_first(self.network, ())
            keys = needed_keys(self.network, order, summaries)
            try:
                while True:
                    with c.lock:
                        summaries.watch = watch
                        try:
                            key = next(keys, None)
                            if key is None:
                                break
                            summaries.meet(*key)
                        finally:
                            summaries.watch = unwatched
            except _SpentError as spent:
                return Precomputed(summaries.computed - before, spent.ended)
            return Precomputed(summaries.computed - before, Ended.COMPLETE)

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return self._generations.begun()

    @cached_property
    def _generations(self) -> "Generations[CountingMasks]":
        return Generations(self.contents.lock, self._following)

    def _following(self, full: "CountingMasks | None") -> "CountingMasks":
        if full is not None:
            return full.following()
        from ..counting_network.machine import CountingMasks
        from ..counting_network.stored_items import StoredItems
        from ..network.summary_tables import SummaryTables

        c, m = self.contents, self.contents.manifest
        machine = CountingMasks(
            self.network,
            lambda: c.trie,
            c.vocabulary,
            m.eos,
            m.vocab_size,
            SummaryTables.from_arrays(c.arrays),
            c.caches,
            c.lock,
            StoredItems.from_arrays(c.arrays),
        )
        if FIRST_ROW in c.arrays:
            machine.begin_with(c.arrays[FIRST_ROW])
        return machine


def runtime(contents: Contents) -> CountingRuntime:
    """What runs the artifact."""
    return CountingRuntime(contents)
