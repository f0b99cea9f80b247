"""Lazily computed token effects, shared by all stacks with the same top, against reading."""

# Tests here say `expected == actual`.

import random

import pytest
from support.grammars import JSON, SAMPLES, random_grammars
from support.network import minimal_tables

from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.lazy_token_effects import LazyTokenEffects
from constrain.artifacts.tokens.memo import CacheBudget

pytestmark = pytest.mark.quick


def test_effects_are_reads(full: bool) -> None:
    """On random grammars and tokens a cached effect does what reading does."""
    rng = random.Random(19)
    for text, _ in random_grammars(400 if full else 60, seed=29):
        tokens = [
            bytes(rng.choice(b"abc") for _ in range(rng.choice([1, 1, 2, 3, 6]))) for _ in range(12)
        ]
        found = Network(minimal_tables(text))
        quick = LazyTokenEffects(found, lambda token_id, tokens=tokens: [tokens[token_id]])  # type: ignore[misc]
        for _ in range(6):
            state = found.start
            for _ in range(12):
                token_id = rng.randrange(len(tokens))
                expected = found.read(state, tokens[token_id])
                assert expected == quick.step(state, token_id), (text, tokens[token_id])
                if expected != REFUSED:
                    state = expected


def test_one_effect_serves_every_depth() -> None:
    """Deeper stacks need no new look at the bytes of a token."""
    tokens = [b"[", b"]", b"[[", b"]]", b"x"]
    found = Network(minimal_tables("s ::= '[' s ']' | 'x';"))
    spelled = []

    def readings(token_id: int) -> list[bytes]:
        spelled.append(token_id)
        return [tokens[token_id]]

    quick = LazyTokenEffects(found, readings)
    state = found.start
    for token_id in [0, 2, 0, 2, 2, 4, 3, 1, 3, 1, 3]:
        state = quick.step(state, token_id)
    assert found.may_end(state)
    computed = len(spelled)
    state = found.start
    for token_id in [2] * 50 + [4] + [3] * 50:
        state = quick.step(state, token_id)
    assert found.may_end(state)
    # Only the empty stack was not seen before.
    assert len(spelled) - computed <= 3


def test_evicted_effects_are_recomputed() -> None:
    """The caches of effects and of heads are bounded."""
    found = Network(minimal_tables(JSON))
    quick = LazyTokenEffects(found, lambda octet: [bytes([octet])], CacheBudget(2048))
    state = found.start
    for octet in SAMPLES[JSON]:
        state = quick.step(state, octet)
    assert found.may_end(state)
