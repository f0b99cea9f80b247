"""What ``word_trie`` and ``artifacts.word_kills`` compute, node by node. Slow; oracles."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.word_trie import NONE, ROOT, SUFFIX_ROOT, Pops, WordTrie

from ..wordpiece.failure import precompute
from ..wordpiece.trie import SuffixTrie
from .word_trie import LaidOut, plain_characters


def kills_via_definition(
    trie: WordTrie, suffixes: Mapping[bytes, int], node: int
) -> tuple[set[int], dict[int, int]]:
    """The tokens that cannot follow at ``node``, and the nodes of those that can.

    A token t may follow if reading its text pops, and leaves to be flushed, the tokens of
    ``node``'s text and then t.
    """
    expected = trie.flush(node)
    killed, led = set(), {}
    for text, token_id in suffixes.items():
        target, popped = _read(trie, node, text)
        rest = trie.flush(target) if target != NONE else None
        if expected is None or rest is None or popped + rest != (*expected, token_id):
            killed.add(token_id)
        else:
            led[token_id] = target
    return killed, led


def _read(trie: WordTrie, node: int, text: bytes) -> tuple[int, Pops]:
    popped: Pops = ()
    for octet in text:
        node, found = trie.step(node, octet)
        popped += found
        if node == NONE:
            break
    return node, popped


def lay_out_via_suffix_trie(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int], vocab_size: int
) -> LaidOut:
    """``lay_out``, node by node, from the trie and Algorithm 2 of ``wordpiece``."""
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
