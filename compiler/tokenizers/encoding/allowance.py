"""What encoding one text may take, whatever the tokenizer's steps are: time, and growth.

    Allowance(length)      for one text: ``seconds`` for patterns that go back, ``characters``
    is_linear(pattern)     whether a pattern needs no clock

A matcher that goes back may take time that is exponential in the text. Patterns of real tokenizers
do not: the time of each attempt is linear in what is then matched. For others the ``regex`` module
looks at the clock at each match, which makes splitting 1.7 times slower.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from time import process_time

from ...diagnostics import TokenizerLimitError
from .patterns import Item, items, shown

# Seconds for patterns that go back: for any text, and for each of its characters. Real ones take
# 0.1 µs a character.
_SECONDS, _SECONDS_EACH = 1.0, 5e-6

# Characters that normalizers may make of a text: of any, and of each of its characters. Unicode's
# own forms make 18 of one at most.
_CHARACTERS, _CHARACTERS_EACH = 100_000, 20

# What a linear pattern may be at most: characters of it, each of which every character of a text
# may be compared with, and the ways that an attempt may take beside those of long repetitions, and
# counts.
_MOST_LENGTH, _MOST_WAYS = 2_000, 64


class Allowance:
    """What is left for one text of ``length`` characters."""

    # Each text has one, also the shortest: nothing is computed before it is needed.
    __slots__ = ("_length", "_until")

    def __init__(self, length: int) -> None:
        self._length = length
        self._until: float | None = None

    @property
    def _seconds(self) -> float:
        return _SECONDS + _SECONDS_EACH * self._length

    def timeout(self, pattern: str) -> float | None:
        """Seconds that matching ``pattern`` may take now, None for any. The clock runs from the
        first call for a pattern that needs one. Raises ``TokenizerLimitError``."""
        if is_linear(pattern):
            return None
        now = process_time()
        if self._until is None:
            self._until = now + self._seconds
        if now >= self._until:
            raise self.over(pattern)
        return self._until - now

    def over(self, pattern: str) -> TokenizerLimitError:
        """The error of a pattern that takes too long."""
        return TokenizerLimitError(
            f"the pattern {shown(pattern)} takes more than {self._seconds:.3g} seconds on a text "
            f"of {self._length:,} characters: it goes back over the same characters again and "
            f"again; mend the tokenizer's pattern, or give less text at a time"
        )

    def check_characters(self, count: int) -> None:
        """Raise ``TokenizerLimitError`` if normalizers make ``count`` characters of the text and
        that is too many."""
        most = _CHARACTERS + _CHARACTERS_EACH * self._length
        if count > most:
            raise TokenizerLimitError(
                f"the tokenizer's steps make more than {most:,} characters of a text "
                f"of {self._length:,}"
            )


@dataclass(frozen=True, slots=True)
class _Element:
    """Characters of one set, a short group or a look ahead, and how often. ``least``: at least so
    often; ``is_long``: without a bound. ``ways``: in so many ways. ``text``: as it is written,
    with its count if it has a bound."""

    text: str
    least: int = 1
    is_long: bool = False
    ways: int = 1
    is_group: bool = False
    is_repeated: bool = False


@dataclass(slots=True)
class _Alternative:
    """A sequence of elements, in a pattern's outermost alternation."""

    elements: list[_Element] = field(default_factory=list)

    def long_ones(self) -> list[int]:
        return [place for place, each in enumerate(self.elements) if each.is_long]

    def goes_back_once(self) -> bool:
        """Whether an attempt takes time that is linear in the run of characters it reads: at most
        two repetitions, one after the other, and nothing that must follow the second."""
        places = self.long_ones()
        if prod(each.ways for each in self.elements) > _MOST_WAYS:
            return False
        if len(places) < 2:
            return True
        behind = self.elements[places[1] + 1 :]
        return len(places) == 2 and places[1] == places[0] + 1 and not any(e.least for e in behind)

    def may_fail_late(self) -> bool:
        """Whether an attempt may fail after a repetition has read a run."""
        places = self.long_ones()
        return bool(places) and any(each.least for each in self.elements[places[0] + 1 :])

    def reads_what(self, other: "_Alternative") -> bool:
        """Whether it matches, where ``other`` reads a run, that whole run."""
        end = other.long_ones()[0]
        return (
            not self.may_fail_late()
            and len(self.elements) > end
            and self.elements[:end] == other.elements[:end]
            and self.elements[end].is_long
            and self.elements[end].text == other.elements[end].text
        )


@lru_cache(maxsize=256)
def is_linear(pattern: str) -> bool:
    """Whether the time of matching is linear in the text: false where that is not certain.

    An alternative that may fail after a long run must be followed by one that matches that run, so
    that no run is read again and again: ``\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+``.
    """
    found = _alternatives(pattern) if len(pattern) <= _MOST_LENGTH else None
    if found is None or not all(each.goes_back_once() for each in found):
        return False
    for place, each in enumerate(found):
        if not each.may_fail_late():
            continue
        end = each.long_ones()[0]
        behind = found[place + 1 :]
        while behind and _begins_alike(behind[0], each, end) and behind[0].may_fail_late():
            behind = behind[1:]
        if not (behind and behind[0].reads_what(each)):
            return False
    return True


def _begins_alike(one: _Alternative, other: _Alternative, end: int) -> bool:
    return [e.text for e in one.elements[: end + 1]] == [e.text for e in other.elements[: end + 1]]


def _alternatives(pattern: str) -> list[_Alternative] | None:
    """The outermost alternation; None for what it is not made of: sets of characters, repeated or
    not, groups of texts, and looks ahead at one character."""
    found = [_Alternative()]
    waiting: Iterator[tuple[Item, str]] = items(pattern)
    for kind, text in waiting:
        here = found[-1].elements
        match kind:
            case Item.OR:
                found.append(_Alternative())
            case Item.OPEN:
                group = _group(text, waiting)
                if group is None:
                    return None
                here.append(group)
            case Item.QUANTIFIER:
                if not here or not (repeated := _repeated(here.pop(), text)):
                    return None
                here.append(repeated)
            case Item.CHARACTER:
                here.append(_Element(text))
            case _:
                return None
    return found


def _group(opening: str, waiting: Iterator[tuple[Item, str]]) -> _Element | None:
    """A group that has just been opened, if it has neither groups nor repetitions; a
    look ahead, if it is at one character."""
    parts, kinds = [opening], []
    for kind, text in waiting:
        parts.append(text)
        if kind is Item.CLOSE:
            break
        kinds.append(kind)
    is_look = opening in ("(?=", "(?!")
    if not set(kinds) <= ({Item.CHARACTER} if is_look else {Item.CHARACTER, Item.OR}):
        return None
    if opening in ("(?<=", "(?<!") or (is_look and len(kinds) != 1) or parts[-1] != ")":
        return None
    return _Element("".join(parts), ways=1 + kinds.count(Item.OR), is_group=True)


def _repeated(element: _Element, quantifier: str) -> _Element | None:
    """An element so often; None for what is lazy or possessive, and for repeated groups."""
    if element.is_repeated:
        return None  # What stands after a repetition makes it lazy or possessive.
    text = element.text + quantifier
    if quantifier == "?":
        return _Element(text, 0, ways=element.ways + 1, is_repeated=True)
    if element.is_group:
        return None
    if quantifier in ("*", "+"):
        return _Element(element.text, int(quantifier == "+"), is_long=True, is_repeated=True)
    counts = [int(digits) for digits in re.findall(r"\d+", quantifier)]
    if not counts or quantifier.endswith(",}") or max(counts) > _MOST_WAYS:
        return None
    ways = 1 + counts[-1] - counts[0]
    return _Element(text, int(counts[0] > 0), ways=max(ways, 1), is_repeated=True)
