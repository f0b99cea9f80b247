"""What each code point becomes in canonical text: letters of the vocabulary, a space, nothing.

Canonical text is what the end-to-end tokenizer sees: normalised words between single spaces,
punctuation and CJK characters as words of their own. Two texts with the same canonical text
have the same tokens.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from .normalizer import NO_NORMALIZER, SPACE, BertNormalizer, character_tables
from .tokenizer import WordPieceTokenizer

CODE_POINTS = 0x110000
OTHER = 0

# A character that no token has: in UTF-8 with ``surrogateescape`` the byte 0xFF.
OTHER_LETTER = "\udcff"

_HANGUL = range(0xAC00, 0xAC00 + 11_172)


@dataclass(frozen=True, slots=True, eq=False)
class ImageTable:
    """``texts[i]`` is an image; ``numbers``, int32 (0x110000,), says which each code point has.

    Image ``OTHER`` (None) is that of code points that become a character which no token has,
    and of surrogates; a word with one is unknown. With ``keep_unknown`` ``OTHER_LETTER``
    stands for each such character, and None is no image.
    """

    texts: tuple[str | None, ...]
    numbers: NDArray[np.int32]


def image_table(tokenizer: WordPieceTokenizer, *, keep_unknown: bool = False) -> ImageTable:
    """The images of all code points; ``keep_unknown``: also of those that no token has.

    Raises ``TokenizerError`` for a vocabulary in which the order of marks would matter.
    """
    normalizer = tokenizer.normalizer or NO_NORMALIZER
    words = tokenizer.words
    # Of the tokens that words are made of, and the space.
    alphabet = frozenset(SPACE).union(*words.initial, *words.suffixes)
    _refuse_marks(alphabet)
    number: dict[str, int] = {"": 1}
    numbers = np.full(CODE_POINTS, OTHER, dtype=np.int32)
    images = {**_changed(normalizer), **{ord(c): normalizer.spaced(c) for c in sorted(alphabet)}}
    if keep_unknown and normalizer.handle_chinese_chars:
        spaced = number.setdefault(f"{SPACE}{OTHER_LETTER}{SPACE}", len(number) + 1)
        for low, high in character_tables().spaced.ranges:
            numbers[low : high + 1] = spaced
    for code, image in images.items():
        if keep_unknown:
            image = "".join(c if c in alphabet else OTHER_LETTER for c in image)
        if keep_unknown or alphabet.issuperset(image):
            numbers[code] = number.setdefault(image, len(number) + 1)
    for low, high in character_tables().removed.ranges if normalizer.clean_text else ():
        numbers[low : high + 1] = number[""]
    return ImageTable((OTHER_LETTER if keep_unknown else None, *number), numbers)


@cache
def _changed(normalizer: BertNormalizer) -> dict[int, str]:
    """The images of the code points that are not their own, and of some that are."""
    tables = character_tables()
    codes = {*map(ord, tables.decomposed), *map(ord, tables.lower), *_HANGUL}
    for ranges in (tables.marks, tables.spaces, tables.white_space, tables.punctuation):
        codes.update(ranges.codes())
    return {code: normalizer.spaced(chr(code)) for code in sorted(codes)}


def _refuse_marks(alphabet: frozenset[str]) -> None:
    """The normalizer sorts marks by combining class, which images cannot express."""
    tables = character_tables()
    marks = sorted(alphabet & {c for c in tables.combining if ord(c) not in tables.marks})
    if len({tables.combining[mark] for mark in marks}) > 1:
        shown = ", ".join(f"U+{ord(mark):04X}" for mark in marks)
        raise TokenizerError(f"masks for a vocabulary with the marks {shown} are not supported")
