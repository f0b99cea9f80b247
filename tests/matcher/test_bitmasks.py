"""Masks of many texts and of drafted tokens, in the rows of servers."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.matcher import GRAMMARS, KINDS, Compile, allowed

from constrain.artifacts import Artifact, Matcher, fill_many
from constrain.artifacts.tokens import tokenset

pytestmark = pytest.mark.quick

TEXT = GRAMMARS[3]
UNTOUCHED = 0x5A5A5A5A


def rows_for(artifact: Artifact, count: int, more: int = 0, dtype: Any = np.int32) -> NDArray[Any]:
    """Rows that hold what no mask does."""
    words = (artifact.vocab_size + 31) // 32 + more
    return np.full((count, words), UNTOUCHED, dtype=dtype)


def expected_row(matcher: Matcher, width: int) -> list[int]:
    """The mask, as a row of so many words holds it."""
    mask = matcher.mask()
    return [*mask.tolist(), *[0] * (width - len(mask))]


def walk(artifact: Artifact, chance: random.Random) -> list[int]:
    """Tokens of a text, the end among them."""
    matcher, taken = artifact.matcher(), list[int]()
    while not matcher.is_finished:
        taken.append(chance.choice(allowed(matcher)))
        matcher.advance(taken[-1])
    return taken


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [0, 3])
def test_many_masks_at_once_are_those_of_each(artifacts: Compile, kind: str, more: int) -> None:
    """In the rows named, whose tails are cleared; other rows stay."""
    artifact, chance = artifacts(TEXT, kind), random.Random(1)
    matchers = []
    for _ in range(9):
        matcher = artifact.matcher()
        ids = walk(artifact, chance)
        matcher.accept(ids[: chance.randrange(len(ids) + 1)])
        matchers.append(matcher)
    rows = rows_for(artifact, 12, more)
    places = chance.sample(range(12), 9)
    fill_many(matchers, rows, places)
    words = rows.view(np.uint32)
    for place, matcher in zip(places, matchers, strict=True):
        assert expected_row(matcher, words.shape[1]) == words[place].tolist()
    for place in set(range(12)) - set(places):
        assert {UNTOUCHED} == set(words[place].tolist())
    every = rows_for(artifact, 9, more, np.uint32)
    fill_many(matchers, every)
    assert [expected_row(m, every.shape[1]) for m in matchers] == every.tolist()
    # Rows of a larger array, as servers keep them.
    wide = rows_for(artifact, 18, more)
    fill_many(matchers, wide[::2])
    assert every.tolist() == wide[::2].view(np.uint32).tolist()


def test_rows_that_do_not_fit_are_refused(artifacts: Compile) -> None:
    """Before anything is written."""
    artifact = artifacts(TEXT, "any")
    matchers = [artifact.matcher(), artifact.matcher()]
    good = rows_for(artifact, 2)
    for rows, places in (
        (good[:1], None),
        (good[:, :-1], None),
        (good[0], None),
        (good.astype(np.int64), None),
        (good.astype(np.float32), None),
        (good, [0, 2]),
        (good, [-1, 0]),
        (good, [0]),
    ):
        with pytest.raises(ValueError, match=r"rows|row's|indices"):
            fill_many(matchers, rows, places)
    assert {UNTOUCHED} == set(good.reshape(-1).tolist())
    fill_many([], good)
    with pytest.raises(ValueError, match="3 of at least"):
        matchers[0].fill_window(good, [1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_has_the_rows_of_its_drafts(artifacts: Compile, kind: str) -> None:
    """Up to the first that is refused, also over the end; the matcher stays where it is."""
    artifact, chance = artifacts(TEXT, kind), random.Random(2)
    for _ in range(30):
        ids = walk(artifact, chance)
        begun = chance.randrange(len(ids))
        drafts = ids[begun : begun + chance.randrange(6)]
        wrong = chance.randrange(len(drafts) + 1)
        if chance.random() < 0.5:
            drafts = [*drafts[:wrong], chance.choice([-1, 1 << 30, 0]), *drafts[wrong:]]
        matcher = artifact.matcher()
        matcher.accept(ids[:begun])
        one_by_one = matcher.fork()
        legal = one_by_one.validate(drafts)
        rows = rows_for(artifact, len(drafts) + 2, 2, np.uint32)
        assert legal == matcher.fill_window(rows, drafts)
        assert tuple(ids[:begun]) == matcher.taken
        for place in range(len(rows)):
            if place > legal:
                assert {UNTOUCHED} == set(rows[place].tolist())
                continue
            assert expected_row(one_by_one, rows.shape[1]) == rows[place].tolist()
            one_by_one.accept(drafts[place : place + 1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_has_the_rows_of_its_nodes(artifacts: Compile, kind: str) -> None:
    """Of each node that its parent's row holds, and whose parent has one."""
    artifact, chance = artifacts(TEXT, kind), random.Random(3)
    for _ in range(30):
        matcher = artifact.matcher()
        ids = walk(artifact, chance)
        matcher.accept(ids[: chance.randrange(len(ids))])
        parents, drafts = [-1], [-1]
        forks: list[Matcher | None] = [matcher.fork()]
        for node in range(1, 9):
            parent = chance.randrange(node)
            at = forks[parent]
            near = allowed(at) if at is not None else [1]
            draft = chance.choice([*near, 0, -1])
            parents.append(parent)
            drafts.append(draft)
            fork = at.fork() if at is not None else None
            forks.append(fork if fork is not None and fork.accept([draft]) else None)
        child, sibling = [-1] * 9, [-1] * 9
        for node in reversed(range(1, 9)):
            sibling[node], child[parents[node]] = child[parents[node]], node
        rows = rows_for(artifact, 9)
        before = matcher.taken
        filled = matcher.fill_tree(child, np.array(sibling), np.array(drafts), rows)
        assert before == matcher.taken
        assert sum(fork is not None for fork in forks) == filled
        for place, at in enumerate(forks):
            row = rows[place].view(np.uint32).tolist()
            assert row == (expected_row(at, rows.shape[1]) if at else [UNTOUCHED] * rows.shape[1])


@pytest.mark.parametrize(
    ("child", "sibling"),
    [([1, 0], [-1, -1]), ([1, -1], [-1, 1]), ([2, -1], [-1, -1]), ([-2, -1], [-1, -1])],
)
def test_what_is_no_tree_is_refused(
    artifacts: Compile, child: list[int], sibling: list[int]
) -> None:
    """And the matcher stays where it is."""
    artifact = artifacts('s ::= "a"*;', "any")
    matcher = artifact.matcher()
    token = allowed(matcher)[0]
    with pytest.raises(ValueError, match="tree"):
        matcher.fill_tree(child, sibling, [-1, token], rows_for(artifact, 2))
    assert () == matcher.taken
    with pytest.raises(ValueError, match="each node"):
        matcher.fill_tree([-1], [-1, -1], [-1], rows_for(artifact, 2))


def test_the_ends_of_a_set() -> None:
    """Of all sets of one id and two, and the id of those of one."""
    for words in (1, 3):
        for low in range(words * 32):
            for high in range(low, words * 32, 7):
                ids = tokenset.from_ids(sorted({low, high}), words * 32)
                assert (low, high) == tokenset.ends_of(ids)
                assert (low if low == high else None) == tokenset.only_id(ids)
        nothing = tokenset.from_ids([], words * 32)
        first, last = tokenset.ends_of(nothing)
        assert first > last
        assert tokenset.only_id(nothing) is None
