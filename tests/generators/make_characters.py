"""Write ``compiler/wordpiece/characters.json``: what BERT's normalizer does to each character.

    python -m tests.generators.make_characters > compiler/wordpiece/characters.json

The reference implementation has the Unicode tables that it was built with, which are neither
Python's nor the newest, so its normalizer and its pre-tokenizer are run on every code point. Hangul
syllables are left out: ``wordpiece.normalizer`` decomposes them by arithmetic. Run this again to
move to another version, and say so in the changelog.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator

import tokenizers
from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

FLAGS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
HANGUL = range(0xAC00, 0xAC00 + 11_172)

# Marks of the lowest and the highest combining class: one of them moves past any other mark.
LOWEST, HIGHEST = "\u0334", "\u0345"


def ranges(codes: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending code points as ranges."""
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def changed_by(flag: str) -> dict[str, str]:
    """The characters that a part of the normalizer changes, with what they become."""
    normalize = BertNormalizer(**{name: name == flag for name in FLAGS}).normalize_str
    return {char: text for char in characters() if (text := normalize(char)) != char}


def characters() -> Iterator[str]:
    """Every code point but surrogates, which are no characters."""
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code <= 0xDFFF:
            yield chr(code)


def is_reordered(char: str) -> bool:
    """Whether the character changes places with a mark of another combining class."""
    nfd = NFD().normalize_str
    decomposed = nfd(char)
    return nfd(char + LOWEST) != decomposed + LOWEST or nfd(HIGHEST + char) != HIGHEST + decomposed


def main() -> None:
    """Print the tables."""
    cleaned, stripped = changed_by("clean_text"), changed_by("strip_accents")
    nfd = NFD().normalize_str
    whole = {char: text for char in characters() if (text := nfd(char)) != char}
    split = BertPreTokenizer().pre_tokenize_str
    parts = {char: [part for part, _ in split(f"a{char}b")] for char in characters()}
    # Combining classes are stable; which characters have one depends on the Unicode version.
    classes: dict[int, list[int]] = {}
    for char in characters():
        if char not in whole and is_reordered(char):
            classes.setdefault(unicodedata.combining(char), []).append(ord(char))
    table = {
        "tokenizers": tokenizers.__version__,
        "removed": ranges(ord(char) for char, text in cleaned.items() if not text),
        "spaces": ranges(ord(char) for char, text in cleaned.items() if text),
        "spaced": ranges(map(ord, changed_by("handle_chinese_chars"))),
        "marks": ranges(ord(char) for char, text in stripped.items() if not text),
        "decomposed": {char: text for char, text in whole.items() if ord(char) not in HANGUL},
        "combining": {str(number): ranges(codes) for number, codes in sorted(classes.items())},
        "lower": changed_by("lowercase"),
        "white_space": ranges(ord(char) for char, found in parts.items() if found == ["a", "b"]),
        "punctuation": ranges(ord(char) for char, found in parts.items() if len(found) == 3),
    }
    json.dump(table, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
