"""A text that an editor holds, and its places: offsets here, lines and UTF-16 units there."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from constrain.artifacts.errors import ConstrainError

_LINE_END = re.compile("\r\n|\r|\n")

# Case files, which are no grammars.
CASES = "cases"


class Place(NamedTuple):
    """A line and UTF-16 units in it, both from 0, as the protocol counts."""

    line: int
    character: int


@dataclass(frozen=True)
class Document:
    """``path``: of the file, as people see it. ``version``: as the editor counts its edits.
    ``dialect``: what the text is read as; ``CASES`` for cases, None for what is of no concern."""

    uri: str
    path: str
    text: str
    version: int | None
    dialect: str | None

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @cached_property
    def _wide(self) -> list[int]:
        """Where characters of two units stand."""
        return [place for place, char in enumerate(self.text) if char > "\uffff"]

    def place(self, offset: int) -> Place:
        """That of a character; what lies after the text is its end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        more = bisect_left(self._wide, offset) - bisect_left(self._wide, start)
        return Place(line, offset - start + more)

    def offset(self, line: int, character: int) -> int:
        """The character at a place; the end of its line for what lies after that."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        behind = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text) + 1
        place = start
        for wide in self._wide[bisect_left(self._wide, start) :]:
            if wide - start + 1 >= character:
                break
            character -= 1
        place = start + max(character, 0)
        return min(place, behind - 1, len(self.text))

    def lines(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of [start, end) on each of its lines, without line ends."""
        found = []
        for line_end in _LINE_END.finditer(self.text, start, end):
            found.append((start, line_end.start()))
            start = line_end.end()
        return [(first, last) for first, last in [*found, (start, end)] if first < last]


class RequestError(ConstrainError):
    """What an editor asked for cannot be done: why, and how to have it."""


def kind_of(path: str, language: str | None = None) -> str | None:
    """What a file is read as: by its suffix, else by the editor's name of its language."""
    from constrain.compiler.dialects import DIALECTS, dialect_of
    from constrain.compiler.testing.collect import SUFFIX

    name = Path(path).name
    if name.endswith(SUFFIX) or language == "constrain-cases":
        return CASES
    return dialect_of(name) or (language if language in DIALECTS else None)
