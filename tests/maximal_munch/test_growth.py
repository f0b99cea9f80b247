"""Precomputing by maximal munch: what is the same for many summaries is found once."""

# Tests here say `expected == actual`.

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.maximal_munch import masks_of, vocabulary_of

from constrain.artifacts.maximal_munch.closure.compose import FEED, WALK, Composer
from constrain.artifacts.maximal_munch.closure.lexer_walks import LexerWalks
from constrain.artifacts.maximal_munch.closure.row_unions import RowUnions
from constrain.artifacts.maximal_munch.lazy_masks import LazyMasks
from constrain.artifacts.maximal_munch.summaries import Summary
from constrain.artifacts.summaries.node_sets import ROOT
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler.maximal_munch.precompute import Precomputed, precompute

CODE = (Path(__file__).parents[2] / "examples" / "code.lark").read_text(encoding="utf-8")
TOKENS = [
    *(bytes([i]) for i in range(32, 127)),
    b"while",
    b"if (",
    b"))",
    b") {",
    b"x = ",
    b'";',
    b"()",
]


@pytest.fixture(scope="module")
def reached() -> tuple[Precomputed, Counter[int]]:
    """A C-like grammar, and how many results of each kind were composed."""
    counts: Counter[int] = Counter()
    steps, walk = Composer._steps, LexerWalks.walk

    def counting(self: Composer, key: tuple[int, ...]) -> object:
        counts[key[0]] += 1
        return steps(self, key)

    def walking(self: LexerWalks, keys: Sequence[tuple[int, int]]) -> Iterator[None]:
        counts[WALK] += 1
        return walk(self, keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Composer, "_steps", counting)
        patch.setattr(LexerWalks, "walk", walking)
        return precompute(masks_of(CODE, TOKENS)), counts


def test_pending_heads_are_fed_once(reached: tuple[Precomputed, Counter[int]]) -> None:
    """Heads that are pending beside many rows are fed a frame once, not once for each row."""
    found, counts = reached
    assert 2 * counts[FEED] < len(found.summaries.feeds)


def test_walks_are_made_together(reached: tuple[Precomputed, Counter[int]]) -> None:
    """The token trie is walked for many states and suspended nodes at a time."""
    found, counts = reached
    assert 10 * counts[WALK] < len(found.summaries.firsts)


def test_what_is_composed_is_what_one_pass_gives(
    reached: tuple[Precomputed, Counter[int]], full: bool
) -> None:
    """Each result is that of one pass over the trie for it alone."""
    stored, rng = reached[0].summaries, random.Random(2)
    masks = masks_of(CODE, TOKENS, stored)
    alone = LazyMasks(masks.summaries, masks.vocab_size)
    nodes, rows = masks.walks.suspended, masks.walks.rows
    results = {
        (key >> 32, key & 0xFFFFFFFF): number
        for key, number in zip(stored.feed_keys.tolist(), stored.feeds.tolist(), strict=True)
    } | {
        (ROOT, key >> 20 & 0xFFFFFF, key & 0xFFFFF): number
        for key, number in zip(stored.first_keys.tolist(), stored.firsts.tolist(), strict=True)
    }

    def content(found: Summary) -> object:
        pending = [(head, nodes[held].tolist()) for head, held in found.pending]
        return tokenset.to_ids(rows[found.row]).tolist(), pending

    count = len(results) if full else 600
    for key in rng.sample(sorted(results), count):
        assert content(alone.compute(key)) == content(masks.summaries.summary(results[key])), key


def test_rows_are_numbered_by_their_tokens() -> None:
    """A row has one number, whatever intervals or rows it is made of, and no other row has it."""
    rng = random.Random(5)
    tokens = [bytes([i, j]) for i in range(12) for j in range(12)]
    parts = Subtrees.of(Trie.from_vocabulary(vocabulary_of(tokens)))
    rows = RowUnions(parts, len(tokens) + 1)
    content: dict[int, frozenset[int]] = {0: frozenset()}
    for _ in range(200):
        first, end = sorted(rng.sample(range(len(tokens) + 1), 2))
        middle = rng.randint(first, end)
        begins, ends = np.array([[first, middle], [middle, end]], dtype=np.int32)
        for number in rows.of_intervals(begins, ends, np.array([0, 2])):
            assert content.setdefault(number, frozenset(range(first, end))) == set(
                range(first, end)
            )
        left, right = rng.choices(list(content), k=2)
        if not content[left] & content[right]:
            both = content[left] | content[right]
            assert content.setdefault(rows.union(left, right), both) == both
    assert len(set(content.values())) == len(content) == len(rows)
    numbers = sorted(rng.sample(sorted(content), 100))
    blocks = rows.block_rows([0, *numbers])
    for place, number in enumerate([0, *numbers]):
        ids = tokenset.to_ids(blocks.row(place, len(tokens) + 1)).tolist()
        assert ids == sorted(parts.ids[list(content[number])].tolist())
