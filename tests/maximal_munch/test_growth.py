"""Precomputing by maximal munch: what is the same for many summaries is found once."""

# Tests here say `expected == actual`.

import random
from collections import Counter
from pathlib import Path

import pytest
from support.maximal_munch import masks_of

from constrain.artifacts.maximal_munch.lazy_masks import LazyMasks
from constrain.artifacts.maximal_munch.summaries import Summary
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.walk.node_sets import ROOT
from constrain.compiler.maximal_munch.precompute import Precomputed, precompute
from constrain.compiler.maximal_munch.row_unions import RowUnions

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
    """A C-like grammar, and how often something was walked: by how many arguments that has."""
    counts: Counter[int] = Counter()
    compute = LazyMasks.compute
    inside = LazyMasks.inside

    def computing(self: LazyMasks, key: tuple[int, ...]) -> Summary:
        counts[len(key)] += 1
        return compute(self, key)

    def walking(self: LazyMasks, state: int) -> object:
        counts[1] += 1
        return inside(self, state)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LazyMasks, "compute", computing)
        patch.setattr(LazyMasks, "inside", walking)
        return precompute(masks_of(CODE, TOKENS)), counts


def test_pending_heads_are_fed_once(reached: tuple[Precomputed, Counter[int]]) -> None:
    """Heads that are pending beside many rows are fed a frame once, not once for each row."""
    found, counts = reached
    assert 0 < 2 * counts[2] < len(found.summaries.feeds)


def test_lexemes_are_walked_once(reached: tuple[Precomputed, Counter[int]]) -> None:
    """What is read inside of a lexeme is walked for each state of the lexer, not for each head."""
    found, counts = reached
    assert 0 < 10 * counts[1] < len(found.summaries.firsts)
    assert counts[1] + counts[3] < len(found.summaries.firsts)


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
    """A row has one number, whatever rows it is made of, and no other row has it."""
    rng, size = random.Random(5), 1_000
    rows = RowUnions(size)
    content: dict[int, frozenset[int]] = {0: frozenset()}
    for _ in range(200):
        first, end = sorted(rng.sample(range(size + 1), 2))
        row = tokenset.from_ids(list(range(first, end)), size)
        assert content.setdefault(rows.number(row), frozenset(range(first, end))) == set(
            range(first, end)
        )
        left, right = rng.choices(list(content), k=2)
        if not content[left] & content[right]:
            both = content[left] | content[right]
            assert content.setdefault(rows.union(left, right), both) == both
    assert len(set(content.values())) == len(content) == len(rows)
    numbers = sorted(rng.sample(sorted(content), 100))
    blocks = rows.blocks([0, *numbers])
    for place, number in enumerate([0, *numbers]):
        assert tokenset.to_ids(blocks.row(place, size)).tolist() == sorted(content[number])
