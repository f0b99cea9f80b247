"""Whole masks of finite languages on real tokenizers, against all encodings of their library.

After each prefix of a member's encoding exactly the tokens that some member's encoding goes on
with are allowed, and EOS where one ends: by every engine and option.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import offenders, sampled, written
from support.corpus.encodings import check_masks, following
from support.corpus.engines import CANONICAL, DIRECT, ENGINES, NETWORKS
from support.corpus.languages import FINITE, PARTS, random_language
from support.corpus.recorded import Language
from support.corpus.tokenizer_case import SAMPLED, TINY, TOKENIZERS, Case

from constrain.artifacts import ArtifactError
from constrain.compiler.diagnostics import CheckError

Count = Callable[[str, object], None]

# DirectMerge makes a table of all that it follows.
RUNS = [(engine, name) for engine in CANONICAL for name in (*TINY, *TOKENIZERS)]
RUNS = [(engine, name) for engine, name in RUNS if engine not in DIRECT or name in TINY]
INLINED, CALLS = "canonical network", "canonical network, calls"

SOME = [
    *(("DirectMerge", name) for name in TINY),
    *(("CartesianMerge", name) for name in (*TINY, *SAMPLED)),
    *((engine, TINY[1]) for engine in NETWORKS),
    *((f"{INLINED}, lazily", TINY[0]), (f"{CALLS}, lazily", TINY[2])),
    *((CALLS, "gpt2"), (f"{INLINED}, lazily", "gpt2")),
]


@sampled(("engine", "name"), SOME, RUNS)
def test_masks_are_those_of_all_encodings(
    engine: str, name: str, case: Callable[[str], Case], record_property: Count
) -> None:
    """Expressions, and rules that several places call."""
    here = case(name)
    counts = dict.fromkeys(("masks", "tokens"), 0)

    def check(language: Language) -> None:
        artifact = ENGINES[engine].stored(language, here)
        expected = encodings(here, language)
        assert len(expected) > 10
        counts["masks"] += len(expected)
        counts["tokens"] += check_masks(artifact.matcher(), expected)

    assert {} == offenders(FINITE, check)
    for kind, count in counts.items():
        record_property(kind, count)


def encodings(here: Case, language: Language) -> dict[tuple[int, ...], set[int]]:
    """What goes on after each prefix of an encoding of a member that the tokenizer gives back."""
    members = language.members(100_000)
    assert members is not None
    texts = [text.decode() for text in members]
    kept = [
        ids
        for text, ids in zip(texts, here.encode_all(texts), strict=True)
        if here.gives_back(text, ids)
    ]
    return following(kept, here.eos_ids) if kept else {}


def compare_random(here: Case, engine: str, rng: random.Random, languages: int) -> dict[str, int]:
    """Compare the masks of random languages, also after random prompts; what was counted."""
    counts = dict.fromkeys(("languages", "without members", "prompts", "masks", "tokens"), 0)
    for _ in range(languages):
        language = random_language(rng)
        counts["languages"] += 1
        expected = encodings(here, language)
        if not expected:
            counts["without members"] += 1
            with pytest.raises(CheckError):
                ENGINES[engine].artifact(language, here)
            continue
        artifact = ENGINES[engine].artifact(language, here)
        counts["masks"] += len(expected)
        counts["tokens"] += check_masks(artifact.matcher(), expected)
        texts = [text.decode() for text in language.members(100_000) or ()]
        for _ in range(3):
            prompt = "".join(rng.choices(PARTS, k=rng.randrange(1, 4)))
            before = here.encode(prompt)
            expected = following(here.behind(prompt, texts), here.eos_ids)
            counts["prompts"] += bool(expected)
            if not expected:
                with pytest.raises(ArtifactError):
                    artifact.matcher(after=before)
                continue
            counts["masks"] += len(expected)
            counts["tokens"] += check_masks(artifact.matcher(after=before), expected)
    return counts


ENGINES_OF_RANDOM = ("CartesianMerge", INLINED, f"{CALLS}, lazily")


@sampled(
    ("engine", "name"),
    [("CartesianMerge", name) for name in (*SAMPLED, TINY[1])]
    + [(INLINED, TINY[1]), (f"{CALLS}, lazily", TINY[2])],
    [(engine, name) for engine in ENGINES_OF_RANDOM for name in (*TOKENIZERS, *TINY)],
)
def test_masks_of_random_languages(
    engine: str, name: str, case: Callable[[str], Case], full: bool, record_property: Count
) -> None:
    """At the start of a text and after prompts."""
    most = 40 if engine == "CartesianMerge" else 8
    counts = compare_random(case(name), engine, random.Random(name), most if full else 3)
    for kind, count in counts.items():
        record_property(kind, count)


_DIGITS = [
    {"type": "Digits", "individual_digits": True},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
]
_REWRITES = {"type": "Replace", "pattern": {"String": "the"}, "content": "a"}
VARIANTS: dict[str, dict[str, Any]] = {
    **{form: {"normalizer": {"type": form}} for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "lower case": {"normalizer": {"type": "Lowercase"}},
    "a rewritten word": {"normalizer": _REWRITES},
    "no cuts": {"pre_tokenizer": _DIGITS[1]},
    "digits": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": _DIGITS}},
}


@sampled("variant", ["NFC", "lower case", "digits"], VARIANTS)
@sampled("engine", ENGINES_OF_RANDOM[:2], ENGINES_OF_RANDOM)
def test_masks_of_tokenizers_with_other_steps(
    variant: str,
    engine: str,
    data: Callable[[str], Path],
    tmp_path: Path,
    full: bool,
    record_property: Count,
) -> None:
    """The same for a small tokenizer with each of the other steps."""
    value = json.loads(data(f"tokenizers/{TINY[1]}/tokenizer.json").read_bytes())
    path = written(tmp_path, {**value, **VARIANTS[variant]})
    counts = compare_random(Case(path), engine, random.Random(variant), 60 if full else 1)
    for kind, count in counts.items():
        record_property(kind, count)
