"""What a file seems to be that is no tokenizer that can be read, and what to do instead."""

import json
import re

# The first bytes of formats.
_BEGINNINGS = (
    (b"PK\x03\x04", "a zip archive, as PyTorch writes weights; give the tokenizer's own file"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first"),
    (b"version https://git-lfs", "Git LFS's pointer to the file; fetch it by git lfs pull"),
    (b"<!DOCTYPE", "a page of HTML; download the file itself"),
    (b"<html", "a page of HTML; download the file itself"),
    (b"#version:", "GPT-2's merges alone; give the vocab.json beside them"),
)

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_RANKS = re.compile(rb"[A-Za-z0-9+/]+={0,2} \d+\r?\n")
_MERGES = re.compile(rb"\S+ \S+\r?\n\S+ \S+\r?\n")

# A safetensors file: the size of a header in JSON, 8 bytes, and that.
_SAFETENSORS = re.compile(rb"[\s\S]{4}[\s\S]\x00\x00\x00\{\"")

# The text of a first piece, as in SentencePiece's models, which are known by their names.
_MODEL = re.compile(rb"\n[\x03-\x7f]\n")


def seems(raw: bytes) -> str | None:
    """What the content of a file seems to be, with what to do; None where nothing is known."""
    for beginning, what in _BEGINNINGS:
        if raw.startswith(beginning):
            return what
    if not raw.strip():
        return "an empty file"
    if _PICKLE.match(raw):
        return "a pickle, which is never loaded here; give the tokenizer's own file"
    if _SAFETENSORS.match(raw):
        return "a safetensors file of weights; give the tokenizer.json beside it"
    if _RANKS.match(raw):
        return "ranks, which do not say how text is split; add @ and a name or a pattern"
    if _MODEL.match(raw):
        return "a SentencePiece model; call it tokenizer.model"
    if raw.lstrip()[:1] == b"{":
        return _of_json(raw)
    if _MERGES.match(raw):
        return "GPT-2's merges alone; give the vocab.json beside them"
    return None


def _of_json(raw: bytes) -> str | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or "model" in found:
        return None
    if found and all(type(value) is int for value in found.values()):
        return "a vocabulary alone; as vocab.json with its merges.txt beside it, it can be read"
    if "tokenizer_class" in found or "model_type" in found:
        return "a model's configuration; give the tokenizer.json or the tokenizer.model beside it"
    return None
