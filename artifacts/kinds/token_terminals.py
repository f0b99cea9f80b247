"""What kinds of canonical masks have in common where the grammar names tokens: a machine over
texts and sentinels inside one over tokens."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from ..container.manifest import Manifest
from ..container.sections import Arrays, require
from ..tokens.memo import CacheBudget
from ..tokens.vocabulary import TokenClasses
from .contents import Contents

# Most grammars name no tokens.
if TYPE_CHECKING:
    from ..token_terminals.machine import Inner, TokenTerminalMachine

M = TypeVar("M", bound="Inner")

# How a budget is divided between both machines.
_INNER, _OUTER = 3, 1


def terminals_of(arrays: Arrays) -> TokenClasses:
    """The tokens of each terminal of a grammar, regular or not."""
    for kind in ("dfa.token_", "terminals."):
        if f"{kind}ids" in arrays:
            return TokenClasses(arrays[f"{kind}ids"], arrays[f"{kind}offsets"])
    return TokenClasses.of(())


def over_sentinels(manifest: Manifest, arrays: Arrays) -> tuple[Manifest, Arrays]:
    """The manifest and the sections that the inner machine is of; the same where the grammar names
    no tokens. The sections of the vocabulary and of the terminals have been checked."""
    count = len(terminals_of(arrays))
    if not count:
        return manifest, arrays
    from ..token_terminals.sentinels import SENTINELS, sections_with_sentinels

    require(count <= len(SENTINELS), "terminals.offsets")
    return sections_with_sentinels(manifest, arrays, count)


@dataclass(frozen=True, eq=False)
class BesideTerminals(Generic[M]):
    """The machines of one artifact, of which the inner one alone is there where the grammar names
    no tokens. ``contents``: of the file."""

    contents: Contents

    @cached_property
    def terminals(self) -> TokenClasses:
        """The tokens of each terminal."""
        return terminals_of(self.contents.arrays)

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
        from ..token_terminals.sentinels import first_sentinel

        size = self.contents.manifest.vocab_size
        first, caches = first_sentinel(size), self._caches[1]
        return TokenTerminalMachine(inner, self.terminals, first, size, caches)

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
