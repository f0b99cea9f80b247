"""Tokenizers of GGUF files: those that they came from, and files that are damaged."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import tokenizer_json, written
from support.cli import Cli
from support.corpus.models import (
    begun_at,
    canonical_checked,
    encoder_of,
    gguf_of_json,
    model,
    spellings_checked,
    texts,
    written_gguf,
)

from constrain.compiler import Tokenizer, WordPieceTokenizer, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.files import gguf
from constrain.compiler.files.cache import Cache
from constrain.compiler.tokenizers import default_path
from constrain.compiler.tokenizers.sentencepiece import read_pieces

LLAMA = {
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "byte_fallback": True,
}


def of_model(path: Path, kind: str, raw: bytes) -> Path:
    """A model of SentencePiece as GGUF has it."""
    pieces = read_pieces(raw)
    values: dict[str, Any] = {"prefix": pieces.adds_prefix, "removes": pieces.removes_spaces}
    if pieces.charsmap:
        values["charsmap"] = pieces.charsmap
    return written_gguf(
        path,
        kind,
        pieces.texts,
        types=list(map(int, pieces.kinds)),
        scores=list(pieces.scores),
        eos=pieces.eos[0],
        **values,
    )


@pytest.mark.parametrize(
    ("kind", "trained", "options"),
    [("llama", "bpe", LLAMA), ("t5", "unigram", {}), ("t5", "unigram", LLAMA)],
)
def test_models_of_sentencepiece_are_the_same_in_gguf(
    tmp_path: Path, kind: str, trained: str, options: dict[str, Any], full: bool
) -> None:
    """With SentencePiece's own ids, also from the cache."""
    raw = model(trained, **options)
    file, encode = of_model(tmp_path / "m.gguf", kind, raw), encoder_of(raw)
    for _ in range(2):
        tokenizer = load_tokenizer(file, cache=Cache(tmp_path / "cache"))
        assert read_pieces(raw).eos == tokenizer.eos
        for text in texts(10_000 if full else 55, seed=29):
            assert encode(text) == tokenizer.encode(text)


def test_masks_of_a_model_in_gguf(tmp_path: Path, full: bool) -> None:
    """Canonical ones against SentencePiece, those of any tokens against all tokens."""
    rng, raw = random.Random(31), model("bpe", **LLAMA)
    tokenizer = load_tokenizer(of_model(tmp_path / "m.gguf", "llama", raw), cache=None)
    assert isinstance(tokenizer, Tokenizer)
    encode = encoder_of(raw)
    assert sum(canonical_checked(rng, tokenizer, encode) for _ in range(50 if full else 5)) > 5
    assert sum(spellings_checked(rng, tokenizer, 2) for _ in range(50 if full else 5)) > 5


@pytest.mark.sampled(
    ("name", "pre"),
    [("gpt2", "gpt-2")],
    [
        ("gpt2", "gpt-2"),
        ("qwen2_5", "qwen2"),
        ("mistral_nemo", "tekken"),
        ("cl100k_base", "llama-bpe"),
    ],
)
def test_byte_level_tokenizers_are_the_same_in_gguf(
    data: Callable[[str], Path], tmp_path: Path, name: str, pre: str, full: bool
) -> None:
    """On the recorded texts, and on random ones; of a normalizer such a file says nothing."""
    source = data(f"tokenizers/{name}/tokenizer.json")
    origin = load_tokenizer(source)
    tokenizer = load_tokenizer(gguf_of_json(tmp_path / "m.gguf", source, pre), cache=None)
    assert (0,) == tokenizer.eos
    rows = source.with_name("vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, rows):
        if unicodedata.is_normalized("NFC", row["text"]):
            assert row["ids"] == tokenizer.encode(row["text"])
    for text in texts(10_000 if full else 150, seed=37):
        if unicodedata.is_normalized("NFC", text):
            assert origin.encode(text) == tokenizer.encode(text)


def test_mistrals_pieces_are_the_same_in_gguf(data: Callable[[str], Path], tmp_path: Path) -> None:
    """On the recorded texts; the names of control tokens are texts like any other there."""
    source = data("tokenizers/mistral-v3/tokenizer.json")
    whole = json.loads(source.read_text(encoding="utf-8"))
    vocab: dict[str, int] = whole["model"]["vocab"]
    added = {token["content"] for token in whole["added_tokens"]}
    scores: dict[str, float] = {}
    for merge in whole["model"]["merges"]:
        parts = merge.split(" ") if isinstance(merge, str) else merge
        scores.setdefault("".join(parts), -float(len(scores)))
    kinds = [
        2 if text == "<unk>" else 3 if text in added else 6 if text.startswith("<0x") else 1
        for text in vocab
    ]
    assert list(vocab.values()) == list(range(len(vocab)))
    values = {"types": kinds, "scores": [scores.get(text, -1e9) for text in vocab], "eos": 2}
    file = written_gguf(tmp_path / "m.gguf", "llama", list(vocab), **values)
    tokenizer = load_tokenizer(file, cache=None)
    rows = source.with_name("vectors.jsonl").read_text(encoding="utf-8").splitlines()
    plain = [row for row in map(json.loads, rows) if not any(n in row["text"] for n in added)]
    assert len(plain) > 400
    for row in plain:
        assert row["ids"] == tokenizer.encode(row["text"])


def test_words_are_the_same_in_gguf(data: Callable[[str], Path], tmp_path: Path) -> None:
    """BERT's, on the recorded texts."""
    folder = data("tokenizers/bert-base-uncased")
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    tokens = [
        line if line[0] == "[" and line[-1] == "]" else f"▁{line}".replace("▁##", "")
        for line in lines
    ]
    tokenizer = load_tokenizer(written_gguf(tmp_path / "m.gguf", "bert", tokens))
    assert isinstance(tokenizer, WordPieceTokenizer)
    for row in map(json.loads, (folder / "vectors.jsonl").open(encoding="utf-8")):
        assert row["ids"] == tokenizer.encode(row["text"])


@pytest.mark.parametrize("pre", ["gpt-2", "starcoder", "gpt-4o", "deepseek-v3", "tekken"])
def test_each_name_says_how_text_is_split(tmp_path: Path, pre: str) -> None:
    """Nothing of a text is lost."""
    source = written(
        tmp_path, tokenizer_json("abcdefghijklmnopqrstuvwxyzIT 0123456789'.\n", ["a b"])
    )
    tokenizer = load_tokenizer(gguf_of_json(tmp_path / "m.gguf", source, pre))
    assert isinstance(tokenizer, Tokenizer)
    text = "It's 2024.\nab  c1"
    assert text == tokenizer.decode_bytes(tokenizer.encode(text)).decode()
    (pieces,) = tokenizer.encoder.parts(text)
    assert isinstance(pieces, list) and len(pieces) > 5


TOKENS: dict[str, Any] = {"types": [1, 1, 1], "merges": ["a b"], "pre": "gpt-2"}
SCORES: dict[str, Any] = {"types": [2, 1, 1], "scores": [0.0, -1.0, -2.0]}


@pytest.mark.parametrize(
    ("kind", "tokens", "changes", "named"),
    [
        ("rwkv", ["a"], {}, "the tokenizer.ggml.model 'rwkv' is not supported: bert, gpt2"),
        ("gpt2", ["a", "b", "ab"], {**TOKENS, "pre": "viking"}, "'viking' does not say how"),
        ("gpt2", ["a", "b", "ab"], {"merges": ["a b"]}, "'default' does not say how"),
        ("gpt2", ["a", "b", "ab"], {"pre": "gpt-2"}, "no strings tokenizer.ggml.merges"),
        ("gpt2", ["a", "b", "ab"], {**TOKENS, "types": [1]}, "no tokenizer.ggml.token_type of"),
        ("gpt2", ["a", "b", "ab"], {**TOKENS, "types": [1, 1, 9]}, "what is no type"),
        ("gpt2", ["a", "b", "a"], TOKENS, "merge 0"),
        ("llama", ["<unk>", "a", "b"], {**SCORES, "scores": [1.0]}, "no tokenizer.ggml.scores"),
        ("llama", ["<unk>", "a", "b"], {**SCORES, "types": [1, 1, 1]}, "of the type unknown"),
        ("bert", ["a", "a"], {}, "'a' is there twice"),
        ("bert", ["▁a", "b"], {}, "no token '[UNK]'"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(
    cli: Cli, tmp_path: Path, kind: str, tokens: list[str], changes: dict[str, Any], named: str
) -> None:
    """With exit code 2."""
    file = written_gguf(tmp_path / "m.gguf", kind, tokens, **changes)
    told = cli("tokenize", "ab", "-t", str(file), "--no-cache")
    assert 2 == told.code
    assert named in told.err.replace("##", "") and str(file) in told.err


def head(version: int = 3, keys: int = 1) -> bytes:
    """The beginning of a file."""
    return b"GGUF" + version.to_bytes(4, "little") + bytes(8) + keys.to_bytes(8, "little")


def text(octets: bytes) -> bytes:
    """A string."""
    return len(octets).to_bytes(8, "little") + octets


ARRAY, STRING = (9).to_bytes(4, "little"), (8).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b"GGUF", "cut off: at byte 4 it lacks 4"),
        (head(1), "with version 1 is not supported; versions 2 and 3 are"),
        (head(3 << 24), "big-endian"),
        (head(keys=1 << 40), "at byte 24 it has 1,099,511,627,776 keys, where 65,536"),
        (head(keys=0), "holds no tokenizer"),
        (head() + (1 << 40).to_bytes(8, "little"), "a string of 1,099,511,627,776 bytes"),
        (head() + text(b"a") + (77).to_bytes(4, "little"), "the type 77, which no value has here"),
        (head() + text(b"a") + ARRAY + ARRAY + bytes(8) + bytes(4), "the type 9"),
        (head() + text(b"a") + ARRAY + bytes(4) + b"\xff" * 8, "100,000,000 together at most"),
        (head() + text(b"a") + ARRAY + STRING + b"\xff" * 8, "strings: 4,000,000 are the most"),
        (head() + text(b"a") + STRING + text(b"b")[:-1], "lacks 1"),
        (head() + text(b"tokenizer.ggml.model") + bytes(5), "holds no tokenizer"),
    ],
)
def test_hostile_headers_are_refused_within_bounds(
    cli: Cli, tmp_path: Path, raw: bytes, named: str
) -> None:
    """Whatever sizes they claim."""
    file = tmp_path / "m.gguf"
    file.write_bytes(raw)
    told = cli("tokenize", "ab", "-t", str(file), "--no-cache")
    assert 2 == told.code
    assert named in told.err and str(file) in told.err


def test_no_tensor_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the key-values there may be anything, of any size."""
    file = gguf_of_json(tmp_path / "m.gguf", default_path(), "gpt-2")
    keys = file.stat().st_size
    with file.open("ab") as opened:
        opened.truncate(keys + (1 << 33))
    monkeypatch.setattr(gguf, "MOST_FILE_BYTES", keys)
    assert load_tokenizer(file, cache=None).encode("the") == load_tokenizer().encode("the")


@pytest.mark.parametrize("kind", ["gpt2", "llama", "t5"])
def test_damaged_files_are_refused_or_read(tmp_path: Path, kind: str, full: bool) -> None:
    """A clear error or a tokenizer: whatever bytes are changed, cut off or repeated."""
    rng, file = random.Random(41), tmp_path / "m.gguf"
    if kind == "gpt2":
        letters = tokenizer_json("abcdefgh ", ["a b", "ab c", "d e"], added=[(12, "<eos>", True)])
        gguf_of_json(file, written(tmp_path, letters), "gpt-2")
    else:
        options = {"t5": {}, "llama": LLAMA}[kind]
        of_model(file, kind, model("bpe" if kind == "llama" else "unigram", **options))
    raw, refused, read = file.read_bytes(), 0, 0
    for changed in begun_at(rng, raw, 700 if full else 16):
        file.write_bytes(changed)
        try:
            tokenizer = load_tokenizer(file, cache=None)
            ids = tokenizer.encode("abcde the ﬁrst é 日 12  ab")
            assert all(0 <= i < tokenizer.vocab_size for i in ids)
            read += 1
        except TokenizerError as error:
            assert str(file) in str(error)
            refused += 1
    assert refused and read
