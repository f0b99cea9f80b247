"""What a tokenizer's file asks for is bounded: ids without tokens, and the length of a token."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path
from typing import Any

import pytest
from support import tokenizer_json, written
from support.cli import Cli

from constrain.compiler import load_tokenizer
from constrain.compiler.diagnostics import TokenizerError

pytestmark = pytest.mark.quick

FAR = {"added": [(9_900_000, "<far>", True)]}
LONG = {"extra": {"a" * 5_000: 2}}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (FAR, "the highest id is 9,900,000, and there are 2 tokens: at most 1,000,000 ids"),
        ({"extra": {"ab": 2_000_000}}, "the highest id is 2,000,000"),
        (LONG, "the token that begins with 'aaaaaaaaaaaaaaaaaaaa' has 5,000 bytes: 4,096 are"),
    ],
    ids=["an added token", "a token", "a long token"],
)
def test_ids_far_beyond_the_tokens_and_long_tokens_are_refused(
    options: dict[str, Any], reason: str, tmp_path: Path, cli: Cli
) -> None:
    """By name, with exit code 2, before tables are made of them."""
    path = written(tmp_path, tokenizer_json("ab", **options))
    with pytest.raises(TokenizerError, match=reason):
        load_tokenizer(path, cache=None)

    ran = cli("tokenize", "ab", "-t", str(path))

    assert (2, b"") == (ran.code, ran.out)
    assert reason in ran.err


def test_words_are_bounded_as_well(tmp_path: Path) -> None:
    """WordPiece's vocabulary."""
    path = tmp_path / "vocab.txt"
    path.write_text(f"[UNK]\n[SEP]\n{'a' * 5_000}\n", encoding="utf-8")
    with pytest.raises(TokenizerError, match="has 5,000 bytes"):
        load_tokenizer(path)
