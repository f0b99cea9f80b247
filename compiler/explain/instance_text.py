"""What a text that should be JSON says, as far as it can be read, and what is no JSON in it.

    Here it is: {"a": [1, tr   ->   {"a": [1]}, not whole;  there is text before the JSON;
                                    at /a/1 the text is cut off inside a word

It reads on where people see what is meant, and stops at the first place where they do not. Places
are characters of the text.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NoReturn

from ..diagnostics import shortened
from ..schema.read import Json, escaped

# Values inside values: what nests deeper is not read.
_MOST_LEVELS = 100

# The largest exponent of a number.
_MOST_EXPONENT = 4_000

# Characters of a text around the JSON that a sentence shows.
_SHOWN = 40

_SPACE = re.compile(r"[ \t\n\r]*")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*+("?)', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9a-zA-Z_.+-])")
_WORD = re.compile(r"[^\s,:{}\[\]\"']+")
_FENCE = re.compile(r"\s*```[^\n]*\n?")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_PYTHON = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}
_NO_NUMBERS = ("NaN", "nan", "Infinity", "-Infinity", "inf", "-inf")


@dataclass(frozen=True, slots=True)
class Complaint:
    """A sentence about a text. ``where``: the pointer of the value that it is about; ``schema``:
    that of what asks for something else, None where JSON does. It is about the characters from
    ``start`` to ``end``, and ``at`` is the one to look at.

    ``types``: those that were expected instead of the value's. ``is_spelling``: the value fits, but
    is not written so. ``is_for_order``: of keys. ``call``: the tool whose arguments these are.
    """

    message: str
    where: str
    start: int
    end: int
    at: int
    schema: str | None = None
    types: tuple[str, ...] = ()
    is_spelling: bool = False
    is_for_order: bool = False
    call: str | None = None


@dataclass(slots=True, eq=False)
class Part:
    """A value in a text. ``kind``: a type of JSON Schema, of numbers ``number``. ``value``: of a
    scalar; ``items``: of an array; ``members``: of an object. ``is_whole``: its end was read."""

    kind: str
    start: int
    end: int
    value: Json = None
    items: "list[Part]" = field(default_factory=list)
    members: "list[Member]" = field(default_factory=list)
    is_whole: bool = True

    @property
    def plain(self) -> Json:
        """The value without places."""
        if self.kind == "object":
            return {m.key: m.value.plain for m in self.members if m.value is not None}
        return [item.plain for item in self.items] if self.kind == "array" else self.value


@dataclass(slots=True, eq=False)
class Member:
    """A key with its place, and its value, None where that was not read."""

    key: str
    start: int
    end: int
    value: Part | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """``part``: the value, None where there is none; ``complaints``: about the text; ``end``: where
    reading ended."""

    part: Part | None
    complaints: Sequence[Complaint]
    end: int


class _StoppedError(Exception):
    """Nothing after this place is read."""


def read_instance(text: str, start: int = 0, end: int | None = None, *, alone: bool = True) -> Read:
    """What stands in a part of a text. ``alone``: nothing may stand after it."""
    reader = _Reader(text[:end], start)
    part = reader.whole(alone)
    return Read(part, reader.found, reader.place)


class _Reader:
    def __init__(self, text: str, place: int) -> None:
        self.text, self.place = text, place
        self.found: list[Complaint] = []
        self._levels = 0

    def whole(self, alone: bool) -> Part | None:
        """The one value."""
        holder: list[Part] = []
        with suppress(_StoppedError):
            self._whole(alone, holder)
        return holder[0] if holder else None

    def _whole(self, alone: bool, holder: list[Part]) -> None:
        text, fence = self.text, _FENCE.match(self.text, self.place)
        if fence:
            self.place = fence.end()
            self._say("the JSON stands in a Markdown fence; write it without the ``` lines", "", 0)
        self._skip()
        if self.place == len(text):
            self._cut("the text is empty", "")
        if not (text[self.place] in "{[\"'-.+" or text[self.place].isdigit()):
            word = _WORD.match(text, self.place)
            is_word = bool(word and not text[word.end() :].strip())
            if not is_word:
                self._to_the_json()
        self._value("", holder)
        self._skip()
        if alone and self.place < len(text) and not (fence and text[self.place] == "`"):
            behind = _short(text[self.place :])
            self._say(f"there is text after the JSON: {behind}", "", self.place)

    def _to_the_json(self) -> None:
        """Go to where an object or an array begins, if one does."""
        text, start = self.text, self.place
        places = [at for at in map(text[start:].find, "{[") if at >= 0]
        before = text[start : start + min(places)] if places else text[start:]
        word = _WORD.match(text, start)
        if word and word.group() in (*_WORDS, *_PYTHON, *_NO_NUMBERS):
            return
        if not places:
            self._stop("there is no JSON in the text", "")
        self._say(f"there is text before the JSON: {_short(before)}", "", start)
        self.place = start + min(places)

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.place)
        assert found
        self.place = found.end()
        if self.text.startswith(("//", "/*", "#"), self.place):
            self._stop("JSON has no comments", "")

    def _say(self, message: str, where: str, at: int) -> None:
        self.found.append(Complaint(message, where, at, len(self.text), at))

    def _stop(self, message: str, where: str) -> NoReturn:
        self._say(message, where, self.place)
        raise _StoppedError

    def _cut(self, message: str, where: str) -> NoReturn:
        self.place = len(self.text)
        self._stop(message, where)

    def _value(self, where: str, into: list[Part]) -> None:
        """One value, put ``into`` a list before its parts are read."""
        text, start = self.text, self.place
        self._levels += 1
        if self._levels > _MOST_LEVELS:
            self._stop(f"values nest more than {_MOST_LEVELS} deep, and are not read on", where)
        char = text[start]
        if char in "{[":
            kind, closing = ("object", "}") if char == "{" else ("array", "]")
            into.append(Part(kind, start, len(text), is_whole=False))
            self._inside(into[-1], closing, where)
        elif char == '"':
            into.append(Part("string", start, len(text), self._text(where)))
        else:
            into.append(self._scalar(where))
        into[-1].end, into[-1].is_whole = self.place, True
        self._levels -= 1

    def _text(self, where: str) -> str:
        found = _TEXT.match(self.text, self.place)
        assert found
        if not found[1]:
            if found.end() < len(self.text) and self.text[found.end()] == "\n":
                self.place = found.end()
                self._stop("a line break in a string is written \\n", where)
            self._cut("the text is cut off inside a string", where)
        try:
            value: str = json.loads(found.group(), strict=False)
        except ValueError:
            self._stop("there is no such escape in JSON", where)
        self.place = found.end()
        return value

    def _scalar(self, where: str) -> Part:
        text, start = self.text, self.place
        if number := _NUMBER.match(text, start):
            self.place = number.end()
            is_integer = number.group().lstrip("-").isdecimal()
            try:
                value = int(number.group()) if is_integer else Decimal(number.group())
                is_large = isinstance(value, Decimal) and abs(value.adjusted()) > _MOST_EXPONENT
            except (ValueError, ArithmeticError):
                is_large = True
            if is_large:
                self._stop("the number has too many digits", where)
            return Part("number", start, self.place, value)
        if text[start] == "'":
            self._stop("JSON strings need double quotes, not '", where)
        found = _WORD.match(text, start)
        word = found.group() if found else text[start]
        if word in _WORDS:
            self.place += len(word)
            kind = "null" if word == "null" else "boolean"
            return Part(kind, start, self.place, _WORDS[word])
        is_last = start + len(word) == len(text)
        if is_last and any(name.startswith(word) for name in _WORDS):
            self._cut("the text is cut off inside a word", where)
        if is_last and re.fullmatch(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?)?)?", word):
            self._cut("the text is cut off inside a number", where)
        return self._stop(_no_json(word), where)

    def _next(self, what: str, where: str) -> str:
        """The next character that is no space; the text is cut off inside ``what`` if it ends."""
        self._skip()
        if self.place == len(self.text):
            self._cut(f"the text is cut off inside an {what}", where)
        return self.text[self.place]

    def _inside(self, part: Part, closing: str, where: str) -> None:
        """What stands in an object or an array, to its end."""
        self.place += 1
        char = self._next(part.kind, where)
        while char != closing:
            if part.kind == "object":
                self._member(where, part)
            else:
                self._value(f"{where}/{len(part.items)}", part.items)
            char, comma = self._next(part.kind, where), self.place
            if char == closing:
                break
            if char != ",":
                self._stop(f"a comma or {closing} was expected, not {char}", where)
            self.place += 1
            if self._next(part.kind, where) == closing:
                self.place = comma
                self._stop(f"a comma stands before the closing {closing}", where)
        self.place += 1

    def _member(self, where: str, into: Part) -> None:
        start, char = self.place, self.text[self.place]
        if char == "'":
            self._stop("JSON strings need double quotes, not '", where)
        if char != '"':
            word = _WORD.match(self.text, start)
            if word:
                self._stop(f'JSON keys need double quotes: "{word.group()}"', where)
            self._stop(f"a key was expected, not {char}", where)
        member = Member(self._text(where), start, self.place)
        if any(member.key == other.key for other in into.members):
            message = f"key `{member.key}` appears twice"
            self.found.append(Complaint(message, where, start, self.place, start))
        into.members.append(member)
        if self._next("object", where) != ":":
            self._stop(f"a colon is missing after the key `{member.key}`", where)
        self.place += 1
        below = f"{where}/{escaped(member.key)}"
        self._next("object", where)
        values: list[Part] = []
        try:
            self._value(below, values)
        finally:
            member.value = values[0] if values else None


def _no_json(word: str) -> str:
    """What a sentence says of a word that is no value."""
    if word in _NO_NUMBERS:
        return f"{word} is no number of JSON"
    if word in _PYTHON:
        return f"{word} is written {_PYTHON[word]} in JSON"
    if re.fullmatch(r"-?\.[0-9]+", word):
        return f"numbers of JSON begin with a digit: {word.replace('.', '0.')}"
    if word.startswith("+"):
        return f"numbers of JSON have no +: {word[1:]}"
    if re.fullmatch(r"-?0[0-9]+", word):
        return f"numbers of JSON have no 0 in front: {int(word)}"
    if re.fullmatch(r"-?[0-9]+\.", word):
        return f"a digit stands after the point of a number: {word}0"
    if re.fullmatch(r"\w[\w-]*", word) and not word[0].isdigit():
        return f'JSON strings need double quotes: "{word}"'
    return f"a value was expected, not {_short(word)}"


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), _SHOWN)
