"""Whether the sections of rows, contexts and tries fit together and the rest of an artifact."""

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import (
    Arrays,
    check_trie_types,
    check_types,
    require,
    require_offsets,
    require_range,
)
from ..tokens import tokenset
from .precomputed_rows import DEEPER, UNKNOWN

# Prefixes of sections: the tries of tokens that merging gives, and of those that are apart from it.
MERGED_TRIE, APART_TRIE = "merged_trie.", "apart_trie."


def check_inert(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section ``inert.*`` that does not fit."""
    check_types(arrays, {"inert.states": ("i4", 1), "inert.rows": ("i4", 3)})
    states, rows = arrays["inert.states"], arrays["inert.rows"]
    require(bool((np.diff(states) > 0).all()), "inert.states")
    # New states are after all others, without gaps; the dead one stays as it is.
    size = len(arrays["cuts.table"])
    new = states[states >= size]
    require(bool((new == size + np.arange(len(new))).all()), "inert.states")
    size += len(new)
    require_range(arrays, "inert.states", 1, size)
    require(rows.shape == (len(states), *arrays["cuts.table"].shape[1:]), "inert.rows")
    require_range(arrays, "inert.rows", 0, size)


def check_stored(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` for a section of tries that is missing or of another type or shape.
    Their values, which most texts never need, are looked at when they are read."""
    if MERGED_TRIE + "octets" in arrays:
        check_trie_types(arrays, MERGED_TRIE)
        if (arrays["cuts.fallback"] >= 0).any() or len(arrays.get("cuts.whole", ())):
            check_trie_types(arrays, APART_TRIE)


_SECTIONS = {
    "closed.all": ("u1", 1),
    "closed.answers": ("i4", 2),
    "closed.contexts": ("i4", 2),
    "closed.id_offsets": ("i8", 1),
    "closed.ids": ("i4", 1),
    "closed.keys": ("i8", 1),
    "closed.pending": ("i4", 1),
    "closed.pending_offsets": ("i8", 1),
    "closed.rows": ("u4", 2),
    "closed.suffixes": ("i4", 2),
}


def check_precomputed(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section ``closed.*`` that does not fit."""
    check_types(arrays, _SECTIONS)
    rows, offsets = arrays["closed.rows"], arrays["closed.id_offsets"]
    require(rows.shape[1] == tokenset.word_count(manifest.vocab_size), "closed.rows")
    require(tokenset.is_within(rows, manifest.vocab_size), "closed.rows")
    require(len(offsets) > 0, "closed.id_offsets")
    require_offsets(arrays, "closed.id_offsets", len(offsets) - 1, len(arrays["closed.ids"]))
    require_range(arrays, "closed.ids", 0, manifest.vocab_size)
    require_range(arrays, "closed.all", 0, 2)
    require(len(arrays["closed.all"]) == 2, "closed.all")
    sets = len(arrays["closed.pending_offsets"]) - 1
    require(sets > 0, "closed.pending_offsets")
    require_offsets(arrays, "closed.pending_offsets", sets, len(arrays["closed.pending"]))
    require_range(arrays, "closed.pending", 0, 1 << 31)
    keys, summaries = arrays["closed.keys"], arrays["closed.answers"]
    require(bool((keys[1:] > keys[:-1]).all()), "closed.keys")
    require(summaries.shape == (len(keys), 2), "closed.answers")
    for column, low, high in ((0, DEEPER, len(rows) + len(offsets) - 1), (1, 0, sets)):
        values = summaries[:, column]
        fits = not len(values) or bool(values.min() >= low and values.max() < high)
        require(fits, "closed.answers")
    _check_suffixes(arrays)
    if "closed.doubtful" in arrays:
        check_types(arrays, {"closed.doubtful": ("i4", 1)})
        require_range(arrays, "closed.doubtful", 0, manifest.vocab_size)


def _check_suffixes(arrays: Arrays) -> None:
    """Each lies above one that comes before it; the first is the empty stack."""
    suffixes, contexts = arrays["closed.suffixes"], arrays["closed.contexts"]
    require(suffixes.shape[1] == 2 and len(suffixes) > 0, "closed.suffixes")
    require(suffixes[0].tolist() == [0, 0], "closed.suffixes")
    frames, below = suffixes[1:].T
    require(
        bool(((frames == UNKNOWN) | (frames > 0)).all() and (below >= 0).all()), "closed.suffixes"
    )
    above = frames > 0
    require(bool((below[above] < np.flatnonzero(above) + 1).all()), "closed.suffixes")
    require(contexts.shape[1] == 3, "closed.contexts")
    require(not contexts.size or bool(contexts.min() >= 0), "closed.contexts")
