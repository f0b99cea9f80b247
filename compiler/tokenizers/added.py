"""Finding added tokens in text."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from .steps import AddedToken
from .unicode_versions import WHITE_SPACE, as_cut

if TYPE_CHECKING:
    import regex


class AddedTokens:
    """Some added tokens and the texts that they are found by.

    Matching is leftmost, then longest, and goes on behind a match, whether or not the token's
    options let it count.
    """

    def __init__(self, tokens: Iterable[tuple[str, AddedToken]]) -> None:
        self._tokens = {text: token for text, token in tokens if text}

    def __bool__(self) -> bool:
        return bool(self._tokens)

    @property
    def texts(self) -> Iterable[str]:
        """What is looked for."""
        return self._tokens.keys()

    @cached_property
    def _pattern(self) -> "regex.Pattern[str]":
        import regex

        names = sorted(self._tokens, key=lambda name: (-len(name), name))
        return regex.compile("|".join(map(regex.escape, names)), regex.VERSION0)

    def parts(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Stretches (start, end, token or None) in order, none of them empty."""
        end = 0
        for match in self._pattern.finditer(text) if self._tokens else ():
            token = self._tokens[match.group()]
            start, stop = match.span()
            if token.single_word and not _alone(text, start, stop):
                continue
            if token.lstrip:
                start = max(len(text[:start].rstrip(WHITE_SPACE)), end)
            if token.rstrip:
                stop = len(text) - len(text[stop:].lstrip(WHITE_SPACE))
            if end < start:
                yield end, start, None
            yield start, stop, token
            end = stop
        if end < len(text):
            yield end, len(text), None


def _alone(text: str, start: int, stop: int) -> bool:
    """Whether no character of a word touches the stretch."""
    return not (_in_word(text[start - 1 : start]) or _in_word(text[stop : stop + 1]))


def _in_word(char: str) -> bool:
    import regex

    return bool(regex.match(r"\w", as_cut(char)))
