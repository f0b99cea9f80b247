"""What tokens do to the states of an automaton, against running every token by itself."""

import random

import numpy as np
import pytest
from support.automata import random_table, run

from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.automata.token_functions import token_functions


@pytest.mark.parametrize("max_pairs", [1 << 23, 60, 1])
def test_functions_are_those_of_running_each_token(max_pairs: int) -> None:
    """On random automata and vocabularies, in one group of states and in several; equal functions
    are one."""
    rng = random.Random(1)
    groups = 0
    for _ in range(60):
        letters = rng.randrange(1, 4)
        tokens = {
            i: bytes(rng.randrange(letters + 1) for _ in range(rng.randrange(1, 7)))
            for i in range(rng.randrange(1, 40))
        }
        trie = Trie.from_vocabulary(Vocabulary.from_tokens(tokens, (), 40))
        # Bytes 1 and above may share a column.
        column_of = np.array([0, *(rng.randrange(letters + 1) for _ in range(255))])
        table = random_table(rng, rng.randrange(2, 9), letters + 1)
        starts = np.array(sorted(rng.sample(range(1, len(table)), rng.randrange(1, len(table)))))
        expected = {
            (start, token): target
            for start in starts.tolist()
            for token, octets in tokens.items()
            if (target := run(table, start, column_of[list(octets)].tolist()))
        }
        found, seen = {}, []
        for part in token_functions(trie, table, column_of, starts, max_pairs):
            groups += 1
            seen += part.starts.tolist()
            functions = [
                tuple(zip(part.sources[a:b].tolist(), part.targets[a:b].tolist(), strict=True))
                for a, b in zip(part.offsets[:-1], part.offsets[1:], strict=True)
            ]
            assert len(functions) == len(set(functions))
            assert functions[0] == ()
            for token, number in zip(trie.ids.tolist(), part.classes.tolist(), strict=True):
                found |= {(start, token): target for start, target in functions[number]}
        assert seen == starts.tolist()
        assert expected == found
    assert (groups > 60) == (max_pairs < 100)
