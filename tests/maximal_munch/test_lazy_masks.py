"""Masks computed one by one, of parts that they share, against those made of summaries."""

import random

import pytest
from support.maximal_munch import (
    BOTH,
    CODE,
    JSON,
    SAMPLES,
    SWALLOWING,
    masks_of,
    node_by_node,
    random_larks,
    read,
    vocabulary_of,
)

from constrain.artifacts.maximal_munch import lazy_masks, lexer_trie
from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.summary_tables import HeadSummaryTables
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler import Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexer_tables import maximal_munch_tables
from constrain.compiler.maximal_munch.precompute import precompute

_PIECES = ["a", "b", " ", "#", '"', "'", "\n", "é", "€", "日本", "😀"]
_PARTS = [piece.encode() for piece in _PIECES]
_PARTS += [b"\xc3", b"\xa9", b"\xe6\x97", b"\xa5", b"\xf0\x9f", b"\xff"]


def machine(
    text: str,
    vocabulary: Vocabulary,
    size: int,
    *,
    sliced: bool,
    made: bool = True,
    stored: HeadSummaryTables | None = None,
) -> MaximalMunchMasks:
    """With slices and subtrees or without. ``made``: subtrees are there from the beginning."""
    trie = Trie.from_vocabulary(vocabulary)
    tables = maximal_munch_tables(read_grammar(text, "lark"))
    masks = MaximalMunchMasks(tables, lambda: trie, vocabulary, (), size, stored)
    if not sliced:
        return node_by_node(masks)
    masks.walks.slices().subtrees(make=made)
    return masks


def words(rng: random.Random, count: int) -> list[bytes]:
    """Tokens of several characters, of parts of one, and of bytes that make none."""
    found = {b"".join(rng.choices(_PARTS, k=rng.randint(1, 5))) for _ in range(count)}
    return sorted(found | set(_PARTS))


def test_masks_one_by_one_are_those_of_parts(full: bool) -> None:
    """On random grammars, masks composed of shared parts are those of one pass each, with slices
    or without."""
    rng = random.Random(3)
    for text, _ in random_larks(300 if full else 9, seed=12):
        tokens = sorted({bytes(rng.choices(b"abc #", k=rng.randint(1, 7))) for _ in range(40)})
        size = len(tokens) + 1
        vocabulary = vocabulary_of(tokens)
        oracle = machine(text, vocabulary, size, sliced=False)
        composed = precompute(masks_of(text, tokens), Limits(states=500)).summaries
        others = [
            machine(text, vocabulary, size, sliced=True),
            machine(text, vocabulary, size, sliced=False, stored=composed),
        ]
        state, states = oracle.start, [other.start for other in others]
        for _ in range(6):
            row = oracle.row(state)
            for other, reached in zip(others, states, strict=True):
                assert row.tolist() == other.row(reached).tolist(), text
            choices = [i for i in tokenset.to_ids(row).tolist() if i < len(tokens)]
            if not choices:
                break
            token = rng.choice(choices)
            state = oracle.step(state, token)
            states = [other.step(at, token) for other, at in zip(others, states, strict=True)]


def test_walks_that_masks_share_change_none(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """However few nodes such a walk begins with, and with slices or without."""
    rng = random.Random(6)
    for text, _ in random_larks(150 if full else 9, seed=13):
        tokens = sorted({bytes(rng.choices(b"abc #", k=rng.randint(1, 7))) for _ in range(60)})
        size, vocabulary = len(tokens) + 1, vocabulary_of(tokens)
        machines = [
            machine(text, vocabulary, size, sliced=sliced) for sliced in (False, False, True)
        ]
        states = [each.start for each in machines]
        for _ in range(6):
            rows = []
            for shared, each, state in zip((10**9, 1, 1), machines, states, strict=True):
                monkeypatch.setattr(lazy_masks, "_SHARED", shared)
                rows.append(each.row(state).tolist())
            assert rows[0] == rows[1] == rows[2], text
            choices = tokenset.to_ids(machines[0].row(states[0])).tolist()
            if not choices:
                break
            token = rng.choice(choices)
            states = [each.step(at, token) for each, at in zip(machines, states, strict=True)]


def test_what_is_read_behind_lexemes_is_read_once_for_many_masks(
    monkeypatch: pytest.MonkeyPatch, default_tokenizer: Tokenizer
) -> None:
    """Along code, three quarters of the nodes were read for other masks before."""
    size = default_tokenizer.vocab_size
    vocabulary = default_tokenizer.vocabulary(size)
    visited = []
    for shared in (10**9, 16):
        monkeypatch.setattr(lazy_masks, "_SHARED", shared)
        code = machine(CODE, vocabulary, size, sliced=True)
        state = code.start
        for token in default_tokenizer.encode(SAMPLES[CODE]):
            code.row(state)
            state = code.step(state, token)
        visited.append(code.walks.visited)
    assert visited[1] * 4 < visited[0]


def test_slices_and_loops_in_one_mask_change_none(default_tokenizer: Tokenizer) -> None:
    """Behind a backslash in a string slices fit, and what follows is a loop."""
    size = default_tokenizer.vocab_size
    vocabulary = default_tokenizer.vocabulary(size)
    plain, sliced = (machine(CODE, vocabulary, size, sliced=flag) for flag in (False, True))
    for text in (
        b"int x = ",
        b'int x = "te',
        b'int x = "te\\',
        b'int x = "\\"',
        b"//",
        b"int x //a",
    ):
        expected = plain.row(read(plain, text)).tolist()
        assert expected == sliced.row(read(sliced, text)).tolist(), text


def test_subtrees_change_no_mask(full: bool) -> None:
    """Where lexemes swallow text outside ASCII, and tokens begin and end inside characters."""
    rng = random.Random(4)
    for _ in range(60 if full else 6):
        tokens = words(rng, 300)
        size, vocabulary = len(tokens) + 1, vocabulary_of(tokens)
        plain = machine(SWALLOWING, vocabulary, size, sliced=False)
        sliced = machine(SWALLOWING, vocabulary, size, sliced=True)
        left, right = plain.start, sliced.start
        for _ in range(25):
            row = plain.row(left)
            assert row.tolist() == sliced.row(right).tolist()
            choices = tokenset.to_ids(row).tolist()
            if not choices:
                break
            token = rng.choice(choices)
            left, right = plain.step(left, token), sliced.step(right, token)
        assert sliced.walks.visited < plain.walks.visited


def test_subtrees_are_made_in_the_middle_of_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many nodes have been read before; what was found until then stays in the mask."""
    rng = random.Random(5)
    tokens = sorted({bytes(rng.choices(range(32, 127), k=rng.randint(1, 4))) for _ in range(2000)})
    size, vocabulary = len(tokens) + 1, vocabulary_of(tokens)
    plain = machine(SWALLOWING, vocabulary, size, sliced=False)
    expected, visited = plain.row(read(plain, b"#")).tolist(), []
    for large in (0, 200, 2 * plain.walks.visited):
        monkeypatch.setattr(lexer_trie, "LARGE", large)
        sliced = machine(SWALLOWING, vocabulary, size, sliced=True, made=False)
        assert expected == sliced.row(read(sliced, b"#")).tolist()
        visited.append(sliced.walks.visited)
    # Made at once, on the way, and not at all.
    assert visited == sorted(visited)
    assert len(set(visited)) == 3
    assert visited[-1] == plain.walks.visited


@pytest.mark.parametrize("grammar", [JSON, CODE, BOTH + CODE], ids=["json", "code", "both"])
def test_masks_along_a_sample(grammar: str, default_tokenizer: Tokenizer) -> None:
    """Along a sample, masks are the same with slices and without."""
    size = default_tokenizer.vocab_size
    vocabulary = default_tokenizer.vocabulary(size)
    plain = machine(grammar, vocabulary, size, sliced=False)
    sliced = machine(grammar, vocabulary, size, sliced=True)
    left, right = plain.start, sliced.start
    for token in default_tokenizer.encode(SAMPLES[grammar.removeprefix(BOTH)]):
        assert plain.row(left).tolist() == sliced.row(right).tolist()
        left, right = plain.step(left, token), sliced.step(right, token)
    assert sliced.walks.visited * 2 < plain.walks.visited


def test_what_is_pending_waits_for_the_frame_below() -> None:
    """A token that closes more than the head knows of is decided by the frames below it."""
    masks = masks_of('start: "(" start ")" | "[" start "]" | "x"\n', [b"(", b"[", b"x", b"x)])"])
    for text, fits in ((b"([(", True), (b"([[", False), (b"(((", False)):
        assert fits == tokenset.contains(masks.row(read(masks, text)), 3)
