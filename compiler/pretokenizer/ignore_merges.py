"""Pieces that are a token as a whole, whatever merging would make of them (``ignore_merges``).

For tokens that merging gives by itself that changes nothing. The others are given for a whole
piece alone, and their text, as a piece, is never spelled by merging: both depend on the bytes of
the piece. They are read in plane 3, which starts a piece as plane 1 does.

    before a piece   plane 1: node of the first byte, or off the trie    plane 3: whole node
    node of a trie   plane 0: its child, or off                          ends unless it is a text
    whole node       plane 0: its child                                  ends if it is a text
"""

from collections.abc import Iterable

import numpy as np

from .added_tokens import trie_of
from .marked_dfa import DEAD, MarkedDfa, minimal

_PLANES = 4


def with_whole_planes(dfa: MarkedDfa) -> MarkedDfa:
    """An automaton of two planes where plane 3 is as plane 1, and plane 2 is not read."""
    table = np.zeros((dfa.states, _PLANES, dfa.table.shape[2]), dtype=np.int32)
    table[:, :2] = dfa.table
    table[:, 3] = dfa.table[:, 1]
    return MarkedDfa(table, dfa.final, dfa.start)


def whole_automaton(texts: Iterable[bytes]) -> MarkedDfa:
    """All sequences of pieces in which ``texts`` are read in plane 3, the others in plane 1."""
    children, is_text = trie_of(sorted(texts))
    # State 1 is the start, 2 off the trie, then the nodes, then the whole nodes.
    start, off, nodes = 1, 2, 3
    count = len(children)
    whole = nodes + count
    table = np.zeros((whole + count, _PLANES, 256), dtype=np.int32)
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
