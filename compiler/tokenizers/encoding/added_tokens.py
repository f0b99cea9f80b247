"""Find added tokens in a text by their names: leftmost first, then the longest."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ...wordpiece.prefix_search import PrefixSearch
from ..definition import AddedToken, Definition
from .patterns import WHITE_SPACE, as_cut
from .steps import normalize


class AddedTokens:
    """Some added tokens and the texts that they are found by.

    The search goes on after a match even if the token's options (``single_word``) do not let it
    count. Empty texts are never found.
    """

    def __init__(self, tokens: Iterable[tuple[str, AddedToken]]) -> None:
        self._tokens = {text: token for text, token in tokens if text}

    def __bool__(self) -> bool:
        return bool(self._tokens)

    @property
    def tokens(self) -> Mapping[str, AddedToken]:
        """The tokens by the texts that are searched."""
        return self._tokens

    @property
    def texts(self) -> Iterable[str]:
        """The texts that are searched."""
        return self._tokens.keys()

    @cached_property
    def _first(self) -> "re.Pattern[str]":
        """Matches the first character of any of the texts."""
        return re.compile(f"[{re.escape(''.join(sorted({text[0] for text in self._tokens})))}]")

    @cached_property
    def _search(self) -> PrefixSearch:
        return PrefixSearch(self._tokens)

    def _matches(self, text: str) -> Iterator[tuple[int, str]]:
        """Starts and texts of all matches: leftmost, then longest, none overlapping another."""
        free = 0
        for candidate in self._first.finditer(text) if self._tokens else ():
            start = candidate.start()
            if start < free:
                continue
            found = self._search.longest_at(text, start)
            if found:
                yield start, found
                free = start + len(found)

    def parts(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """The text as (start, end, token or None) in order and without gaps; none is empty."""
        end = 0
        for start, found in self._matches(text):
            token, stop = self._tokens[found], start + len(found)
            if token.single_word and not _alone(text, start, stop):
                continue
            if token.lstrip:
                start = end + len(text[end:start].rstrip(WHITE_SPACE))
            if token.rstrip:
                while text[stop : stop + 1] and text[stop] in WHITE_SPACE:
                    stop += 1
            if end < start:
                yield end, start, None
            # White space that the token before took may be all there is of this one.
            if start < stop:
                yield start, stop, token
            end = stop
        if end < len(text):
            yield end, len(text), None


def _alone(text: str, start: int, stop: int) -> bool:
    """Whether there is no word character on either side of a match."""
    return not (_in_word(text[start - 1 : start]) or _in_word(text[stop : stop + 1]))


def _in_word(char: str) -> bool:
    import regex

    return bool(regex.match(r"\w", as_cut(char)))


def searched_tokens(tokenizer: Definition) -> tuple[AddedTokens, AddedTokens]:
    """The added tokens that are searched in the text as it is, and those that are searched after
    the normalizers, as these leave them."""
    added = [token for token in tokenizer.added_tokens if token.searched]
    return (
        AddedTokens((t.content, t) for t in added if not (t.normalized or t.as_written)),
        AddedTokens(
            (t.content if t.as_written else normalize(t.content, tokenizer.normalizers), t)
            for t in added
            if t.normalized or t.as_written
        ),
    )
