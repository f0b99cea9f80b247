"""Texts as a trie: the nodes that automata of texts begin with."""

from collections.abc import Iterable


def trie_of(texts: Iterable[bytes]) -> tuple[list[dict[int, int]], list[bool]]:
    """Each node's children by byte, and whether a text ends in it; node 0 is the root.

    Nodes are numbered in the order in which ``texts`` come to them.
    """
    children: list[dict[int, int]] = [{}]
    ends = [False]
    for text in texts:
        node = 0
        for octet in text:
            if octet not in children[node]:
                children[node][octet] = len(children)
                children.append({})
                ends.append(False)
            node = children[node][octet]
        ends[node] = True
    return children, ends
