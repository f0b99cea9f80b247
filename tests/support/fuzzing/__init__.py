"""Hostile input for tests: seeds, what becomes of them by chance, and calls that are measured."""

from pathlib import Path

from support import tokenizer_json, written

_LETTERS = "".join(map(chr, range(32, 127))) + "\n\té"
_MERGES = ("a b", "ab c", '{ "', '" }', "1 2", "\u0120 a", "t r", "tr u", "tru e")


def small_tokenizer(folder: Path) -> Path:
    """A byte-level BPE of ASCII and é with a few merges and an end of text, as a file."""
    value = tokenizer_json(_LETTERS, _MERGES, added=[(110, "<eos>", True)])
    return written(folder / "tokenizer.json", value)
