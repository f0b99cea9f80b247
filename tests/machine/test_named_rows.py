"""Rows of a file for states that are made when texts meet them."""

import random
from contextlib import suppress

import numpy as np
import pytest
from support import encoded, spelling_all_bytes
from support.container import Change, changed, refused
from support.matcher import check_random_texts

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.walk.rows_by_frames import RowsByFrames
from constrain.compiler import Tokenizer, compile_grammar

GRAMMARS = {
    "counts": 'root ::= "(" [a-c]{2,9000} ")"',
    "counts that nest": 'root ::= "(" ( root | "a" | "ab" ){1,5000} ")" ","?',
    "counts in calls": 'root ::= "a" x "b" | "(" x ")"\nx ::= [a-c]{0,4000} | "(" x ")"',
    "ends that cannot be told": 'root ::= ( "a" | "aa" | "b" ){3,7000} "a"? "(" root? ")"',
    "called at once": 'root ::= ( "(" root ")" | [a-c]{0,4000} "," ){0,3000}',
    "two": 'root ::= "(" [ab]{5,} "c" [a-c]{2,6000} ")" | "a" root',
}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Tokens that hold several items, and that open and close."""
    merges = ["a a", "aa aa", "a b", "ab ab", "b b", ") )", ") ,", "( (", "(( a", "a )", "aa )"]
    return spelling_all_bytes(tmp_path_factory.mktemp("letters"), "abc(),", merges)


def made(text: str, tokenizer: Tokenizer, **options: object) -> Artifact:
    """Read from its file, under any tokenization."""
    found = compile_grammar(
        text,
        dialect="gbnf",
        tokenizer=tokenizer,
        tokenization="any",
        engine="network",
        eos=["<eos>"],
        **options,  # type: ignore[arg-type]
    )
    return load_bytes(found.to_bytes())


@pytest.mark.parametrize("name", GRAMMARS)
def test_rows_of_files_are_those_of_walks(name: str, letters: Tokenizer, full: bool) -> None:
    """With all that is precomputed, a little of it, and nothing."""
    text = GRAMMARS[name]
    every = [made(text, letters, prewarm=most) for most in (5_000, 3, 0)]
    assert ["named.members" in each.arrays for each in every] == [True, True, False]
    assert every[0].to_bytes() == made(text, letters, prewarm=5_000).to_bytes()
    check_random_texts(every, 200 if full else 3, 40, seed=5, short=0.7)


@pytest.mark.parametrize("name", GRAMMARS)
def test_no_trie_is_walked_far_from_bounds(
    name: str, letters: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All masks of a text are in the file, which others than walks did not find."""
    artifact, rng = made(GRAMMARS[name], letters), random.Random(1)
    monkeypatch.setattr(RowsByFrames, "_lay_out", None)
    for _ in range(10):
        matcher = artifact.matcher()
        for _ in range(30):
            ids = tokenset.to_ids(matcher.mask()).tolist()
            inside = [t for t in ids if not {*b"()"} & {*artifact.vocabulary.token(t)}]
            matcher.advance(rng.choice(inside or ids))
            if matcher.is_finished:
                break


DAMAGE: list[tuple[str, Change]] = [
    ("named.members", changed((0, 0), -1)),
    ("named.members", changed((0, 0), 9_999)),
    ("named.members", changed((0, 1), -3)),
    ("named.members", changed((0, 2), -1)),
    ("named.members", lambda a, n: a[n][:, :2]),
    ("named.members", lambda a, n: a[n].astype(np.int64)),
    ("named.offsets", changed(0, 1)),
    ("named.offsets", changed(-1, 9_999)),
    ("named.offsets", lambda a, n: a[n][:1]),
    ("memo.keys", changed((0, 1), 9_999)),
    ("memo.answers", changed((0, 0), 9_999)),
]


@pytest.mark.parametrize(("name", "change"), DAMAGE)
def test_damaged_rows_are_refused(letters: Tokenizer, name: str, change: Change) -> None:
    """Right checksums, wrong contents: the section is named, also without verifying."""
    artifact = made(GRAMMARS["counts"], letters)
    wrong = np.ascontiguousarray(change(dict(artifact.arrays), name))
    assert f"section '{name}'" in refused(encoded(artifact, {name: wrong}), False)


def test_frames_without_an_end_are_not_followed(letters: Tokenizer) -> None:
    """Rows that would depend on frames for ever: the bottom of a stack is looked at once. Masks are
    wrong then, and end."""
    artifact = made(GRAMMARS["counts that nest"], letters)
    keys, answers = (artifact.arrays[f"memo.{name}"].copy() for name in ("keys", "answers"))
    inner = np.flatnonzero(answers[:, 1])
    keys[:, 1] = np.where(keys[:, 0] > 0, 0, keys[:, 1])
    first = np.unique(keys, axis=0, return_index=True)[1]
    answers[:, 1] = np.where(keys[:, 0] > 0, keys[:, 0], answers[:, 1])
    assert len(inner)
    wrong = {"memo.keys": keys[first], "memo.answers": answers[first]}
    damaged = load_bytes(encoded(artifact, wrong))
    for token in tokenset.to_ids(damaged.matcher().mask()).tolist():
        matcher = damaged.matcher()
        with suppress(ArtifactError):
            matcher.advance(token)
            assert matcher.mask().shape == (9,)
