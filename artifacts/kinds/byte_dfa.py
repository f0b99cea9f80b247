"""Artifacts of the kind ``byte-dfa``: a regular grammar under any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_byte_dfa, check_live_states, check_stored_rows
from ..matcher import Begun
from ..tokens.allowance import NOT_LAZY, Precomputed
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
    if "rows" in arrays:
        check_stored_rows(manifest, arrays, states)
    else:
        check_live_states(arrays, states)
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

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Rows, where the file has none; matchers find them in the cache."""
        c = self.contents
        if "rows" in c.arrays:
            return NOT_LAZY
        from ..dfa.walked_rows import WalkedRows

        with c.precomputing:
            with c.lock:
                rows = self._rows
            assert isinstance(rows, WalkedRows)
            return rows.precompute(seconds, answers)

    @cached_property
    def _rows(self) -> "Rows":
        c = self.contents
        a, m, cache = c.arrays, c.manifest, c.caches.divide(*ROWS_AND_STEPS)[0].cache()
        if "rows" in a:
            from ..dfa.mask_rows import StoredRows

            return StoredRows(a, m.vocab_size, cache)
        from ..dfa.walked_rows import WalkedRows

        live = a["dfa.live"].view(np.bool_)
        return WalkedRows(self.byte_dfa, lambda: c.trie, live, m.eos, m.vocab_size, cache, c.lock)

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
