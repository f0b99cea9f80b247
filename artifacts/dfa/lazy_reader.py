"""Reads texts by conjunctions: a text has a thread for each whose members may begin so."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from ..tokens.watch import Watch, unwatched
from .conjunctions import Conjunction
from .emptiness import MOST_VISITED, Sets
from .walked import Walked


class Thread(NamedTuple):
    """A place in one conjunction. ``characters``: at most the least that a member has, where there
    is no most; 0 where the length does not matter."""

    conjunction: int
    state: int
    sets: Sets
    characters: int


# All that a text may be the beginning of; none where no member begins so.
Threads: TypeAlias = tuple[Thread, ...]


class Reader:
    """``start``: before any text. ``most_visited``: states that one search for a member visits at
    most. ``watch``: told of each one. Reading raises ``UndecidedError`` where such a search ends
    without a result."""

    def __init__(
        self,
        conjunctions: Sequence[Conjunction],
        most_visited: int = MOST_VISITED,
        watch: Watch = unwatched,
    ) -> None:
        self.walked = [Walked(each, most_visited, watch) for each in conjunctions]
        self.start: Threads = tuple(
            Thread(i, *walked.first) for i, walked in enumerate(self.walked)
        )

    def read(self, threads: Iterable[Thread], text: bytes | memoryview) -> Threads:
        """The threads after ``text``."""
        found = []
        for number, state, sets, characters in threads:
            walked = self.walked[number]
            reached = walked.read(state, sets, characters, text)
            if reached is not None and walked.is_live(*reached):
                found.append(Thread(number, *reached))
        return tuple(found)

    def accepts(self, threads: Iterable[Thread]) -> bool:
        """Whether the text so far is a member."""
        return any(
            self.walked[number].accepts(state, sets, characters)
            for number, state, sets, characters in threads
        )

    def viable(self, text: bytes) -> int:
        """How many bytes of ``text`` begin a member."""
        threads = self.start
        for place in range(len(text)):
            threads = self.read(threads, text[place : place + 1])
            if not threads:
                return place
        return len(text)
