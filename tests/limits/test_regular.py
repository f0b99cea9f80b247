"""Limits of regular grammars with a tokenizer."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import tokenizer_of
from support.corpus.encodings import check_masks, following, members_of
from support.corpus.tokenizer_case import Case
from support.limits import measured

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Limits, Tokenizer, compile_grammar
from constrain.compiler.diagnostics import LimitError


def test_a_product_ends_at_its_time(tmp_path: Path) -> None:
    """Its steps look at the clock, level by level, and the rule is named."""
    path = tmp_path / "long.gbnf"
    path.write_text("root ::= [a-z]{1,90000}\n", encoding="utf-8")

    found = measured(
        "compile", path, "--engine", "dfa", "--max-seconds", 2, "-o", tmp_path / "long.cst"
    )

    assert (found.code, "in rule 'root'" in found.stderr) == (3, True), found.stderr
    found.check(seconds=2)


def test_a_long_repetition_takes_time_in_proportion(tmp_path: Path) -> None:
    """The products with the pre-tokenizer's texts and splits have one level a character."""
    path = tmp_path / "long.gbnf"
    path.write_text("root ::= [a-z]{1,20000}\n", encoding="utf-8")

    found = measured("compile", path, "--engine", "dfa", "-o", tmp_path / "long.cst")

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
    with pytest.raises(
        LimitError, match=r"the table of each state's tokens .* transitions"
    ) as found:
        compile_grammar(
            "[a-z ]{1,200}",
            dialect="regex",
            tokenizer=default_tokenizer,
            limits=Limits(transitions=100),
            method="cartesian",
            engine="dfa",
        )
    assert found.value.rules == ("start",)


def test_a_product_that_is_too_large_falls_back_to_a_network_and_says_so(tmp_path: Path) -> None:
    """By counts alone, with the same masks; an engine that is asked for is kept."""
    tokenizer = tokenizer_of(
        tmp_path, "ab", ["a b", "b ab"], added=[(9, "<eos>", True)], splits=True
    )

    def compiled(limits: Limits, engine: str = "auto", method: str = "auto") -> Artifact:
        return compile_grammar(
            "(a|b){0,40}",
            dialect="regex",
            tokenizer=tokenizer,
            eos=[9],
            method=method,
            engine=engine,
            limits=limits,
        )

    found, expected = compiled(Limits(transitions=20)), compiled(Limits())

    assert (found.manifest.kind, expected.manifest.kind) == ("network", "product")
    assert any("needs more than 20 transitions" in note for note in found.notes)
    assert any("computed at run time" in note for note in found.notes)
    first, second = found.matcher(), expected.matcher()
    for _ in range(10):
        assert np.array_equal(first.mask(), second.mask())
        token = int(tokenset.to_ids(first.mask())[0])
        first.advance(token)
        second.advance(token)
    with pytest.raises(LimitError, match="transitions"):
        compiled(Limits(transitions=20), engine="dfa")


@pytest.mark.parametrize("method", ["direct", "cartesian"])
def test_a_method_that_is_asked_for_is_kept_or_ends_at_its_limit(
    method: str, tmp_path: Path
) -> None:
    """No other method, and no other engine, takes its place."""
    path = tmp_path / "g.gbnf"
    path.write_text("root ::= [a-z ]{1,100}\n", encoding="utf-8")

    found = measured("compile", path, "--method", method, "--max-transitions", 500)

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
    """Within the limits, as a product, whose rows count as what is stored of them."""
    grammar = tmp_path / "g.regex"
    grammar.write_text(pattern, encoding="utf-8")
    path = data(f"tokenizers/{name}/tokenizer.json")

    found = measured("compile", grammar, "-t", path, "-o", tmp_path / "g.cst")

    assert (found.code, "product states" in found.stderr) == (0, True), found.stderr
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
    """All masks behind all encodings of all members, by the tokenizer's own library."""
    found = case(name)
    artifact = compile_grammar(pattern, dialect="regex", tokenizer=found.tokenizer)
    members = members_of(pattern)
    encodings = [found.library.encode(text, add_special_tokens=False).ids for text in members]
    expected = following(encodings, artifact.manifest.eos)

    assert check_masks(artifact.matcher(), expected) > len(members)
