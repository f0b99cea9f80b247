"""Artifacts of the kind ``byte-dfa``: a regular grammar under any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_byte_dfa, check_live_states, check_stored_rows
from ..matcher import Begun
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .generations import always
from .regular import ROWS_AND_STEPS, RegularGrammar

if TYPE_CHECKING:
    from ..dfa.machine import DfaMachine


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    states = check_byte_dfa(manifest, arrays)
    if "rows" in arrays:
        check_stored_rows(manifest, arrays, states)
    else:
        check_live_states(arrays, states)


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
    def _machine(self) -> "DfaMachine":
        from ..dfa.byte_dfa import TokenwiseDfa
        from ..dfa.machine import DfaMachine
        from ..dfa.mask_rows import Rows, StoredRows, WalkedRows

        c = self.contents
        a, m, dfa = c.arrays, c.manifest, self.byte_dfa
        row_cache, steps = c.caches.divide(*ROWS_AND_STEPS)
        rows: Rows
        if "rows" in a:
            rows = StoredRows(a, m.vocab_size, row_cache.cache())
        else:
            live = a["dfa.live"].view(np.bool_)
            rows = WalkedRows(dfa, c.trie, live, m.eos, m.vocab_size, row_cache.cache())
        return DfaMachine(TokenwiseDfa(dfa, c.vocabulary), rows, steps)


def runtime(contents: Contents) -> ByteDfaRuntime:
    """What runs the artifact."""
    return ByteDfaRuntime(contents)
