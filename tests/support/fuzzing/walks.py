"""Random texts by the masks of an artifact that may be wrong in any way."""

import copy
import pickle
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np

from constrain.artifacts import Artifact, ArtifactError, Matcher, TokenRefusedError, fill_many
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
from constrain.artifacts.kinds.regular import RegularGrammar
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.serving.llama_cpp import processor
from constrain.artifacts.serving.texts import DeadEndWarning, ServingError
from constrain.artifacts.tokens import tokenset
from support.fuzzing.mutants import Mutant

STEPS = 30

# Numbers that are no token's, whatever the vocabulary.
NO_TOKENS = (-1, -32, -(2**31), 2**31 - 1, 2**31, 2**32, 2**63, 10**30)

# Texts that the samples' grammars have something of.
TEXTS = (b"(ab,(a", b"ab c", b"", b"\xc3\xa9", b"e\xcc\x81", b'{"ab":["a",', b"\xff\x00 ")


def opened_and_walked(mutant: Mutant, folder: Path, seed: int) -> None:
    """Read a file, with checksums or without, and walk it; its tables are put into ``folder``.
    Raises ``ArtifactError``, and whatever else happens."""
    for name, data in mutant.tables.items():
        (folder / name).write_bytes(data)
    rng = Random(seed)
    try:
        artifact = load_bytes(mutant.data, verify=rng.random() < 0.5, shared=folder)
        walk(artifact, rng)
    finally:
        for name in mutant.tables:
            (folder / name).unlink()


def walk(artifact: Artifact, rng: Random) -> None:
    """A random text by the masks, and all that an artifact and a matcher are asked on the way. What
    says that the file is damaged ends the part that meets it, and is raised at the end."""
    found: list[ArtifactError] = []
    for part in (_text, _prompt, _served, _stopped, _asked):
        try:
            part(artifact, rng)
        except ArtifactError as error:
            found.append(error)
    if found:
        raise found[0]


def _text(artifact: Artifact, rng: Random) -> None:
    size = artifact.vocab_size
    matcher = artifact.matcher()
    for step in range(STEPS):
        ids = _allowed(matcher, size)
        if matcher.is_finished or not len(ids):
            break
        assert isinstance(matcher.is_accepting, bool)
        for odd in _questions(rng, size):
            matcher.validate([odd])
        if step % 4 == 3:
            rng.choice(_ASKED)(matcher, rng, size)
        if step % 8 == 5:
            matcher.rollback(2)
            continue
        matcher.advance(int(rng.choice(ids)))
    assert len(matcher.taken) == matcher.position
    again = artifact.matcher()
    # Sections that do not agree may say another thing on another way to the same place.
    again.seek(matcher.taken)
    _allowed(again, size)


def _allowed(matcher: Matcher, size: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    mask = matcher.mask()
    assert mask.shape == (tokenset.word_count(size),)
    ids = tokenset.to_ids(mask)
    assert not len(ids) or int(ids[-1]) < size, f"bit {ids[-1]} of {size}"
    return ids


def _questions(rng: Random, size: int) -> tuple[int, ...]:
    return rng.randrange(size), rng.choice((*NO_TOKENS, size, size + 31, -size))


def _refused(matcher: Matcher, rng: Random, size: int) -> None:
    """What is no token is refused, whatever the mask, and changes nothing."""
    before = matcher.taken
    for odd in (*NO_TOKENS, size):
        try:
            matcher.advance(odd)
        except TokenRefusedError:
            continue
        raise AssertionError(f"token {odd} of {size} was taken")
    for count in (-1, len(before) + 1, 2**40):
        with suppress(ValueError):
            matcher.rollback(count)
            raise AssertionError(f"{count} tokens of {len(before)} were taken back")
    assert before == matcher.taken


def _forced(matcher: Matcher, rng: Random, size: int) -> None:
    matcher.forced_tokens(4)
    matcher.forced_bytes(rng.choice((1, 20)))


def _any_tokens(matcher: Matcher, rng: Random, size: int) -> None:
    """Tokens by chance, most of which are refused."""
    other = matcher.fork()
    some = [rng.randrange(-2, size + 2) for _ in range(6)]
    assert other.validate(some) == other.accept(some)
    with suppress(TokenRefusedError):
        other.advance(rng.randrange(size))
    _allowed(other, size)
    other.reset()
    other.seek([*matcher.taken, *some])


def _drafts(matcher: Matcher, rng: Random, size: int) -> None:
    """Rows of several places, which are longer than they need be."""
    words = tokenset.word_count(size)
    drafts = [rng.randrange(-2, size + 2) for _ in range(3)]
    drafts[:1] = tokenset.to_ids(matcher.mask())[-1:].tolist()
    rows = np.full((5, words + 2), -1, dtype=np.int32)
    filled = matcher.fill_window(rows, drafts)
    _within(rows[: filled + 1], size)
    first, following = [1, 2, -1, -1], [-1, 3, -1, -1]
    rows[:] = 0
    matcher.fill_tree(first, following, [0, *drafts[:1], *drafts[-2:]][:4], rows)
    _within(rows, size)


def _filled(matcher: Matcher, rng: Random, size: int) -> None:
    """Rows of a batch, and logits."""
    words = tokenset.word_count(size)
    rows = np.full((3, words + 1), -1, dtype=np.int32)
    fill_many([matcher, copy.copy(matcher)], rows, [2, 0])
    matcher.fill(rows[1])
    _within(rows, size)
    assert np.array_equal(rows[0], rows[1])
    logits = np.zeros(size + 3, dtype=np.float32)
    matcher.apply(logits)
    assert not np.isfinite(logits[size:]).any()


def _within(rows: "np.ndarray[tuple[int, ...], np.dtype[np.int32]]", size: int) -> None:
    flags = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    assert not flags[:, size:].any(), f"a bit beyond {size}"


_ASKED: tuple[Callable[[Matcher, Random, int], None], ...] = (
    _refused,
    _forced,
    _any_tokens,
    _drafts,
    _filled,
)


def _prompt(artifact: Artifact, rng: Random) -> None:
    """A few tokens after a prompt of any tokens."""
    size = artifact.vocab_size
    with suppress(ArtifactError):
        matcher = artifact.matcher(after=[rng.randrange(size) for _ in range(rng.choice((1, 3)))])
        for _ in range(4):
            ids = _allowed(matcher, size)
            if not len(ids) or matcher.is_finished:
                break
            matcher.advance(int(rng.choice(ids)))


def _stopped(artifact: Artifact, rng: Random) -> None:
    """Tokens of the vocabulary that end a text, another artifact made of the first, and places."""
    size = artifact.vocab_size
    matcher = artifact.matcher(stop_ids=[rng.randrange(size), *artifact.manifest.eos[:1]])
    for _ in range(3):
        ids = _allowed(matcher, size)
        if not len(ids) or matcher.is_finished:
            break
        matcher.advance(int(rng.choice(ids)))
    if rng.random() < 0.1:
        again = pickle.loads(pickle.dumps(matcher))
        _allowed(again, size)


def _served(artifact: Artifact, rng: Random) -> None:
    """A host that samples any token."""
    size = artifact.vocab_size
    served, ids = processor(artifact, prompt_length=1), [0]
    with warnings.catch_warnings(), suppress(ServingError):
        warnings.simplefilter("ignore", DeadEndWarning)
        for _ in range(4):
            scores = np.zeros(size + rng.choice((0, 5)), dtype=np.float32)
            served(np.array(ids), scores)
            live = np.flatnonzero(np.isfinite(scores))
            assert not len(live) or int(live[-1]) < size
            ids.append(int(rng.choice(live)) if len(live) else rng.randrange(size))


def _asked(artifact: Artifact, rng: Random) -> None:
    """What commands ask besides."""
    text = rng.choice(TEXTS)
    assert 0 <= artifact.viable_bytes(text) <= len(text)
    for boundary in boundaries(artifact, text):
        ids = tokenset.to_ids(boundary.allowed)
        assert not len(ids) or int(ids[-1]) < artifact.vocab_size
    assert isinstance(artifact.names_tokens, bool)
    artifact.put_before(text)
    runtime = artifact.runtime
    if isinstance(runtime, MaximalMunchRuntime):
        runtime.open_rules(text)
    # States of words are no numbers of the byte DFA's.
    if isinstance(runtime, RegularGrammar) and artifact.spells_bytes:
        machine = artifact.machine()
        state = runtime.byte_state_of(machine.start)
        artifact.origins_of(state)
        artifact.byte_dfa.viable_bytes(text)
