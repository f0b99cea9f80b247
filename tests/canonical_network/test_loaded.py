"""What a loaded artifact of a canonical network computes before its first mask: nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded
from support.grammars import DYCK, JSON

from constrain.artifacts import Artifact, ArtifactError, TokenRefusedError
from constrain.artifacts.canonical_network import contexts, pretokenized, trie_walk
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar

FIRST = "first.row"


def computing(*_: object, **__: object) -> None:
    """In place of a step that none may take."""
    raise AssertionError("this is computed again")


@pytest.mark.quick
@pytest.mark.parametrize("grammar", [JSON, DYCK])
@pytest.mark.parametrize("prewarm", [0, 1, None])
def test_the_first_mask_of_a_loaded_artifact_computes_no_contexts(
    grammar: str, prewarm: int | None, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor tries, nor walks of them, however few masks were precomputed."""
    options = {} if prewarm is None else {"prewarm": prewarm}
    artifact = compile_grammar(grammar, dialect="kbnf", tokenizer=default_tokenizer, **options)
    assert (FIRST in artifact.arrays) == (prewarm is not None)
    loaded = load_bytes(artifact.to_bytes())
    lazily = load_bytes(encoded(artifact, {FIRST: None})).matcher().mask()

    with monkeypatch.context() as patched:
        for module, name in (
            (contexts, "reached_pairs"),
            (contexts, "call_returns"),
            (pretokenized, "ReturnContexts"),
            (pretokenized, "token_tries"),
            (trie_walk.TokenWalks, "walk"),
        ):
            patched.setattr(module, name, computing)
        first = loaded.matcher().mask()

    assert np.array_equal(first, lazily)
    allowed = tokenset.to_ids(first).tolist()
    assert allowed
    # What follows the first mask is as it was without it.
    matcher = loaded.matcher()
    matcher.advance(allowed[0])
    others = load_bytes(encoded(artifact, {FIRST: None})).matcher()
    others.advance(allowed[0])
    assert np.array_equal(matcher.mask(), others.mask())


@pytest.mark.quick
def test_a_full_machine_is_followed_by_one_that_knows_the_first_mask(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next machine, too, has it from the file."""
    artifact = compile_grammar(DYCK, dialect="kbnf", tokenizer=default_tokenizer, prewarm=0)
    machine = artifact.machine()
    machine.is_full = True  # type: ignore[misc]
    following = artifact.machine()
    assert following is not machine
    monkeypatch.setattr(trie_walk.TokenWalks, "walk", computing)
    assert np.array_equal(following.row(following.start), artifact.arrays[FIRST])


@pytest.mark.quick
@pytest.mark.parametrize(
    "change",
    [
        lambda row: row[:-1],
        lambda row: np.append(row, row[:1]),
        lambda row: row.astype("<i4"),
        lambda row: row[np.newaxis],
        lambda row: row | np.uint32(1 << 31),
    ],
    ids=["shorter", "longer", "another type", "another shape", "past the last token"],
)
def test_a_first_mask_that_does_not_fit_is_refused(
    change: Callable[[NDArray[Any]], NDArray[Any]], default_tokenizer: Tokenizer
) -> None:
    """Its type, its shape, and the bits behind the last token."""
    size = default_tokenizer.vocab_size + 5
    artifact = compile_grammar(
        DYCK, dialect="kbnf", tokenizer=default_tokenizer, prewarm=0, vocab_size=size
    )
    assert artifact.vocab_size % 32
    with pytest.raises(ArtifactError, match=FIRST):
        Artifact(artifact.manifest, {**artifact.arrays, FIRST: change(artifact.arrays[FIRST])})


@pytest.mark.quick
def test_a_first_mask_that_allows_too_much_does_no_harm(default_tokenizer: Tokenizer) -> None:
    """Tokens that the grammar does not read are refused when they are taken."""
    artifact = compile_grammar(DYCK, dialect="kbnf", tokenizer=default_tokenizer, prewarm=0)
    right = artifact.arrays[FIRST]
    every = tokenset.from_ids(list(range(artifact.vocab_size)), artifact.vocab_size)
    damaged = load_bytes(encoded(artifact, {FIRST: every}))
    for token in range(0, artifact.vocab_size, 37):
        matcher = damaged.matcher()
        if not tokenset.contains(right, token):
            with pytest.raises((ArtifactError, TokenRefusedError)):
                matcher.advance(token)
