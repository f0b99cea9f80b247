"""Members of a regular grammar that no tokens spell, where the vocabulary lacks bytes.

"ab" | "aB", no token "B", none "aB"   ->   a mask never leads to "aB": the shortest member left out
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..automata.dfa import DEAD, Dfa

if TYPE_CHECKING:
    from constrain.artifacts.tokens.trie import Trie

_ROOT = 0

# The pairs of a state and the places in tokens that are gone through before the search gives up.
_MOST = 2_000


def shortest_unspelled(dfa: Dfa, trie: "Trie") -> bytes | None:
    """The shortest member, of these the first, that no sequence of tokens spells; None if there is
    none, or if the first pairs of places have none.

    Members with token terminals are not looked at. Breadth first over pairs of a state and the trie
    nodes that a sequence of tokens may have come to.
    """
    octets, first, held = trie.lists
    read = [int(octet) for octet in np.flatnonzero(dfa.used_bytes())]
    table = dfa.table[:, dfa.classes].tolist()
    accepting = dfa.accepting.tolist()

    @cache
    def children(node: int) -> dict[int, set[int]]:
        """By byte where it leads to: to a child, and where that is a token, to the root."""
        return {
            octets[child]: {child, _ROOT} if held[child] < held[child + 1] else {child}
            for child in range(first[node], first[node + 1])
        }

    def after(nodes: frozenset[int], octet: int) -> frozenset[int]:
        return frozenset().union(*(children(node).get(octet, ()) for node in nodes))

    start = dfa.start, frozenset([_ROOT])
    texts = {start: b""}
    pending = [start]
    for state, nodes in pending:
        if accepting[state] and _ROOT not in nodes:
            return texts[state, nodes]
        if len(texts) > _MOST:
            return None
        for octet in read:
            target = table[state][octet]
            pair = target, after(nodes, octet)
            if target != DEAD and pair not in texts:
                texts[pair] = texts[state, nodes] + bytes([octet])
                pending.append(pair)
    return None
