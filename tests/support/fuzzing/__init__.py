"""Hostile input for tests: seeds, what becomes of them by chance, and calls that are measured."""

from pathlib import Path
from typing import Any

from constrain.compiler.tokenizers import byte_alphabet
from support import tokenizer_json, written

_LETTERS = "".join(map(chr, range(32, 127))) + "\n\té"
_MERGES = ("a b", "ab c", '{ "', '" }', "1 2", "\u0120 a", "t r", "tr u", "tru e")


def small_tokenizer(folder: Path) -> Path:
    """A byte-level BPE of ASCII and é with a few merges and an end of text, as a file."""
    value = tokenizer_json(_LETTERS, _MERGES, added=[(110, "<eos>", True)])
    return written(folder / "tokenizer.json", value)


def all_bytes_tokenizer() -> dict[str, Any]:
    """A ``tokenizer.json`` of all bytes with tokens of whole pre-tokens: with and without a
    normalizer, tables of every kind that is cached are made of it."""
    vocab = {c: i for i, c in enumerate(byte_alphabet.characters())}
    vocab |= {text: 256 + i for i, text in enumerate(("ab", "abc", "bc", "Ġa", "xyz"))}
    return {
        "added_tokens": [{"id": 270, "content": "<end>", "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "use_regex": False},
        "model": {
            "type": "BPE",
            "vocab": vocab,
            "merges": ["a b", "ab c", "b c", "Ġ a"],
            "ignore_merges": True,
        },
    }
