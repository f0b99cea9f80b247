"""Steps of published tokenizers on a shared vocabulary: ids and masks as of their libraries."""

import json
import random
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.corpus.own_encodings import OwnEncodings, compare_random
from support.corpus.tokenizer_case import Case
from support.library_steps import KIMI, PUBLISHED, random_text
from tokenizers import Tokenizer

from constrain.compiler import load_tokenizer

Data = Callable[[str], Path]

WORDS = [
    "",
    " ",
    "  ",
    "\n",
    "a",
    " The",
    "'s",
    "12",
    "345",
    "²",
    "½a",
    "日本",
    "é!",
    " ...",
    "\u3000",
]

# Words with Rust's classes and anchors, and what tiktoken has had in place of its first patterns.
RUST = {
    "kimi": KIMI,
    "possessive": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "words": r"\b\w+\b|\B.|^\s+|[^\w]$|[\s\S]",
}


def written(data: Data, folder: Path, name: str) -> Path:
    """GPT-2's vocabulary and merges with the steps of another tokenizer."""
    library = Tokenizer.from_file(str(data("tokenizers/gpt2/tokenizer.json")))
    library.pre_tokenizer = PUBLISHED[name]
    library.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def texts(data: Data, name: str, full: bool) -> list[str]:
    """Those of the recorded vectors, and random ones."""
    rng = random.Random(name)
    lines = data("tokenizers/gpt2/vectors.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [json.loads(line)["text"] for line in lines]
    return recorded + [random_text(rng) for _ in range(10_000 if full else 300)]


@pytest.mark.parametrize("name", PUBLISHED)
def test_ids(data: Data, tmp_path: Path, name: str, full: bool) -> None:
    """As the library of the file encodes."""
    path = written(data, tmp_path, name)
    library, tokenizer = Tokenizer.from_file(str(path)), load_tokenizer(path)
    for text in texts(data, name, full):
        expected = library.encode(text, add_special_tokens=False).ids
        assert (text, expected) == (text, tokenizer.encode(text))


@pytest.mark.parametrize("name", RUST)
def test_ids_of_ranks(data: Data, name: str, full: bool) -> None:
    """As tiktoken encodes, whose patterns are Rust's."""
    tiktoken = pytest.importorskip("tiktoken")
    path = data("tokenizers/gpt2/gpt2.tiktoken")
    lines = map(str.split, path.read_text().splitlines())
    ranks = {b64decode(token): int(rank) for token, rank in lines}
    library = tiktoken.Encoding(name, pat_str=RUST[name], mergeable_ranks=ranks, special_tokens={})
    tokenizer = load_tokenizer(f"{path}@{RUST[name]}")
    for text in texts(data, name, full):
        assert (text, library.encode_ordinary(text)) == (text, tokenizer.encode(text))


@pytest.mark.parametrize("name", PUBLISHED)
def test_masks(data: Data, tmp_path: Path, name: str, full: bool) -> None:
    """Finite languages against all encodings of all members."""
    rng, counts = random.Random(name), Counter[str]()
    own = OwnEncodings(Case(written(data, tmp_path, name), shared=True))
    for _ in range(20 if full else 1):
        counts += compare_random(own, WORDS, rng)
    assert not counts["refused"]
    assert counts["tokens"] > 100
