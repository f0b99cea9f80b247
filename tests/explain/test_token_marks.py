"""Texts in which tokens are read, against the masks of any tokens: which are members, and how far
others are read."""

from itertools import product
from pathlib import Path

import pytest
from support.tokens import EOS, IDS, NAMED, TOKENIZER

from constrain.artifacts import Artifact
from constrain.cli.app import run
from constrain.compiler import Tokenizer
from constrain.compiler.explain.explainer import TokenExplainer, with_tokens
from constrain.compiler.explain.report import Status
from constrain.compiler.explain.token_marks import TokenMarksError
from constrain.compiler.options import CompileOptions
from constrain.compiler.pipeline import build_artifact, build_engine
from constrain.compiler.tokenizers import default_path

GRAMMARS = (
    'root ::= "a" <t> "b"',
    'root ::= <[3]> "c" | "ab" <t>',
    'root ::= ("a" | <u> | <[3]> | <[4]>)* <t>',
    'root ::= "ab" "<u>" | <u> "a"',
    "root ::= !<t> !<[0]> <t>?",
    'root ::= x+\nx ::= "a" x "b" | <t> | <[6]> "c"',
    'root ::= [abc]* <end> "a" | "b"',
    "root ::= (!<t>)* <u>",
    'root ::= "abc" "a"*',
)


def explainer_of(grammar: str) -> TokenExplainer:
    """What explains texts with the small tokenizer's tokens."""
    return with_tokens(grammar, CompileOptions(dialect="gbnf"), TOKENIZER)


def masks_of(grammar: str) -> Artifact:
    """Its masks of any tokens."""
    recogniser = build_engine(grammar, dialect="gbnf")
    return build_artifact(recogniser, TOKENIZER, tokenization="any").artifact


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_ids_against_masks(grammar: str, request: pytest.FixtureRequest) -> None:
    """A row of tokens is explained as the matcher takes it: to its end, or not; as a member, or
    not. All rows of three (four) tokens."""
    explainer, matcher = explainer_of(grammar), masks_of(grammar).matcher()
    longest = 4 if request.config.getoption("--full") else 3
    statuses = set()
    for length in range(longest + 1):
        for ids in product(IDS, repeat=length):
            if EOS in ids:
                continue
            matcher.reset()
            is_read = matcher.accept(ids) == length
            given = explainer.given(ids)
            found = explainer.verdict(given)
            assert (found.status is not Status.REJECTED) == is_read, ids
            assert (found.status is Status.ACCEPTED) == (is_read and matcher.is_accepting), ids
            if not is_read:
                place = sum(map(len, (TOKENIZER.tokens.get(i, b"<t>") for i in ids)))
                assert found.offset < place, ids
            statuses.add(found.status)
    assert Status.REJECTED in statuses
    assert Status.ACCEPTED in statuses


def test_texts_are_read_as_their_tokens() -> None:
    """The name of an added token is that token, also where a grammar has its text; a token at the
    end that ends texts is no part of it; one that stands elsewhere is refused by its name."""
    explainer = explainer_of('root ::= "a" <t> "b" | "<t>" | <u>')
    said = {}
    for text in (b"a<t>b", b"a<t>b<end>", b"a<end>b", b"<t>", b"<u>", b"a<t>", b"a<t>c"):
        found = explainer.verdict(explainer.given(text))
        said[text] = found.status.value, found.offset, found.stands, {*found.terminals}
    assert said == {
        b"a<t>b": ("accepted", 5, "", set()),
        b"a<t>b<end>": ("accepted", 5, "", set()),
        b"a<end>b": ("rejected", 1, "<end>", {"<t>"}),
        b"<t>": ("rejected", 0, "<t>", {'"a"', '"<t>"', "<u>"}),
        b"<u>": ("accepted", 3, "", set()),
        b"a<t>": ("incomplete", 4, "", {'"b"'}),
        b"a<t>c": ("rejected", 4, "", {'"b"'}),
    }


def test_repairs_write_tokens_by_their_names() -> None:
    """The nearest repair inserts a token as it would a character."""
    explainer = explainer_of('root ::= "ab" <t> "c"')
    given = explainer.given(b"abc")
    repair = explainer.repair(given)
    assert repair is not None
    assert repair.is_member
    assert repair.applied(given.text) == b"ab<t>c"
    assert repair.read == len(b"ab<t>c")


def test_too_many_kinds_of_tokens(default_tokenizer: Tokenizer) -> None:
    """More kinds than there are marks are refused, not confused."""
    many = "root ::= " + " | ".join(f"<[{i}]>" for i in range(1, 14))
    with pytest.raises(TokenMarksError, match="more than 12 kinds"):
        with_tokens(many, CompileOptions(dialect="gbnf"), default_tokenizer)
    with pytest.raises(TokenMarksError, match="no token 8"):
        explainer_of("root ::= <t>").given([8])


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``explain -t`` reads a grammar's tokens in a text, ``--prefix-ids`` as ids, of a grammar or
    of an artifact; without them a note says so."""
    file, text = tmp_path / "g.gbnf", tmp_path / "t"
    file.write_text('root ::= "no" <|endoftext|> "x"', encoding="utf-8")
    text.write_text("no<|endoftext|>y", encoding="utf-8")
    default = str(default_path())
    assert run(["compile", str(file), "-o", str(tmp_path / "g.cst")]) == 0
    capsys.readouterr()
    for subject in (file, tmp_path / "g.cst"):
        assert run(["explain", str(subject), str(text)]) == 1
        said = capsys.readouterr()
        assert "expected the token" in said.out
        assert "--tokenizer FILE reads the tokens" in said.err
        assert run(["explain", str(subject), "--prefix-ids", f"0,{NAMED}"]) == 1
        assert "<ids>:1:1: rejected at the token <|endoftext|>" in capsys.readouterr().out
        assert run(["explain", str(subject), str(text), "-t", default]) == 1
        assert 'rejected at "y" (byte 15)' in capsys.readouterr().out
    assert run(["explain", str(file), str(text), "--prefix-ids", "0"]) == 2
