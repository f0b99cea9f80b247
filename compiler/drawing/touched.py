"""Which part of a WordPiece tokenizer's transducer texts touch: the bytes read at each node.

A real vocabulary's transducer has hundreds of thousands of states; those that a prefix or the
members of a grammar pass through can be looked at.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from constrain.artifacts.wordpiece.dead_ends import SPACE
from constrain.artifacts.wordpiece.machine import WordMachine
from constrain.artifacts.wordpiece.trie import NONE, ROOT

# Pairs of a place in the grammar's texts and a node that are looked at.
_MOST_PAIRS = 20_000

# The bytes read at each node.
Touched: TypeAlias = Mapping[int, Iterable[int]]


def touched_by_prefix(machine: WordMachine, prefix: bytes) -> Touched:
    """What the words of ``prefix`` touch: canonical text, in UTF-8. Each word as far as it can be
    read."""
    found: defaultdict[int, set[int]] = defaultdict(set, {ROOT: set()})
    for word in prefix.split():
        node = ROOT
        for octet in word:
            target, _ = machine.trie.step(node, octet)
            if target == NONE:
                break
            found[node].add(octet)
            node = target
        found.setdefault(node, set())
    return found


def touched_by_members(machine: WordMachine) -> Touched:
    """What the grammar's texts touch, the shortest ones first, up to a bound."""
    dfa = machine.words.dfa
    fewest = machine.words.fewest
    found: defaultdict[int, set[int]] = defaultdict(set, {ROOT: set()})
    pending = deque([(dfa.start, ROOT)])
    seen = set(pending)
    while pending and len(seen) < _MOST_PAIRS:
        place, node = pending.popleft()
        found.setdefault(node, set())
        row = dfa.table[place][dfa.classes].tolist()
        pairs = [(row[SPACE], ROOT)] if row[SPACE] and node != ROOT else []
        for octet, after in enumerate(row):
            if octet != SPACE and after and fewest[after] >= 0:
                target, _ = machine.trie.step(node, octet)
                if target != NONE:
                    found[node].add(octet)
                    pairs.append((after, target))
        for pair in pairs:
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return found
