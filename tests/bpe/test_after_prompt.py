"""Masks behind a prompt, against the library's encoding of prompt and member together."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import tokenizer_json, written
from support.canonical import GRAMMARS, member
from support.cartesian import TOKENIZERS, Case, skip_unless_sampled

from constrain.artifacts import ArtifactError
from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar, load_tokenizer

PROMPTS = [
    *("The answer is", "x = ", "It's 20", "a\n\n", "Größe: ", "don'", "  ", "1", '{"', "東京"),
    *("http", "```\n", "x\t", "I", "e", "\r\n", "12 3", "“", "ap", "no", "क", "😀", "https://"),
    *("re@", "-", "we'll", "they don't", "it's "),
]


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_after_a_prompt(
    name: str,
    grammar: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """Where the tokenizer keeps the prompt's last boundary, the one sequence of a member is what
    the tokenizer puts behind the prompt; where it does not, the member has none."""
    skip_unless_sampled(name, grammar, full)
    here = case(name)
    artifact = here.artifact(grammar)
    eos = artifact.manifest.eos[0]
    rng = random.Random(3)
    counts = {"kept": 0, "not kept": 0}
    while sum(counts.values()) < (250 if full else 20):
        prompt, text = rng.choice(PROMPTS), member(grammar, rng)
        before, whole = here.encode(prompt), here.encode(prompt + text)
        if not text or not here.gives_back(prompt + text, whole):
            continue
        keeps = whole[: len(before)] == before
        counts["kept" if keeps else "not kept"] += 1
        rest = whole[len(before) :]
        try:
            matcher = artifact.matcher(after=before)
        except ArtifactError:
            assert not keeps, (prompt, text)
            continue
        expected = [rest] if keeps else []
        assert expected == here.spelled(matcher, text.encode()), (prompt, text)
        matcher = artifact.matcher(after=before)
        for token_id in rest if keeps else ():
            matcher.advance(token_id)
        assert not keeps or tokenset.contains(matcher.mask(), eos)
    assert counts["kept"] > 5
    for kind, count in counts.items():
        record_property(kind, count)


def test_behind_a_contraction(tmp_path: Path) -> None:
    """There the pre-tokenizer is in its start state again."""
    value = tokenizer_json("abt'", ["t b"], added=[(5, "<eos>", True)], splits=True)
    tokenizer = load_tokenizer(written(tmp_path, value))
    artifact = compile_grammar("[ab]", dialect="regex", tokenizer=tokenizer)
    for prompt, allowed in (("a't", [0, 1]), ("at", [0]), ("a'", [0, 1]), ("a't't", [0, 1])):
        mask = artifact.matcher(after=tokenizer.encode(prompt)).mask()
        assert tokenset.to_ids(mask).tolist() == allowed, prompt
