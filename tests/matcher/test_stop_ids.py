"""Tokens that end one text instead of the artifact's own."""

# Tests here say `expected == actual`.

import random

import pytest
from support.matcher import GRAMMARS, KINDS, Compile, allowed, spelled

from constrain.artifacts import TokenRefusedError

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", GRAMMARS)
def test_stop_ids_stand_where_the_text_may_end(artifacts: Compile, text: str, kind: str) -> None:
    """And nowhere else, even if they are text; what else may come is as without them."""
    artifact, chance = artifacts(text, kind), random.Random(7)
    eos = set(artifact.manifest.eos)
    letter = spelled(artifact, b"a")
    stops = {letter, spelled(artifact, b"."), 300}
    plain, matcher = artifact.matcher(), artifact.matcher(stop_ids=sorted(stops))
    for _ in range(12):
        here = set(allowed(plain))
        expected = here - eos - stops | (stops if plain.is_accepting else set())
        assert expected == set(allowed(matcher))
        assert plain.is_accepting == matcher.is_accepting
        for token_id in sorted(eos | stops):
            fork = matcher.fork()
            assert (token_id in expected) == fork.accept([token_id])
            assert (token_id in expected) == fork.is_finished
            if fork.is_finished:
                assert stops == set(allowed(fork))
                with pytest.raises(TokenRefusedError):
                    fork.advance(min(eos))
                fork.rollback(1)
                assert expected == set(allowed(fork))
        going_on = sorted(here - eos - stops)
        if not going_on:
            break
        chosen = chance.choice(going_on)
        plain.advance(chosen)
        matcher.advance(chosen)


def test_the_own_eos_may_be_among_them(artifacts: Compile) -> None:
    """A list of just that is what the artifact does anyway."""
    artifact = artifacts('s ::= "ab";', "any")
    eos = artifact.manifest.eos[0]
    same, more = artifact.matcher(stop_ids=[eos]), artifact.matcher(stop_ids=[eos, 300])
    for matcher in (same, more):
        matcher.accept([spelled(artifact, b"a"), spelled(artifact, b"b")])
    assert same.mask() is artifact.matcher().mask() or [eos] == allowed(same)
    assert [300, eos] == sorted(allowed(more), key=lambda i: i == eos)


@pytest.mark.parametrize("wrong", [-1, 1 << 20])
def test_stop_ids_are_tokens(artifacts: Compile, wrong: int) -> None:
    """Others are refused at once."""
    with pytest.raises(ValueError, match="outside the vocabulary"):
        artifacts(GRAMMARS[1], "any").matcher(stop_ids=[wrong])
