"""What the command line says of tokenizers that are damaged or do not fit."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import tokenizer_json, written
from support.cli import Cli, content, names


def damaged(text: str, change: Callable[[dict[str, object]], object]) -> bytes:
    """A tokenizer.json with one thing changed."""
    value = tokenizer_json(text, added=[(len(text), "<eos>", True)])
    change(value)
    return json.dumps(value).encode()


def model(**options: object) -> Callable[[dict[str, object]], object]:
    """A change of the model."""

    def change(value: dict[str, object]) -> None:
        found = value["model"]
        assert isinstance(found, dict)
        found.update(options)

    return change


def part(**options: object) -> Callable[[dict[str, object]], object]:
    """A change of the whole."""
    return lambda value: value.update(options)


def split(pattern: str) -> Callable[[dict[str, object]], object]:
    """A change of the pattern that texts are cut by."""
    return part(pre_tokenizer={"type": "Split", "pattern": {"Regex": pattern}})


TOKENIZER_ERRORS = [
    ("not JSON", b"{", "not valid JSON"),
    ("not an object", b"[1]", "no model with a vocabulary"),
    ("empty file", b"", "an empty file"),
    ("not UTF-8", b'{"model": "\xff"}', "not valid JSON"),
    ("no vocabulary", damaged("ab", part(model={"type": "BPE"})), "no model with a vocabulary"),
    ("odd ids", damaged("ab", model(vocab={"a": "1"})), "an id is not a number"),
    ("WordPiece", damaged("ab", model(type="WordPiece")), "'BertPreTokenizer' is"),
    ("WordLevel", damaged("ab", model(type="WordLevel")), "the model 'WordLevel'"),
    ("dropout", damaged("ab", model(dropout=0.1)), "'dropout'"),
    ("byte fallback", damaged("ab", model(byte_fallback=True)), "'byte_fallback'"),
    ("unknown", damaged("ab", model(unk_token="?")), "lacks the token '?'"),
    (
        "suffix",
        damaged("ab", model(end_of_word_suffix="</w>", ignore_merges=True)),
        "'end_of_word_suffix'",
    ),
    ("normalizer", damaged("ab", part(normalizer={"type": "ByteLevel"})), "normalizer 'ByteLevel'"),
    (
        "pre-tokenizer",
        damaged("ab", part(pre_tokenizer={"type": "FixedLength"})),
        "the pre-tokenizer 'FixedLength'",
    ),
    ("pattern", damaged("ab", split("(?<x>a)")), "the pattern '(?<x>a)' is not understood"),
    ("deep pattern", damaged("ab", split("(?:" * 3000 + "a" + ")*" * 3000)), "more than 50 deep"),
    ("deep class", damaged("ab", split("[" * 3000 + "a" + "]" * 3000)), "is not understood"),
    ("long pattern", damaged("ab", split("(?:(?:a{900}){900}){900}")), "more than 100,000 items"),
    ("added token", damaged("ab", part(added_tokens=[{}])), "no id or content"),
    ("merge", damaged("ab", model(merges=["a c"])), "merge 0 ('a c')"),
    ("merge of three", damaged("ab", model(merges=["a b c"])), "merge 0"),
    ("no end", damaged("ab", part(added_tokens=[])), "name it with --eos"),
]


@pytest.mark.parametrize(
    ("data", "expected"), [pytest.param(*row, id=name) for name, *row in TOKENIZER_ERRORS]
)
def test_a_tokenizer_that_cannot_be_used_is_named(
    cli: Cli, tmp_path: Path, data: bytes, expected: str
) -> None:
    """The file and the part that is not supported; code 2, and no file."""
    file = content(tmp_path / "t.json", data)
    grammar = content(tmp_path / "g.ebnf", 's ::= "a";')
    result = cli("compile", grammar, "-t", file)

    assert (2, b"") == (result.code, result.out)
    assert result.err.startswith(f"error: {file}: ")
    assert expected in result.err
    assert 1 == result.err.count("\n")
    assert ["g.ebnf", "t.json"] == names(tmp_path)


ODD_TOKENIZERS = [
    ("added tokens no list", damaged("ab", part(added_tokens=7))),
    ("added token no object", damaged("ab", part(added_tokens=["x"]))),
    ("infinite id", damaged("ab", part(added_tokens=[{"id": 1e999, "content": "x"}]))),
    ("negative id", damaged("ab", part(added_tokens=[{"id": -1, "content": "<eos>"}]))),
    ("huge id", damaged("ab", model(vocab={"a": 0, "b": 2**70}))),
    ("one id twice", damaged("ab", model(vocab={"a": 0, "b": 0}))),
    ("merges no list", damaged("ab", model(merges=7))),
    ("merge no text", damaged("ab", model(merges=[7]))),
    ("merge of lists", damaged("ab", model(merges=[[["a"], ["b"]]]))),
    ("normalizer no object", damaged("ab", part(normalizer="NFC"))),
    (
        "name no UTF-8",
        damaged("ab", part(added_tokens=[{"id": 2, "content": "\ud800"}])),
    ),
]


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in ODD_TOKENIZERS])
def test_a_damaged_tokenizer_is_an_error_of_its_file(cli: Cli, tmp_path: Path, data: bytes) -> None:
    """Whatever stands in the file, the program ends with 2 and names the file."""
    file = content(tmp_path / "t.json", data)
    grammar = content(tmp_path / "g.ebnf", 's ::= "a";')
    result = cli("compile", grammar, "-t", file, "--eos", "0")

    assert 2 == result.code
    assert result.err.startswith(f"error: {file}: ")
    assert ["g.ebnf", "t.json"] == names(tmp_path)


@pytest.mark.parametrize("kind", ["canonical", "any"])
def test_a_grammar_that_no_token_spells_is_refused(cli: Cli, tmp_path: Path, kind: str) -> None:
    """If the tokenizer lacks a byte of every member there is nothing to compile."""
    file = str(written(tmp_path, tokenizer_json("a", added=[(1, "<eos>", True)])))
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab" | "ac";')
    result = cli("compile", grammar, "-t", file, "--tokenization", kind)

    assert 2 == result.code
    assert "spell no member" in result.err
    assert ["g.ebnf", "tokenizer.json"] == names(tmp_path)


def test_members_that_no_token_spells_are_noted(cli: Cli, tmp_path: Path) -> None:
    """If some remain, the shortest of the others is named."""
    file = str(written(tmp_path, tokenizer_json("a", added=[(1, "<eos>", True)])))
    grammar = content(tmp_path / "g.ebnf", 's ::= "a" | "b";')
    result = cli("compile", grammar, "-t", file)

    assert 0 == result.code
    assert "note: some members have no canonical tokenization, the shortest is 'b'" in result.err
