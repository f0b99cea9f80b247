"""The trie of tokens is the textbook's, whatever the lengths of the tokens are."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import numpy as np
import pytest
from support.limits import calls_counted

from constrain.artifacts.tokens import trie
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

pytestmark = pytest.mark.quick


def by_beginnings(tokens: list[bytes]) -> Trie:
    """The textbook's trie: the nodes of a level are the different beginnings of that length."""
    levels = [
        sorted({token[:depth] for token in tokens if len(token) >= depth})
        for depth in range(max(map(len, tokens), default=0) + 1)
    ]
    nodes = [node for level in levels for node in level] or [b""]
    children = [sum(other[:-1] == node for other in nodes if other) for node in nodes]
    ending = [[i for i, token in enumerate(tokens) if token == node] for node in nodes]
    return Trie(
        np.array([node[-1] if node else 0 for node in nodes], dtype=np.uint8),
        np.cumsum([1, *children], dtype=np.int32),
        np.array([i for ids in ending for i in ids], dtype=np.int32),
        np.cumsum([0, *map(len, ending)], dtype=np.int32),
    )


@pytest.mark.parametrize("most", [0, 8, 64])
def test_the_trie_is_that_of_the_beginnings(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random tokens that begin alike, some twice, with zeros: whether they are compared by words or
    as wholes."""
    monkeypatch.setattr(trie, "_MOST", most)
    rng = random.Random(most)
    for _ in range(200):
        tokens = [
            bytes(rng.choices(b"a\0", (5, 1), k=rng.choice((1, 2, 3, 8, 9, 17, 40))))
            for _ in range(rng.choice((0, 1, 3, 12)))
        ]
        tokens += [
            rng.choice(tokens) + rng.choice((b"c", b"\0")) * rng.randrange(3) for _ in tokens
        ]
        vocabulary = Vocabulary.from_tokens(dict(enumerate(tokens)), frozenset(), len(tokens))
        expected, found = by_beginnings(tokens), Trie.from_vocabulary(vocabulary)
        for name in ("octets", "first", "ids", "held"):
            assert getattr(expected, name).dtype == getattr(found, name).dtype
            assert getattr(expected, name).tolist() == getattr(found, name).tolist(), tokens


def test_a_restricted_trie_is_that_of_the_tokens_left() -> None:
    """Random tokens, some of which spell the same."""
    rng = random.Random(8)
    for _ in range(200):
        tokens = [bytes(rng.choices(b"ab", k=rng.randrange(5))) for _ in range(rng.randrange(12))]
        whole = by_beginnings(tokens)
        left = [i for i in range(len(tokens)) if rng.random() < 0.6]
        rng.shuffle(left)
        found = whole.restricted(np.array(left, dtype=np.int32))
        if len(left) == len(tokens):
            assert found is whole
            continue
        kept = sorted(left)
        expected = by_beginnings([tokens[i] for i in kept])
        assert found.ids.tolist() == [kept[i] for i in expected.ids]
        for name in ("octets", "first", "held"):
            assert getattr(found, name).dtype == getattr(expected, name).dtype
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), (tokens, left)


def test_the_trie_of_a_very_long_token_takes_no_step_for_each_byte() -> None:
    """Numpy does what there is to do for each."""
    tokens = {0: b"a" * 1_000_000, 1: b"a" * 999_999 + b"b", 2: b"b"}
    vocabulary = Vocabulary.from_tokens(tokens, frozenset(), 3)
    with calls_counted() as calls:
        trie = Trie.from_vocabulary(vocabulary)
    assert calls.total() < 5_000
    assert 1_000_003 == len(trie.octets)


def test_the_tokens_below_nodes_are_those_that_begin_with_their_texts() -> None:
    tokens = [b"a", b"ab", b"abc", b"b", b"ba", b"ca", b"a"]
    tree = by_beginnings(tokens)
    texts = [b""]
    for node in range(1, len(tree.octets)):
        texts.append(texts[tree.above[node]] + tree.octets[node : node + 1].tobytes())
    for node, text in enumerate(texts):
        begin_so = [i for i, token in enumerate(tokens) if token.startswith(text)]
        assert begin_so == sorted(tree.ids_below(np.array([node])).tolist())
    assert [] == tree.ids_below(np.zeros(0, dtype=np.int32)).tolist()
