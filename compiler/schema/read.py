"""From a text to JSON with a span for each value.

    {"a": [1]}   ->   {"a": [1]} and   "" 0-10   "/a" 6-9   "/a/0" 7-8

A key that occurs twice in one object is an error, for readers differ in which value they keep.
Numbers with a fraction or an exponent are ``Decimal``, which loses nothing.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from constrain.artifacts.errors import visible

from ..diagnostics import Diagnostic, DialectError, Source, Span
from ..limits import Limits

Json: TypeAlias = Any

_STAGE = "reading the schema"

_TOKEN = re.compile(
    r"[ \t\n\r]*(?:(?P<mark>[][{},:])"
    r'|"(?P<text>(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+)"'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9.a-zA-Z_])"
    r"|(?P<word>true|false|null)(?![0-9a-zA-Z_]))"
)
_SPACE = re.compile(r"[ \t\n\r]*")
_STRAY = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+|[\w.+-]+|.', re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

# Digits of a number: more of them are no number that a schema needs.
_MOST_DIGITS = 4_000

# Values inside values: pointers are as long as they are deep.
_MOST_LEVELS = 1_000

# How many duplicates are reported, and how much of a pointer.
_MOST_ERRORS = 20
_SHOWN = 200


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A JSON text that was read.

    ``spans``: of each value by its pointer, ``keys``: of the key before it. ``pointers``: those of
    objects and arrays by ``id``; ``value`` keeps them alive.
    """

    source: Source
    value: Json
    spans: Mapping[str, Span]
    keys: Mapping[str, Span]
    pointers: Mapping[int, str]

    def at(self, pointer: str) -> Json:
        """The value at a pointer, which is there."""
        return value_at(self.value, pointer)


def value_at(value: Json, pointer: str) -> Json:
    """What stands in a value at a pointer, which is there."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def escaped(key: str | int) -> str:
    """A key or an index as a step of a JSON pointer (RFC 6901)."""
    return str(key).replace("~", "~0").replace("/", "~1")


def read_json(source: Source, limits: Limits | None = None) -> Document:
    """The JSON of a text. Raises ``DialectError`` with its place, ``LimitError``."""
    return _Reader(source, limits or Limits(), source.dialect).whole()


def read_value(source: Source, place: int, limits: Limits) -> Document:
    """The JSON value that begins at a place of a text, whatever stands after it. Raises as
    ``read_json`` does."""
    return _Reader(source, limits, "json-schema").read(place)


def value_of(text: str, limits: Limits) -> Json | None:
    """The value of a text as ``read_json`` reads it, in a tenth of the time, without the places of
    its parts; None where that raises something, where it might, and for null."""
    if not text.isascii() and _SURROGATE.search(text):
        return None
    try:
        found = _DECODER.decode(text)
        if _ESCAPED_SURROGATE.search(text):
            # Raises for one that is alone.
            json.dumps(found, ensure_ascii=False, default=str).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    most = min(_MOST_LEVELS, limits.nesting)
    if text.count("{") + text.count("[") > most:
        level, depth = [found], 0
        while level:
            depth += 1
            parts = (each.values() if isinstance(each, dict) else each for each in level)
            level = [x for inside in parts for x in inside if isinstance(x, dict | list)]
        if depth > most:
            return None
    return found


def _distinct(members: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a key occurs twice")
    return found


def _number_of(text: str) -> int | Decimal:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number of too many digits")
    return int(text) if text.lstrip("-").isdecimal() else Decimal(text)


def _refused(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(
    parse_int=_number_of,
    parse_float=_number_of,
    parse_constant=_refused,
    object_pairs_hook=_distinct,
)


class _Reader:
    """One pass over the tokens; objects and arrays that are open stand on a stack. ``language``:
    what a message says that the text is read as."""

    def __init__(self, source: Source, limits: Limits, language: str) -> None:
        self.source, self.limits, self.language = source, limits, language
        self.spans: dict[str, Span] = {}
        self.keys: dict[str, Span] = {}
        self.pointers: dict[int, str] = {}
        self.doubled: list[Diagnostic] = []
        # Of each container that is open: itself, its pointer, where it begins.
        self.stack: list[tuple[Json, str, int]] = []

    def whole(self) -> Document:
        """The value that is all of the text."""
        found = self.read(0)
        rest = _SPACE.match(self.source.text, found.spans[""].end)
        if rest is not None and rest.end() < len(self.source.text):
            raise self._unexpected(rest.end(), "the end of the text")
        return found

    def read(self, place: int) -> Document:
        """The value at a place of the text."""
        text, stack = self.source.text, self.stack
        value: Json = None
        key, pointer, count = "", "", 0
        while True:
            count += 1
            if count % 1024 == 0:
                self.limits.check_resources(_STAGE)
            found = _TOKEN.match(text, place)
            kind = found.lastgroup if found else None
            if found is None or (kind == "mark" and found["mark"] not in "{["):
                is_empty = bool(stack) and isinstance(stack[-1][0], list) and not stack[-1][0]
                if not (found and is_empty and found["mark"] == "]"):
                    raise self._unexpected(place, "a value" + " or ']'" * is_empty, pointer)
                place = found.end()
                value, pointer, start = stack.pop()
            else:
                start, place = found.start(found.lastgroup or 0), found.end()
                if kind == "text":
                    start -= 1
                    value = self._text(found["text"], pointer, start)
                elif kind == "number":
                    value = self._number(found["number"], pointer, start)
                elif kind == "word":
                    value = _WORDS[found["word"]]
                else:
                    value = {} if found["mark"] == "{" else []
                if stack and isinstance(stack[-1][0], list):
                    stack[-1][0].append(value)
                elif stack:
                    stack[-1][0][key] = value
                if kind == "mark":
                    self._check_depth(pointer, start)
                    self.pointers[id(value)] = pointer
                    stack.append((value, pointer, start))
                    if isinstance(value, list):
                        pointer += "/0"
                        continue
                    closing = _TOKEN.match(text, place)
                    if not (closing and closing["mark"] == "}"):
                        key, pointer, place = self._key(stack[-1], place, "'}'")
                        continue
                    place = closing.end()
                    stack.pop()
            self.spans[pointer] = Span(start, place)
            key, pointer, place, value = self._after(value, place)
            if not stack:
                break
        if self.doubled:
            raise DialectError(self.source, self.doubled)
        return Document(self.source, value, self.spans, self.keys, self.pointers)

    def _check_depth(self, pointer: str, start: int) -> None:
        depth = len(self.stack)
        self.limits.check_nesting(depth + 1, "the schema")
        if depth >= _MOST_LEVELS:
            message = f"values nest more than {_MOST_LEVELS:,} levels deep"
            hint = "name inner schemas in $defs"
            raise self._error(pointer, message, Span(start, start + 1), hint)

    def _error(self, pointer: str, message: str, span: Span, hint: str = "") -> DialectError:
        if len(pointer) > _SHOWN:
            pointer = f"{pointer[: _SHOWN // 2]}…{pointer[-_SHOWN // 2 :]}"
        message = f"#{visible(pointer)}: {message}"
        return DialectError(self.source, [Diagnostic(message, span, hint or None)])

    def _after(self, value: Json, place: int) -> tuple[str, str, int, Json]:
        """What comes after a value that ends at a place, and after the containers that end with it:
        key, pointer and place of the next one, or the whole value."""
        while self.stack:
            inner, outer, start = self.stack[-1]
            following = self._mark(place, inner)
            place = following.end()
            if following["mark"] == ",":
                if isinstance(inner, list):
                    return "", f"{outer}/{len(inner)}", place, None
                return *self._key(self.stack[-1], place, ""), None
            value = self.stack.pop()[0]
            self.spans[outer] = Span(start, place)
        return "", "", place, value

    def _key(self, opened: tuple[Json, str, int], place: int, other: str) -> tuple[str, str, int]:
        """A key and its colon: the key, the pointer of its value, the place after."""
        found = _TOKEN.match(self.source.text, place)
        if found is None or found.lastgroup != "text":
            raise self._unexpected(place, f"a key or {other}" if other else "a key")
        start = found.start("text") - 1
        key = self._text(found["text"], opened[1], start)
        pointer = f"{opened[1]}/{escaped(key)}"
        if key in opened[0] and len(self.doubled) < _MOST_ERRORS:
            message = f"#{visible(opened[1])}: the key {visible(key)!r} occurs twice"
            hint = "readers differ in which value they keep: remove one"
            self.doubled.append(Diagnostic(message, Span(start, found.end()), hint))
        self.keys[pointer] = Span(start, found.end())
        colon = _TOKEN.match(self.source.text, found.end())
        if colon is None or colon["mark"] != ":":
            raise self._unexpected(found.end(), "':'")
        return key, pointer, colon.end()

    def _mark(self, place: int, inner: Json) -> "re.Match[str]":
        """The comma or the bracket that follows a value inside ``inner``."""
        end = "]" if isinstance(inner, list) else "}"
        found = _TOKEN.match(self.source.text, place)
        if found is None or found["mark"] not in (",", end):
            raise self._unexpected(place, f"',' or '{end}'")
        return found

    def _text(self, inside: str, pointer: str, start: int) -> str:
        if "\\" not in inside:
            return inside
        text: str = json.loads(f'"{inside}"')
        if _SURROGATE.search(text):
            span = Span(start, start + len(inside) + 2)
            message = "a lone surrogate is no character, and no text of UTF-8 has one"
            raise self._error(pointer, message, span, "write both halves")
        return text

    def _number(self, text: str, pointer: str, start: int) -> int | Decimal:
        if len(text) > _MOST_DIGITS:
            message = f"a number of more than {_MOST_DIGITS:,} digits"
            raise self._error(pointer, message, Span(start, start + len(text)))
        return _number_of(text)

    def _unexpected(self, place: int, expected: str, pointer: str | None = None) -> DialectError:
        text = self.source.text
        space = _SPACE.match(text, place)
        begin = space.end() if space else place
        stray = _STRAY.match(text, begin)
        if stray is None:
            end = len(text.rstrip())
            found, span = "end of the text", Span(end, end + 1)
        else:
            word = stray.group()
            found = "line break" if word in "\r\n" else f"'{visible(word[:40])}'"
            span = Span(begin, begin + (1 if word[0] == '"' else len(word)))
            if word[0] == '"':
                found = "string with a wrong escape, a control character or no end"
        message = f"unexpected {found} (read as {self.language}); expected {expected}"
        if pointer is None:
            pointer = self.stack[-1][1] if self.stack else ""
        return self._error(pointer, message, span)
