"""Subtrees: tokens below a node of the token trie, which a walk takes whole."""

import numpy as np
from support.maximal_munch import vocabulary_of

from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.trie import Trie


def test_subtrees_are_those_of_the_texts() -> None:
    """Tokens below a node are the longer ones of its text, and their characters its classes."""
    tokens = [b"a", b"ab", b"aB1", "aé".encode(), b"a\xff", b"b", b"\xc3", "é".encode()]
    trie = Trie.from_vocabulary(vocabulary_of(tokens))
    subtrees = Subtrees.of(trie)
    texts = [b""]
    for node, octet in enumerate(trie.octets[1:].tolist(), 1):
        parent = int(np.searchsorted(trie.first, node, side="right")) - 1
        texts.append(texts[parent] + bytes([octet]))
    for node, text in enumerate(texts):
        held = subtrees.ids[subtrees.begin[node] : subtrees.end[node]].tolist()
        assert [i for i, token in enumerate(tokens) if token.startswith(text)] == sorted(held)
        assert held[: subtrees.own[node]] == [i for i, token in enumerate(tokens) if token == text]
    bits = dict(zip(texts, subtrees.below.tolist(), strict=True))
    assert bits[b"b"] == 0
    # b; B and 1; a character outside ASCII; a byte that makes none.
    assert bits[b"a"].bit_count() == 5
    assert bits[b"aB"].bit_count() == 1
    # Inside a character nothing is said of what follows.
    broken = 1 << 63
    assert bits[b"a\xc3"] & broken
    assert not bits[b"aB"] & broken
