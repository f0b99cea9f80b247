"""Text that comes in parts: where it can be cut, and what of an endless word has to be held.

A text can be cut behind each character that ends a word, if no added token may stand across
the cut. Where there is no such place, the text is one word; once that is longer than any word
may be, it is unknown whatever follows, so that a short word as long as that can stand for it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from re import Pattern

from .normalizer import SPACE


@dataclass(frozen=True)
class Cutter:
    """Cuts held text. ``cut``: puts normalised words between spaces. ``added``: finds added
    tokens, which are called ``names``. ``max_chars``: longer words are unknown.
    """

    cut: Callable[[str], str]
    added: Pattern[str] | None
    names: Collection[str]
    max_chars: int
    _images: dict[str, str] = field(default_factory=dict, init=False)

    def settled(self, held: str) -> tuple[str, str]:
        """The part of ``held`` that is complete, and the rest, or a shorter text in its place.

        Together they have the ids of ``held``, whatever follows. The rest is not much longer
        than two words may be and an added token.
        """
        known = max(len(held) - self._longest_name, 0)
        start = 0
        for match in self.added.finditer(held) if self.added else ():
            if match.start() >= known:
                break
            start = match.end()
        ends = (i + 1 for i in range(known - 1, start - 1, -1) if self._ends_word(held[i]))
        place = next(ends, start)
        ready, rest, known = held[:place], held[place:], known - place
        if known > 2 * len(self._stand_in):
            if len(self.cut(rest[:known])) > self.max_chars:
                return ready, self._stand_in + rest[known:]
            # Nearly all of it is dropped by the normalizer, and one such character between the
            # others does as well as many: it keeps them from looking like an added token.
            kept = (char for char in rest[:known] if self.cut(char))
            rest = "".join(char + self._dropped for char in kept) + rest[known:]
        return ready, rest

    def _ends_word(self, char: str) -> bool:
        if char not in self._images:
            self._images[char] = self.cut(char)
        return self._images[char].endswith(SPACE)

    @cached_property
    def _longest_name(self) -> int:
        return max(map(len, self.names), default=0)

    @cached_property
    def _stand_in(self) -> str:
        """A word that is too long, of a letter that is in no added token."""
        used = set().union(*self.names)
        letter = next(c for c in map(chr, range(ord("a"), 0x110000)) if self._is_free(c, used))
        return letter * (self.max_chars + 1)

    @cached_property
    def _dropped(self) -> str:
        """A character that the normalizer drops and that is in no added token."""
        used = set().union(*self.names)
        return next(c for c in map(chr, range(0x110000)) if c not in used and not self.cut(c))

    def _is_free(self, char: str, used: Collection[str]) -> bool:
        return char not in used and self.cut(char) == char
