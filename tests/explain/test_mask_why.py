"""``constrain mask --why``: the reason of each token, as lines and as JSON."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json

import pytest
from support.cli import DATE, Cli

pytestmark = pytest.mark.quick


def test_a_refused_token_ends_with_1_and_its_reason(cli: Cli) -> None:
    """A line each, by text or by id; what the prefix is read as stands on stderr."""
    asked = ["--why", "12", "--why", "1", "--why", "x", "--why", "#0", "--why", "#999999"]
    found = cli("mask", DATE, "--prefix", "2024-", *asked)

    assert 1 == found.code
    assert 'after "2024" "-"' in found.err
    lines = found.out.decode().splitlines()
    assert lines[0].endswith('"12"  allowed')
    assert 'no member of the grammar is written so; the tokenizer writes "12"' in lines[1]
    assert 'by the grammar at its byte 0 ("x"); expected [01], in date > month' in lines[2]
    assert "it ends the text, which is not complete" in lines[3]
    assert "no token has this id" in lines[4]
    assert 0 == cli("mask", DATE, "--prefix", "2024-", "--why", "12").code


def test_the_reasons_of_an_artifact_are_those_of_its_grammar(cli: Cli) -> None:
    """Without a tokenizer where it is the default one, and in JSON with all there is."""
    assert 0 == cli("compile", DATE, "-o", "date.cst").code
    asked = ["--prefix", "2024-", "--why", "1", "-f", "json"]
    of_grammar = json.loads(cli("mask", DATE, *asked).out)
    of_artifact = json.loads(cli("mask", "date.cst", *asked).out)

    assert of_grammar == of_artifact
    assert 1 == of_grammar["schema"]
    (token,) = of_grammar["tokens"]
    assert ("dead-end", "merges", 1) == (token["reason"], token["step"], token["place"])
    assert ["12"] == [each["text"] for each in token["instead"]]


def test_a_text_that_no_token_has_is_a_usage_error(cli: Cli) -> None:
    """So is a format that has no place for reasons."""
    assert 2 == cli("mask", DATE, "--why", "zzzzzzzz").code
    assert 2 == cli("mask", DATE, "--why", "1", "-f", "bits").code
