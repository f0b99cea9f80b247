"""Whether the automaton over canonical text and the trie of a WordPiece artifact fit together."""

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import MOST_TOKEN_BYTES, Arrays, check_sections, require
from .trie import SUFFIX_ROOT

# More than any word has: sums of two lengths are numbers of 32 bits.
_MOST_CHARACTERS = 1 << 30

_SECTIONS = {
    "words.table": "int32 (states, columns) 0..states dead",
    "words.classes": "uint8 (256) 0..columns",
    "words.accepting": "uint8 (states)",
    "words.ends": "uint8 (states)",
    "words.fewest": "int32 (states)",
    "words.plain": "int32 (states)",
    "words.ways": "int32 (states, 2)",
    "words.longest": f"int32 (1) 0..{_MOST_CHARACTERS}",
    "words.indicator": "uint8 (bytes)",
    "words.normalizer": "uint8 (4)",
    "pieces.octets": "uint8 (nodes)",
    "pieces.first": "int32 (nodes+1)",
    "pieces.tokens": "int32 (nodes) -1..vocab",
    "pieces.links": "int32 (nodes) -1..nodes",
    "pieces.pops": "int32 (pops) 0..vocab",
    "pieces.pop_offsets": "int64 (nodes+1) to:pops",
    "pieces.order": "int32 (order) 0..vocab",
    "pieces.spans": "int32 (nodes, 2) 0..order+1",
    "pieces.letters": "uint8 (nodes)",
    "pieces.nodes": "int32 (vocab) -1..nodes",
}


def check_words(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    sizes = check_sections(arrays, _SECTIONS, vocab=manifest.vocab_size)
    require(0 <= manifest.token_start < sizes["states"], "token_start")
    nodes, first = sizes["nodes"], arrays["pieces.first"]
    require(nodes > SUFFIX_ROOT, "pieces.first")
    require(int(first[0]) == SUFFIX_ROOT + 1 and int(first[-1]) == nodes, "pieces.first")
    # Children lie behind their parents, so that every walk down ends.
    ascending = bool((first[1:] >= first[:-1]).all())
    require(ascending and bool((first[:-1] > np.arange(nodes)).all()), "pieces.first")
    spans = arrays["pieces.spans"]
    require(bool((spans[:, 0] <= spans[:, 1]).all()), "pieces.spans")
    _check_levels(arrays, first)
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
