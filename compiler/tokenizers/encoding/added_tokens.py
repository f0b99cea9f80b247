"""Find added tokens in a text by their names: leftmost first, then the longest.

The names that begin with one character are sorted. Where a text goes on with any of them, that is
the last name that is not behind the text in this order, or a beginning of that name.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ..definition import AddedToken, Definition
from ..patterns import WHITE_SPACE, as_cut
from .steps import normalize


class AddedTokens:
    """Some added tokens and the texts that they are found by.

    The search goes on behind a match even if the token's options (``single_word``) do not let it
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
    def _names(self) -> dict[str, "_Names"]:
        """The texts that begin with a character."""
        names: dict[str, list[str]] = {}
        for text in sorted(self._tokens):
            names.setdefault(text[0], []).append(text)
        return {char: _Names(found) for char, found in names.items()}

    def _matches(self, text: str) -> Iterator[tuple[int, str]]:
        """Starts and texts of all matches: leftmost, then longest, none overlapping another."""
        free = 0
        for candidate in self._first.finditer(text) if self._tokens else ():
            start = candidate.start()
            if start < free:
                continue
            found = self._names[candidate.group()].longest_at(text, start)
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


class _Names:
    """Some sorted texts that begin alike, to look for the longest at a place.

    The beginnings of a text that are texts of their own, the longest first, are its line of
    ancestors. ``jumps`` skip parts of that line, so that any of them is found in a number of steps
    that is logarithmic in their number (E. W. Myers, An applicative random-access stack, IPL 17(5),
    1983).
    """

    def __init__(self, texts: list[str]) -> None:
        self._texts, self._most = texts, max(map(len, texts))
        # Of each: the next ancestor, one further up, and how many there are. Behind the last: none.
        self._parents, self._jumps, depths = [-1] * len(texts), [-1] * len(texts), [0] * len(texts)
        line: list[int] = []
        for place, text in enumerate(texts):
            while line and not text.startswith(texts[line[-1]]):
                line.pop()
            if line:
                above = self._parents[place] = line[-1]
                far = self._jumps[above]
                depths[place] = depths[above] + 1
                further = far >= 0 and self._jumps[far] >= 0
                balanced = further and depths[above] - depths[far] == (
                    depths[far] - depths[self._jumps[far]]
                )
                self._jumps[place] = self._jumps[far] if balanced else above
            line.append(place)

    def longest_at(self, text: str, start: int) -> str:
        """The longest of the texts that ``text`` has at a place, empty if there is none."""
        part = text[start : start + self._most]
        place = bisect_right(self._texts, part) - 1
        if place < 0:
            return ""
        found = self._texts[place]
        if part.startswith(found):
            return found
        # What both begin with bounds the ancestors in question.
        common = _common(part, found)
        while place >= 0 and len(self._texts[place]) > common:
            jump = self._jumps[place]
            far = jump >= 0 and len(self._texts[jump]) > common
            place = jump if far else self._parents[place]
        return self._texts[place] if place >= 0 else ""


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _alone(text: str, start: int, stop: int) -> bool:
    """Whether there is no word character on either side of a match."""
    return not (_in_word(text[start - 1 : start]) or _in_word(text[stop : stop + 1]))


def _in_word(char: str) -> bool:
    import regex

    return bool(regex.match(r"\w", as_cut(char)))


def searched_tokens(tokenizer: Definition) -> tuple[AddedTokens, AddedTokens]:
    """The added tokens that are searched in the text as it is, and those that are searched behind
    the normalizers, as these leave them."""
    added = [token for token in tokenizer.added_tokens if token.searched]
    return (
        AddedTokens((t.content, t) for t in added if not t.normalized),
        AddedTokens(
            (normalize(t.content, tokenizer.normalizers), t) for t in added if t.normalized
        ),
    )
