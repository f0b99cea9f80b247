"""Members without a canonical tokenization: refused if all are so, else named and left out."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import tokenizer_json
from support.cli import Cli
from support.corpus.encodings import check_masks, following, members_of
from support.corpus.tokenizer_case import Case

from constrain.artifacts.read import load_bytes
from constrain.compiler import compile_grammar
from constrain.compiler.diagnostics import CheckError

END = {
    "content": "<eos>",
    "special": True,
    **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False),
}
BYTES = " ".join(f"<0x{octet:02X}>" for octet in range(256))


def of_bytes(letters: str, merges: list[str], **fields: Any) -> dict[str, Any]:
    """A tokenizer of bytes with further fields."""
    value = tokenizer_json(letters, merges)
    value["pre_tokenizer"]["trim_offsets"] = True
    return {**value, **fields}


def of_characters(vocab: str, merges: list[str], **fields: Any) -> dict[str, Any]:
    """A tokenizer of characters, some of them by byte tokens; ``fields`` are of its model."""
    names = [*vocab.split(), *(merge.replace(" ", "") for merge in merges)]
    value = tokenizer_json("")
    value["pre_tokenizer"] = None
    model = {"type": "BPE", "vocab": {n: i for i, n in enumerate(names)}, "merges": merges}
    return {**value, "model": {**model, **fields}}


def replaced(old: str, new: str) -> dict[str, Any]:
    """A step that rewrites a word."""
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


# Each with a grammar none of whose members has a tokenization, and one some of whose have.
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a byte without token": (of_bytes("ab", ["a b"]), "ac|bc*c", "(a|b|c){0,3}"),
    "a part of a character": (of_bytes("ab\u0101", ["a b"]), "ā?é", "(a|b|ā|é){0,3}"),
    "a character without token": (of_characters("a b c", ["a b"]), "ax|x", "(a|b|é){0,3}"),
    "an unknown character": (
        of_characters("<unk> a b c", ["a b"], unk_token="<unk>"),
        "ax|x",
        "(ab|c|x|漢){0,3}",
    ),
    "byte fallback, a rewritten character": (
        {
            **of_characters(f"a b ▁ {BYTES}", ["a b"], byte_fallback=True),
            "normalizer": replaced(" ", "▁"),
        },
        "a▁?b▁",
        "(a|b|é| |▁){0,3}",
    ),
    "a form": (
        of_bytes("aée\u0301", [], normalizer={"type": "NFC"}),
        "e\u0301",
        "(a|e|é|\u0301){0,3}",
    ),
    "lower case": (
        of_bytes("aAbB", ["a b"], normalizer={"type": "Lowercase"}),
        "aA+",
        "[abAB]{0,3}",
    ),
    "a rewritten word": (
        of_bytes("abc", ["a b"], normalizer=replaced("bc", "a")),
        "a*bc",
        "[abc]{0,4}",
    ),
    "an added token": (of_bytes("<eos>ab", []), "a?<eos>", "(a|<eos>|<|eos|>){0,4}"),
}


@pytest.fixture(params=CASES)
def named(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str, str]:
    """A case with its tokenizer in a file."""
    value, none, some = CASES[request.param]
    value["added_tokens"] = [{"id": len(value["model"]["vocab"]), **END}]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path, none, some


def test_a_grammar_without_tokenizations_is_refused(cli: Cli, named: tuple[Path, str, str]) -> None:
    """Exit 2, the reason on the error stream, and no file."""
    path, none, _ = named
    result = cli("compile", "-", "-d", "regex", "-t", str(path), "-o", "g.cst", stdin=none.encode())

    assert (2, b"") == (result.code, result.out)
    assert "error: the tokenizer can spell no member: it has no token for" in result.err
    assert ["tokenizer.json"] == [file.name for file in path.parent.iterdir()]


def test_the_shortest_member_without_tokenization_is_named(
    cli: Cli, named: tuple[Path, str, str]
) -> None:
    """What the library does not give back: the shortest is named, masks hold all others."""
    path, _, some = named
    result = cli("compile", "-", "-d", "regex", "-t", str(path), "-o", "g.cst", stdin=some.encode())
    here = Case(path)
    texts = members_of(some)
    kept = [text for text in texts if here.is_left_alone(text)]
    lost = min(set(texts) - set(kept), key=lambda text: (len(text.encode()), text.encode()))

    assert 0 == result.code
    note = f"note: some members have no canonical tokenization, the shortest is {lost!r}: "
    assert note in result.err
    artifact = load_bytes((path.parent / "g.cst").read_bytes())
    expected = following(map(here.encode, kept), artifact.manifest.eos)
    assert check_masks(artifact.matcher(), expected) > 5


@pytest.mark.parametrize(
    "named",
    [
        *("a character without token", "an unknown character", "lower case", "a rewritten word"),
        *("byte fallback, a rewritten character", "an added token"),
    ],
    indirect=True,
)
def test_networks_leave_out_the_same(named: tuple[Path, str, str]) -> None:
    """Of tokenizers that merge characters, the first character that is left out is named."""
    path, none, some = named
    here = Case(path)
    compiled = partial(
        compile_grammar,
        dialect="regex",
        tokenizer=here.tokenizer,
        tables=here.tables,
        engine="network",
        tokenization="canonical",
    )
    with pytest.raises(CheckError, match="can spell no member"):
        compiled(none)
    artifact = compiled(some)
    texts = members_of(some)
    kept = [text for text in texts if here.is_left_alone(text)]
    expected = following(map(here.encode, kept), artifact.manifest.eos)
    assert check_masks(artifact.matcher(), expected) > 5
    lost = min({*"".join(texts)} - {*"".join(kept)}, default="")
    note = (
        f"members with characters that the tokenizer cannot spell, such as {lost!r}, are left out"
    )
    assert (note in artifact.notes) == (not here.tokenizer.byte_level)
