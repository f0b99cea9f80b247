"""Steps and masks that hold for many counts: those that each count has by itself."""

# Tests here say `expected == actual`.

import random

import pytest
from support import tokenizer_of

from constrain.artifacts.counting_network.configurations import COUNT_SHIFT
from constrain.artifacts.counting_network.machine import CountingMasks
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, thresholds

LETTERS = 'abeht ,."()'
MERGES = ["a a", "aa aa", "a b", "t h", "th e", "the Ġ", ", Ġ", 'a "', '" ,', 'a" ,']
MERGES += ["aa )", ") )", "b ,", "b, a"]

# Grammars with small counts, so that texts come to their beginnings and their ends.
GRAMMARS = {
    "characters": 'root ::= "(" [a-z ]{2,9} ")"',
    "so many": 'root ::= "(" [ab]{7} ")"',
    "no most": 'root ::= "(" [a-z]{5,} ")"',
    "words": 'root ::= ( [a-z]+ " " ){2,6} "."',
    "in each other": 'root ::= ( "(" [a-z]{1,5} ")" ","? ){2,7}',
    "one behind the other": 'root ::= [a-z]{2,5} ( "," [a-z]{3,6} ){1,4} "."',
    "in brackets": 'root ::= "(" ( [a-z] | root ){2,6} ")"',
    "with separators": 'root ::= [ab]{1,3} ( ", " [ab]{1,3} ){1,8}',
    "two items": 'root ::= ( "a" | "the" ","? ){2,8} ( "a" | "." )',
}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer whose tokens hold several items, and their ends."""
    added = [(len(LETTERS) + len(MERGES), "<eos>", True)]
    return tokenizer_of(tmp_path_factory.mktemp("letters"), LETTERS, MERGES, added=added)


def machine(text: str, tokenizer: Tokenizer) -> CountingMasks:
    """The machine of a grammar all of whose repetitions are counted."""
    artifact = compile_grammar(
        text,
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine="network",
        eos=["<eos>"],
        prewarm=0,
    )
    assert "count.items" in artifact.arrays
    found = artifact.machine()
    assert isinstance(found, CountingMasks)
    return found


@pytest.mark.parametrize("kind", GRAMMARS)
def test_what_is_known_of_other_counts_is_what_is_read(
    kind: str, letters: Tokenizer, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Along random texts: steps and masks of a machine that has met other counts in the same place
    are those of sets of stacks, whose frames hold the counts, and which keep nothing."""
    monkeypatch.setattr(thresholds, "SOON_COPIED_STATES", 0)
    masks, rng = machine(GRAMMARS[kind], letters), random.Random(5)
    configurations = masks.configurations
    known, taken = 0, 0
    for _ in range(200 if full else 15):
        state = masks.start
        while True:
            row = masks.row(state)
            assert masks.row_via_stacks(state).tolist() == row.tolist()
            ids = [i for i in tokenset.to_ids(row).tolist() if masks._vocabulary.is_text(i)]
            if not ids:
                break
            for token in ids:
                before = len(masks._steps)
                threads = configurations.network.read_threads(
                    dict(configurations.threads(state)), masks._vocabulary.token(token)
                )
                found = masks.take(state, token)
                assert found is not None
                assert sorted(threads.items()) == list(configurations.threads(found))
                known += len(masks._steps) == before
                taken += 1
            following = masks.take(state, rng.choice(ids))
            assert following is not None
            state = following
    assert known > taken / 2


def test_steps_in_the_middle_of_a_count_are_one(letters: Tokenizer) -> None:
    """A token that is read at one count is known at all that are as far from their ends, and a
    count that is not is read."""
    masks = machine('root ::= "(" [a-z]{0,1000000} ")"', letters)
    state = masks.start
    vocabulary = letters.vocabulary()
    ids = {vocabulary.token(i): i for i in vocabulary.text_ids().tolist()}
    for text in (b"(", b"aa", b"aa"):
        following = masks.take(state, ids[text])
        assert following is not None
        state = following
    known = len(masks._steps)
    aa = ids[b"aa"]
    for counted in (4, 5, 1000, 999_000, 999_997):
        at = state + (counted - 4 << COUNT_SHIFT)
        assert at + (2 << COUNT_SHIFT) == masks.take(at, aa)
        assert known == len(masks._steps)
    for counted in (999_998, 999_999, 1_000_000):
        at = state + (counted - 4 << COUNT_SHIFT)
        assert (counted > 999_998) == (masks.take(at, aa) is None)
