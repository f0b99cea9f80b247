"""Which trie nodes go on by some classes of bytes: one by one, together, and by a table of all."""

import random

import numpy as np
import pytest
from support.maximal_munch import vocabulary_of
from support.network import minimal_tables

from constrain.artifacts.network import first_octets
from constrain.artifacts.network.first_octets import FirstOctets
from constrain.artifacts.tokens.trie import Trie

# Eighty classes of bytes are more than a word has.
MANY = [f"'{chr(33 + i)}' '{i}'" for i in range(80) if chr(33 + i) not in "'\\"]
MANY_CLASSES = f"start ::= start '~' | {' | '.join(MANY)};"


@pytest.mark.parametrize("text", ["start ::= '[' start? ']' | 'x' #'[0-9]+';", MANY_CLASSES])
def test_nodes_go_on_as_a_table_of_all_says(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many nodes are asked for, and whichever classes."""
    rng = random.Random(5)
    tokens = {bytes(rng.choices(range(33, 120), k=rng.randint(1, 3))) for _ in range(3_000)}
    trie = Trie.from_vocabulary(vocabulary_of(sorted(tokens)))
    firsts = FirstOctets(minimal_tables(text))
    classes_of = firsts._tables.classes
    for _ in range(40):
        asked = rng.getrandbits(int(classes_of.max()) + 1) & rng.getrandbits(128)
        nodes = np.array(sorted(rng.sample(range(1, len(trie.octets)), 500)), dtype=np.int32)
        expected = [
            node
            for node in nodes.tolist()
            if any(
                asked >> int(classes_of[octet]) & 1 for octet in trie.octets_below(np.array([node]))
            )
        ]
        for few, many in ((0, 1 << 20), (1 << 20, 1 << 20), (0, 0)):
            monkeypatch.setattr(first_octets, "_FEW", few)
            monkeypatch.setattr(first_octets, "_MANY", many)
            assert firsts.goes_on(trie, nodes, asked).tolist() == expected
    assert firsts.nbytes > 0
