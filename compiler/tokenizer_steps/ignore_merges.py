"""Tokens that stand for a whole pre-token only, as ``ignore_merges`` looks them up.

A tokenizer with ``ignore_merges`` first looks up each whole pre-token in the vocabulary. For tokens
that merging gives as well that changes nothing. The others are given for a whole pre-token only,
and their text, as a pre-token, is never merged: both depend on the bytes of the pre-token. Such
tokens are read with mark 3, which starts a pre-token as mark 1 does. The automaton follows a trie
of their texts in two copies:

    before a pre-token   mark 1: node of the first byte, or off    mark 3: whole node
    node of the trie     mark 0: its child, or off                 ends unless it is a text
    off the trie         mark 0: off                               ends
    whole node           mark 0: its child                         ends if it is a text
"""

from collections.abc import Iterable

import numpy as np

from .fixed_points import trie_of
from .marked_dfa import DEAD, MarkedDfa, minimal

_MARKS = 4


def with_whole_marks(dfa: MarkedDfa) -> MarkedDfa:
    """An automaton of two marks where mark 3 is read as mark 1, and mark 2 not at all."""
    table = np.zeros((dfa.states, _MARKS, dfa.table.shape[2]), dtype=np.int32)
    table[:, :2] = dfa.table
    table[:, 3] = dfa.table[:, 1]
    return MarkedDfa(table, dfa.final, dfa.start)


def whole_automaton(texts: Iterable[bytes]) -> MarkedDfa:
    """All sequences of pre-tokens in which ``texts`` start with mark 3, the others with mark 1."""
    children, is_text = trie_of(sorted(texts))
    # State 1 is the start, 2 off the trie, then the nodes, then the whole nodes.
    start, off, nodes = 1, 2, 3
    count = len(children)
    whole = nodes + count
    table = np.zeros((whole + count, _MARKS, 256), dtype=np.int32)
    ends = np.array([True] * nodes + [not text for text in is_text] + is_text)
    ends[DEAD] = False
    first, first_whole = np.full(256, off), np.full(256, DEAD)
    for octet, child in children[0].items():
        first[octet], first_whole[octet] = nodes + child, whole + child
    table[ends, 1], table[ends, 3] = first, first_whole
    table[off, 0] = off
    for node, found in enumerate(children):
        table[nodes + node, 0] = off
        for octet, child in found.items():
            table[nodes + node, 0, octet] = nodes + child
            table[whole + node, 0, octet] = whole + child
    return minimal(MarkedDfa(table, ends, start))
