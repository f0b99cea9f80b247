"""Whether the automaton over canonical text and the trie of a WordPiece artifact fit together."""

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import (
    MOST_TOKEN_BYTES,
    Arrays,
    check_types,
    require,
    require_offsets,
    require_range,
)
from .trie import SUFFIX_ROOT

# More than any word has: sums of two lengths are numbers of 32 bits.
_MOST_CHARACTERS = 1 << 30

_TYPES = {
    "words.table": ("i4", 2),
    "words.classes": ("u1", 1),
    "words.accepting": ("u1", 1),
    "words.ends": ("u1", 1),
    "words.fewest": ("i4", 1),
    "words.plain": ("i4", 1),
    "words.ways": ("i4", 2),
    "words.longest": ("i4", 1),
    "words.indicator": ("u1", 1),
    "words.normalizer": ("u1", 1),
    "pieces.octets": ("u1", 1),
    "pieces.first": ("i4", 1),
    "pieces.tokens": ("i4", 1),
    "pieces.links": ("i4", 1),
    "pieces.pops": ("i4", 1),
    "pieces.pop_offsets": ("i8", 1),
    "pieces.order": ("i4", 1),
    "pieces.spans": ("i4", 2),
    "pieces.letters": ("u1", 1),
    "pieces.nodes": ("i4", 1),
}


def check_words(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, _TYPES)
    states, columns = arrays["words.table"].shape
    require(states > 0 and columns > 0, "words.table")
    require_range(arrays, "words.table", 0, states)
    require(not arrays["words.table"][0].any(), "words.table")
    require(0 <= manifest.token_start < states, "token_start")
    require(len(arrays["words.classes"]) == 256, "words.classes")
    require_range(arrays, "words.classes", 0, columns)
    for name in ("accepting", "ends", "fewest", "plain", "ways"):
        require(len(arrays[f"words.{name}"]) == states, f"words.{name}")
    require(arrays["words.ways"].shape == (states, 2), "words.ways")
    require(arrays["words.longest"].shape == (1,), "words.longest")
    require_range(arrays, "words.longest", 0, _MOST_CHARACTERS)
    require(arrays["words.normalizer"].shape == (4,), "words.normalizer")
    _check_trie(manifest, arrays)


def _check_trie(manifest: Manifest, arrays: Arrays) -> None:
    nodes = len(arrays["pieces.octets"])
    size = manifest.vocab_size
    first = arrays["pieces.first"]
    require(nodes > SUFFIX_ROOT and len(first) == nodes + 1, "pieces.first")
    require(int(first[0]) == SUFFIX_ROOT + 1 and int(first[-1]) == nodes, "pieces.first")
    # Children lie behind their parents, so that every walk down ends.
    ascending = bool((first[1:] >= first[:-1]).all())
    require(ascending and bool((first[:-1] > np.arange(nodes)).all()), "pieces.first")
    for name in ("tokens", "links", "letters"):
        require(len(arrays[f"pieces.{name}"]) == nodes, f"pieces.{name}")
    require_range(arrays, "pieces.tokens", -1, size)
    require_range(arrays, "pieces.links", -1, nodes)
    require_range(arrays, "pieces.pops", 0, size)
    require_offsets(arrays, "pieces.pop_offsets", nodes, len(arrays["pieces.pops"]))
    require_range(arrays, "pieces.order", 0, size)
    require(arrays["pieces.spans"].shape == (nodes, 2), "pieces.spans")
    require_range(arrays, "pieces.spans", 0, len(arrays["pieces.order"]) + 1)
    spans = arrays["pieces.spans"]
    require(bool((spans[:, 0] <= spans[:, 1]).all()), "pieces.spans")
    _check_levels(arrays, first)
    require(len(arrays["pieces.nodes"]) == size, "pieces.nodes")
    require_range(arrays, "pieces.nodes", -1, nodes)
    ends = arrays["pieces.tokens"]
    held = np.flatnonzero(ends >= 0)
    require(bool((arrays["pieces.nodes"][ends[held]] == held).all()), "pieces.nodes")


def _check_levels(arrays: Arrays, first: NDArray[np.int32]) -> None:
    """A failure link leads to a node nearer to its root, so that following them ends, and pops at
    most a token a byte. A token that continues words is the first below its node."""
    nodes = len(first) - 1
    depth = np.zeros(nodes, dtype=np.int64)
    continues = np.zeros(nodes, dtype=np.bool_)
    # Of each level those that continue words come last, as their root does.
    low, behind, high = SUFFIX_ROOT + 1, int(first[SUFFIX_ROOT]), int(first[SUFFIX_ROOT + 1])
    level = 0
    while low < high:
        level += 1
        require(level <= MOST_TOKEN_BYTES, "pieces.first")
        depth[low:high] = level
        continues[behind:high] = True
        low, behind, high = high, int(first[behind]), int(first[high])
    links = arrays["pieces.links"]
    linked = np.flatnonzero(links >= 0)
    require(bool((depth[links[linked]] < depth[linked]).all()), "pieces.links")
    require(bool((np.diff(arrays["pieces.pop_offsets"]) <= depth).all()), "pieces.pop_offsets")
    held = np.flatnonzero((arrays["pieces.tokens"] >= 0) & continues)
    require(
        bool((arrays["pieces.spans"][held, 0] < len(arrays["pieces.order"])).all()), "pieces.spans"
    )
