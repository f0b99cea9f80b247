"""What servers ask of a matcher: several tokens at once, trials, forks, other places, processes."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import copy
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.matcher import allowed

from constrain.artifacts import Artifact, ArtifactError, Matcher, TokenRefusedError, load
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar

pytestmark = pytest.mark.quick

NESTED = 's ::= "[" (s ("," s)*)? "]" | #"[a-z]{1,9}";'
REGULAR = 's ::= #"[a-c]{2,6}" | "the " ("cat" | "dog");'

ENGINES: dict[str, tuple[str, dict[str, Any]]] = {
    "byte DFA": (REGULAR, {"tokenization": "any"}),
    "token-dfa": (REGULAR, {"method": "direct"}),
    "canonical DFA": (REGULAR, {"method": "cartesian"}),
    "network": (NESTED, {"tokenization": "any", "engine": "network"}),
    "canonical network": (NESTED, {"tokenization": "canonical"}),
    "maximal munch": (NESTED, {"tokenization": "any", "meaning": "maximal-munch"}),
    "earley": (NESTED, {"tokenization": "any", "engine": "earley"}),
}


@pytest.fixture(name="of", scope="module")
def _of(default_tokenizer: Tokenizer) -> Callable[[str], Artifact]:
    """The artifact of an engine, compiled once."""
    known: dict[str, Artifact] = {}

    def find(engine: str) -> Artifact:
        if engine not in known:
            text, options = ENGINES[engine]
            here = {"dialect": "kbnf", "tokenizer": default_tokenizer}
            known[engine] = compile_grammar(text, **here, **options)
        return known[engine]

    return find


def walk(artifact: Artifact, chance: random.Random, most: int = 12) -> list[int]:
    """Tokens that a matcher takes one by one, chosen at random, the end maybe among them."""
    matcher, taken = artifact.matcher(), list[int]()
    while not matcher.is_finished and len(taken) < most:
        taken.append(chance.choice(allowed(matcher)))
        matcher.advance(taken[-1])
    return taken


def refused(matcher: Matcher, chance: random.Random) -> int:
    """A token that may not come next."""
    every = range(len(matcher.mask()) * 32)
    return chance.choice([i for i in every if not tokenset.contains(matcher.mask(), i)])


def is_as(matcher: Matcher, other: Matcher) -> bool:
    """Whether two matchers are in the same place."""
    same = matcher.taken == other.taken and matcher.is_accepting == other.is_accepting
    return same and bool(np.array_equal(matcher.mask(), other.mask()))


@pytest.mark.parametrize("engine", ENGINES)
def test_accept_takes_tokens_until_one_is_refused(
    of: Callable[[str], Artifact], engine: str
) -> None:
    """As ``advance`` would, one by one, but that it counts them and raises nothing."""
    artifact, chance = of(engine), random.Random(1)
    for _ in range(10):
        ids = walk(artifact, chance)
        one_by_one, at_once = artifact.matcher(), artifact.matcher()
        for token_id in ids:
            one_by_one.advance(token_id)
        wrong = refused(one_by_one, chance)
        given = [*ids, wrong, *ids]
        assert len(ids) == at_once.validate(given)
        assert 0 == at_once.position
        assert len(ids) == at_once.accept(given)
        assert len(ids) == at_once.position
        assert is_as(one_by_one, at_once)


@pytest.mark.parametrize("engine", ENGINES)
def test_ids_that_no_token_has_are_refused(of: Callable[[str], Artifact], engine: str) -> None:
    """As drafts are padded with -1, and models have more logits than a tokenizer tokens."""
    artifact = of(engine)
    matcher = artifact.matcher()
    for token_id in (-1, -33, artifact.vocab_size, artifact.vocab_size + 31, 1 << 40):
        assert 0 == matcher.accept([token_id])
        with pytest.raises(TokenRefusedError):
            matcher.advance(token_id)
    assert 0 == matcher.accept(np.array([-1], dtype=np.int64))


@pytest.mark.parametrize("engine", ENGINES)
def test_behind_the_end_nothing_is_taken(of: Callable[[str], Artifact], engine: str) -> None:
    """Draft windows go past the end; the way back leads over it."""
    artifact, chance = of(engine), random.Random(2)
    ids = walk(artifact, chance, 60)
    eos = artifact.manifest.eos[0]
    assert eos == ids[-1]
    matcher = artifact.matcher()
    assert len(ids) == matcher.accept([*ids, eos, eos, ids[0]])
    assert matcher.is_finished
    assert 0 == matcher.accept([eos])
    matcher.rollback(1)
    assert not matcher.is_finished
    assert 1 == matcher.accept([eos])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fork_moves_by_itself(of: Callable[[str], Artifact], engine: str) -> None:
    """So do copies, shallow or deep."""
    artifact, chance = of(engine), random.Random(3)
    ids, others = walk(artifact, chance), walk(artifact, chance)
    for forked in (Matcher.fork, copy.copy, copy.deepcopy):
        matcher = artifact.matcher()
        matcher.accept(ids[:1])
        other = forked(matcher)
        assert is_as(matcher, other)
        matcher.accept(ids[1:])
        other.reset()
        other.accept(others)
        assert tuple(ids) == matcher.taken
        assert tuple(others) == other.taken
        fresh = artifact.matcher()
        fresh.accept(ids)
        assert is_as(fresh, matcher)


@pytest.mark.parametrize("engine", ENGINES)
def test_seek_goes_where_ids_lead(of: Callable[[str], Artifact], engine: str) -> None:
    """From any place to any other, and as far as they are allowed."""
    artifact, chance = of(engine), random.Random(4)
    matcher = artifact.matcher()
    texts = [walk(artifact, chance) for _ in range(6)]
    for _ in range(40):
        ids = chance.choice(texts)
        ids = ids[: chance.randrange(len(ids) + 1)] + chance.choice([[], [-1, 3]])
        fresh = artifact.matcher()
        assert fresh.accept(ids) == matcher.seek(ids)
        assert is_as(fresh, matcher)
    assert 0 == matcher.seek([])


@pytest.mark.parametrize("from_file", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_matchers_go_to_other_processes(
    of: Callable[[str], Artifact], engine: str, from_file: bool, tmp_path: Path
) -> None:
    """By the file's path or its bytes, and the tokens taken."""
    artifact, chance = of(engine), random.Random(5)
    if from_file:
        artifact.save(tmp_path / "a.cst")
        artifact = load(tmp_path / "a.cst", cache_bytes=1 << 20)
    matcher = artifact.matcher(stop_ids=[5, 7])
    matcher.accept(walk(artifact, chance))
    pickled = pickle.dumps(matcher)
    other = pickle.loads(pickled)
    assert is_as(matcher, other)
    assert 2 == sum(tokenset.contains(other._eos_row, i) for i in (5, 7))
    assert artifact.cache_bytes == pickle.loads(pickle.dumps(artifact)).cache_bytes
    assert not from_file or len(pickled) < 50_000


def test_a_file_that_was_replaced_is_not_taken_for_the_one_that_was_open(
    of: Callable[[str], Artifact], tmp_path: Path
) -> None:
    """What was pickled is of the other file."""
    path = tmp_path / "a.cst"
    of("network").save(path)
    pickled = pickle.dumps(load(path))
    of("canonical DFA").save(path)
    with pytest.raises(ArtifactError, match="another artifact"):
        pickle.loads(pickled)


# Of grammars and prefixes the bytes that every member goes on with.
FORCED = (
    (NESTED, "", b""),
    ('s ::= "[" s "]" | "[x]";', "", b"["),
    ('s ::= "{\\"name\\": \\"" #"[a-z]{1,9}" "\\"}";', "", b'{"name": "'),
    ('s ::= "{\\"name\\": \\"" #"[a-z]{1,9}" "\\"}";', '{"na', b'me": "'),
    ('s ::= "true" | "tree" | "trees";', "t", b"r"),
    ('s ::= "ab" s "c" | "abab";', "", b"abab"),
    ('s ::= "é" | "è";', "", "é".encode()[:1]),
    ('s ::= "x";', "x", b""),
)


@pytest.mark.parametrize(("text", "prefix", "expected"), FORCED)
@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_forced_bytes(
    default_tokenizer: Tokenizer, text: str, prefix: str, expected: bytes, tokenization: str
) -> None:
    """All of them where any tokens may spell a text; else some, or more where the text has
    been cut so that not all members are left. The matcher stays."""
    here = {"dialect": "kbnf", "tokenizer": default_tokenizer, "tokenization": tokenization}
    matcher = compile_grammar(text, **here).matcher()
    ids = default_tokenizer.encode(prefix)
    if matcher.accept(ids) < len(ids):
        assert "canonical" == tokenization
        return
    found = matcher.forced_bytes()
    assert tuple(ids) == matcher.taken
    if tokenization == "any":
        assert (expected, expected[:2]) == (found, matcher.forced_bytes(2))
    assert expected.startswith(found) or found.startswith(expected)


def test_canonical_tokens_that_must_come_have_their_bytes(default_tokenizer: Tokenizer) -> None:
    """A text that has one way is given as a whole."""
    text = 's ::= "{\\"name\\": 1}";'
    artifact = compile_grammar(text, dialect="kbnf", tokenizer=default_tokenizer)
    assert "canonical" == artifact.manifest.tokenization
    assert b'{"name": 1}' == artifact.matcher().forced_bytes()


def test_bytes_of_artifacts_are_those_of_pickled_ones(of: Callable[[str], Artifact]) -> None:
    """Nothing is lost on the way."""
    for engine in ENGINES:
        artifact = load_bytes(of(engine).to_bytes())
        assert artifact.to_bytes() == pickle.loads(pickle.dumps(artifact)).to_bytes()
