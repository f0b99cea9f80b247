"""Normalised text to words and words to tokens: from left to right each the longest that fits.

    V = {a, abc, ##b, ##c}     "abcb a-"  ->  abc ##b | a | -

A word is a punctuation character, or lies between these and white space.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from constrain.artifacts.tokens.memo import Made

from .normalizer import SPACE, is_punctuation, is_space
from .prefix_search import longest_of

_LETTER, _SPACE, _PUNCTUATION = 0, 1, 2


class Word(NamedTuple):
    """The tokens of ``text[start:end]``; ``(unknown,)`` if it is unknown."""

    start: int
    end: int
    tokens: tuple[int, ...]


class Words:
    """Tokenizes normalised text.

    ``vocabulary``: token, as it is written, to id. ``indicator``: ♯. ``unknown``: the id of
    the unknown token. ``max_chars``: longer words are unknown. ``initial``, ``suffixes``: the
    tokens that words begin and go on with, the latter without ♯.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], indicator: str, unknown: int, max_chars: int
    ) -> None:
        self._kinds = Made(_kind)
        self._vocabulary, self._indicator = vocabulary, indicator
        self._unknown, self._max_chars = unknown, max_chars
        self.initial, self.suffixes = self._word_tokens()

    def words(self, text: str) -> Iterator[Word]:
        """The words of a text with their places and tokens."""
        begin = 0
        for place, char in enumerate(text + SPACE):
            kind = self._kinds[char]
            if kind == _LETTER:
                continue
            if begin < place:
                yield Word(begin, place, self.word(text[begin:place]))
            begin = place + 1
            if kind == _PUNCTUATION:
                yield Word(place, begin, self.word(char))

    def word(self, word: str) -> tuple[int, ...]:
        """The tokens of one word: a punctuation character, or text without any and white space."""
        if not 0 < len(word) <= self._max_chars:
            return (self._unknown,) if word else ()
        whole = self._vocabulary.get(word)
        if whole is not None:
            return (whole,)
        tokens, place = list[int](), 0
        ids, (longest_at, further) = self.initial, self._searches
        while place < len(word):
            found = longest_at(word, place)
            if not found:
                return (self._unknown,)
            tokens.append(ids[found])
            place += len(found)
            ids, longest_at = self.suffixes, further
        return tuple(tokens)

    @cached_property
    def _searches(self) -> tuple[Callable[[str, int], str], Callable[[str, int], str]]:
        """For the first token of a word, and for the others."""
        return longest_of(self.initial), longest_of(self.suffixes)

    def _word_tokens(self) -> tuple[dict[str, int], dict[str, int]]:
        """No word has punctuation or white space beside other characters, so no token needs to."""
        kinds, mark = self._kinds, self._indicator
        initial, suffixes = {}, {}
        for token, token_id in self._vocabulary.items():
            is_mark = len(token) == 1 and kinds[token] == _PUNCTUATION
            if is_mark or not any(map(kinds.__getitem__, token)):
                initial[token] = token_id
            rest = token.removeprefix(mark)
            if token.startswith(mark) and not any(map(kinds.__getitem__, rest)):
                suffixes[rest] = token_id
        return initial, suffixes


def _kind(char: str) -> int:
    """What a character is to the pre-tokenizer."""
    return _SPACE if is_space(char) else _PUNCTUATION if is_punctuation(char) else _LETTER
