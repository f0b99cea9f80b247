"""Networks that call lazy DFAs: masks are those of the network that is built."""

import random
from pathlib import Path

import numpy as np
import pytest
from support import grows, tokenizer_of
from support.cli import Cli
from support.container import check_every_bit_counts, check_flipped_bits_do_no_harm, walk_two_deep
from support.matcher import check_random_texts

from constrain.artifacts import Artifact
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, thresholds
from constrain.compiler.diagnostics import CheckError

GRAMMARS = {
    "quoted": r"""s ::= "<" text ">" | text "," text
                  text ::= [ab]+ - ([ab]* "aa" [ab]*)""",
    "repeated": r"""s ::= "<" (text ",")* text ">"
                    text ::= [ab,]* - ([ab,]* "b" [ab,] [ab,])""",
    "nested": r"""s ::= "<" s? text ">" s | text
                  text ::= ([ab] [ab] [ab])* - "ababab" """,
    "ambiguous": r"""s ::= text text "a"? | "<" text
                     text ::= [ab]+ - ([ab] [ab] | "aaab" [ab]*)""",
    "two": r"""s ::= one ("," two)+
               one ::= ("ab" | "ba")+ - "abba"
               two ::= [ab<>]* - ([ab<>]* "<" [^>]*)""",
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Single characters, and tokens over the borders of terminals."""
    merges = ["a b", "b >", "< a", "ab ab", "b ,", "b, a", "a a", "b> <"]
    folder = tmp_path_factory.mktemp("small")
    return tokenizer_of(folder, "ab,<>", merges, added=[(13, "<eos>", True)])


def compiled(text: str, tokenizer: Tokenizer, **options: object) -> Artifact:
    """An artifact that allows any token sequences and precomputes nothing."""
    given = {"tokenization": "any", "prewarm": 0, "eos": ["<eos>"]} | options
    return compile_grammar(text, dialect="w3c", tokenizer=tokenizer, **given)  # type: ignore[arg-type]


@pytest.fixture
def lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intersections and complements of any size are made while decoding."""
    monkeypatch.setattr(thresholds, "LARGE_STATES", 0)


@pytest.mark.quick
@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_those_of_the_built_network_bit_by_bit(
    name: str, tokenizer: Tokenizer, lazily: None, full: bool
) -> None:
    lazy = compiled(GRAMMARS[name], tokenizer)
    eager = compiled(GRAMMARS[name], tokenizer, engine="network")
    assert grows(lazy)
    assert eager.manifest.kind == "network"
    loaded = load_bytes(lazy.to_bytes(), verify=True)
    tight = load_bytes(lazy.to_bytes(), cache_bytes=0)
    rng = random.Random(name)
    for _ in range(200 if full else 4):
        matchers = [each.matcher() for each in (lazy, eager, loaded, tight)]
        for _ in range(25):
            one, *others = (matcher.mask() for matcher in matchers)
            assert all(np.array_equal(one, other) for other in others)
            ids = tokenset.to_ids(one).tolist()
            token = rng.choice(ids)
            for matcher in matchers:
                matcher.advance(token)
            if matchers[0].is_finished:
                break
            if rng.random() < 0.1:
                for matcher in matchers:
                    matcher.rollback(1)


def test_a_terminal_may_be_too_large_to_be_built(tokenizer: Tokenizer) -> None:
    """Two million sets of places, between brackets."""
    text = 's ::= "<" text ">" text ::= [ab]* - ([ab]* "a"' + " [ab]" * 20 + ")"
    artifact = compiled(text, tokenizer)
    assert grows(artifact)
    assert artifact.viable_bytes(b"<" + b"a" * 30 + b">") == 31
    assert artifact.viable_bytes(b"<" + b"a" + b"b" * 20 + b">") == 22
    matcher = artifact.matcher()
    for token in (3, 0, *[1] * 20):
        matcher.advance(token)
    assert tokenset.to_ids(matcher.mask()).tolist() == [0, 1, 5, 6, 8, 11]


def test_the_tools_answer_for_a_grammar_with_such_a_terminal(cli: Cli, tmp_path: Path) -> None:
    """A text is explained as masks are found; what needs all states names the limit."""
    grammar, text, artifact = (str(tmp_path / name) for name in ("s.w3c", "text", "s.cst"))
    hidden = "[a-z]* - ([a-z]* 'a' " + "[a-z] " * 20 + ")"
    Path(grammar).write_text(f's ::= "<" hidden ">"\nhidden ::= {hidden}\n')
    said = cli("compile", grammar, "--tokenization", "any", "--lazy", "-o", artifact)
    assert said.code == 0
    Path(text).write_text("<a" + "b" * 20 + ">")
    said = cli("explain", artifact, text)
    assert (
        f'{text}:1:23: rejected at ">" (byte 22) in s > hidden; expected [a-z]' in said.out.decode()
    )
    Path(text).write_text("<ab>")
    assert cli("explain", artifact, text).code == 0
    assert b"kind: network" in cli("show", artifact).out
    said = cli("sample", artifact, "--max-states", "2000")
    assert said.code == 3
    assert "more than 2,000 states" in said.err


@pytest.mark.parametrize(
    "text",
    [
        's ::= "<" t | "," ">"* t ::= [ad]* - "a"',
        's ::= "<" t "," | "a" s | ">" t ::= [d]+ - "dd"',
        's ::= "<" t u "," | u t ::= [d]+ - "dd" u ::= [abd]+ - "ab"',
    ],
    ids=["in it", "all of it", "of one of two"],
)
def test_members_with_bytes_without_a_token_are_left_out(
    text: str, tokenizer: Tokenizer, lazily: None
) -> None:
    """Of a terminal, which may then have none; as of the network that is built."""
    lazy, eager = compiled(text, tokenizer), compiled(text, tokenizer, engine="network")
    assert any("0x64" in note for note in lazy.notes)
    check_random_texts([lazy, eager, load_bytes(lazy.to_bytes())], 20, 10, seed=2)


def test_without_a_member_that_can_be_spelled_the_byte_is_named(
    tokenizer: Tokenizer, lazily: None
) -> None:
    with pytest.raises(CheckError, match="can spell no member: it has no token for the byte 0x64"):
        compiled('s ::= "<" t t ::= [d]+ - "dd"', tokenizer)


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep."""
    walk_two_deep(artifact)
    artifact.viable_bytes(b"<ab>")


def test_flipped_bits_are_found_and_do_no_harm(
    tokenizer: Tokenizer, lazily: None, full: bool
) -> None:
    artifact = compiled(GRAMMARS["two"], tokenizer)
    check_every_bit_counts(artifact, 500 if full else 5)
    check_flipped_bits_do_no_harm(artifact, exercise, 1500 if full else 40)
