"""Failure links and failure pops: what to do where the trie has no edge.

Song et al. (2021), Definition 1 and Algorithm 2. Where matching stops at node v, the tokens
F(v) are certain and matching goes on from f(v), which stands for the rest of v's string.
"""

from collections import deque
from dataclasses import dataclass

from .trie import NO_TOKEN, SuffixTrie

NULL = -1


@dataclass(frozen=True, slots=True, eq=False)
class FailureLinks:
    """``link[v]`` is f(v), ``NULL`` where there is none; ``pops[v]`` is F(v), token ids."""

    link: list[int]
    pops: list[tuple[int, ...]]


def precompute(trie: SuffixTrie) -> FailureLinks:
    """Algorithm 2: breadth-first from both roots, each node from its parent.

    O(M) steps for M characters in all tokens, O(Mm) for the pops of tokens of m characters.
    """
    link = [NULL] * len(trie.children)
    pops: list[tuple[int, ...]] = [()] * len(trie.children)
    queue = deque(trie.roots)
    while queue:
        u = queue.popleft()
        for c, v in trie.children[u].items():
            queue.append(v)
            if trie.tokens[v] != NO_TOKEN:
                link[v], pops[v] = trie.suffix_root, (trie.tokens[v],)
                continue
            z, found = link[u], pops[u]
            while z != NULL and c not in trie.children[z]:
                found, z = found + pops[z], link[z]
            if z != NULL:
                link[v], pops[v] = trie.children[z][c], found
    return FailureLinks(link, pops)


def precompute_via_definition(trie: SuffixTrie) -> FailureLinks:
    """Definition 1, node by node: pop longest tokens until the rest is on the trie. Slow."""
    link = [NULL] * len(trie.children)
    pops: list[tuple[int, ...]] = [()] * len(trie.children)
    pending = [(root, root, "") for root in trie.roots]
    for root, v, text in pending:
        pending.extend((root, below, text + c) for c, below in trie.children[v].items())
        found: list[int] = []
        start, rest = root, text
        while popped := longest_token(trie, start, rest):
            length, token_id = popped
            found.append(token_id)
            start, rest = trie.suffix_root, rest[length:]
            node = trie.find(start, rest)
            if node is not None:
                link[v], pops[v] = node, tuple(found)
                break
    return FailureLinks(link, pops)


def longest_token(trie: SuffixTrie, root: int, text: str) -> tuple[int, int] | None:
    """Length and id of the longest token below ``root`` that ``text`` begins with."""
    found = None
    node = root
    for length, char in enumerate(text, 1):
        if char not in trie.children[node]:
            break
        node = trie.children[node][char]
        if trie.tokens[node] != NO_TOKEN:
            found = (length, trie.tokens[node])
    return found
