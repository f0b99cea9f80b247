"""What the machines of an artifact are made of: its sections, and what all machines share.

Where a grammar names tokens, canonical masks have two machines, one over texts and sentinels inside
one over tokens (``artifacts/token_terminals``).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_sections, check_trie, require
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.trie import Trie, trie_of
from ..tokens.vocabulary import TokenClasses, Vocabulary

if TYPE_CHECKING:
    from ..dfa.byte_dfa import ByteDfa
    from ..token_terminals.machine import Inner, TokenTerminalMachine


# Called when a whole file is needed: the sections that masks do not need, and the manifest with
# what it says of these.
Later: TypeAlias = Callable[[Manifest], tuple[Manifest, Arrays]]


@dataclass(frozen=True, eq=False)
class Contents:
    """``arrays``: the sections by name, which have been checked. ``caches``: what the caches of a
    machine of this artifact may hold together. ``lock``: held while one is filled; there is one
    for each artifact. ``shared_trie``: the trie of the vocabulary, where it was made already.
    ``later``: makes the sections that are not there yet, and which masks do not need; None where
    all are."""

    manifest: Manifest
    arrays: Arrays
    caches: CacheBudget = field(default_factory=CacheBudget)
    lock: Lock = field(default_factory=RLock)
    shared_trie: Trie | None = None
    later: Later | None = None

    @property
    def completed(self) -> "Contents":
        """The same with all sections of the file. Raises what ``later`` does."""
        return self if self.later is None else self._completed

    @cached_property
    def _completed(self) -> "Contents":
        assert self.later is not None
        manifest, sections = self.later(self.manifest)
        return replace(self, manifest=manifest, arrays={**self.arrays, **sections}, later=None)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token; of artifacts with the same sections one object."""
        return Vocabulary.from_arrays(self.arrays, "vocab.")

    @cached_property
    def trie(self) -> Trie:
        """The token trie: the one that is there, the file's, or else built. Raises
        ``ArtifactError`` where the file's does not fit."""
        if self.shared_trie is not None:
            return self.shared_trie
        if "trie.octets" in self.arrays:
            check_trie(self.arrays, "trie.", self.manifest.vocab_size)
            return trie_of(self.arrays, "trie.")
        return Trie.from_vocabulary(self.vocabulary)

    @cached_property
    def byte_dfa(self) -> "ByteDfa":
        """The grammar's own automaton, minimal; regular grammars alone have one."""
        from ..dfa.byte_dfa import ByteDfa

        return ByteDfa.from_sections(self.arrays, self.manifest.byte_start)


M = TypeVar("M", bound="Inner")

# How a budget is divided between both machines.
_INNER, _OUTER = 3, 1


def terminals_of(manifest: Manifest, arrays: Arrays) -> TokenClasses:
    """The tokens of each terminal of a grammar, regular or not."""
    prefix = "dfa.token_" if manifest.is_regular else "terminals."
    if f"{prefix}ids" not in arrays:
        return TokenClasses.of(())
    return TokenClasses(arrays[f"{prefix}ids"], arrays[f"{prefix}offsets"])


def over_sentinels(manifest: Manifest, arrays: Arrays) -> tuple[Manifest, Arrays]:
    """The manifest and the sections that the inner machine is of; the same where the grammar names
    no tokens. The sections of the vocabulary and of the terminals have been checked."""
    count = len(terminals_of(manifest, arrays))
    if not count:
        return manifest, arrays
    from ..token_terminals.sentinels import PREFIX, SENTINELS, prefix_of, sections_with_sentinels

    check_sections(arrays, {PREFIX: "uint8 (1) optional"})
    require(count + len(prefix_of(arrays)) <= len(SENTINELS), "terminals.offsets")
    return sections_with_sentinels(manifest, arrays, count)


@dataclass(frozen=True, eq=False)
class BesideTerminals(Generic[M]):
    """The machines of one artifact, of which the inner one alone is there where the grammar names
    no tokens. ``contents``: of the file."""

    contents: Contents

    @cached_property
    def terminals(self) -> TokenClasses:
        """The tokens of each terminal."""
        return terminals_of(self.contents.manifest, self.contents.arrays)

    @cached_property
    def contents_of_inner(self) -> Contents:
        """What the inner machine is made of."""
        c = self.contents
        if not len(self.terminals):
            return c
        manifest, arrays = over_sentinels(c.manifest, c.arrays)
        caches = self._caches[0]
        return replace(c, manifest=manifest, arrays=arrays, caches=caches, shared_trie=None)

    def outer(self, inner: M) -> "M | TokenTerminalMachine[M]":
        """What matchers step."""
        if not len(self.terminals):
            return inner
        from ..token_terminals.machine import TokenTerminalMachine
        from ..token_terminals.sentinels import first_sentinel, prefix_of, twinned

        c, size = self.contents, self.contents.manifest.vocab_size
        twins = twinned(c.vocabulary, prefix_of(c.arrays))
        first, caches = first_sentinel(size), self._caches[1]
        return TokenTerminalMachine(inner, self.terminals, twins, first, size, caches)

    def inner(self, outer: "M | TokenTerminalMachine[M]") -> M:
        """The machine inside that."""
        if not len(self.terminals):
            return cast("M", outer)
        return cast("TokenTerminalMachine[M]", outer).inner

    def inner_state(self, outer: "M | TokenTerminalMachine[M]", state: int) -> int:
        """The state of the inner machine (of several, one)."""
        if not len(self.terminals):
            return state
        return cast("TokenTerminalMachine[M]", outer).members(state)[0]

    @property
    def _caches(self) -> tuple[CacheBudget, CacheBudget]:
        inner, outer = self.contents.caches.divide(_INNER, _OUTER)
        return inner, outer
