"""Artifacts of the kinds network and earley: what is written and read, and which it is."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path

import pytest
from safetensors import numpy as safetensors_numpy
from support import tokenizer_of
from support.matcher import after, allowed
from support.network import ENGINES, made

from constrain.artifacts import Artifact, load
from constrain.compiler import Tokenizer
from constrain.compiler.diagnostics import CheckError, LimitError, NotRegularError
from constrain.compiler.frontend import Parser
from constrain.compiler.limits import Limits
from constrain.compiler.pipeline import build_artifact, build_engine


@pytest.mark.parametrize("engine", ENGINES)
def test_reading_undoes_writing(
    json_artifacts: dict[str, Artifact], engine: str, tmp_path: Path
) -> None:
    """A file read back holds the same manifest and arrays, and is written to the same bytes;
    safetensors itself reads it too."""
    artifact = json_artifacts[engine]
    path = tmp_path / "json.cst"
    artifact.save(path)
    found = load(path, verify=True)
    assert artifact.manifest == found.manifest
    assert artifact.to_bytes() == found.to_bytes() == path.read_bytes()
    assert sorted(artifact.arrays) == sorted(safetensors_numpy.load_file(path))


def test_stripped_artifacts_hold_no_text(default_tokenizer: Tokenizer) -> None:
    """Neither the grammar nor its terminals are inside; the masks are the same."""
    text = 'start ::= "<" start ">" | "needle";'
    plain, stripped = (made(text, default_tokenizer, strip=s) for s in (False, True))
    assert b"needle" not in stripped.manifest.to_json().__repr__().encode()
    assert allowed(after(plain)) == allowed(after(stripped))


# --- which engine


@pytest.mark.parametrize(
    ("text", "is_regular"), [("s ::= 'a' s | 'b';", True), ("s ::= 'a' s 'b' | '';", False)]
)
def test_auto_takes_the_simplest_engine(
    text: str, is_regular: bool, default_tokenizer: Tokenizer
) -> None:
    """A regular grammar is a DFA, another one a network with calls."""
    assert is_regular == made(text, default_tokenizer).is_regular


def test_auto_goes_on_where_a_limit_is_hit() -> None:
    """What is too large for a DFA is tried as a network, whose states are made when they are met
    where they are too many; the reason says so."""
    text = "s ::= #'(a|b)*' 'a' " + "#'[ab]' " * 9 + "| '(' s ')';"
    limits = Limits(states=400)
    with pytest.raises(NotRegularError):
        build_engine(text, dialect="kbnf", engine="dfa")
    with pytest.raises(LimitError):
        build_engine(text, dialect="kbnf", limits=limits, engine="network")
    found = build_engine(text, dialect="kbnf", limits=limits)
    assert isinstance(found, Parser)
    assert "network" == found.engine
    assert found.met is not None
    assert "is not known to be regular" in found.reason
    assert "more than 400 states" in found.reason


def test_all_engines_too_small_is_the_limit_of_the_first() -> None:
    """The error is about the automaton that was wanted first."""
    with pytest.raises(LimitError, match="5 states"):
        build_engine("s ::= 'abcdefghij' #'[0-9]{20}';", dialect="kbnf", limits=Limits(states=5))


def test_canonical_is_refused_where_it_is_not_there(default_tokenizer: Tokenizer) -> None:
    """Asked for, it is an error with the reason; by default there is a note."""
    reason = "canonical masks need the engine dfa or network"
    recogniser = build_engine('root ::= "a" root "b" | ""', dialect="gbnf", engine="earley")
    with pytest.raises(CheckError, match=reason):
        build_artifact(recogniser, default_tokenizer, tokenization="canonical")
    found = build_artifact(recogniser, default_tokenizer)
    assert "any" == found.artifact.manifest.tokenization
    assert any(reason in note for note in found.notes)


def test_every_byte_needs_a_token(tmp_path: Path) -> None:
    """One that no token spells alone could be a dead end: without others there is no member."""
    tokenizer = tokenizer_of(tmp_path, "ab", added=[(2, "<eos>", True)])
    with pytest.raises(CheckError, match="no token for the byte 0x63"):
        made("s ::= 'a' s 'b' | 'c';", tokenizer, eos=["<eos>"])
