"""Whether the sections of rows, contexts and tries fit together and the rest of an artifact."""

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_sections, check_trie_types, require
from ..tokens import tokenset
from .precomputed_rows import DEEPER, UNKNOWN

# Prefixes of sections: the tries of tokens that merging gives, and of those that are apart from it.
MERGED_TRIE, APART_TRIE = "merged_trie.", "apart_trie."


_INERT = {
    "inert.states": "int32 (states) 1.. ascending",
    "inert.rows": "int32 (states, planes, columns) 0..",
}


def check_inert(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section ``inert.*`` that does not fit."""
    size, planes, columns = arrays["cuts.table"].shape
    check_sections(arrays, _INERT, planes=planes, columns=columns)
    states = arrays["inert.states"]
    # New states are after all others, without gaps; the dead one stays as it is.
    new = states[states >= size]
    require(bool((new == size + np.arange(len(new))).all()), "inert.states")
    size += len(new)
    require(bool((states < size).all()), "inert.states")
    require(bool((arrays["inert.rows"] < size).all()), "inert.rows")


def check_stored(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a section of tries that is missing or of another type or shape.
    Their values, which most texts never need, are looked at when they are read."""
    if MERGED_TRIE + "octets" in arrays:
        check_trie_types(arrays, MERGED_TRIE)
        if (arrays["cuts.fallback"] >= 0).any() or len(arrays.get("cuts.whole", ())):
            check_trie_types(arrays, APART_TRIE)


_SECTIONS = {
    "closed.all": "uint8 (2) 0..2",
    "closed.keys": "int64 (keys) ascending",
    "closed.answers": f"int32 (keys, 2) {DEEPER}..rows+lists,0..sets",
    "closed.contexts": "int32 (contexts, 3) 0..",
    "closed.doubtful": "int32 (doubtful) 0..vocab optional",
    "closed.id_offsets": "int64 (lists+1) to:ids",
    "closed.ids": "int32 (ids) 0..vocab",
    "closed.pending": "int32 (pending) 0..",
    "closed.pending_offsets": "int64 (sets+1) to:pending",
    "closed.rows": "uint32 (rows, words)",
    "closed.suffixes": f"int32 (suffixes, 2) {UNKNOWN}..,0..",
}


def check_precomputed(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section ``closed.*`` that does not fit."""
    size = manifest.vocab_size
    sizes = check_sections(arrays, _SECTIONS, vocab=size, words=tokenset.word_count(size))
    require(tokenset.is_within(arrays["closed.rows"], size), "closed.rows")
    require(sizes["sets"] > 0, "closed.pending_offsets")
    _check_suffixes(arrays["closed.suffixes"])


def _check_suffixes(suffixes: NDArray[np.int32]) -> None:
    """Each lies above one that comes before it; the first is the empty stack."""
    require(suffixes[:1].tolist() == [[0, 0]], "closed.suffixes")
    frames, below = suffixes[1:].T
    require(bool((frames != 0).all()), "closed.suffixes")
    above = frames > 0
    require(bool((below[above] < np.flatnonzero(above) + 1).all()), "closed.suffixes")
