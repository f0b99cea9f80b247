"""Fixtures of the tests of normalization."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cartesian import Case


@pytest.fixture(scope="module")
def normalizing(data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A small tokenizer with a normalization form before it."""
    read = json.loads(data("tokenizers/tiny-bpe-1000/tokenizer.json").read_bytes())
    read["normalizer"] = {"type": "NFC"}
    path = tmp_path_factory.mktemp("nfc") / "tokenizer.json"
    path.write_text(json.dumps(read), encoding="utf-8")
    return Case(path)
