"""Whether cached tables of a tokenizer's tokens fit together: any file may have their name."""

import numpy as np

from constrain.artifacts.container.sections import (
    Arrays,
    check_trie,
    check_trie_types,
    check_types,
    require,
    require_offsets,
    require_range,
)
from constrain.artifacts.tokens.vocabulary import TEXT

# Arrays: dtype and number of axes.
_TYPES = {
    "tokens.data": ("u1", 1),
    "tokens.kinds": ("u1", 1),
    "tokens.offsets": ("i8", 1),
    "subtrees.ids": ("i4", 1),
    "subtrees.begin": ("i4", 1),
    "subtrees.end": ("i4", 1),
    "subtrees.own": ("i4", 1),
    "subtrees.below": ("i8", 1),
    "subtrees.within": ("i8", 1),
    "lengths.read": ("i4", 1),
    "lengths.below": ("i4", 1),
    "layout.order": ("i4", 1),
}


def check_vocabulary_tables(arrays: Arrays, vocab_size: int) -> None:
    """Raise ``ArtifactError`` naming the first array of ``VocabularyTables`` that does not fit."""
    check_types(arrays, _TYPES)
    check_trie_types(arrays, "trie.")
    require(len(arrays["tokens.kinds"]) == vocab_size, "tokens.kinds")
    require_range(arrays, "tokens.kinds", 0, 3)
    offsets = arrays["tokens.offsets"]
    require_offsets(arrays, "tokens.offsets", vocab_size, len(arrays["tokens.data"]))
    check_trie(arrays, "trie.", vocab_size)
    nodes, ids = len(arrays["trie.octets"]), arrays["trie.ids"]
    # Each token of text stands at one node of the trie.
    texts = np.flatnonzero((arrays["tokens.kinds"] == TEXT) & (np.diff(offsets) > 0))
    for name in ("trie.ids", "subtrees.ids"):
        require(len(arrays[name]) == len(texts), name)
        require(np.array_equal(np.sort(arrays[name]), texts), name)
    held, first = arrays["trie.held"], arrays["trie.first"]
    require(np.array_equal(arrays["subtrees.own"], np.diff(held)), "subtrees.own")
    for name in ("begin", "end", "below", "within"):
        require(len(arrays[f"subtrees.{name}"]) == nodes, f"subtrees.{name}")
    require_range(arrays, "subtrees.begin", 0, len(ids) + 1)
    require_range(arrays, "subtrees.end", 0, len(ids) + 1)
    begin, end = arrays["subtrees.begin"], arrays["subtrees.end"]
    require(bool((begin + arrays["subtrees.own"] <= end).all()), "subtrees.end")
    for name in ("lengths.read", "lengths.below", "layout.order"):
        require(len(arrays[name]) == nodes, name)
        require_range(arrays, name, 0, nodes)
    # Children of a node are neighbours, after it.
    order = arrays["layout.order"]
    place = np.full(nodes, -1)
    place[order] = np.arange(nodes)
    inner = np.flatnonzero(first[1:] > first[:-1])
    begins, counts = place[first[inner]], first[inner + 1] - first[inner]
    require(bool((place >= 0).all() and (begins > place[inner]).all()), "layout.order")
    children = np.repeat(begins - first[inner], counts) + np.arange(1, nodes)
    require(np.array_equal(place[1:], children), "layout.order")
