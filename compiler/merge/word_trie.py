"""The vocabulary's trie over bytes, laid out as an artifact stores it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.word_trie import ROOT, SUFFIX_ROOT, WordTrie

from ..wordpiece.failure import precompute
from ..wordpiece.trie import SuffixTrie


@dataclass(frozen=True, slots=True, eq=False)
class LaidOut:
    """``trie``, and ``nodes``, int32 (V,): the node of each token of its own, or -1.

    ``letters``: uint8 (N,), 1 for nodes whose text is whole plain characters.
    """

    trie: WordTrie
    nodes: NDArray[np.int32]
    letters: NDArray[np.uint8]


def lay_out(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int], vocab_size: int
) -> LaidOut:
    """Trie, failure links and pops of the tokens that begin words and that continue them.

    ``vocab_size``: V. A token that is in both, as in vocabularies without an indicator, is not
    supported here.
    """
    # Bytes as characters, one for one: the trie is built of strings.
    plain = SuffixTrie.of_tokens(
        ((text.decode("latin-1"), i) for text, i in initial.items()),
        ((text.decode("latin-1"), i) for text, i in suffixes.items()),
        shared=False,
    )
    links = precompute(plain)
    order, octets, counts = _level_order(plain)
    number = np.empty(len(order) + 1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    number[-1] = -1  # Where a link is null (-1) it stays null.
    kept = np.array(order)
    tokens = np.array(plain.tokens, dtype=np.int32)[kept]
    found = [links.pops[node] for node in order]
    by_text = [suffixes[text] for text in sorted(suffixes) if text]
    nodes = np.full(vocab_size, -1, dtype=np.int32)
    nodes[tokens[tokens >= 0]] = np.flatnonzero(tokens >= 0)
    first = np.concatenate(([2], 2 + np.cumsum(counts)))
    trie = WordTrie(
        octets=np.frombuffer(bytes(octets), dtype=np.uint8),
        first=first.astype(np.int32),
        tokens=tokens,
        links=number[np.array(links.link)[kept]],
        pops=np.array([i for pops in found for i in pops], dtype=np.int32),
        pop_offsets=np.concatenate(([0], np.cumsum([len(pops) for pops in found]))).astype(
            np.int64
        ),
        order=np.array(by_text, dtype=np.int32),
        spans=_spans(plain, number),
    )
    return LaidOut(trie, nodes, _letters(plain, number, plain_characters(initial, suffixes)))


def plain_characters(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int]
) -> frozenset[bytes]:
    """The characters that are tokens both at the start and in the rest of a word, in UTF-8.

    A word of such characters can always be cut.
    """
    return frozenset(text for text in initial if text in suffixes and _is_character(text))


def _is_character(text: bytes) -> bool:
    return sum(octet & 0xC0 != 0x80 for octet in text) == 1


def _level_order(trie: SuffixTrie) -> tuple[list[int], bytearray, list[int]]:
    """The nodes level by level, the byte into each, and how many children each has."""
    order = [ROOT, SUFFIX_ROOT]
    octets, counts = bytearray(2), []
    for node in order:
        edges = sorted(trie.children[node].items())
        counts.append(len(edges))
        order.extend(below for _, below in edges)
        octets.extend(ord(char) for char, _ in edges)
    return order, octets, counts


def _spans(trie: SuffixTrie, number: NDArray[np.int32]) -> NDArray[np.int32]:
    """For nodes below the suffix root the run of tokens, sorted by text, in their subtree."""
    spans = np.zeros((len(trie.children), 2), dtype=np.int32)
    count = 0
    pending = [(SUFFIX_ROOT, False)]
    while pending:
        node, is_left = pending.pop()
        if is_left:
            spans[number[node], 1] = count
            continue
        spans[number[node], 0] = count
        count += trie.tokens[node] >= 0
        pending.append((node, True))
        edges = sorted(trie.children[node].items(), reverse=True)
        pending.extend((below, False) for _, below in edges)
    return spans


def _letters(
    trie: SuffixTrie, number: NDArray[np.int32], characters: frozenset[bytes]
) -> NDArray[np.uint8]:
    """Which nodes stand for plain characters alone."""
    flags = np.zeros(len(trie.children), dtype=np.uint8)
    pending = [(ROOT, b""), (SUFFIX_ROOT, b"")]
    for node, begun in pending:
        if not begun:
            flags[number[node]] = 1
        for char, below in trie.children[node].items():
            text = begun + char.encode("latin-1")
            if text in characters:
                pending.append((below, b""))
            elif len(text) < 4:
                pending.append((below, text))
    return flags
