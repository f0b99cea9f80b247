"""``constrain mask --why``: the reason of each token, as lines and as JSON."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path

import pytest
from support.cli import DATE, Cli

from constrain.artifacts import load
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.tokens import tokenset
from constrain.compiler.explain.refusals import Reason, Refusals

pytestmark = pytest.mark.quick


def test_a_refused_token_ends_with_1_and_its_reason(cli: Cli) -> None:
    """A line each, by text or by id; what the prefix is read as stands on stderr."""
    asked = ["--why", "12", "--why", "1", "--why", "x", "--why", "#0", "--why", "#999999"]
    found = cli("mask", DATE, "--prefix", "2024-", *asked)

    assert 1 == found.code
    assert 'after "2024" "-"' in found.err
    lines = found.out.decode().splitlines()
    assert lines[0].endswith('"12"  allowed')
    assert "refused as a dead end: the tokenizer writes no member so" in lines[1]
    assert 'where the text goes on, it writes for example "12" (738), by its merges' in lines[1]
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


def test_what_does_not_begin_with_the_pending_bytes_is_refused(cli: Cli, tmp_path: Path) -> None:
    """Of all tokens those are allowed that the mask inside a token has."""
    assert 0 == cli("compile", DATE, "-o", "date.cst").code
    artifact = load("date.cst")
    (before,) = boundaries(artifact, b"2024-0")
    refusals = Refusals(artifact)
    verdicts = [refusals.why(before.ids, i, before) for i in range(artifact.vocabulary.size)]
    found = cli("mask", "date.cst", "--prefix", "2024-0", "--why", "12", "--why", "01")

    assert b"0" == before.pending
    assert tokenset.to_ids(before.allowed).tolist() == [v.token for v in verdicts if v.is_allowed]
    pending = [v.text for v in verdicts if v.reason is Reason.PENDING]
    assert pending
    assert not any(text.startswith(b"0") for text in pending)
    assert 'inside a token that begins with "0"' in found.err
    refused, allowed = found.out.decode().splitlines()
    assert (
        'refused: the prefix ends in a token that begins with "0", and this one does not' in refused
    )
    assert allowed.endswith('"01"  allowed')


def test_a_refusal_by_the_spelling_names_the_way_out(cli: Cli, tmp_path: Path) -> None:
    """What the tokenizer merges, and once the option that allows every spelling."""
    (tmp_path / "c.ebnf").write_text('s ::= "red" | "blue";')
    assert 0 == cli("compile", "c.ebnf", "-o", "c.cst").code
    merged = cli("mask", DATE, "--prefix", "2", "--why", "0", "--why", "1")
    inside = cli("mask", "c.cst", "--prefix", "r", "--why", "ed")

    assert 'after "2" the tokenizer never writes "0", it merges both to "20" (554)' in (
        merged.out.decode()
    )
    assert 1 == merged.err.count("note: --tokenization any allows every spelling")
    assert 'the tokenizer writes "red" (1221), not "r" "ed"' in inside.out.decode()
    assert "note: compile again with --tokenization any" in inside.err
    anyhow = cli("mask", "c.ebnf", "--prefix", "r", "--why", "ed", "--tokenization", "any")
    assert 0 == anyhow.code


def test_a_text_that_no_token_has_hides_no_other_answer(cli: Cli) -> None:
    """How the tokenizer writes it is said; a format that has no place for reasons is an error."""
    asked = ["--why", "12", "--why", "zzzzzzzz"]
    found = cli("mask", DATE, "--prefix", "2024-", *asked)
    as_json = cli("mask", DATE, "--prefix", "2024-", *asked, "-f", "json")

    assert (2, 2) == (found.code, as_json.code)
    allowed, unknown = found.out.decode().splitlines()
    assert allowed.endswith('"12"  allowed')
    assert "no token has this text; #ID names one by id; without what follows" in unknown
    assert 'the tokenizer writes "zz"' in unknown
    of_json = [(t["id"], t["reason"]) for t in json.loads(as_json.out)["tokens"]]
    assert [(738, "allowed"), (None, "no-token")] == of_json
    assert 2 == cli("mask", DATE, "--why", "1", "-f", "bits").code
