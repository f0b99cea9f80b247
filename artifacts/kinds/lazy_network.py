"""Artifacts of the kind ``lazy-network``: a grammar with terminals whose states are made while
decoding, under any tokenization."""

from functools import partial
from itertools import pairwise

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require, require_offsets
from ..lazy_dfa.check import check_conjunctions
from ..machine.stored_positions import StoredPositions, check_positions
from ..tokens.allowance import NOT_LAZY, Precomputed
from .check_tokenizer import check_trie_sections, check_vocabulary
from .contents import Contents
from .met_states import FIRST_CALL, MetStates
from .parser import names_of

TERMINALS = "lazy.terminals"


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_conjunctions(arrays)
    check_types(arrays, {TERMINALS: ("i8", 1)})
    offsets = arrays[TERMINALS]
    require(len(offsets) > 1, TERMINALS)
    require_offsets(arrays, TERMINALS, len(offsets) - 1, len(arrays["lazy.starts"]))
    require(bool((np.diff(offsets) > 0).all()), TERMINALS)
    check_positions(arrays, len(names_of(manifest).called), len(offsets) - 1)
    check_trie_sections(arrays)


class CallingRuntime(MetStates):
    """The states of a file's positions, and of the terminals that these call."""

    def __init__(self, contents: Contents) -> None:
        from ..lazy_dfa.tables import from_sections

        a, m = contents.arrays, contents.manifest
        found, offsets = from_sections(a), a[TERMINALS].tolist()
        first_call, is_nullable = FIRST_CALL + len(offsets) - 1, names_of(m).nullable_start
        stored = StoredPositions.from_arrays(a, first_call, nullable_start=is_nullable)
        super().__init__(
            partial(stored.begun, len(offsets) - 1),
            contents.vocabulary,
            lambda: contents.trie,
            m.eos,
            m.vocab_size,
            contents.caches,
            contents.lock,
            terminals=[found[i:j] for i, j in pairwise(offsets)],
        )

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks are found from a few walks, which the first texts make."""
        return NOT_LAZY


def runtime(contents: Contents) -> CallingRuntime:
    """What runs the artifact."""
    return CallingRuntime(contents)
