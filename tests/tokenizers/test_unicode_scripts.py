"""``UnicodeScripts``, which cuts where the script changes, against the library whose step it is."""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from support.corpus.own_encodings import OwnEncodings, compare_random
from support.corpus.tokenizer_case import Case
from support.library_steps import BYTE_LEVEL, bpe
from tokenizers import Tokenizer, pre_tokenizers

from constrain.compiler import load_tokenizer
from constrain.compiler.tokenizers import byte_alphabet
from constrain.compiler.tokenizers.definition import unicode_scripts
from constrain.compiler.tokenizers.encoding.scripts import script_numbers
from constrain.compiler.tokenizers.encoding.steps import split_text

SPLIT = pre_tokenizers.UnicodeScripts().pre_tokenize_str
STEP = unicode_scripts()

LETTERS = "ab1. яあ漢ー\u0301é"
WORDS = [
    "",
    "a",
    "b1",
    " ",
    "  ",
    "я",
    "あ",
    "漢ー",
    "ー",
    "\u0301",
    ". ",
    "a b",
    "я a",
    " ab",
    "é",
]


def expected(text: str) -> list[str]:
    """The library's own pre-tokens."""
    return [text[start:end] for _, (start, end) in SPLIT(text)]


def many_scripts() -> list[str]:
    """The first and the last character of each run of a script."""
    numbers = script_numbers()
    last = np.flatnonzero(np.diff(numbers))
    codes = [
        code for code in chain(last.tolist(), (last + 1).tolist()) if not 0xD800 <= code < 0xE000
    ]
    return [*map(chr, codes), " ", "a", "1"]


def test_every_character_and_its_neighbour(full: bool) -> None:
    """In the order of code points, and each between Latin and Cyrillic; without --full those of the
    planes in which scripts are."""
    last = sys.maxunicode if full else 0x33FFF
    characters = [chr(c) for c in range(last + 1) if not 0xD800 <= c < 0xE000]
    for low in range(0, len(characters), 4096):
        some = characters[low : low + 4096]
        for text in ("".join(some), "".join(f"a{char}б" for char in some)):
            assert split_text(text, STEP) == expected(text)


def test_random_texts() -> None:
    """10,000 of a few characters each, from all scripts."""
    rng, characters = random.Random(7), many_scripts()
    for _ in range(10_000):
        few = [*rng.choices(characters, k=rng.randrange(1, 7)), *rng.choices(" a1б", k=2)]
        text = "".join(rng.choices(few, k=rng.randrange(20)))
        assert split_text(text, STEP) == expected(text)


@pytest.mark.parametrize("name", ["gpt2", "mistral-v3"])
def test_recorded_texts(name: str, data: Callable[[str], Path], tmp_path: Path) -> None:
    """Ids of the texts of a real tokenizer's vectors, with its vocabulary."""
    folder = data(f"tokenizers/{name}/tokenizer.json").parent
    reference = Tokenizer.from_file(str(folder / "tokenizer.json"))
    steps = [pre_tokenizers.UnicodeScripts(), *[BYTE_LEVEL] * (name == "gpt2")]
    reference.pre_tokenizer = pre_tokenizers.Sequence(steps)
    reference.save(str(tmp_path / "tokenizer.json"))
    tokenizer = load_tokenizer(tmp_path)
    lines = (folder / "vectors.jsonl").read_text("utf-8").splitlines()
    for text in (json.loads(line)["text"] for line in lines):
        assert tokenizer.encode(text) == reference.encode(text, add_special_tokens=False).ids


def test_masks_of_finite_languages(
    tmp_path: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Random merges over bytes and over characters, with and without SentencePiece's spaces: whole
    masks against all encodings, none refused but by DirectMerge."""
    rng, counts = random.Random(8), Counter[str]()
    for number in range(60 if full else 2):
        kind, letters = number % 3, [*LETTERS.replace(" ", "▁" if number % 3 == 2 else " ")]
        if kind == 0:
            alphabet = byte_alphabet.characters()
            letters = [alphabet[octet] for octet in LETTERS.encode()]
        base = dict.fromkeys(char for char in letters if rng.random() < 0.95)
        known, pairs = list(base), dict[tuple[str, str], None]()
        for _ in range(rng.randrange(13)):
            pair = rng.choice(known), rng.choice(known)
            pairs[pair] = None
            known.append("".join(pair))
        library = Tokenizer(bpe({char: i for i, char in enumerate(base)}, list(pairs)))
        steps = [pre_tokenizers.UnicodeScripts()]
        if kind == 2:
            steps.insert(0, pre_tokenizers.Metaspace(split=rng.random() < 0.5))
        if rng.random() < 0.5:
            steps.append(pre_tokenizers.Digits(individual_digits=True))
        library.pre_tokenizer = pre_tokenizers.Sequence(steps + [BYTE_LEVEL] * (kind == 0))
        library.add_special_tokens(["</s>"])
        library.save(str(tmp_path / "tokenizer.json"))
        own = OwnEncodings(Case(tmp_path / "tokenizer.json"))
        for _ in range(3 if full else 1):
            counts += compare_random(own, WORDS, rng)
    for kind, count in counts.items():
        record_property(kind, count)
    assert counts["refused"] + counts["DirectMerge"] == counts["canonical network"]
