"""What the machines of an artifact are made of: its sections, and what all machines share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, TypeAlias

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_trie
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ..dfa.byte_dfa import ByteDfa

# Makes what masks do not need of an artifact: the manifest with what it says of it, and sections.
Later: TypeAlias = Callable[[Manifest], tuple[Manifest, Arrays]]


@dataclass(frozen=True, eq=False)
class Contents:
    """``arrays``: the sections by name, which have been checked. ``caches``: what the caches of a
    machine of this artifact may hold together. ``lock``: held while one is filled; there is one
    for each artifact. ``shared_trie``: the trie of the vocabulary, where it was made already.
    ``precomputing``: held by the thread that precomputes. ``later``: makes the sections that are
    not there yet, and which masks do not need; None where all are."""

    manifest: Manifest
    arrays: Arrays
    caches: CacheBudget = field(default_factory=CacheBudget)
    lock: Lock = field(default_factory=RLock)
    shared_trie: Trie | None = None
    precomputing: Lock = field(default_factory=RLock)
    later: Later | None = None

    @cached_property
    def completed(self) -> "Contents":
        """The same with all sections of the file. Raises what ``later`` does."""
        if self.later is None:
            return self
        manifest, sections = self.later(self.manifest)
        return replace(self, manifest=manifest, arrays={**self.arrays, **sections}, later=None)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token."""
        a = self.arrays
        return Vocabulary(a["vocab.data"], a["vocab.offsets"], a["vocab.kinds"])

    @cached_property
    def trie(self) -> Trie:
        """The token trie: the one that is there, the file's, or else built. Raises
        ``ArtifactError`` where the file's does not fit."""
        if self.shared_trie is not None:
            return self.shared_trie
        if "trie.octets" in self.arrays:
            from ..tokens.subtrees import from_arrays

            check_trie(self.arrays, "trie.", self.manifest.vocab_size)
            return from_arrays(self.arrays)
        return Trie.from_vocabulary(self.vocabulary)

    @cached_property
    def byte_dfa(self) -> "ByteDfa":
        """The grammar's own automaton, minimal; regular grammars alone have one."""
        from ..dfa.byte_dfa import ByteDfa

        return ByteDfa.from_sections(self.arrays, self.manifest.byte_start)
