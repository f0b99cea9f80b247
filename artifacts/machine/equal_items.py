"""Which items of JSON's arrays are equal to an earlier one of the same array.

    ["a", 1, "\\u0061", 1.0]   ->   ["a", 1, "\\u0061" MARK, 1.0 MARK]

A text is read as JSON, whatever else is asked of it, and ``MARK`` is put after each such item: a
byte that no text in UTF-8 has. A grammar then says by it in which arrays items may be equal. Values
are equal as JSON Schema has it (Core, 4.2.2), however they are spelled, and have one number each;
that of an array or object is made of those inside it. So a text of n bytes takes O(n) steps.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Hashable
from typing import NamedTuple

from ..tokens.memo import Numbered

MARK = 0xFF

# What was read last: something between values, part of a string, of its escape, or of another
# scalar, whose end the byte after it says.
BETWEEN, STRING, ESCAPE, SCALAR = range(4)

# Kinds of events: what begins, what ends, and a scalar.
ARRAY, OBJECT, END, TEXT = range(4)

_OPENING = {ord("["): ARRAY, ord("{"): OBJECT}
_CLOSING = frozenset(b"]}")
_OTHERS = frozenset(b" \t\n\r,:")
_AFTER_SCALAR = _OTHERS | _CLOSING | frozenset(_OPENING) | {ord('"')}
_QUOTE, _BACKSLASH = b'"\\'

_ESCAPED = re.compile(rb'["\\\x00-\x1f]')

# Numbers of more digits have an exponent.
_LONGEST_NUMBER = 400

_NUMBER = re.compile(rb"(-?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18}))?")


class Event(NamedTuple):
    """``kind``: of what ends or begins in a token. ``end``: of its last byte; of a scalar that no
    quote ends, up to where the next byte says so. ``start``: of a scalar, -1 if before the token.
    """

    kind: int
    start: int
    end: int


class Events(NamedTuple):
    """What a token does: the events, how it leaves off, and where in it a scalar has begun."""

    events: tuple[Event, ...]
    lexical: int
    start: int


def events_of(lexical: int, octets: bytes) -> Events:
    """What some bytes do after what was read last."""
    found: list[Event] = []
    start = -1
    for place, octet in enumerate(octets):
        if lexical == STRING:
            if octet == _QUOTE:
                found.append(Event(TEXT, start, place + 1))
                lexical = BETWEEN
            elif octet == _BACKSLASH:
                lexical = ESCAPE
            continue
        if lexical == ESCAPE:
            lexical = STRING
            continue
        if lexical == SCALAR:
            if octet not in _AFTER_SCALAR:
                continue
            found.append(Event(TEXT, start, place))
            lexical = BETWEEN
        if octet in _OPENING:
            found.append(Event(_OPENING[octet], place, place + 1))
        elif octet in _CLOSING:
            found.append(Event(END, place, place + 1))
        elif octet not in _OTHERS:
            lexical, start = STRING if octet == _QUOTE else SCALAR, place
    return Events(tuple(found), lexical, start)


class Open(NamedTuple):
    """An array or object that has begun: what it is in, 0 for nothing; its items, or the keys and
    values so far, each after the other, with a key without its value; and whether it is an array,
    or in one."""

    below: int
    is_array: bool
    inside: int
    matters: bool


class Place(NamedTuple):
    """After some text: ``lexical``, the scalar that has ``begun``, if it matters, and what is
    ``open``."""

    lexical: int
    begun: bytes
    open: int


# The number of no items.
NOTHING = 0

# Lists of items are a last item and those before it. So many are kept whole, and so many items are
# looked at one by one.
_MOST_WHOLE, _MOST_LOOKED_AT = 64, 32

START = Place(BETWEEN, b"", 0)


class EqualItems:
    """Reads texts from ``START`` on. Grows with what it reads; ``count``: how much that is."""

    def __init__(self) -> None:
        self.open = Numbered([Open(0, False, NOTHING, matters=False)])
        self.values = Numbered[Hashable]()
        # Of lists of items the one without the last, the last, the bytes of all strings, how many
        # the longest has, and how many strings there are.
        self._before, self._last, self._octets, self._longest = [NOTHING], [0], [0], [0]
        self._strings = [0]
        self._longer: dict[tuple[int, int], int] = {}
        # Of a few lists how their scalars are written, ascending; and of others what is in them.
        self._written: dict[int, list[bytes]] = {NOTHING: []}
        self._sets: dict[int, frozenset[int]] = {}

    @property
    def count(self) -> int:
        """How much was read."""
        return len(self.open) + len(self.values) + len(self._before)

    def read(self, place: Place, octets: bytes, found: Events) -> tuple[Place, bytes]:
        """The place after some bytes, which do what is ``found``, and these with marks."""
        top = place.open
        pieces: list[bytes] = []
        written = 0
        for kind, start, end in found.events:
            if kind in (ARRAY, OBJECT):
                is_array, matters = kind == ARRAY, self.open[top].matters
                top = self.open.number(Open(top, is_array, NOTHING, is_array or matters))
                continue
            if kind == END:
                ended, top = self.open[top], self.open[top].below
                if not self.open[top].matters:
                    continue
                value = self._whole(ended)
            elif self.open[top].matters:
                text = octets[start:end] if start >= 0 else place.begun + octets[:end]
                value = self.values.number(scalar(text))
            else:
                continue
            opened = self.open[top]
            is_equal = opened.is_array and self.has(opened.inside, value)
            inside = self._with(opened.inside, value)
            top = self.open.number(opened._replace(inside=inside))
            if is_equal:
                pieces += (octets[written:end], bytes((MARK,)))
                written = end
        begun = b""
        if found.lexical != BETWEEN and self.open[top].matters:
            begun = octets[found.start :] if found.start >= 0 else place.begun + octets
        marked = b"".join((*pieces, octets[written:])) if pieces else octets
        return Place(found.lexical, begun, top), marked

    def has(self, items: int, value: int) -> bool:
        """Whether a number is among some."""
        number, looked_at = items, 0
        while number and number not in self._sets:
            if self._last[number] == value:
                return True
            number, looked_at = self._before[number], looked_at + 1
        if looked_at > _MOST_LOOKED_AT:
            if len(self._sets) >= _MOST_WHOLE:
                self._sets.clear()
            self._sets[items] = frozenset(self.members(items))
            return value in self._sets[items]
        return bool(number) and value in self._sets[number]

    def octets(self, items: int) -> int:
        """The bytes that strings among some have, as bits."""
        return self._octets[items]

    def longest(self, items: int) -> int:
        """How many bytes the longest string among some has."""
        return self._longest[items]

    def count_strings(self, items: int) -> int:
        """How many strings there are among some."""
        return self._strings[items]

    def begun(self, items: int, text: bytes) -> list[bytes]:
        """How those scalars among some are ``written`` that begin so, ascending."""
        found = self._ascending(items)
        # No byte of a text is as large.
        return found[bisect_left(found, text) : bisect_left(found, text + bytes((MARK,)))]

    def is_begun(self, items: int, text: bytes) -> bool:
        """Whether some are."""
        found = self._ascending(items)
        place = bisect_left(found, text)
        return place < len(found) and found[place].startswith(text)

    def others(self, items: int) -> list[bytes]:
        """How the scalars among some are written that are no strings."""
        found = self._ascending(items)
        return found[bisect_left(found, bytes((_QUOTE + 1,))) :]

    def _ascending(self, items: int) -> list[bytes]:
        found = self._written.get(items)
        if found is None:
            newer, before = list[bytes](), items
            while before not in self._written:
                newer.append(written(self.values[self._last[before]]))
                before = self._before[before]
            # subtle: quotes are less than what numbers and words begin with.
            found = sorted(self._written[before] + list(filter(None, newer)))
            if len(self._written) > _MOST_WHOLE:
                self._written = {NOTHING: []}
            self._written[items] = found
        return found

    def members(self, items: int) -> list[int]:
        """The numbers of some items, in their order."""
        found: list[int] = []
        while items:
            found.append(self._last[items])
            items = self._before[items]
        found.reverse()
        return found

    def _whole(self, ended: Open) -> int:
        inside = self.members(ended.inside)
        if ended.is_array:
            return self.values.number(("array", *inside))
        # Readers keep the last value of a key.
        pairs = dict(zip(inside[::2], inside[1::2], strict=False))
        return self.values.number(("object", frozenset(pairs.items())))

    def _with(self, items: int, value: int) -> int:
        """Some items and one more."""
        key = items, value
        number = self._longer.setdefault(key, len(self._before))
        if number == len(self._before):
            octets, what = self._octets[items], self.values[value]
            text = what if isinstance(what, bytes) else b""
            for octet in set(text):
                octets |= 1 << octet
            self._longest.append(max(self._longest[items], len(text)))
            self._before.append(items)
            self._last.append(value)
            self._octets.append(octets)
            self._strings.append(self._strings[items] + isinstance(what, bytes))
        return number


def scalar(text: bytes) -> Hashable:
    """What a scalar is, however it is spelled: of a string its characters in UTF-8."""
    if text[:1] == b'"':
        if b"\\" not in text:
            return text[1:-1]
        try:
            found: str = json.loads(text, strict=False)
        except ValueError:
            return "no string", text
        return found.encode("utf-8", "surrogatepass")
    number = _NUMBER.fullmatch(text)
    if number is None:
        return "word", text
    sign, whole, part, power = number.groups(b"")
    digits = (whole + part).lstrip(b"0")
    least = digits.rstrip(b"0")
    exponent = int(power or b"0") - len(part) + len(digits) - len(least)
    return ("number", sign, least, exponent) if least else ("number",)


def written(what: Hashable) -> bytes:
    """How ``scalar`` has it without exponents, a string up to its first escape or its end; empty
    where that cannot be."""
    if isinstance(what, bytes):
        escaped = _ESCAPED.search(what)
        return b'"' + (what[: escaped.start()] + b"\\" if escaped else what)
    match what:
        case "word", bytes() as text:
            return text
        case ("number",):
            return b"0"
        case "number", bytes() as sign, bytes() as digits, int() as power:
            if abs(power) > _LONGEST_NUMBER:
                return b""
            if power >= 0:
                return sign + digits + b"0" * power
            digits = digits.rjust(1 - power, b"0")
            return sign + digits[:power] + b"." + digits[power:]
    return b""
