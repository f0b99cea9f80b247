"""What is precomputed has bounds in bytes and in work; masks stay as they are."""

import random
from dataclasses import replace
from typing import Any

import pytest
from support.grammars import JSON

from constrain.artifacts import Artifact
from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, WeakerMasksWarning, compile_grammar
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Effort, Exhausted, Limits
from constrain.compiler.notes import is_of_masks
from constrain.compiler.options import CompileOptions

# Palindromes of words: masks depend on all that was written.
PALINDROMES = (
    "s ::= " + " | ".join(f'"{a}{b}" s "{b}{a}"' for a in "abcdefgh" for b in "uvwxyz") + ' | "-";'
)


@pytest.mark.quick
@pytest.mark.parametrize("text", [JSON, PALINDROMES], ids=["all", "some"])
def test_what_is_precomputed_by_default_has_a_bound(
    text: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bytes of rows; what is left out is said, a number of summaries asks for more, and masks
    stay as they are."""
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    options["tokenization"] = "any"
    asked = compile_grammar(text, **options, prewarm=50_000)
    most = asked.arrays["memo.rows"].nbytes // 4
    monkeypatch.setattr("constrain.compiler.options.ROWS_BYTES", most)
    found = compile_grammar(text, **options)

    assert found.arrays["memo.rows"].nbytes <= most
    assert any(map(is_of_masks, found.notes))
    assert text is PALINDROMES or not any(map(is_of_masks, asked.notes))
    assert walked(found, seed=3) == walked(asked, seed=3)


@pytest.mark.quick
def test_work_is_counted(default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With less of it fewer rows are precomputed, and the same ones each time."""
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    whole = compile_grammar(JSON, **options)
    monkeypatch.setattr("constrain.compiler.options.DEFAULT_WORK", 1 << 23)
    found = [compile_grammar(JSON, **options) for _ in range(2)]

    assert any(map(is_of_masks, found[0].notes))
    assert found[0].to_bytes() == found[1].to_bytes()
    assert found[0].manifest.counts["answers"] < whole.manifest.counts["answers"]
    assert compile_grammar(JSON, **options, prewarm=50_000).to_bytes() == whole.to_bytes()


@pytest.mark.quick
@pytest.mark.parametrize("precompute", [None, "none"])
def test_a_first_mask_that_takes_too_much_is_of_any_tokens(
    precompute: str | None, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No artifact has canonical masks that nobody can wait for, unless they are asked for."""
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    options["precompute"] = precompute
    any_tokens = compile_grammar(JSON, **options, tokenization="any")
    whole = compile_grammar(JSON, **options, tokenization="canonical")
    work = "constrain.compiler.canonical_network.sections._FIRST_MASK_WORK"
    monkeypatch.setattr(work, 1 << 10)
    with pytest.warns(WeakerMasksWarning, match="the mask before any token needs more than 1,024"):
        found = compile_grammar(JSON, **options)
    asked = compile_grammar(JSON, **options, tokenization="canonical")

    assert found.manifest.tokenization == "any"
    assert found.manifest.counts["answers"] == 0
    assert walked(found, seed=3) == walked(any_tokens, seed=3)
    assert asked.to_bytes() == whole.to_bytes()


def walked(artifact: Artifact, seed: int, most: int = 60) -> list[tuple[bytes, int]]:
    """The masks along a random text, with the tokens taken."""
    rng = random.Random(seed)
    matcher = artifact.matcher()
    found = []
    while len(found) < most and not matcher.is_finished:
        mask = matcher.mask()
        token = rng.choice(tokenset.to_ids(mask).tolist())
        found.append((mask.tobytes(), token))
        matcher.advance(token)
    return found


def test_rows_of_a_regular_grammar_that_has_none_are_found_once(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No mask that was met walks again; where ``cache_bytes`` holds but some, masks stay."""
    options: dict[str, Any] = {"dialect": "regex", "tokenizer": default_tokenizer}
    options |= {"tokenization": "any", "engine": "dfa"}
    text = "[a-z]{2,5} [0-9]+(x|y[a-m]*)"
    expected = walked(compile_grammar(text, **options), 3)
    artifact = compile_grammar(text, prewarm=0, **options)
    small = Artifact(artifact.manifest, artifact.arrays, cache_bytes=9_000)

    assert walked(artifact, 3) == expected
    assert walked(small, 3) == expected
    monkeypatch.setattr(MetMasks, "_made_row", None)
    assert walked(artifact, 3) == expected


@pytest.mark.quick
@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_time_that_is_over_leaves_an_artifact(
    tokenization: str, default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found until then is in it, a note says how much, and masks stay as they are."""
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    options["tokenization"] = tokenization
    whole, spend, spent = compile_grammar(JSON, **options), Effort.spend, list[int]()

    def over(self: Effort, work: int, size: int = 0) -> None:
        if self.within is not None:
            spent.append(work)
            if len(spent) > 100:
                raise Exhausted from LimitError("the masks", "seconds", 1.0, is_measured=True)
        spend(self, work, size)

    monkeypatch.setattr(Effort, "spend", over)
    found = compile_grammar(JSON, **options)

    assert len(spent) > 100
    assert [note for note in found.notes if is_of_masks(note)]
    assert not any(map(is_of_masks, whole.notes))
    monkeypatch.undo()
    assert walked(found, seed=5) == walked(whole, seed=5)


@pytest.mark.quick
def test_a_clock_of_precomputing_ends_before_the_others(default_tokenizer: Tokenizer) -> None:
    """With no seconds left for it nothing is precomputed, and the rest is there."""
    limits = Limits(seconds=60.0).started()
    assert limits.for_precomputing(0.0).is_over()
    assert not limits.for_precomputing().is_over()
    assert not limits.is_over()
    options: dict[str, Any] = {"dialect": "kbnf", "tokenizer": default_tokenizer}
    found = compile_grammar(JSON, **options, precompute=0.0)
    assert "masks: none precomputed, all when met" in found.notes


def test_what_is_precomputed_is_said_in_words(default_tokenizer: Tokenizer) -> None:
    """They are the bounds that numbers are."""
    assert CompileOptions(precompute="none") == CompileOptions(prewarm=0)
    assert CompileOptions(precompute="all").wants_all_masks
    assert replace(CompileOptions(precompute=2.0), prewarm=0).prewarm == 0
    for wrong in ("some", -1.0, float("nan")):
        with pytest.raises(ValueError, match="precompute must be"):
            CompileOptions(precompute=wrong)
