"""Texts whose arrays may have to have items that differ, read byte by byte."""

from collections.abc import Iterable

from ..network.configurations import REFUSED, Texts
from ..network.tables import Reading
from ..tokens.memo import Numbered
from .equal_items import MARK, START, EqualItems, Place, events_of


class DistinctTexts:
    """As ``Texts``; ``inner``: what reads bytes, and a mark after items that are equal to an
    earlier one."""

    def __init__(self, inner: Texts) -> None:
        self._inner, self._items = inner, EqualItems()
        self._states = Numbered[tuple[int, Place]]()
        self.start = self._states.number((inner.start, START))

    @property
    def tables(self) -> Reading:
        """How states read symbols."""
        return self._inner.tables

    def read(self, state: int, symbols: Iterable[int]) -> int:
        """The state after some bytes, or ``REFUSED``."""
        inner, place = self._states[state]
        octets = bytes(symbols)
        place, marked = self._items.read(place, octets, events_of(place.lexical, octets))
        reached = REFUSED if MARK in octets else self._inner.read(inner, marked)
        return reached if reached == REFUSED else self._states.number((reached, place))

    def inside(self, state: int) -> tuple[Texts, int]:
        """What reads bytes and marks, and its state."""
        return self._inner, self._states[state][0]

    def may_end(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self._inner.may_end(self._states[state][0])

    def viable(self, text: bytes) -> int:
        """The length of the longest prefix of a text that some member begins with."""
        state = self.start
        for count, octet in enumerate(text):
            state = self.read(state, (octet,))
            if state == REFUSED:
                return count
        return len(text)
