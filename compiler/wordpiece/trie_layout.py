"""The trie of a vocabulary over bytes, with failure links and pops, in the arrays of an artifact.

Algorithm 2 of Song et al. (2021), breadth first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.wordpiece.trie import NONE, SUFFIX_ROOT, Pops, WordTrie


@dataclass(frozen=True, slots=True, eq=False)
class TrieLayout:
    """``trie``, and ``nodes``, int32 (V,): the node of each token of its own, or -1.

    ``plain_nodes``: uint8 (N,), 1 for nodes whose text is whole plain characters.
    """

    trie: WordTrie
    nodes: NDArray[np.int32]
    plain_nodes: NDArray[np.uint8]


def lay_out(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int], vocab_size: int
) -> TrieLayout:
    """Trie, failure links and pops of the tokens that begin words and that continue them.

    ``vocab_size``: V. A token that is in both, as in vocabularies without an indicator, is not
    supported here. All that a node needs of others was found at nodes before it.
    """
    begins, rest = (sorted(item for item in t.items() if item[0]) for t in (initial, suffixes))
    spelled, middle, plain = [*begins, *rest], len(begins), plain_characters(initial, suffixes)
    # Of each node which of the sorted tokens are in its subtree, how many bytes it is below its
    # root, the byte into it, the node above, and its text behind the last plain character.
    runs, depths = [range(middle), range(middle, len(spelled))], [0, 0]
    octets, above, begun = [0, 0], [NONE, NONE], [b"", b""]
    first, below = [2], dict[int, int]()
    tokens, links, pops = list[int](), list[int](), list[Pops]()
    for node, run in enumerate(runs):
        depth, octet = depths[node], octets[node]
        if depth and len(spelled[run.start][0]) == depth:
            tokens.append(spelled[run.start][1])
            links.append(SUFFIX_ROOT)
            pops.append((tokens[-1],))
        else:
            z, popped = (links[above[node]], pops[above[node]]) if depth else (NONE, ())
            while z != NONE and z << 8 | octet not in below:
                z, popped = links[z], popped + pops[z]
            tokens.append(NONE)
            links.append(below.get(z << 8 | octet, NONE))
            pops.append(() if z == NONE else popped)
        behind: dict[int, list[int]] = {}
        for place in run[tokens[-1] != NONE :]:
            behind.setdefault(spelled[place][0][depth], []).append(place)
        for octet, places in behind.items():
            below[node << 8 | octet] = len(runs)
            runs.append(range(places[0], places[-1] + 1))
            depths.append(depth + 1)
            octets.append(octet)
            above.append(node)
            text = begun[node] + bytes((octet,))
            begun.append(b"" if text in plain else text)
        first.append(len(runs))
    nodes = np.full(vocab_size, NONE, dtype=np.int32)
    for node, token in enumerate(tokens):
        if token != NONE:
            nodes[token] = node
    spans = [
        (0, 0) if run.start < middle else (run.start - middle, run.stop - middle) for run in runs
    ]
    trie = WordTrie(
        octets=np.array(octets, dtype=np.uint8),
        first=np.array(first, dtype=np.int32),
        tokens=np.array(tokens, dtype=np.int32),
        links=np.array(links, dtype=np.int32),
        pops=np.array([token for popped in pops for token in popped], dtype=np.int32),
        pop_offsets=np.array([0, *accumulate(map(len, pops))], dtype=np.int64),
        order=np.array([token for _, token in rest], dtype=np.int32),
        spans=np.array(spans, dtype=np.int32),
    )
    return TrieLayout(trie, nodes, np.array([not text for text in begun], dtype=np.uint8))


def plain_characters(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int]
) -> frozenset[bytes]:
    """The characters that are tokens both at the start and in the rest of a word, in UTF-8.

    A word of such characters always has tokens.
    """
    return frozenset(
        text
        for text in initial
        if text in suffixes and sum(octet & 0xC0 != 0x80 for octet in text) == 1
    )
