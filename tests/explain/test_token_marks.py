"""Texts in which tokens are read, against the masks of any tokens: which are members, and how far
others are read."""

import json
from itertools import product
from pathlib import Path

import pytest
from support import tokenizer_json, written
from support.tokens import EOS, IDS, NAMED, TOKENIZER

from constrain.artifacts import Artifact
from constrain.cli.app import run
from constrain.compiler import Tokenizer
from constrain.compiler.explain.explainer import TokenExplainer, with_stored_tokens, with_tokens
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
        awaited = {*found.terminals, *found.tokens}
        said[text] = found.status.value, found.offset, found.stands, awaited
    assert said == {
        b"a<t>b": ("accepted", 5, "", set()),
        b"a<t>b<end>": ("accepted", 5, "", set()),
        b"a<end>b": ("rejected", 1, "<end>", {"<t>"}),
        b"<t>": ("rejected", 0, "<t>", {'"a"', '"<t>"', "<u>"}),
        b"<u>": ("accepted", 3, "", set()),
        b"a<t>": ("incomplete", 4, "", {'"b"'}),
        b"a<t>c": ("rejected", 4, "", {'"b"'}),
    }


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_stored_names_are_read_as_the_tokenizers(grammar: str) -> None:
    """By what an artifact keeps, texts are read as by its tokenizer; it says where it cannot: where
    a terminal stands for tokens that are texts."""
    by_tokenizer, found = explainer_of(grammar), with_stored_tokens(masks_of(grammar))
    if found is None:
        assert by_tokenizer.marks.names_texts or "<" not in grammar
        return
    for parts in product([b"a", b"b", b"c", b"<t>", b"<u>", b"<end>"], repeat=3):
        text = b"".join(parts)
        given, other = by_tokenizer.given(text), found.given(text)
        assert found.verdict(other) == by_tokenizer.verdict(given), text


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
    of an artifact; without them an artifact reads names, and of a grammar a note says so."""
    file, text = tmp_path / "g.gbnf", tmp_path / "t"
    file.write_text('root ::= "no" <|endoftext|> "x"', encoding="utf-8")
    text.write_text("no<|endoftext|>y", encoding="utf-8")
    default = str(default_path())
    assert run(["compile", str(file), "-o", str(tmp_path / "g.cst")]) == 0
    capsys.readouterr()
    for subject in (file, tmp_path / "g.cst"):
        assert run(["explain", str(subject), str(text)]) == 1
        said = capsys.readouterr()
        if subject is file:
            assert "expected the token" in said.out
            assert "the text holds <|endoftext|>, which the grammar" in said.err
        else:
            assert 'rejected at "y" (byte 15)' in said.out
        assert run(["explain", str(subject), "--prefix-ids", f"0,{NAMED}"]) == 1
        assert "<ids>:1:1: rejected at the token <|endoftext|>" in capsys.readouterr().out
        assert run(["explain", str(subject), str(text), "-t", default]) == 1
        assert 'rejected at "y" (byte 15)' in capsys.readouterr().out
    assert run(["explain", str(file), str(text), "--prefix-ids", "0"]) == 2


TOOL = {"type": "function", "function": {"name": "time"}}
CALL = '<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>'


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """One that has the marks of calls as tokens."""
    letters = "".join(map(chr, (10, *range(32, 127))))
    added = [(200, "<|endoftext|>", True), (201, "<tool_call>", False), (202, "</tool_call>", True)]
    return str(written(tmp_path, tokenizer_json(letters, added=added)))


@pytest.mark.parametrize("is_artifact", [False, True])
def test_marks_of_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tokenizer: str, is_artifact: bool
) -> None:
    """Tokens are said by their names, never by the bytes that stand for them; a text with one that
    is read without the tokenizer is said to have it."""
    file, text = tmp_path / "t.tools.json", tmp_path / "text"
    asked = {"tools": [TOOL], "tool_choice": "required", "style": "qwen"}
    file.write_text(json.dumps(asked), encoding="utf-8")
    subject, named = str(file), ["-t", tokenizer]
    if is_artifact:
        subject = str(tmp_path / "t.cst")
        made = run(["compile", str(file), *named, "-o", subject, "--precompute", "none"])
        assert made == 0
    capsys.readouterr()

    def said(call: str, *arguments: str) -> str:
        text.write_text(call, encoding="utf-8")
        run(["explain", subject, str(text), *arguments])
        captured = capsys.readouterr()
        return captured.err + captured.out

    assert "accepted" in said(CALL, *named)
    assert "expected the token <tool_call>\n" in said(f"ok {CALL}", *named)
    assert "expected the token <tool_call>\n" in said(f"{CALL}\n", *named)
    assert "expected the token </tool_call>\n" in said(CALL[: CALL.index("</")], *named)
    found = said(CALL)
    if is_artifact:
        assert "accepted" in found
        found = said(CALL.replace("}}", "]}"))
        assert "<tool_call>" not in found
        return
    assert "the text holds <tool_call>, which the grammar reads as a token: give --to" in found
    assert "expected the token <tool_call>\n" in found
    assert "the text holds" not in said("ok")


def test_artifacts_of_lists_are_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tokenizer: str
) -> None:
    """What an artifact says that it starts from is taken; no other rule of a list is."""
    file, artifact = tmp_path / "t.tools.json", str(tmp_path / "t.cst")
    file.write_text(json.dumps([TOOL]), encoding="utf-8")
    (tmp_path / "text").write_text('[{"name": "tim"', encoding="utf-8")
    assert run(["compile", str(file), "-t", tokenizer, "-o", artifact]) == 0
    for stage in ("rules", "parser", "lexer"):
        assert run(["viz", artifact, "--stage", stage]) == 0
    capsys.readouterr()
    for arguments in ([], ["-t", tokenizer]):
        assert run(["explain", artifact, str(tmp_path / "text"), *arguments]) == 1
        assert "did you mean `time`?" in capsys.readouterr().out
    assert run(["check", str(file), "--start", "call"]) == 2
