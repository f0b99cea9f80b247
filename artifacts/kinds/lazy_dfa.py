"""Artifacts of the kind ``lazy-dfa``: a regular grammar whose states are made while decoding, under
any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..lazy_dfa.check import check_conjunctions
from ..matcher import Begun
from ..tokens.allowance import NOT_LAZY, Precomputed
from .check_tokenizer import check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import Generations

if TYPE_CHECKING:
    from ..lazy_dfa.machine import LazyDfaMachine
    from ..lazy_dfa.reader import Reader


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_conjunctions(arrays)
    check_trie_sections(arrays)


class LazyDfaRuntime:
    """Matchers share one machine, which makes the states that texts lead to, until it is full."""

    names_tokens = False

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    def machine(self) -> "LazyDfaMachine":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return self._generations.begun()

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self.reader.viable(text)

    @property
    def reader(self) -> "Reader":
        """Reads texts, apart from what matchers share."""
        from ..lazy_dfa.reader import Reader
        from ..lazy_dfa.tables import from_sections

        return Reader(from_sections(self.contents.arrays))

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks are found from a few walks, which the first texts make."""
        return NOT_LAZY

    @cached_property
    def _generations(self) -> "Generations[LazyDfaMachine]":
        return Generations(self.contents.lock, self._following)

    def _following(self, full: "LazyDfaMachine | None") -> "LazyDfaMachine":
        if full is not None:
            return full.following()
        from ..lazy_dfa.machine import LazyDfaMachine
        from ..lazy_dfa.tables import from_sections

        c, m = self.contents, self.contents.manifest
        return LazyDfaMachine(
            from_sections(c.arrays),
            lambda: c.trie,
            c.vocabulary,
            m.eos,
            m.vocab_size,
            c.caches,
            c.lock,
        )


def runtime(contents: Contents) -> LazyDfaRuntime:
    """What runs the artifact."""
    return LazyDfaRuntime(contents)
