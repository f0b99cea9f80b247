"""Limits of regular grammars with a tokenizer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import tokenizer_of
from support.corpus.encodings import check_masks, following, members_of
from support.corpus.tokenizer_case import Case
from support.limits import measured

from constrain.artifacts import Artifact
from constrain.artifacts.read import load
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits, compile_grammar


def test_cartesian_merge_ends_at_its_time(tmp_path: Path) -> None:
    """Its steps look at the clock, level by level, and the rule is named."""
    path = tmp_path / "long.gbnf"
    path.write_text("root ::= [a-z]{1,90000}\n", encoding="utf-8")

    found = measured(
        "compile", path, "--engine", "dfa", "--max-seconds", 0.5, "-o", tmp_path / "long.cst"
    )

    assert (found.code, "in rule 'root'" in found.stderr) == (3, True), found.stderr
    found.check(seconds=0.5)


def test_a_long_repetition_takes_time_in_proportion(tmp_path: Path, full: bool) -> None:
    """The products with the pre-tokenizer's texts and splits have one level a character."""
    path, count = tmp_path / "long.gbnf", 20_000 if full else 6_000
    path.write_text(f"root ::= [a-z]{{1,{count}}}\n", encoding="utf-8")

    found = measured("compile", path, "--engine", "dfa", "-o", tmp_path / "long.cst")

    assert found.code == 0
    found.check(seconds=count / 2_000)


def test_rows_beyond_the_limits_are_left_to_decoding(tmp_path: Path) -> None:
    """Those of all states together are tried first; then those of each, as far as there is room.
    Masks are the same."""
    tokenizer = tokenizer_of(
        tmp_path, "ab", ["a b", "b ab"], added=[(9, "<eos>", True)], splits=True
    )

    def compiled(**options: Any) -> Artifact:
        return compile_grammar(
            "(a|b){0,40}",
            dialect="regex",
            tokenizer=tokenizer,
            eos=[9],
            method="cartesian",
            **options,
        )

    expected = compiled()
    assert expected.manifest.counts["complete"]
    for options in (
        {"limits": Limits(transitions=20)},
        {"prewarm": 9},
        {"max_artifact_bytes": 9_000},
    ):
        found = compiled(**options)
        assert (found.is_regular, expected.is_regular) == (True, True)
        first, second = found.matcher(), expected.matcher()
        for _ in range(10):
            assert np.array_equal(first.mask(), second.mask())
            token = int(tokenset.to_ids(first.mask())[0])
            first.advance(token)
            second.advance(token)
    assert "closed.keys" not in compiled(prewarm=0, engine="dfa").arrays


def test_direct_merge_ends_at_its_limit_where_it_is_asked_for(tmp_path: Path) -> None:
    """No other method, and no other engine, takes its place."""
    path = tmp_path / "g.gbnf"
    path.write_text("root ::= [a-z ]{1,100}\n", encoding="utf-8")

    found = measured("compile", path, "--method", "direct", "--max-transitions", 500)

    assert (found.code, "more than 500 transitions" in found.stderr) == (3, True), found.stderr
    assert "in rule 'root'" in found.stderr


# A JSON string with a maximal length, and what else a schema's lengths become.
LENGTHS = [r'"[^"\\]{0,30}"', ".{1,30}", ".*", "[a-zA-Z ]{1,200}"]


@pytest.mark.sampled(
    ("name", "pattern"),
    [("qwen2_5", ".*")],
    [(name, pattern) for name in ("qwen2_5", "mistral_nemo") for pattern in LENGTHS],
)
def test_lengths_have_canonical_masks_by_default_on_real_tokenizers(
    data: Callable[[str], Path], tmp_path: Path, name: str, pattern: str
) -> None:
    """Within the limits, and with all rows in the file."""
    grammar = tmp_path / "g.regex"
    grammar.write_text(pattern, encoding="utf-8")
    path = data(f"tokenizers/{name}/tokenizer.json")

    found = measured("compile", grammar, "-t", path, "-o", tmp_path / "g.cst")

    assert found.code == 0, found.stderr
    assert load(tmp_path / "g.cst").manifest.counts["complete"]
    found.check()


# The same shapes over few characters and with smaller counts, so that all members can be listed.
SMALLER = [r'"[ab é]{0,3}"', "[a-c .é\\n]{1,4}", "(a| |'|s){0,5}", "[aB ]{1,6}"]


@pytest.mark.sampled(
    ("name", "pattern"),
    [("qwen2_5", pattern) for pattern in SMALLER[:2]],
    [(name, pattern) for name in ("qwen2_5", "mistral_nemo") for pattern in SMALLER],
)
def test_smaller_lengths_are_exact_on_real_tokenizers(
    name: str, pattern: str, case: Callable[[str], Case]
) -> None:
    """All masks after all encodings of all members, by the tokenizer's own library."""
    found = case(name)
    artifact = compile_grammar(pattern, dialect="regex", tokenizer=found.tokenizer)
    members = members_of(pattern)
    encodings = [found.library.encode(text, add_special_tokens=False).ids for text in members]
    expected = following(encodings, artifact.manifest.eos)

    assert check_masks(artifact.matcher(), expected) > len(members)
