"""Texts that an encoder would change, taken out of the automaton of cuts.

An added token is found in a text before anything else: a text that holds the name of one is
never spelled by the tokens of its parts.
"""

from collections.abc import Iterable

import numpy as np

from .in_step import in_step
from .marked_dfa import DEAD, MarkedDfa, minimal
from .text_trie import trie_of


def without_texts(texts: Iterable[bytes], planes: int) -> MarkedDfa:
    """All marked byte sequences that hold none of ``texts``.

    The automaton of Aho and Corasick, each plane alike, minimal.
    """
    wanted = sorted({text for text in texts if text})
    children, ends = trie_of(wanted)
    # Node n of the trie is state n + 1.
    table = np.full((len(children) + 1, 256), 1, dtype=np.int32)
    table[DEAD] = DEAD
    failure = [0] * len(children)
    pending = [0]
    for node in pending:
        table[node + 1] = table[failure[node] + 1] if node else 1
        for octet, child in children[node].items():
            failure[child] = int(table[failure[node] + 1, octet]) - 1 if node else 0
            pending.append(child)
        for octet, child in children[node].items():
            table[node + 1, octet] = child + 1
    dead = np.array([False, *ends])
    for node in pending:
        dead[node + 1] |= dead[failure[node] + 1]
    table[dead[table]] = DEAD
    final = ~dead
    final[DEAD] = False
    whole = np.repeat(table[:, None, :], planes, axis=1)
    return minimal(MarkedDfa(np.ascontiguousarray(whole), final, 1))


def intersected(first: MarkedDfa, second: MarkedDfa) -> MarkedDfa:
    """What both accept, minimal but for states that reach no end; the same symbols."""
    width = np.int64(second.states)
    pairs, table = in_step(
        first.table, second.table, np.array([first.start * width + second.start])
    )
    a, b = np.divmod(pairs, width)
    final = first.final[a] & second.final[b]
    final[DEAD] = False
    return minimal(MarkedDfa(table, final, 1))
