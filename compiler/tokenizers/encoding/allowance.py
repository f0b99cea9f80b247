"""What encoding one text may take, whatever the tokenizer's steps are: time, and growth.

    Allowance(length)      for one text: ``seconds`` for patterns that go back, ``characters``
    is_linear(pattern)     whether a pattern needs no clock

A matcher that goes back may take time that is exponential in the text. Patterns of real tokenizers
do not: the time of each attempt is linear in what is then matched. For others the ``regex`` module
looks at the clock at each match, which makes splitting 1.7 times slower.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from time import process_time

from ...diagnostics import TokenizerError, TokenizerLimitError
from .pattern_program import Node, Op, parsed
from .patterns import shown

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
    often; ``is_long``: without a bound. ``ways``: in so many ways. ``what``: with its count if it
    has a bound."""

    what: Node
    least: int = 1
    is_long: bool = False
    ways: int = 1


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
            and self.elements[end].what == other.elements[end].what
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
    return [e.what for e in one.elements[: end + 1]] == [e.what for e in other.elements[: end + 1]]


def _alternatives(pattern: str) -> list[_Alternative] | None:
    """The outermost alternation; None for what it is not made of: sets of characters, repeated or
    not, groups of texts, and looks ahead at one character."""
    try:
        tree = parsed(pattern)
    except TokenizerError:
        return None
    found = []
    for part in _parts(tree, "either"):
        elements = [_element(each) for each in _parts(part, "sequence")]
        held = [each for each in elements if each is not None]
        if len(held) < len(elements):
            return None
        found.append(_Alternative(held))
    return found


def _parts(node: Node, kind: str) -> list[Node]:
    return node.parts if node.kind == kind else [node]


def _element(node: Node) -> _Element | None:
    """One element; None for looks behind, and for groups of more than texts."""
    if node.kind == "repeat":
        return _repeated(node, node.parts[0])
    choices = _parts(node, "either")
    letters = [each for choice in choices for each in _parts(choice, "sequence")]
    is_ahead = node.kind == "look" and node.op in (Op.AHEAD, Op.NOT_AHEAD)
    if not is_ahead and any(each.kind != "set" for each in letters):
        return None
    return _Element(node, ways=len(choices))


def _repeated(node: Node, part: Node) -> _Element | None:
    """A part so often; None for what is lazy, and for repeated groups."""
    inner = None if part.kind == "repeat" or node.is_lazy else _element(part)
    if inner is None or (node.least, node.most) == (0, 1):
        return inner and _Element(node, 0, ways=inner.ways + 1)
    if part.kind != "set":
        return None
    if node.most is None:
        return _Element(part, node.least, is_long=True) if node.least < 2 else None
    ways = 1 + node.most - node.least
    return _Element(node, min(node.least, 1), ways=ways) if node.most <= _MOST_WAYS else None
