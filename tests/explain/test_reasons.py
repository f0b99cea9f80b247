"""The reason of a refused token, and what is written instead, as worked out by hand."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path

import pytest
from support import EXAMPLES, compiled, tokenizer_of

from constrain.compiler import load_tokenizer
from constrain.compiler.explain.explainer import explainer_of_artifact
from constrain.compiler.explain.refusals import Reason, Refusals, Step, TokenVerdict

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def dates() -> Refusals:
    """The date grammar with the default tokenizer."""
    tokenizer = load_tokenizer(None)
    artifact = compiled((EXAMPLES / "date.ebnf").read_text(), tokenizer)
    return Refusals(artifact, tokenizer, explainer_of_artifact(artifact).verdict)


def found(refusals: Refusals, prefix: str, token: str) -> TokenVerdict:
    """The verdict on a token after a text."""
    tokenizer = load_tokenizer(None)
    (number,) = (i for i, octets in tokenizer.tokens.items() if octets == token.encode())
    return refusals.why(tokenizer.encode(prefix), number)


@pytest.mark.parametrize(
    ("prefix", "token", "reason", "byte", "instead"),
    [
        ("2024-", "12", Reason.ALLOWED, None, ""),
        ("2024-", "1", Reason.DEAD_END, None, "12"),
        ("2024-", "x", Reason.GRAMMAR, 0, ""),
        ("2024-", "13", Reason.GRAMMAR, 1, ""),
        ("2024-12", "-", Reason.ALLOWED, None, ""),
    ],
)
def test_a_token_is_refused_by_the_grammar_the_tokenization_or_as_a_dead_end(
    dates: Refusals, prefix: str, token: str, reason: Reason, byte: int | None, instead: str
) -> None:
    """By the grammar at a byte; else what the tokenizer writes stands beside it."""
    verdict = found(dates, prefix, token)

    assert reason is verdict.reason
    assert byte == verdict.byte
    tokens = load_tokenizer(None).tokens
    assert instead[:1] == b"".join(tokens[i] for i in verdict.instead).decode()[:1]
    assert (Step.MERGES if instead else None) is verdict.step


def test_the_grammar_says_what_was_expected_and_in_which_rule(dates: Refusals) -> None:
    """As the verdict on the text does."""
    verdict = found(dates, "2024-", "13")

    assert ((ord("0"), ord("2")),) == verdict.expected
    assert ("month",) == verdict.rules[-1:]


def test_a_token_that_no_text_has_is_refused_as_tokenization(tmp_path: Path) -> None:
    """``b`` after ``a`` is ``ab`` in every text, and after ``c`` a token of its own."""
    tokenizer = tokenizer_of(tmp_path, "abcd", ["a b"], added=[(9, "<e>", True)])
    artifact = compiled("start ::= ('a' | 'c') 'b' 'd';", tokenizer, eos=["<e>"])
    refusals = Refusals(artifact, tokenizer)

    assert Reason.ALLOWED is refusals.why([2], 1).reason
    assert Reason.DEAD_END is refusals.why([], 0).reason
    assert Reason.NOT_AT_END is refusals.why([], 9).reason
    assert Reason.ENDED is refusals.why([2, 1, 3, 9], 0).reason
    assert Reason.NO_TOKEN is refusals.why([], 77).reason
    assert (4,) == refusals.why([], 0).instead
    artifact = compiled("start ::= 'a' ('b' | 'c' | 'd')+;", tokenizer, eos=["<e>"])
    refusals = Refusals(artifact, tokenizer)
    behind = refusals.why([0], 1)

    assert Reason.TOKENIZATION is behind.reason
    assert (1, (4,), 1) == (behind.rewritten, behind.instead, behind.place)
    assert Step.MERGES is behind.step
