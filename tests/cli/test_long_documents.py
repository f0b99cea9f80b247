"""Long and deep texts through matchers of both engines: nothing recurses, memory is bounded."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support.grammars import JSON, RIGHT
from support.network import ENGINES, long_json, made

from constrain.artifacts import Artifact, Matcher, TokenRefusedError
from constrain.artifacts.earley.machine import EarleyMasks
from constrain.artifacts.machine.masks import MetMasks
from constrain.compiler import Tokenizer


def read(artifact: Artifact, ids: list[int]) -> tuple[Matcher, int]:
    """A matcher after all tokens that fit, and how many these are."""
    matcher = artifact.matcher()
    for count, token_id in enumerate(ids):
        try:
            matcher.advance(token_id)
        except TokenRefusedError:
            return matcher, count
    return matcher, len(ids)


def test_a_long_document_by_the_network(default_tokenizer: Tokenizer, full: bool) -> None:
    """A megabyte (a tenth without --full): what is kept depends on the nesting, not the length."""
    artifact = made(JSON, default_tokenizer, "network")
    ids = default_tokenizer.encode(long_json(1_000_000 if full else 55_000))
    matcher, count = read(artifact, ids)
    assert len(ids) == count
    assert matcher.is_accepting
    machine = artifact.machine()
    assert isinstance(machine, MetMasks)
    assert len(machine.network.stacks.entries) < 200
    assert machine.interned_bytes < 1 << 20


def test_a_long_document_by_earley(default_tokenizer: Tokenizer, full: bool) -> None:
    """A megabyte (a fiftieth without --full): columns, which going back needs, of 80 bytes for
    each byte of text; no mask is made where none is asked for."""
    artifact = made(JSON, default_tokenizer, "earley")
    text = long_json(1_000_000 if full else 5_500)
    ids = default_tokenizer.encode(text)
    matcher = artifact.matcher()
    machine = matcher._generation.machine
    assert isinstance(machine, EarleyMasks)
    for token_id in ids:
        matcher.advance(token_id)
    assert matcher.is_accepting
    assert 0 == machine.visited
    assert len(text.encode()) == machine.read
    assert machine.nbytes < 80 * len(text)
    matcher.rollback(len(ids))
    assert len(matcher.mask().nonzero()[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_deep_documents(engine: str, default_tokenizer: Tokenizer, deep: int) -> None:
    """Sixty thousand brackets inside each other (6,000 without --full), one closed too often."""
    artifact = made("start ::= '[' start ']' | '';", default_tokenizer, engine)
    opening, closing = (default_tokenizer.encode(bracket) for bracket in "[]")
    matcher, count = read(artifact, opening * deep + closing * (deep + 1))
    assert 2 * deep == count
    assert matcher.is_accepting


@pytest.mark.parametrize("engine", ENGINES)
def test_long_lists(engine: str, default_tokenizer: Tokenizer, deep: int) -> None:
    """Right recursion as deep: Leo's items and tail calls leave nothing to come back to."""
    artifact = made(f"{RIGHT[:-1]} | '(' start ')';", default_tokenizer, engine)
    matcher, count = read(artifact, default_tokenizer.encode("a") * deep)
    assert deep == count
    assert matcher.is_accepting
