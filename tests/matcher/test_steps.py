"""What a decoder may rely on: steps, the way back, the end, and forced tokens."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random

import pytest
from support import compiled
from support.matcher import GRAMMARS, KINDS, Compile, after, allowed, spelled

from constrain.artifacts import TokenRefusedError
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.compiler import Tokenizer

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_token_changes_nothing(artifacts: Compile, kind: str) -> None:
    """A token that the mask lacks is named in an error; the matcher stays where it is."""
    artifact = artifacts(GRAMMARS[1], kind)
    b, c = spelled(artifact, b"b"), spelled(artifact, b"c")
    matcher = after(artifact, b) if kind == "any" else artifact.matcher()
    before = matcher.mask()
    refused = [*set(range(artifact.vocab_size)) - set(allowed(matcher))]
    for token_id in [*refused[::97], -1, -32, artifact.vocab_size, 10**9]:
        with pytest.raises(TokenRefusedError, match=f"^token {token_id} is refused: ") as error:
            matcher.advance(token_id)
        assert token_id == error.value.token_id
        assert before is matcher.mask() or before.tolist() == matcher.mask().tolist()
    if kind == "any":
        matcher.advance(c)
        assert matcher.is_accepting


@pytest.mark.parametrize("kind", KINDS)
def test_no_token_is_taken_for_the_step_of_another_state(artifacts: Compile, kind: str) -> None:
    """Steps that were taken are looked up by state and token, which no number stands for both."""
    artifact = artifacts(GRAMMARS[3], kind)
    matcher, taken = artifact.matcher(), []
    for text in (b"the", b" cat", b" and", b" dog"):
        taken.append(spelled(artifact, text))
        matcher.advance(taken[-1])
    for token_id in (state << 32 | token for state in range(1, 64) for token in taken):
        with pytest.raises(TokenRefusedError):
            artifact.matcher().advance(token_id)


def test_canonical_steps_are_found_once(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that was read before takes look-ups alone."""
    artifact = compiled(GRAMMARS[3], default_tokenizer, method="cartesian")
    ids = [spelled(artifact, text) for text in (b"the", b" cat", b" and", b" dog")]
    state, accepting = after(artifact, *ids).mask().tolist(), after(artifact, *ids).is_accepting
    monkeypatch.delattr(CanonicalMasks, "_step")

    again = after(artifact, *ids)

    assert (state, accepting) == (again.mask().tolist(), again.is_accepting)
    assert ("network", True) == (artifact.manifest.kind, artifact.is_regular)


def test_a_refusal_says_why(artifacts: Compile) -> None:
    """In words: how far the text is, or that it has ended."""
    artifact = artifacts('s ::= "a";', "any")
    a, eos = spelled(artifact, b"a"), artifact.manifest.eos[0]
    for tokens, reason in (
        ((), "as token 1 of the text$"),
        ((a,), "as token 2 of the text$"),
        ((a, eos), "the match has ended"),
    ):
        with pytest.raises(TokenRefusedError, match=reason):
            after(artifact, *tokens).advance(spelled(artifact, b"b"))
    with pytest.raises(TokenRefusedError, match="no token has this id; ids are 0 to "):
        artifact.matcher().advance(artifact.vocab_size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", GRAMMARS)
def test_rollback_is_the_way_back(artifacts: Compile, text: str, kind: str) -> None:
    """After taking tokens back the matcher is as it was before them."""
    artifact = artifacts(text, kind)
    chance = random.Random(11)
    matcher = artifact.matcher()
    seen = [(matcher.mask(), matcher.is_accepting, matcher.is_finished)]
    while not matcher.is_finished and len(seen) < 12:
        matcher.advance(chance.choice(allowed(matcher)))
        seen.append((matcher.mask(), matcher.is_accepting, matcher.is_finished))
    states = iter(seen[::-1])
    assert next(states)[0].tolist() == matcher.mask().tolist()
    for mask, *flags in states:
        matcher.rollback(1)
        assert mask.tolist() == matcher.mask().tolist()
        assert flags == [matcher.is_accepting, matcher.is_finished]


def test_rollback_of_several_tokens_at_once(artifacts: Compile) -> None:
    """Counts from none to all of what was taken."""
    artifact = artifacts(GRAMMARS[4], "any")
    two = spelled(artifact, b"2")
    for count in range(5):
        matcher = after(artifact, two, two, two, two)
        matcher.rollback(count)
        assert allowed(after(artifact, *[two] * (4 - count))) == allowed(matcher)


def test_rollback_of_more_than_was_taken_is_refused(artifacts: Compile) -> None:
    """As is a negative count; nothing changes then."""
    artifact = artifacts(GRAMMARS[1], "any")
    matcher = after(artifact, spelled(artifact, b"b"))
    before = allowed(matcher)
    for count in (2, 99, -1):
        with pytest.raises(ValueError, match=f"cannot take back {count} tokens: 1 were taken"):
            matcher.rollback(count)
        assert before == allowed(matcher)
    matcher.rollback(1)
    assert allowed(artifact.matcher()) == allowed(matcher)


def test_matchers_of_one_artifact_are_independent(artifacts: Compile) -> None:
    """Each follows its own text."""
    artifact = artifacts(GRAMMARS[1], "any")
    first, second = artifact.matcher(), artifact.matcher()

    first.advance(spelled(artifact, b"b"))

    assert [spelled(artifact, b"c")] == allowed(first)
    assert allowed(artifact.matcher()) == allowed(second)


# --- the end


@pytest.mark.parametrize("kind", KINDS)
def test_eos_is_allowed_where_the_match_may_end(artifacts: Compile, kind: str) -> None:
    """Its bit is set in accepting states only."""
    artifact = artifacts('s ::= "a" "b"?;', kind)
    (eos,) = artifact.manifest.eos
    a = spelled(artifact, b"a")

    assert eos not in allowed(artifact.matcher())
    assert not artifact.matcher().is_accepting
    ended = after(artifact, a)
    assert ended.is_accepting
    assert eos in allowed(ended)


@pytest.mark.parametrize("kind", KINDS)
def test_after_eos_only_eos_is_left(artifacts: Compile, kind: str) -> None:
    """The mask then holds EOS alone; taking it again is allowed and changes nothing."""
    artifact = artifacts('s ::= "a"*;', kind)
    (eos,) = artifact.manifest.eos
    matcher = after(artifact, eos)

    for _ in range(3):
        assert matcher.is_finished
        assert matcher.is_accepting
        assert [eos] == allowed(matcher)
        assert [] == matcher.forced_tokens()
        with pytest.raises(TokenRefusedError):
            matcher.advance(spelled(artifact, b"a"))
        matcher.advance(eos)
    matcher.rollback(4)
    assert not matcher.is_finished
    assert allowed(artifact.matcher()) == allowed(matcher)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [1_000_000, 0])
def test_several_tokens_can_end_a_text(odd: Tokenizer, kind: str, limit: int) -> None:
    """All of them are set and clear together, and each ends the match."""
    artifact = compiled('s ::= "a" "b"?;', odd, kind, eos=["<eos>", "10"], max_artifact_bytes=limit)
    assert (9, 10) == artifact.manifest.eos
    assert not {9, 10} & set(allowed(artifact.matcher()))
    for eos in (9, 10):
        matcher = after(artifact, 0)
        assert {9, 10} <= set(allowed(matcher))
        matcher.advance(eos)
        assert matcher.is_finished
        assert [9, 10] == allowed(matcher)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_token_that_is_eos_ends_only_members(odd: Tokenizer, kind: str) -> None:
    """A match is finished by EOS in accepting states, never in the middle of a member."""
    artifact = compiled('s ::= "a" "c" "b";', odd, kind, eos=["c"])
    matcher = after(artifact, 0)

    assert not matcher.is_accepting
    if 2 in allowed(matcher):
        matcher.advance(2)
        assert not matcher.is_finished


# --- forced tokens


@pytest.mark.parametrize("kind", KINDS)
def test_forced_tokens_are_the_only_way(odd: Tokenizer, kind: str) -> None:
    """They are listed up to the first choice or the end, and not taken."""
    artifact = compiled('s ::= "c" "c" "b" ("c" | "b") "c";', odd, kind)
    matcher = artifact.matcher()

    assert [2, 2, 1] == matcher.forced_tokens()
    assert [2] == allowed(matcher)
    for token_id in (2, 2, 1, 1):
        matcher.advance(token_id)
    assert [2] == matcher.forced_tokens()
    matcher.advance(2)
    assert [] == matcher.forced_tokens()


def test_forced_tokens_stop_at_a_limit(odd: Tokenizer) -> None:
    """At most ``limit`` of them are listed."""
    artifact = compiled(f's ::= "{"c" * 2000}";', odd, "canonical")
    matcher = artifact.matcher()

    assert [2] * 1024 == matcher.forced_tokens()
    assert [2] * 7 == matcher.forced_tokens(7)
    assert [] == matcher.forced_tokens(0)
    assert [2] * 2000 == matcher.forced_tokens(5000)


def test_forced_tokens_under_any_stop_where_tokens_overlap(odd: Tokenizer) -> None:
    """Where a longer token would do as well there is a choice."""
    assert [] == compiled('s ::= "ab";', odd, "any").matcher().forced_tokens()
    assert [3] == compiled('s ::= "ab";', odd, "canonical").matcher().forced_tokens()
