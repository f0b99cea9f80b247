"""A file that is no tokenizer: what it seems to be is said, and what to do."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import gzip
import io
import json
import pickle
import zipfile
from pathlib import Path

import pytest
from support import tokenizer_json
from support.cli import Cli
from support.corpus.models import model

pytestmark = pytest.mark.quick


def archive() -> bytes:
    """A zip archive."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as found:
        found.writestr("archive/data.pkl", b"")
    return written.getvalue()


HEADER = b'{"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
TOKENIZER = json.dumps(tokenizer_json("ab", ["a b"])).encode()
RANKS = b"YQ== 0\nYg== 1\n"


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("tokenizer.pkl", pickle.dumps({"a": 1}), "a pickle, which is never loaded here"),
        ("pytorch_model.bin", archive(), "a zip archive"),
        ("tokenizer.json.gz", gzip.compress(TOKENIZER), "compressed by gzip; unpack it"),
        ("a.safetensors", len(HEADER).to_bytes(8, "little") + HEADER + bytes(4), "safetensors"),
        ("tokenizer.json", b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
        ("tokenizer.json", b"<!DOCTYPE html><html></html>", "a page of HTML"),
        ("tokenizer.json", TOKENIZER[:-9], "is not valid JSON"),
        ("tokenizer.json", b'{"a": 0, "b": 1}', "a vocabulary alone"),
        ("config.json", b'{"model_type": "llama"}', "give the tokenizer.json or the tokenizer.mod"),
        ("ranks.txt.bak", RANKS, "add @ and a name or a pattern"),
        ("tokenizer.model", RANKS, "add @ and a name or a pattern"),
        ("tokenizer.model", b"", "an empty file"),
        ("tokenizer.model", model("bpe")[:2_000], "cut off or damaged, in the field at byte"),
        ("spm", model("bpe"), "a SentencePiece model; call it tokenizer.model"),
        ("vocab.json", b'{"a": 0, "b": 1}', "merges.txt with its merges is not beside it"),
        ("merges.txt", b"#version: 0.2\na b\n", "GPT-2's merges alone; give the vocab.json"),
        ("bpe.merges", b"a b\nab c\n", "GPT-2's merges alone; give the vocab.json"),
        ("model.gguf", b"GGUF" + bytes(20), "a GGUF file with version 0 is not supported"),
        ("model.ggml", b"lmgg" + bytes(20), "is not valid JSON"),
    ],
)
def test_what_a_file_seems_to_be_is_said(
    cli: Cli, tmp_path: Path, name: str, raw: bytes, said: str
) -> None:
    """With exit code 2 and the file's name; nothing of it is run."""
    file = tmp_path / name
    file.write_bytes(raw)
    told = cli("tokenize", "ab", "-t", str(file), "--no-cache")
    assert 2 == told.code
    assert told.err.startswith(f"error: {file}: ")
    assert said in told.err and "Traceback" not in told.err
