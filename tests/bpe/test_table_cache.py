"""Cached tables belong to a tokenizer's definition: one that was changed in memory has its own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from constrain.compiler import Cache, Tokenizer, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.files.packed import packed, unpacked
from constrain.compiler.tokenizers import default_path
from constrain.compiler.tokenizers.cached_arrays import CLASSES, fingerprint
from constrain.compiler.tokenizers.definition import ByteLevel, Lowercase, Split

pytestmark = pytest.mark.quick

CHANGES: dict[str, dict[str, Any]] = {
    "pre-tokenizer": {"pre_tokenizers": (Split("a"), ByteLevel(use_regex=False))},
    "normalizer": {"normalizers": (Lowercase(),)},
    "whole pieces": {"ignore_merges": True},
    "tokens": {"tokens": {i: bytes([i]) for i in range(9)}},
    "added tokens": {"added_tokens": ()},
    "size": {"vocab_size": 70_000},
}


@pytest.fixture(scope="module")
def plain() -> Tokenizer:
    """The embedded tokenizer."""
    return load_tokenizer(default_path(), cache=None)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_definition_is_another(plain: Tokenizer, change: dict[str, Any]) -> None:
    """Though the hash of the file is the same; names and ends of text change no table."""
    assert fingerprint(replace(plain, **change)) != fingerprint(plain)
    assert fingerprint(replace(plain, name="x", sha256="1" * 64, eos=())) == fingerprint(plain)


def test_a_definition_from_the_cache_is_the_same(plain: Tokenizer) -> None:
    """Arrays and back."""
    assert fingerprint(unpacked(packed(plain), CLASSES)) == fingerprint(plain)


def test_tables_of_a_changed_definition_are_its_own(plain: Tokenizer, tmp_path: Path) -> None:
    """The pre-tokenizer of one is never read as that of the other."""
    cache = Cache(tmp_path)
    changed = replace(plain, pre_tokenizers=(Split("a"), ByteLevel(use_regex=False)))

    tables = [TokenizerTables(t, cache).pretokenizer for t in (plain, changed, plain)]

    shapes = [table.dfa.table.tobytes() for table in tables]
    assert shapes[0] == shapes[2] != shapes[1]
