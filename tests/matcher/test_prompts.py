"""What a decoder may rely on: the first mask after a prompt."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from pathlib import Path

import pytest
from support import compiled, tokenizer_of
from support.matcher import KINDS, Compile, after, allowed
from support.oracles.merge import tokenize_via_merges

from constrain.artifacts import ArtifactError, TokenRefusedError
from constrain.compiler import Tokenizer


def random_merges(chance: random.Random, letters: str, count: int) -> list[str]:
    """A merge list in which every part is a letter or made before."""
    tokens = [*letters]
    merges: list[str] = []
    while len(merges) < count:
        left, right = chance.choice(tokens), chance.choice(tokens)
        if left + right not in tokens and len(left + right) < 12:
            tokens.append(left + right)
            merges.append(f"{left} {right}")
    return merges


@pytest.mark.parametrize("seed", range(12))
def test_after_a_token_only_what_the_merges_leave_apart(tmp_path: Path, seed: int) -> None:
    """The first mask after a token holds t exactly if merging their letters gives both back."""
    chance = random.Random(seed)
    letters = "ab" if seed % 2 else "abc"
    tokenizer = tokenizer_of(
        tmp_path, letters, random_merges(chance, letters, 14), added=[(90, "<eos>", True)]
    )
    artifact = compiled(f's ::= #"[{letters}]*";', tokenizer, eos=["<eos>"])
    merges = [tuple(row) for row in tokenizer.merges.tolist()]
    ids = {octets: i for i, octets in tokenizer.tokens.items()}
    start = allowed(artifact.matcher())

    def merged(octets: bytes) -> list[int]:
        return tokenize_via_merges([ids[bytes([octet])] for octet in octets], merges)

    for last, octets in tokenizer.tokens.items():
        if merged(octets) != [last]:
            continue  # No text ends in this token.
        expected = [90]
        for token_id in start:
            if merged(octets + tokenizer.tokens.get(token_id, b"")) == [last, token_id]:
                expected.append(token_id)

        assert sorted(expected) == allowed(artifact.matcher(after=[last]))


def test_after_a_token_of_a_large_vocabulary(
    artifacts: Compile, default_tokenizer: Tokenizer
) -> None:
    """The same for pairs of the default tokenizer, drawn at random."""
    chance = random.Random(5)
    artifact = artifacts('s ::= #"[a-z ]+";', "canonical")
    merges = [tuple(row) for row in default_tokenizer.merges.tolist()]
    tokens, base = default_tokenizer.tokens, default_tokenizer.base
    start = allowed(artifact.matcher())
    seen = set()
    for last in chance.sample(start, 5):
        left = set(allowed(artifact.matcher(after=[last])))
        joined = sorted(set(start) - left)
        for token_id in [*chance.sample(start, 8), *chance.sample(joined, min(4, len(joined)))]:
            letters = [base[octet] for octet in tokens[last] + tokens[token_id]]
            apart = tokenize_via_merges(letters, merges) == [last, token_id]
            seen.add(apart)
            assert apart == (token_id in left)
    assert {True, False} == seen


def test_after_concerns_the_first_token_alone(odd: Tokenizer) -> None:
    """Once a token is taken, or taken back, the masks are the grammar's own."""
    artifact = compiled('s ::= #"[a-c]+";', odd)
    a, b, eos = 0, 1, 9
    matcher = artifact.matcher(after=[2, a])

    assert b not in allowed(matcher)
    assert b in allowed(artifact.matcher())
    assert eos not in allowed(matcher)
    first = matcher.mask()
    assert first.flags.writeable is False
    with pytest.raises(TokenRefusedError):
        matcher.advance(b)
    matcher.advance(2)
    assert allowed(after(artifact, 2)) == allowed(matcher)
    matcher.rollback(1)
    assert first.tolist() == matcher.mask().tolist()


@pytest.mark.parametrize("ids", [None, [], [9], [31], [7], [33], [1, 9]], ids=str)
def test_after_what_is_no_text_anything_may_begin(odd: Tokenizer, ids: list[int] | None) -> None:
    """No prompt, or one that ends in a special token, a hole or a token of its own."""
    artifact = compiled('s ::= #"[a-c]+";', odd)

    assert allowed(artifact.matcher()) == allowed(artifact.matcher(after=ids))


@pytest.mark.parametrize("ids", [[0], [3], [9], [1, 2]], ids=str)
def test_after_says_nothing_under_any(odd: Tokenizer, ids: list[int]) -> None:
    """Every tokenization is allowed, across the prompt's end too."""
    artifact = compiled('s ::= #"[a-c]+";', odd, "any")

    assert allowed(artifact.matcher()) == allowed(artifact.matcher(after=ids))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", [[-1], [34], [10**9], [34, 0]], ids=str)
def test_after_an_unknown_token_is_refused(odd: Tokenizer, kind: str, ids: list[int]) -> None:
    """Ids outside the vocabulary are named, wherever they stand."""
    artifact = compiled('s ::= "a";', odd, kind)
    assert 34 == artifact.vocab_size

    with pytest.raises(ValueError, match=f"token {ids[0]} is outside the vocabulary"):
        artifact.matcher(after=ids)


def test_after_a_token_that_leaves_nothing_is_an_error(odd: Tokenizer) -> None:
    """If the merges join every first token to the prompt, the error says so."""
    artifact = compiled('s ::= "b";', odd)

    with pytest.raises(ArtifactError, match="no member of the grammar continues token 0"):
        artifact.matcher(after=[0])


def test_after_keeps_the_end(odd: Tokenizer) -> None:
    """A grammar that has the empty text may end at once after any token."""
    artifact = compiled('s ::= "b"?;', odd)

    assert [9] == allowed(artifact.matcher(after=[0]))
