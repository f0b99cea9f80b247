"""BERT's normalizer and pre-tokenizer: what each character becomes, and where words end.

The normalizer works character by character (clean up, space around CJK, decompose and drop
accents, lower-case, in this order), but for one thing: marks of a combining class that
survive are put into canonical order. ``characters.json`` says what each part does.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from constrain.artifacts.tokens.memo import Made

SPACE = " "

_HANGUL, _HANGUL_COUNT = 0xAC00, 11_172
_LEADING, _VOWEL, _TRAILING = 0x1100, 0x1161, 0x11A7
_VOWELS, _TRAILINGS = 21, 28


class CodeRanges:
    """A set of characters; ``ranges``: code points, first and last, ascending."""

    def __init__(self, ranges: Sequence[Sequence[int]]) -> None:
        self.ranges = [(low, high) for low, high in ranges]
        self._starts = [low for low, _ in ranges]
        self._ends = [high for _, high in ranges]

    def __contains__(self, code: int) -> bool:
        place = bisect_right(self._starts, code) - 1
        return place >= 0 and code <= self._ends[place]

    def codes(self) -> Iterable[int]:
        """All code points, ascending."""
        for low, high in self.ranges:
            yield from range(low, high + 1)


@dataclass(frozen=True, slots=True)
class CharacterTables:
    """``characters.json``; ``make_characters.py`` says what each table is."""

    removed: CodeRanges
    spaces: CodeRanges
    spaced: CodeRanges
    marks: CodeRanges
    white_space: CodeRanges
    punctuation: CodeRanges
    decomposed: Mapping[str, str]
    lower: Mapping[str, str]
    combining: Mapping[str, int]


@cache
def character_tables() -> CharacterTables:
    """The tables, read once."""
    text = files(__package__).joinpath("characters.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return CharacterTables(
        **{name: CodeRanges(value) for name, value in data.items() if isinstance(value, list)},
        decomposed=data["decomposed"],
        lower=data["lower"],
        combining={
            chr(code): int(number)
            for number, ranges in data["combining"].items()
            for code in CodeRanges(ranges).codes()
        },
    )


@dataclass(frozen=True)
class BertNormalizer:
    """The four parts of BERT's normalizer; each may be left out."""

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "BertNormalizer":
        """That of a file's options. Accents are stripped where it does not say so if the text is
        lower-cased."""
        lowercase, strip = options.get("lowercase", True), options.get("strip_accents")
        return cls(
            clean_text=bool(options.get("clean_text", True)),
            handle_chinese_chars=bool(options.get("handle_chinese_chars", True)),
            strip_accents=bool(lowercase if strip is None else strip),
            lowercase=bool(lowercase),
        )

    def changed(self) -> Iterable[int]:
        """The code points that it does not write as they are."""
        tables = character_tables()
        if self.clean_text:
            yield from tables.removed.codes()
            yield from (code for code in tables.spaces.codes() if chr(code) != SPACE)
        if self.handle_chinese_chars:
            yield from tables.spaced.codes()
        if self.strip_accents:
            yield from tables.marks.codes()
            yield from map(ord, tables.decomposed)
            yield from range(_HANGUL, _HANGUL + _HANGUL_COUNT)
        if self.lowercase:
            yield from map(ord, tables.lower)

    def image(self, char: str) -> str:
        """What a character becomes, the order of marks apart; white space becomes a space.

        ``É -> e``, ``中 -> " 中 "``, a zero-width space becomes nothing.
        """
        tables, code = character_tables(), ord(char)
        if self.clean_text:
            if code in tables.removed:
                return ""
            if code in tables.spaces:
                return SPACE
        text = char
        if self.strip_accents:
            text = "".join(c for c in _decomposed(char) if ord(c) not in tables.marks)
        if self.lowercase:
            text = "".join(tables.lower.get(c, c) for c in text)
        if self.handle_chinese_chars and code in tables.spaced:
            text = f"{SPACE}{text}{SPACE}"
        return text

    def normalize(self, text: str) -> str:
        """The normalised text. O(n), but for runs of marks, which are sorted."""
        if self._reorders(text):
            return self._normalize_in_order(text)[0]
        return text.translate(self._images)

    def normalize_aligned(self, text: str) -> tuple[str, list[int]]:
        """The normalised text, and for each of its characters the one of ``text`` it came from."""
        if self._reorders(text):
            return self._normalize_in_order(text)
        out: list[str] = []
        origins: list[int] = []
        for place, char in enumerate(text):
            image = self._images[ord(char)]
            image = chr(image) if isinstance(image, int) else image
            out.append(image)
            origins.extend([place] * len(image))
        return "".join(out), origins

    def spaced(self, text: str) -> str:
        """The normalised text with a space around every punctuation character.

        Between spaces there are then the words that the pre-tokenizer makes.
        """
        if self._reorders(text):
            text = self._normalize_in_order(text)[0]
        return text.translate(self._spaced_images)

    def canonical(self, text: str) -> str:
        """The words between single spaces; a space at the end if the last one has ended."""
        spaced = self.spaced(text)
        words = [word for word in spaced.split(SPACE) if word]
        return SPACE.join(words) + (SPACE if words and spaced.endswith(SPACE) else "")

    @cached_property
    def _spaced_images(self) -> Mapping[int, int | str]:
        return _images_by(lambda char: "".join(map(_between_spaces, self.image(char))))

    @cached_property
    def _images(self) -> Mapping[int, int | str]:
        return _images_by(self.image)

    def _reorders(self, text: str) -> bool:
        """Whether a mark that survives may change places."""
        return self.strip_accents and not text.isascii() and not _moving().isdisjoint(text)

    def _normalize_in_order(self, text: str) -> tuple[str, list[int]]:
        """Decompose, sort each run of marks by combining class, then do the rest.

        As the reference implementation has it, a character that was there before is said to
        come from where it now stands, one that a decomposition adds from the one before it.
        """
        tables = character_tables()
        before = replace(self, strip_accents=False, lowercase=False)
        after = replace(self, clean_text=False, handle_chinese_chars=False)
        spaced, sources = before.normalize_aligned(text)
        parts = [(c, k > 0) for char in spaced for k, c in enumerate(_decomposed(char))]
        start = 0
        while start < len(parts):
            end = start
            while end < len(parts) and parts[end][0] in tables.combining:
                end += 1
            parts[start:end] = sorted(parts[start:end], key=lambda p: tables.combining[p[0]])
            start = max(end, start + 1)
        out: list[str] = []
        origins: list[int] = []
        read = 0
        for char, added in parts:
            read += not added
            image = after.image(char)
            out.append(image)
            origins.extend([sources[max(read - 1, 0)]] * len(image))
        return "".join(out), origins


NO_NORMALIZER = BertNormalizer(False, False, False, False)


@cache
def _moving() -> frozenset[str]:
    """The characters with a mark, in their decomposition, that strip_accents leaves."""
    tables = character_tables()
    marks = {c for c in tables.combining if ord(c) not in tables.marks}
    return frozenset(marks.union(c for c, s in tables.decomposed.items() if marks & set(s)))


def _images_by(image: Callable[[str], str]) -> Mapping[int, int | str]:
    """A table for ``str.translate`` that fills itself in."""

    def found(code: int) -> int | str:
        char = chr(code)
        made = image(char)
        return code if made == char else made

    return Made(found)


def _decomposed(char: str) -> str:
    """Canonical decomposition (NFD) of one character."""
    index = ord(char) - _HANGUL
    if not 0 <= index < _HANGUL_COUNT:
        return character_tables().decomposed.get(char, char)
    leading, rest = divmod(index, _VOWELS * _TRAILINGS)
    vowel, trailing = divmod(rest, _TRAILINGS)
    text = chr(_LEADING + leading) + chr(_VOWEL + vowel)
    return text + chr(_TRAILING + trailing) if trailing else text


def _between_spaces(char: str) -> str:
    return f"{SPACE}{char}{SPACE}" if is_punctuation(char) else SPACE if is_space(char) else char


def is_space(char: str) -> bool:
    """Whether the pre-tokenizer splits at the character and drops it."""
    return ord(char) in character_tables().white_space


def is_punctuation(char: str) -> bool:
    """Whether the pre-tokenizer makes the character a word of its own."""
    return ord(char) in character_tables().punctuation
