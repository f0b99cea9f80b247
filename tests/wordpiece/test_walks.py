"""The fast walks of WordPiece's machine against slow ones, and the bounds of its memory."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import inspect
import random
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.oracles.wordpiece import forbidden_via_definition, lay_out_via_suffix_trie
from support.wordpiece import accepted, compiled, real, tokenizations, tokenizer_of

from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import level_walk
from constrain.artifacts.tokens.memo import BoundedCache
from constrain.artifacts.tokens.trie import Trie, walk
from constrain.artifacts.wordpiece import dead_ends
from constrain.artifacts.wordpiece.forbidden_tokens import forbidden_tokens
from constrain.artifacts.wordpiece.machine import WordMachine
from constrain.artifacts.wordpiece.trie import NONE, ROOT, SECTIONS, SUFFIX_ROOT, WordTrie
from constrain.artifacts.wordpiece.trie_walk import WordWalk
from constrain.compiler.wordpiece.trie_layout import lay_out


def check_forbidden(trie: WordTrie, suffixes: dict[bytes, int], nodes: list[int]) -> int:
    """Compare with the definition; how many tokens were forbidden."""
    own = {int(t): n for n, t in enumerate(trie.tokens.tolist()) if t != NONE}
    count = 0
    for node in nodes:
        if node <= SUFFIX_ROOT or trie.flush(node) is None:
            continue
        forbidden, led = forbidden_via_definition(trie, suffixes, node)
        found = forbidden_tokens(trie, node)
        special = dict(zip(found.special.tolist(), found.nodes.tolist(), strict=True))
        assert forbidden == set(found.forbidden.tolist())
        assert led == {t: special.get(t, own[t]) for t in suffixes.values() if t not in forbidden}
        count += len(forbidden)
    return count


def check_layout(initial: dict[bytes, int], suffixes: dict[bytes, int], size: int) -> None:
    """Compare all arrays with the oracle's."""
    found = lay_out(initial, suffixes, size)
    expected = lay_out_via_suffix_trie(initial, suffixes, size)
    for name in SECTIONS:
        one, other = getattr(expected.trie, name), getattr(found.trie, name)
        assert one.dtype == other.dtype, name
        assert one.tolist() == other.tolist(), name
    assert expected.nodes.tolist() == found.nodes.tolist()
    assert expected.plain_nodes.tolist() == found.plain_nodes.tolist()


def test_layout_of_random_vocabularies(full: bool) -> None:
    """Level by level or node by node: the same trie, links, pops and letters."""
    draw = random.Random(21)
    for _ in range(1_000 if full else 50):
        words = {"".join(draw.choices("abcé각", k=draw.randint(0, 5))) for _ in range(25)}
        texts = [word.encode() for word in sorted(words)]
        initial = {t: i for i, t in enumerate(texts) if draw.random() < 0.6}
        suffixes = {t: i + 100 for i, t in enumerate(texts) if draw.random() < 0.6}
        check_layout(initial, suffixes, 200)
    check_layout({}, {}, 3)


def test_layout_of_a_real_vocabulary(data: Callable[[str], Path]) -> None:
    """The same for all of BERT's vocabulary."""
    tokenizer = real(data("tokenizers/bert-base-uncased"))
    words = tokenizer.words
    initial, suffixes = ({t.encode(): i for t, i in tokens.items()}
                         for tokens in (words.initial, words.suffixes))  # fmt: skip
    check_layout(initial, suffixes, tokenizer.vocab_size)


def test_forbidden_tokens_of_random_vocabularies(full: bool) -> None:
    """What cannot follow is what the definition says, and so is where the others lead."""
    draw = random.Random(3)
    count = 0
    for _ in range(400 if full else 10):
        words = {"".join(draw.choices("abc", k=draw.randint(1, 5))) for _ in range(30)}
        texts = [word.encode() for word in sorted(words)]
        initial = {t: i for i, t in enumerate(texts) if draw.random() < 0.6}
        suffixes = {t: i + 100 for i, t in enumerate(texts) if draw.random() < 0.6}
        trie = lay_out(initial, suffixes, 200).trie
        count += check_forbidden(trie, suffixes, list(range(len(trie.octets))))
    assert count > 1_000


def test_forbidden_tokens_of_a_real_vocabulary(data: Callable[[str], Path], full: bool) -> None:
    """The same for tokens of BERT's vocabulary at random."""
    tokenizer = real(data("tokenizers/bert-base-uncased"))
    words = tokenizer.words
    initial = {t.encode(): i for t, i in words.initial.items()}
    suffixes = {t.encode(): i for t, i in words.suffixes.items() if t}
    trie = lay_out(initial, suffixes, tokenizer.vocab_size).trie
    nodes = random.Random(5).sample(range(2, len(trie.octets)), 2_000 if full else 15)

    assert check_forbidden(trie, suffixes, nodes)


@pytest.mark.parametrize(("few", "dense"), [(0, 0), (48, 4), (0, 4), (0, 10**9), (10**9, 0)])
def test_walks(
    monkeypatch: pytest.MonkeyPatch, data: Callable[[str], Path], few: int, dense: int
) -> None:
    """Whole levels, live nodes alone, or one by one: tokens and states of the general walk."""
    monkeypatch.setattr(level_walk, "_FEW", few)
    monkeypatch.setattr(level_walk, "_DENSE", dense)
    tokenizer = real(data("tokenizers/tiny-wordpiece-2000"))
    machine = compiled("[a-m]{1,6}|x[a-z ]{2,30}|7é?", tokenizer).machine()
    assert machine is not None
    trie, dfa = machine.trie, machine.words.dfa
    ends = trie.tokens >= 0
    held = np.concatenate(([0], np.cumsum(ends))).astype(np.int32)
    plain = Trie(trie.octets, trie.first, trie.tokens[ends], held)
    walker = WordWalk(trie, dfa, machine.vocab_size)
    found = 0
    for state in range(1, dfa.states):
        for root in (ROOT, SUFFIX_ROOT):
            expected = {
                (int(token), int(target))
                for hits in walk(plain, dfa.table, dfa.classes, np.array([state]), root)
                for token, target in zip(hits.tokens, hits.states, strict=True)
            }
            tokens, targets = walker.read(root, state)
            assert sorted(expected) == list(zip(tokens.tolist(), targets.tolist(), strict=True))
            found += len(expected)
    assert found


def test_alike_places_share_results(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """With and without sharing the sequences are those of the tokenizer."""
    draw = random.Random(8)
    for depth in (0, 2, 16):
        monkeypatch.setattr(dead_ends, "_ALIKE", depth)
        for _ in range(10 if full else 4):
            words = {"".join(draw.choices("ab", k=draw.randint(2, 5))) for _ in range(9)}
            tokens = [draw.choice(("", "##")) + word for word in sorted(words)]
            tokenizer = tokenizer_of(["a", "b", "##a", "##b", *tokens])
            expected = tokenizations("[ab]{7}", tokenizer)
            assert expected == accepted(compiled("[ab]{7}", tokenizer))


def test_memory_while_decoding_is_bounded() -> None:
    """However many states are reached, caches stay within their budget, and no state is lost."""
    tokenizer = tokenizer_of(["a", "b", "##a", "##b", "ab", "##bb", "c"])
    whole = compiled("[ab]{1,6}( c)?", tokenizer)
    expected = tokenizations("[ab]{1,6}( c)?", tokenizer)
    limit = 4096
    artifact = load_bytes(whole.to_bytes(), cache_bytes=limit)
    machine = artifact.machine()

    assert expected == accepted(artifact)
    caches = [
        cache
        for part in (machine, machine.completions, machine.trie)
        for cache in vars(part).values()
        if isinstance(cache, BoundedCache)
    ]
    assert 8 == len(caches)
    assert sum(cache.capacity for cache in caches) <= limit
    # An entry that is heavier than its cache is held alone.
    assert all(cache.total <= cache.capacity or len(cache) == 1 for cache in caches)
    for part in (machine, machine.completions):
        assert not [name for name, v in vars(part).items() if isinstance(v, dict | list)]


def test_failure_links_are_followed_however_deep() -> None:
    """Deeper than Python's own stack goes, which is short here."""
    tokens = ["a", "b", "##a", "##b", "a" * 300, "##" + "a" * 300]
    machine = compiled("[ab]*b", tokenizer_of(tokens)).machine()
    assert isinstance(machine, WordMachine)
    places, usual = machine.completions, sys.getrecursionlimit()
    node = places.trie.child(ROOT, ord("a"))
    for _ in range(298):
        node = places.trie.child(node, ord("a"))

    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        assert places.is_live(machine.words.dfa.start, node)
    finally:
        sys.setrecursionlimit(usual)
