"""Artifacts of the kind ``lazy-network``: a grammar with terminals whose states are made while
decoding, under any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..lazy_network.check import TERMINALS, check_calling_network
from ..matcher import Begun
from ..tokens.allowance import NOT_LAZY, Precomputed
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .first_row import check_trie_sections
from .generations import Generations
from .parser import names_of, network_of

if TYPE_CHECKING:
    from ..lazy_dfa.tables import Conjunction
    from ..lazy_network.configurations import CallingNetwork
    from ..lazy_network.machine import CallingMasks


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_calling_network(manifest, names_of(manifest), arrays)
    check_trie_sections(arrays)


class CallingRuntime:
    """Matchers share one machine, until it is full."""

    names_tokens = False

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    def machine(self) -> "CallingMasks":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return self._generations.begun()

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self.network().viable(text)

    def network(self) -> "CallingNetwork":
        """A network that has read nothing, apart from what matchers share."""
        from ..lazy_dfa.reader import Reader
        from ..lazy_network.configurations import CallingNetwork
        from ..lazy_network.terminals import Terminals, called_tables

        tables = called_tables(network_of(self.contents))
        return CallingNetwork(tables, Terminals(tables, [Reader(each) for each in self._terminals]))

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks are found from a few walks, which the first texts make."""
        return NOT_LAZY

    @cached_property
    def _terminals(self) -> "list[tuple[Conjunction, ...]]":
        from ..lazy_dfa.tables import from_sections

        found = from_sections(self.contents.arrays)
        offsets = self.contents.arrays[TERMINALS].tolist()
        return [found[i:j] for i, j in pairwise(offsets)]

    @cached_property
    def _generations(self) -> "Generations[CallingMasks]":
        return Generations(self.contents.lock, self._following)

    def _following(self, full: "CallingMasks | None") -> "CallingMasks":
        if full is not None:
            return full.following()
        from ..lazy_network.machine import CallingMasks

        c, m = self.contents, self.contents.manifest
        return CallingMasks(
            network_of(c),
            self._terminals,
            lambda: c.trie,
            c.vocabulary,
            m.eos,
            m.vocab_size,
            c.caches,
            c.lock,
        )


def runtime(contents: Contents) -> CallingRuntime:
    """What runs the artifact."""
    return CallingRuntime(contents)
