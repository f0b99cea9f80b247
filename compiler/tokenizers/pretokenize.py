"""Cutting text into the pieces that are merged each for itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

# GPT-2's pattern: contractions, words, numbers and symbols with a space before them, and
# white space, of which the last character goes with the word that follows.
BYTE_LEVEL_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@dataclass(frozen=True)
class Splitter:
    """Cuts text at the matches of ``pattern``; text between two matches is a piece too."""

    pattern: str

    @cached_property
    def _compiled(self) -> "regex.Pattern[str]":
        import regex

        return regex.compile(self.pattern)

    def pieces(self, text: str) -> Iterator[str]:
        """The pieces in order; together they are ``text``."""
        end = 0
        for match in self._compiled.finditer(text):
            if match.start() > end:
                yield text[end : match.start()]
            if match.end() > match.start():
                yield match.group()
            end = match.end()
        if end < len(text):
            yield text[end:]
