"""What tokens do to the states of an automaton, against running every token by itself."""

import random
from itertools import pairwise

import numpy as np
import pytest
from support.automata import build_automaton, random_table, run

from constrain.artifacts.tokens.subtrees import Subtrees, ending_subtrees_of
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.automata import token_functions as token_functions_module
from constrain.compiler.automata.token_functions import TokenFunctions, token_functions


@pytest.mark.parametrize("takes_subtrees", [False, True])
@pytest.mark.parametrize("max_pairs", [1 << 23, 60, 1])
def test_functions_are_those_of_running_each_token(max_pairs: int, takes_subtrees: bool) -> None:
    """On random automata and vocabularies, in one group of states and in several, with subtrees
    taken whole and without; equal functions are one."""
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
        subtrees = Subtrees.of(trie) if takes_subtrees else None
        for part in token_functions(trie, table, column_of, starts, max_pairs, subtrees):
            groups += 1
            seen += part.starts.tolist()
            functions = [
                tuple(zip(part.sources[a:b].tolist(), part.targets[a:b].tolist(), strict=True))
                for a, b in zip(part.offsets[:-1], part.offsets[1:], strict=True)
            ]
            assert len(functions) == len(set(functions))
            assert functions[0] == ()
            for token, number in zip(part.ids.tolist(), part.classes.tolist(), strict=True):
                found |= {(start, token): target for start, target in functions[number]}
        assert seen == starts.tolist()
        assert expected == found
    assert (groups > 60) == (max_pairs < 100)


@pytest.mark.parametrize(
    "regex", [r'"([^"\\]|\\.)*"', "[a-z]+( [a-z]+)*", ".*", "[^a]*", "(é|ê)*", "[a-m]{2,9}x*"]
)
def test_subtrees_change_no_function(regex: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where states loop, on ASCII and outside, from the first level on and down to single nodes;
    tokens begin and end inside characters, too."""
    monkeypatch.setattr(token_functions_module, "_MANY", 1)
    dfa = build_automaton(regex, dialect="regex").dfa.tables(())
    rng = random.Random(regex)
    letters = ["a", "b", "m", "x", " ", '"', "\\", "é", "ê", "漢", "\n", "😀"]
    texts = {"".join(rng.choices(letters, k=rng.randrange(1, 8))).encode() for _ in range(3_000)}
    texts |= {text[rng.randrange(len(text)) :] for text in sorted(texts)[::3]}
    texts |= {text[: rng.randrange(len(text))] for text in sorted(texts)[::3]}
    tokens = dict(enumerate(sorted(texts | {b"a" * n for n in range(1, 90)} - {b""})))
    trie = Trie.from_vocabulary(Vocabulary.from_tokens(tokens, (), len(tokens)))
    starts = np.arange(1, dfa.states)
    for few in (0, 512):
        monkeypatch.setattr(token_functions_module, "_FEW", few)
        plain, fast = (
            next(token_functions(trie, dfa.table, dfa.classes, starts, subtrees=subtrees))
            for subtrees in (None, ending_subtrees_of(trie))
        )
        assert by_token(plain) == by_token(fast)


def by_token(found: TokenFunctions) -> dict[int, tuple[bytes, bytes]]:
    """The function of each token, as its arguments and values."""
    bounds = found.offsets.tolist()
    functions = [
        (found.sources[low:high].tobytes(), found.targets[low:high].tobytes())
        for low, high in pairwise(bounds)
    ]
    numbers = zip(found.ids.tolist(), found.classes.tolist(), strict=True)
    return {token: functions[number] for token, number in numbers}
