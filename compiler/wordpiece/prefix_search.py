"""Which of some texts another text has at a place: all of them, or the longest.

The texts that begin with one character are sorted. Where a text goes on with any of them, that is
the last one that is not after the text in this order, or a beginning of that one.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable

# Where no text has more characters, the longest is found soonest by trying each length.
_SHORT = 64


def longest_of(texts: Collection[str]) -> Callable[[str, int], str]:
    """The search for the longest of some texts at a place; empty where there is none."""
    most = max(map(len, texts), default=0)
    if most > _SHORT:
        return PrefixSearch(filter(None, texts)).longest_at

    def longest_at(text: str, start: int) -> str:
        end = min(start + most, len(text))
        while end > start and text[start:end] not in texts:
            end -= 1
        return text[start:end]

    return longest_at


class PrefixSearch:
    """The search for some texts, none of which is empty."""

    def __init__(self, texts: Iterable[str]) -> None:
        found: dict[str, list[str]] = {}
        for text in sorted(texts):
            found.setdefault(text[0], []).append(text)
        self._of = {char: _Sorted(group) for char, group in found.items()}

    def all_at(self, text: str, start: int) -> list[str]:
        """The texts that ``text`` has at a place, the longest first."""
        found = self._of.get(text[start])
        return [] if found is None else found.all_at(text, start)

    def longest_at(self, text: str, start: int) -> str:
        """The longest of these, empty if there is none."""
        found = self._of.get(text[start])
        return "" if found is None else found.longest_at(text, start)


class _Sorted:
    """Some sorted texts that begin alike, to look for the longest at a place.

    The beginnings of a text that are texts of their own, the longest first, are its line of
    ancestors. ``jumps`` skip parts of that line, so that any of them is found in a number of steps
    that is logarithmic in their number (E. W. Myers, An applicative random-access stack, IPL 17(5),
    1983).
    """

    def __init__(self, texts: list[str]) -> None:
        self._texts, self._most = texts, max(map(len, texts))
        # Of each: the next ancestor, one further up, and how many there are. After the last: none.
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

    def all_at(self, text: str, start: int) -> list[str]:
        """The texts that ``text`` has at a place, the longest first."""
        place, found = self._place(text, start), []
        while place >= 0:
            found.append(self._texts[place])
            place = self._parents[place]
        return found

    def longest_at(self, text: str, start: int) -> str:
        """The first of these, empty if there is none."""
        place = self._place(text, start)
        return self._texts[place] if place >= 0 else ""

    def _place(self, text: str, start: int) -> int:
        part = text[start : start + self._most]
        place = bisect_right(self._texts, part) - 1
        if place < 0:
            return place
        found = self._texts[place]
        if part.startswith(found):
            return place
        # What both begin with bounds the ancestors in question.
        common = _common(part, found)
        while place >= 0 and len(self._texts[place]) > common:
            jump = self._jumps[place]
            far = jump >= 0 and len(self._texts[jump]) > common
            place = jump if far else self._parents[place]
        return place


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
