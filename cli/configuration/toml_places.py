"""Where keys and values stand in a TOML text.

    places('a = {b = 1}')  ->  {("a",): (key 0:1, value 4:11), ("a", "b"): (key 5:6, value 9:10)}

The text has been read by ``tomllib``, so that nothing is checked here. Items of arrays are keys of
their number.
"""

import re
import tomllib
from dataclasses import dataclass

Path = tuple[str, ...]
Range = tuple[int, int]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
# Texts in quotes, of several lines and of one.
_STRING = "|".join(
    (r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', r"'''.*?'{3,5}(?!')", r'"(?:[^"\\\n]|\\.)*"', r"'[^'\n]*'")
)
_KEY = re.compile(rf"{_STRING}|[A-Za-z0-9_-]+", re.DOTALL)
_SCALAR = re.compile(rf"{_STRING}|[^,\]}}\n#]*[^,\]}}\n#\s]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """Of a key: itself, and its value (of a table the same as the key)."""

    key: Range
    value: Range


def places(text: str) -> dict[Path, Place]:
    """The places of all keys by their path from the root."""
    reader = _Reader(text)
    reader.document()
    return reader.found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: dict[Path, Place] = {}
        self._tables: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return match[0]

    def _header(self) -> Path:
        is_array = self.text.startswith("[[", self.at)
        self.at += 1 + is_array
        names, key = self._key()
        self.at = self.text.index("]", self.at) + 1 + is_array
        path = self._inside(names)
        if is_array:
            self._tables[path] = self._tables.get(path, -1) + 1
            path = (*path, str(self._tables[path]))
        self.found[path] = Place(key, key)
        return path

    def _inside(self, names: Path) -> Path:
        """The path of a header: of arrays of tables on the way the last item is meant."""
        path: Path = ()
        for place, name in enumerate(names):
            path = (*path, name)
            if place < len(names) - 1 and path in self._tables:
                path = (*path, str(self._tables[path]))
        return path

    def _key(self) -> tuple[Path, Range]:
        """The parts of a dotted key, and the place of the last."""
        names = []
        while True:
            self._skip(_SPACE)
            begin, name = self.at, self._skip(_KEY)
            names.append(str(tomllib.loads(f"k = {name}")["k"]) if name[0] in "\"'" else name)
            key = begin, self.at
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return tuple(names), key
            self.at += 1

    def _pair(self, table: Path) -> None:
        names, key = self._key()
        self.at += 1  # The equals sign.
        self._skip(_SPACE)
        begin, path = self.at, (*table, *names)
        self._value(path)
        self.found[path] = Place(key, (begin, self.at))
        for end in range(len(table) + 1, len(path)):  # Tables that a dotted key makes.
            self.found.setdefault(path[:end], self.found[path])

    def _value(self, path: Path) -> None:
        first = self.text[self.at]
        if first in "[{":
            self._inner(path, "]" if first == "[" else "}")
        else:
            self._skip(_SCALAR)

    def _inner(self, path: Path, end: str) -> None:
        """An array or a table in braces."""
        self.at += 1
        number = 0
        self._skip(_BLANK)
        while self.text[self.at] != end:
            if end == "]":
                begin, item = self.at, (*path, str(number))
                self._value(item)
                self.found[item] = Place((begin, self.at), (begin, self.at))
                number += 1
            else:
                self._pair(path)
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_BLANK)
        self.at += 1
