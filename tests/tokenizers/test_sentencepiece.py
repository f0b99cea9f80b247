"""SentencePiece's models: ids of its own library, masks, and files that are damaged."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.corpus.models import (
    begun_at,
    canonical_checked,
    encoder_of,
    model,
    spellings_checked,
    texts,
)

from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError, TokenizerLimitError
from constrain.compiler.files.cache import Cache
from constrain.compiler.files.protobuf import fields
from constrain.compiler.tokenizers.sentencepiece import read_model

SYMBOLS = ("<x>", "ab", "▁▁", "foo▁", "ﬁ")
IDENTITY = {"normalization_rule_name": "identity"}
# As Llama 2's was trained.
LLAMA = {**IDENTITY, "remove_extra_whitespaces": False, "byte_fallback": True, "split_digits": True}

OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "fallback": {"byte_fallback": True},
    "identity": IDENTITY,
    "llama": LLAMA,
    "spaces stay": {"remove_extra_whitespaces": False},
    "no prefix": {"add_dummy_prefix": False},
    "symbols": {"user_defined_symbols": SYMBOLS, "byte_fallback": True},
    "symbols, spaces stay": {"user_defined_symbols": SYMBOLS, "remove_extra_whitespaces": False},
    "llama with symbols": {"user_defined_symbols": SYMBOLS, **LLAMA},
    "llama without prefix": {**LLAMA, "add_dummy_prefix": False},
    "folded": {"normalization_rule_name": "nfkc_cf", "split_by_whitespace": False},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_ids_are_those_of_sentencepiece(kind: str, options: str, full: bool) -> None:
    """Of random texts, with every option that encoding depends on."""
    raw = model(kind, **OPTIONS[options])
    encode, tokenizer = encoder_of(raw), read_model("m", raw)
    for text in texts(10_000 if full else 150, seed=11):
        assert encode(text) == tokenizer.encode(text), text


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_ids_are_those_of_sentencepiece_on_real_texts(
    data: Callable[[str], Path], kind: str
) -> None:
    """In 89 languages."""
    rows = data("tokenizers/gpt2/vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for options in ({}, LLAMA):
        raw = model(kind, **options)
        encode, tokenizer = encoder_of(raw), read_model("m", raw)
        for text in (json.loads(row)["text"] for row in rows):
            assert encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_masks_of_any_tokens_are_those_that_spell_members(kind: str, full: bool) -> None:
    """Against all tokens, of random grammars."""
    rng = random.Random(13)
    tokenizer = read_model("m", model(kind, **LLAMA))
    counts = [spellings_checked(rng, tokenizer, 3) for _ in range(200 if full else 4)]
    assert sum(counts) > 3 * len(counts)


@pytest.mark.parametrize(
    "options", ["llama", "llama with symbols", "llama without prefix", "identity"]
)
def test_canonical_masks_are_the_ids_of_sentencepiece(options: str, full: bool) -> None:
    """Of all members of random grammars, where merges and no table of replacements make them."""
    rng = random.Random(17)
    raw = model("bpe", **OPTIONS[options])
    encode, tokenizer = encoder_of(raw), read_model("m", raw)
    counts = [canonical_checked(rng, tokenizer, encode) for _ in range(200 if full else 3)]
    assert sum(counts) > 3 * len(counts)


@pytest.mark.parametrize(
    ("kind", "options", "named"),
    [
        ("bpe", "spaces stay", "do not support the step 'Precompiled'"),
        ("unigram", "llama", "Unigram"),
    ],
)
def test_other_canonical_masks_are_refused_by_name(
    cli: Cli, tmp_path: Path, kind: str, options: str, named: str
) -> None:
    """With what to say instead."""
    (tmp_path / "tokenizer.model").write_bytes(model(kind, **OPTIONS[options]))
    (tmp_path / "g.gbnf").write_text('root ::= "a" root | "b"', encoding="utf-8")
    grammar, out = str(tmp_path / "g.gbnf"), str(tmp_path / "g.cst")
    arguments = ("compile", grammar, "-t", str(tmp_path), "-o", out, "--no-cache")
    refused = cli(*arguments, "--tokenization", "canonical")
    assert 2 == refused.code
    assert named in refused.err and "use --tokenization any" in refused.err
    assert 0 == cli(*arguments, "--tokenization", "any").code


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_it_comes_back_from_the_cache(tmp_path: Path, kind: str) -> None:
    """With the same ids; the end of text is the one that the file names."""
    raw = model(kind, **OPTIONS["symbols"])
    file = tmp_path / "some.model"
    file.write_bytes(raw)
    for _ in range(2):
        tokenizer = load_tokenizer(file, cache=Cache(tmp_path / "cache"))
        assert isinstance(tokenizer, Tokenizer)
        assert ["</s>"] == [tokenizer.added[i] for i in tokenizer.eos]
        assert not tokenizer.eos_is_guessed
        for text in texts(40, seed=19):
            assert encoder_of(raw)(text) == tokenizer.encode(text)


def field(number: int, value: int | bytes) -> bytes:
    """A field of a message."""
    if isinstance(value, int):
        return bytes([number << 3 & 0x7F | 0x80, number >> 4]) + _varint(value)
    return bytes([number << 3 & 0x78 | 2 | 0x80, number >> 4]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def written(
    pieces: Iterable[tuple[str, float, int]], trainer: bytes = b"", normalizer: bytes = b""
) -> bytes:
    """A model of some pieces: texts, scores and types."""
    found = b""
    for text, score, kind in pieces:
        value = b"\x0a" + _varint(len(text.encode())) + text.encode()
        value += b"\x15" + struct.pack("<f", score) + b"\x18" + _varint(kind)
        found += b"\x0a" + _varint(len(value)) + value
    return found + field(2, trainer) + field(3, normalizer)


PIECES = [("<unk>", 0.0, 2), ("</s>", 0.0, 3), ("a", -3.0, 1), ("b", -4.0, 1), ("ab", -1.0, 1)]
BPE = field(3, 2)


def test_fields_of_messages() -> None:
    """Numbers as numbers, all else as bytes."""
    assert [(1, b"a"), (3, 2)] == list(fields(b"\x0a\x01a\x18\x02"))
    assert [(20, 300), (2, b"1234")] == list(fields(field(20, 300) + b"\x154321"[:1] + b"1234"))
    for damaged in (b"\x0a\x05a", b"\x0a", b"\x0b", b"\xff" * 12, b"\x15123", b"\x0a\x80"):
        with pytest.raises(TokenizerError, match="cut off or damaged"):
            list(fields(damaged))


@pytest.mark.parametrize(
    ("pieces", "trainer", "normalizer", "named"),
    [
        ([], b"", b"", "not a SentencePiece model"),
        (PIECES[1:], BPE, b"", "no piece of the type unknown"),
        (PIECES[:2], BPE, b"", "no piece of one character"),
        ([*PIECES, ("a", 0.0, 1)], BPE, b"", "the piece 'a' is there twice"),
        ([*PIECES, ("", 0.0, 1)], BPE, b"", "piece 5 is empty"),
        ([*PIECES, ("c", float("nan"), 1)], BPE, b"", "no numbers"),
        ([*PIECES, ("ba", -1.0, 1)], BPE, b"", "'ab' and 'ba' have one score, -1"),
        ([*PIECES, ("ac", -2.0, 1)], BPE, b"", "the character 'c', which is no piece"),
        ([*PIECES, ("ba", -2.0, 5)], BPE, b"", "'ba' is of the type unused"),
        ([*PIECES, ("c", -2.0, 7)], BPE, b"", "7 is not a valid Kind"),
        (PIECES, field(3, 4), b"", "the model type 'char' is not supported"),
        (PIECES, field(3, 9), b"", "the model type 9 is not supported"),
        (PIECES, BPE + field(24, 1), b"", "treat_whitespace_as_suffix"),
        (PIECES, BPE + field(35, 1), b"", "no piece <0x00> of the type byte"),
        (PIECES, BPE, field(2, b"x"), "precompiled_charsmap is damaged"),
        (PIECES, BPE, b"\x12\x05x", "cut off or damaged"),
        (PIECES, BPE, field(2, 3), "a field is a number"),
    ],
)
def test_models_that_are_not_understood(
    cli: Cli,
    tmp_path: Path,
    pieces: list[tuple[str, float, int]],
    trainer: bytes,
    normalizer: bytes,
    named: str,
) -> None:
    """Refused by name, with exit code 2."""
    file = tmp_path / "a.model"
    file.write_bytes(written(pieces, trainer, normalizer))
    told = cli("tokenize", "ab", "-t", str(file), "--no-cache")
    assert 2 == told.code
    assert named in told.err and str(file) in told.err


def test_a_model_that_is_written_by_hand(tmp_path: Path) -> None:
    """As SentencePiece reads it; pieces that are unused and that no merge makes are no tokens."""
    unused = [*PIECES, ("[PAD5]", 0.0, 5), ("▁", -5.0, 1)]
    raw = written(unused, BPE)
    tokenizer = read_model("m", raw)
    for text in ("ab", "abba  ab", "a c\u0301c b", ""):
        assert encoder_of(raw)(text) == tokenizer.encode(text)
    assert {2: b"a", 3: b"b", 4: b"ab", 6: b" "} == dict(tokenizer.tokens)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_damaged_models_are_refused_or_read(tmp_path: Path, kind: str, full: bool) -> None:
    """A clear error or a tokenizer: whatever bytes are changed, cut off or repeated."""
    rng = random.Random(23)
    file, refused, read = tmp_path / "tokenizer.model", 0, 0
    raw = model(kind, vocab_size=300)
    for changed in begun_at(rng, raw, 1_000 if full else 16):
        file.write_bytes(changed)
        try:
            tokenizer = load_tokenizer(file, cache=None)
            ids = tokenizer.encode("the ﬁrst é 日 12  ab")
            assert all(0 <= i < tokenizer.vocab_size for i in ids)
            read += 1
        except (TokenizerError, TokenizerLimitError) as error:
            assert str(file) in str(error) or isinstance(error, TokenizerLimitError)
            refused += 1
    assert refused and read
