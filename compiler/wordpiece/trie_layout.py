"""The trie of a vocabulary over bytes, with failure links and pops, in the arrays of an artifact.

Algorithm 2 of Song et al. (2021), a level of the trie at a time, each as whole arrays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import expand
from constrain.artifacts.wordpiece.trie import NONE, ROOT, SUFFIX_ROOT, WordTrie


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
    supported here. Level by level, each as whole arrays.
    """
    bare, levels = _nodes_of(initial, suffixes)
    tokens = bare.tokens
    nodes = np.full(vocab_size, -1, dtype=np.int32)
    nodes[tokens[tokens >= 0]] = np.flatnonzero(tokens >= 0)
    characters = plain_characters(initial, suffixes)
    return TrieLayout(_linked(bare, levels), nodes, _plain_nodes(bare, levels, characters))


def plain_characters(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int]
) -> frozenset[bytes]:
    """The characters that are tokens both at the start and in the rest of a word, in UTF-8.

    A word of such characters always has tokens.
    """
    return frozenset(text for text in initial if text in suffixes and _is_character(text))


def _is_character(text: bytes) -> bool:
    return sum(octet & 0xC0 != 0x80 for octet in text) == 1


# The nodes of a level, first and last + 1.
_Level = tuple[int, int]


def _nodes_of(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int]
) -> tuple[WordTrie, list[_Level]]:
    """The trie without links and pops, and its levels below the roots."""
    begins, rest = (sorted(item for item in t.items() if item[0]) for t in (initial, suffixes))
    spelled = [*begins, *rest]
    ids = np.array([token_id for _, token_id in spelled], dtype=np.int32)
    lengths = np.array([len(text) for text, _ in spelled], dtype=np.int64)
    data = np.frombuffer(b"".join(text for text, _ in spelled), dtype=np.uint8)
    starts = np.cumsum(lengths) - lengths
    node = np.repeat(np.array([ROOT, SUFFIX_ROOT]), [len(begins), len(rest)])
    octets, parents = [np.zeros(2, dtype=np.uint8)], [np.zeros(0, dtype=np.int64)]
    spans = [np.array([[0, 0], [0, len(rest)]], dtype=np.int64)]
    levels: list[_Level] = []
    count = 2
    alive = np.arange(len(spelled))
    while len(alive):
        parent, octet = node[alive], data[starts[alive] + len(levels)]
        # Sorted tokens with the same parent and byte are neighbours: one node each run.
        new = np.ones(len(alive), dtype=np.bool_)
        new[1:] = (parent[1:] != parent[:-1]) | (octet[1:] != octet[:-1])
        node[alive] = count + np.cumsum(new) - 1
        octets.append(octet[new])
        parents.append(parent[new])
        first = np.flatnonzero(new)
        last = np.append(first[1:], len(alive)) - 1
        runs = np.column_stack((alive[first], alive[last] + 1)) - len(begins)
        runs[runs[:, 0] < 0] = 0
        spans.append(runs)
        levels.append((count, count + len(first)))
        count += len(first)
        alive = alive[lengths[alive] > len(levels)]
    children = np.bincount(np.concatenate(parents), minlength=count)
    tokens = np.full(count, NONE, dtype=np.int32)
    tokens[node] = ids
    trie = WordTrie(
        octets=np.concatenate(octets),
        first=np.concatenate(([2], 2 + np.cumsum(children))).astype(np.int32),
        tokens=tokens,
        links=np.full(count, NONE, dtype=np.int32),
        pops=np.zeros(0, dtype=np.int32),
        pop_offsets=np.zeros(count + 1, dtype=np.int64),
        order=ids[len(begins) :],
        spans=np.concatenate(spans).astype(np.int32),
    )
    return trie, levels


def _linked(trie: WordTrie, levels: Sequence[_Level]) -> WordTrie:
    """Failure links and pops by Algorithm 2: all that a level needs lies above it."""
    links, parents = trie.links.copy(), trie.parents
    pops = np.zeros(0, dtype=np.int32)
    offsets = np.zeros(len(links) + 1, dtype=np.int64)
    for low, high in levels:
        nodes = np.arange(low, high)
        ends = trie.tokens[nodes] != NONE
        links[nodes[ends]] = SUFFIX_ROOT
        # For the others: whose pops are theirs, one after another, round by round.
        going = nodes[~ends]
        z, rounds = parents[going], []
        while len(going):
            rounds.append((going, z))
            z = links[z]
            going, z = going[z != NONE], z[z != NONE]
            below = trie.children_by(z, trie.octets[going])
            links[going[below != NONE]] = below[below != NONE]
            going, z = going[below == NONE], z[below == NONE]
        counts = np.where(ends, 1, 0)
        linked = links[nodes] != NONE
        for going, z in rounds:
            counts[going - low] += np.where(linked[going - low], np.diff(offsets)[z], 0)
        offsets[low + 1 : high + 1] = offsets[low] + np.cumsum(counts)
        pops = np.append(pops, np.zeros(int(counts.sum()), dtype=np.int32))
        pops[offsets[nodes[ends]]] = trie.tokens[nodes[ends]]
        filled = offsets[low:high].copy()
        for going, z in rounds:
            going, z = going[linked[going - low]], z[linked[going - low]]
            size = (offsets[z + 1] - offsets[z]).astype(np.int64)
            _, sources = expand(np.zeros(len(z), np.int32), offsets[z].astype(np.int32), size)
            _, places = expand(
                np.zeros(len(z), np.int32), filled[going - low].astype(np.int32), size
            )
            pops[places] = pops[sources]
            filled[going - low] += size
    return replace(trie, links=links, pops=pops, pop_offsets=offsets)


def _plain_nodes(
    trie: WordTrie, levels: Sequence[_Level], characters: frozenset[bytes]
) -> NDArray[np.uint8]:
    """Which nodes stand for plain characters alone."""
    plain = np.array(sorted(int.from_bytes(c, "big") for c in characters), dtype=np.int64)
    # The bytes since the last plain character as one number, 0 after one, -1 if too many.
    begun = np.zeros(len(trie.octets), dtype=np.int64)
    for low, high in levels:
        before = begun[trie.parents[low:high]]
        number = before * 256 + trie.octets[low:high]
        is_plain = np.isin(number, plain)
        is_long = (before < 0) | (number >= 1 << 32)
        begun[low:high] = np.where(is_plain, 0, np.where(is_long, -1, number))
    flags: NDArray[np.uint8] = (begun == 0).astype(np.uint8)
    return flags
