"""What a loaded artifact of a canonical network need not compute: what depends on no text."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded, sampled
from support.corpus.tokenizer_case import Case
from support.grammars import DYCK, JSON

from constrain.artifacts import Artifact, ArtifactError, TokenRefusedError
from constrain.artifacts.canonical_network import live_sets, pretokenized, trie_walk
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Compiler, Tokenizer, compile_grammar

FIRST = "first.row"

# Grammars and how much of their masks is precomputed.
PREWARMED = [(grammar, prewarm) for prewarm in (0, 1, None) for grammar in (JSON, DYCK)]


def computing(*_: object, **__: object) -> None:
    """In place of a step that none may take."""
    raise AssertionError("this is computed again")


@pytest.mark.quick
@sampled(("grammar", "prewarm"), PREWARMED[:-1], PREWARMED)
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
            (live_sets, "LiveSets"),
            (pretokenized, "Contexts"),
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
    """Its type, its shape, and the bits after the last token."""
    size = default_tokenizer.vocab_size + 5
    artifact = compile_grammar(
        DYCK, dialect="kbnf", tokenizer=default_tokenizer, prewarm=0, vocab_size=size
    ).completed
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


# What masks that are not precomputed are made of.
TRIES = tuple(f"merged_trie.{name}" for name in ("first", "held", "ids", "octets"))
MARKS = "start ::= '(' start ')' | 'e' | '\u0301' | m m m; m ::= '\u0301' | '\u0323';"


def masks_along(artifact: Artifact, ids: list[int]) -> list[bytes]:
    """The masks before each token, and after the last."""
    matcher = artifact.matcher()
    found = []
    for token in ids:
        found.append(matcher.mask().tobytes())
        matcher.advance(token)
    return [*found, matcher.mask().tobytes()]


@pytest.mark.quick
@pytest.mark.parametrize("prewarm", [0, 300])
def test_later_masks_of_a_loaded_artifact_make_no_tries_again(
    prewarm: int, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token trie is in the file wherever a mask may need it."""
    artifact = compile_grammar(JSON, dialect="kbnf", tokenizer=default_tokenizer, prewarm=prewarm)
    stored = {*TRIES}
    assert stored <= {*artifact.arrays}
    ids = default_tokenizer.encode('{"a": [1, true, "b"], "c": {}}')
    expected = masks_along(load_bytes(encoded(artifact, dict.fromkeys(stored))), ids)
    monkeypatch.setattr(pretokenized, "token_tries", computing)
    assert masks_along(load_bytes(artifact.to_bytes()), ids) == expected


@pytest.mark.quick
def test_grammars_of_one_tokenizer_share_its_tries(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second compilation sorts the vocabulary no more, and its masks are the same."""
    compiler = Compiler(default_tokenizer)
    first = compiler.compile(JSON, dialect="kbnf", prewarm=0)
    monkeypatch.setattr(Trie, "from_vocabulary", computing)
    second = compiler.compile(JSON, dialect="kbnf", prewarm=0)

    assert second.to_bytes() == first.to_bytes()


@pytest.mark.quick
def test_what_no_mask_needs_is_not_in_the_file(default_tokenizer: Tokenizer) -> None:
    """Tries are stored where some masks were not precomputed, and where there is room for them."""
    stored = {*TRIES}
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    assert not {FIRST, *stored} & {*compile_grammar(JSON, **options).arrays}
    lazy = compile_grammar(JSON, **options, prewarm=0)
    room = len(lazy.to_bytes()) - sum(lazy.arrays[name].nbytes for name in TRIES)
    small = compile_grammar(JSON, **options, prewarm=0, max_artifact_bytes=room + 30_000)
    assert len(small.to_bytes()) <= room + 30_000
    assert FIRST in small.arrays
    assert not {*TRIES} & {*small.arrays}


@pytest.fixture(scope="module")
def marks(normalizing: Case) -> Artifact:
    """Nothing of it is precomputed, and it is beside a normal-form DFA."""
    tokenizer = normalizing.tokenizer
    return compile_grammar(
        MARKS, dialect="kbnf", tokenizer=tokenizer, tokenization="canonical", prewarm=0
    ).completed


@pytest.mark.quick
@pytest.mark.parametrize("name", TRIES)
def test_stored_tries_that_do_not_fit_do_no_harm(
    name: str, marks: Artifact, normalizing: Case, full: bool
) -> None:
    """Another type or shape is refused at once; values when they are read, or masks are others:
    there is no other error, and no walk without end."""
    sections = marks.arrays
    for changed in (sections[name].astype("<u2"), sections[name][np.newaxis]):
        with pytest.raises(ArtifactError, match=name):
            Artifact(marks.manifest, {**sections, name: changed})
    chance = random.Random(name)
    limits = np.iinfo(sections[name].dtype)
    low, high = limits.min, limits.max
    ids = normalizing.encode("((e))")
    refused = 0
    for number in range(200 if full else 5):
        changed = sections[name].copy()
        if number % 5 == 4:
            changed = changed[..., : changed.shape[-1] // 2].copy()
        else:
            value = (high, 0, chance.randrange(high), -1)[number % 5]
            changed.reshape(-1)[chance.randrange(changed.size)] = value if low else value & high
        if np.array_equal(changed, sections[name]):
            continue
        try:
            masks_along(Artifact(marks.manifest, {**sections, name: changed}), ids)
        except (ArtifactError, TokenRefusedError):
            refused += 1
    # Other bytes may make other masks, without any harm.
    assert refused or name.endswith("octets")


def test_artifacts_of_one_process_share_what_is_of_the_tokenizer(
    default_tokenizer: Tokenizer,
) -> None:
    """Token tries and pairs of tokens, but not what is of the grammar."""
    compiler = Compiler(default_tokenizer)
    networks = []
    for grammar in (JSON, DYCK):
        artifact = compiler.compile(grammar, dialect="kbnf", tokenization="canonical", prewarm=0)
        artifact.matcher().mask()
        networks.append(artifact.runtime.machine().pretokenized)
    one, other = networks
    assert one.walks.trie is other.walks.trie
    assert one.forbidden is other.forbidden
    assert one.contexts is not other.contexts
