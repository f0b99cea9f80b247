"""Artifacts of the kind ``byte-dfa``: a regular grammar under any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_byte_dfa, check_stored_rows
from ..matcher import Begun
from .check_tokenizer import check_trie_sections, check_vocabulary
from .contents import Contents
from .generations import always
from .regular import ROWS_AND_STEPS, RegularGrammar

if TYPE_CHECKING:
    from ..dfa.machine import DfaMachine
    from ..dfa.mask_rows import Rows


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    states = check_byte_dfa(manifest, arrays)
    if any(name.startswith("row") for name in arrays):
        check_stored_rows(manifest, arrays, states)
    check_trie_sections(arrays)


class ByteDfaRuntime(RegularGrammar):
    """Steps the byte DFA by whole tokens."""

    def machine(self) -> "DfaMachine":
        """The machine of all matchers."""
        with self.contents.lock:
            return self._machine

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return always(self.machine())

    @cached_property
    def _rows(self) -> "Rows":
        c = self.contents
        a, m, cache = c.arrays, c.manifest, c.caches.divide(*ROWS_AND_STEPS)[0].cache()
        if "rows" in a:
            from ..dfa.mask_rows import StoredRows

            return StoredRows(a, m.vocab_size, cache)
        from ..dfa.walked_rows import WalkedRows

        return WalkedRows(self.byte_dfa, lambda: c.trie, m.eos, m.vocab_size, cache, c.lock)

    @cached_property
    def _machine(self) -> "DfaMachine":
        from ..dfa.byte_dfa import TokenwiseDfa
        from ..dfa.machine import DfaMachine

        c = self.contents
        steps = c.caches.divide(*ROWS_AND_STEPS)[1]
        return DfaMachine(TokenwiseDfa(self.byte_dfa, c.vocabulary), self._rows, steps)


def runtime(contents: Contents) -> ByteDfaRuntime:
    """What runs the artifact."""
    return ByteDfaRuntime(contents)
