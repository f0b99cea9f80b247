"""The ids of parts of texts, most of which come again."""

import sys
from collections.abc import Callable
from typing import TypeVar

# How many strings are cached before all are dropped.
MOST_CACHED = 1 << 17

Ids = TypeVar("Ids")


class CachedIds(dict[str, Ids]):
    """The ids of strings, computed by ``encode`` on a miss; those of more than ``longest``
    characters are not kept."""

    def __init__(self, encode: Callable[[str], Ids], longest: int = sys.maxsize) -> None:
        super().__init__()
        self._encode, self._longest = encode, longest

    def __missing__(self, text: str) -> Ids:
        ids = self._encode(text)
        if len(text) <= self._longest:
            if len(self) >= MOST_CACHED:
                self.clear()
            self[text] = ids
        return ids
