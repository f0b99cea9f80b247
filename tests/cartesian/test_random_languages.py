"""Whole masks of random finite languages, at the start of a text and behind random prompts."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import written
from support.canonical import following
from support.cartesian import SAMPLED, TINY, TOKENIZERS, Case, check_masks, members_of

from constrain.artifacts import ArtifactError
from constrain.compiler.diagnostics import CheckError

# What some tokenizer cuts, joins, rewrites or takes for something else.
PARTS = [
    *(
        " ",
        "  ",
        "\n",
        "\r",
        "\t",
        "\r\n",
        "\u00a0",
        "\u2028",
        "\u3000",
        "\u200d",
        "\ufeff",
        "\x00",
    ),
    *("a", "I", "A", "the", " the", "The", "ing", "s", "tion", "un", "http", "://", "_", "x_"),
    *(
        "'",
        "'s",
        "'S",
        "'ſ",
        "'ll",
        "n't",
        "’s",
        '"',
        "\\n",
        '":',
        "{",
        "}",
        "()",
        "=>",
        "...",
        "-",
    ),
    *("1", "12", "200", "2024", ",", ".", "!", "½", "²", "é", "e\u0301", "\u0301", "\u0323", "ß"),
    *(
        "ſ",
        "İ",
        "Å",
        "漢",
        "東京",
        "カ",
        "\u3099",
        "ก็",
        "\u0e33",
        "क्",
        "각",
        "ᄀ",
        "ᅡ",
        "😀",
        "👍🏽",
    ),
    *("▁", "▁▁", "<0x41>", "<", "|>", "<|endoftext|>", "<s>", "</s>", "[INST]", "<|im_end|>"),
]
_META = set("\\|()[]{}?*+.^$")
_MOST = 1200


def random_language(rng: random.Random) -> str:
    """A regex with at most ``_MOST`` members."""
    while True:
        regex, size = "", 1
        for _ in range(rng.randrange(2, 6)):
            parts = rng.sample(PARTS, rng.randrange(1, 6))
            least, most = rng.choice([(1, 1), (1, 1), (0, 1), (0, 2), (1, 2), (2, 2)])
            escaped = ("".join(f"\\{c}" if c in _META else c for c in part) for part in parts)
            regex += f"({'|'.join(escaped)}){{{least},{most}}}"
            size *= sum(len(parts) ** n for n in range(least, most + 1))
        if size <= _MOST:
            return regex


def compared(
    here: Case, rng: random.Random, languages: int, method: str = "auto"
) -> dict[str, int]:
    """Compare the masks of random languages; what was counted."""
    counts = dict.fromkeys(("languages", "without members", "prompts", "masks", "tokens"), 0)
    for _ in range(languages):
        regex = random_language(rng)
        texts = members_of(regex, 200)
        found = [text for text in texts if here.is_left_alone(text)]
        counts["languages"] += 1
        if not found:
            counts["without members"] += 1
            with pytest.raises(CheckError):
                here.compiled(regex, method)
            continue
        artifact = here.compiled(regex, method)
        expected = following(map(here.encode, found), artifact.manifest.eos)
        counts["masks"] += len(expected)
        counts["tokens"] += check_masks(artifact.matcher(), expected)
        for _ in range(3):
            prompt = "".join(rng.choices(PARTS, k=rng.randrange(1, 4)))
            before = here.encode(prompt)
            expected = following(here.behind(prompt, texts), artifact.manifest.eos)
            counts["prompts"] += bool(expected)
            if not expected:
                with pytest.raises(ArtifactError):
                    artifact.matcher(after=before)
                continue
            counts["masks"] += len(expected)
            counts["tokens"] += check_masks(artifact.matcher(after=before), expected)
    return counts


@pytest.mark.parametrize("name", [*TOKENIZERS, *TINY])
def test_masks_of_random_languages(
    name: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """After each prefix of an encoding the tokens that some member's goes on with, no others."""
    if not full and name not in (*SAMPLED, TINY[1]):
        pytest.skip("sampled: --full runs all tokenizers")
    counts = compared(case(name), random.Random(name), 40 if full else 3)
    for kind, count in counts.items():
        record_property(kind, count)


@pytest.mark.parametrize("name", [*TOKENIZERS, *TINY])
def test_masks_of_networks_of_random_languages(
    name: str,
    case: Callable[[str], Case],
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """The same for networks."""
    if not full and name != TINY[1]:
        pytest.skip("sampled: --full runs all tokenizers")
    counts = compared(case(name), random.Random(name), 8 if full else 3, "network")
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


@pytest.mark.parametrize("method", ["auto", "network"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_masks_of_tokenizers_with_other_steps(
    variant: str,
    method: str,
    data: Callable[[str], Path],
    tmp_path: Path,
    full: bool,
    record_property: Callable[[str, object], None],
) -> None:
    """The same for a small tokenizer with each of the other steps."""
    if not full and variant not in ("NFC", "lower case", "digits"):
        pytest.skip("sampled: --full runs all steps")
    value = json.loads(data(f"tokenizers/{TINY[1]}/tokenizer.json").read_bytes())
    path = written(tmp_path, {**value, **VARIANTS[variant]})
    counts = compared(Case(path), random.Random(variant), 60 if full else 2, method)
    for kind, count in counts.items():
        record_property(kind, count)
