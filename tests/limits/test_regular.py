"""Limits of regular grammars with a tokenizer."""

from pathlib import Path

import pytest
from support.limits import measured

from constrain.compiler import Limits, Tokenizer, compile_grammar
from constrain.compiler.diagnostics import LimitError


def test_a_product_ends_at_its_time(tmp_path: Path) -> None:
    """Its steps look at the clock, level by level, and the rule is named."""
    path = tmp_path / "long.gbnf"
    path.write_text("root ::= [a-z]{1,90000}\n", encoding="utf-8")

    found = measured("compile", path, "--max-seconds", 2, "-o", tmp_path / "long.cst")

    assert (found.code, "in rule 'root'" in found.stderr) == (3, True), found.stderr
    found.check(seconds=2)


def test_a_long_repetition_takes_time_in_proportion(tmp_path: Path) -> None:
    """The products with the pre-tokenizer's texts and splits have one level a character."""
    path = tmp_path / "long.gbnf"
    path.write_text("root ::= [a-z]{1,20000}\n", encoding="utf-8")

    found = measured("compile", path, "-o", tmp_path / "long.cst")

    assert found.code == 0
    found.check(seconds=10)


def test_transitions_are_counted_as_they_are_stored(default_tokenizer: Tokenizer) -> None:
    """Rows are unions of classes of tokens: three million transitions are some thousands."""
    limits = Limits(transitions=1_000_000)

    artifact = compile_grammar(
        "[a-z ]{1,200}",
        dialect="regex",
        tokenizer=default_tokenizer,
        limits=limits,
        method="cartesian",
    )

    assert artifact.manifest.counts["product_transitions"] > 3 * limits.transitions
    with pytest.raises(LimitError, match=r"the tokens of each state .* transitions") as found:
        compile_grammar(
            "[a-z ]{1,200}",
            dialect="regex",
            tokenizer=default_tokenizer,
            limits=Limits(transitions=100),
            method="cartesian",
        )
    assert found.value.rules == ("start",)
