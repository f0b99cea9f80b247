"""Whether cached tables of a tokenizer's tokens fit together: any file may have their name."""

import numpy as np

from constrain.artifacts.container.sections import (
    Arrays,
    check_sections,
    check_trie,
    require,
)
from constrain.artifacts.tokens.vocabulary import TEXT

_TABLES = {
    "tokens.data": "uint8 (bytes)",
    "tokens.kinds": "uint8 (vocab) 0..3",
    "tokens.offsets": "int64 (vocab+1) to:bytes",
    "subtrees.ids": "int32 (ids)",
    "subtrees.begin": "int32 (nodes) 0..ids+1",
    "subtrees.end": "int32 (nodes) 0..ids+1",
    "subtrees.own": "int32 (nodes)",
    "subtrees.below": "int64 (nodes)",
    "subtrees.within": "int64 (nodes)",
    "lengths.read": "int32 (nodes) 0..nodes",
    "lengths.below": "int32 (nodes) 0..nodes",
    "layout.order": "int32 (nodes) 0..nodes",
}


def check_vocabulary_tables(arrays: Arrays, vocab_size: int) -> None:
    """Raise ``ArtifactError`` naming the first array of ``VocabularyTables`` that does not fit."""
    nodes = check_sections(arrays, _TABLES, vocab=vocab_size)["nodes"]
    check_trie(arrays, "trie.", vocab_size)
    require(len(arrays["trie.octets"]) == nodes, "subtrees.begin")
    # Each token of text stands at one node of the trie.
    texts = np.flatnonzero(
        (arrays["tokens.kinds"] == TEXT) & (np.diff(arrays["tokens.offsets"]) > 0)
    )
    for name in ("trie.ids", "subtrees.ids"):
        require(len(arrays[name]) == len(texts), name)
        require(np.array_equal(np.sort(arrays[name]), texts), name)
    held, first = arrays["trie.held"], arrays["trie.first"]
    require(np.array_equal(arrays["subtrees.own"], np.diff(held)), "subtrees.own")
    begin, end = arrays["subtrees.begin"], arrays["subtrees.end"]
    require(bool((begin + arrays["subtrees.own"] <= end).all()), "subtrees.end")
    # Children of a node are neighbours, after it.
    order = arrays["layout.order"]
    place = np.full(nodes, -1)
    place[order] = np.arange(nodes)
    inner = np.flatnonzero(first[1:] > first[:-1])
    begins, counts = place[first[inner]], first[inner + 1] - first[inner]
    require(bool((place >= 0).all() and (begins > place[inner]).all()), "layout.order")
    children = np.repeat(begins - first[inner], counts) + np.arange(1, nodes)
    require(np.array_equal(place[1:], children), "layout.order")
