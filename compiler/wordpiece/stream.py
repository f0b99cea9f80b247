"""Text that comes in parts: where it can be split, and what of an endless word has to be held.

A text can be split after each character that ends a word, if no added token may stand across
that place. Where there is no such place, the text is one word; once that is longer than any word
may be, it is unknown whatever follows, so that a short word as long as that can stand for it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from re import Pattern

from constrain.artifacts.tokens.memo import memoised

from .normalizer import SPACE


@dataclass(frozen=True)
class StreamSplitter:
    """Splits held text. ``spaced``: puts normalised words between spaces. ``added``: finds added
    tokens, which are called ``names``. ``max_chars``: longer words are unknown.
    """

    spaced: Callable[[str], str]
    added: Pattern[str] | None
    names: Collection[str]
    max_chars: int

    def settled(self, held: str) -> tuple[str, str]:
        """The part of ``held`` that is complete, and the rest, or a shorter text in its place.

        Together they have the ids of ``held``, whatever follows. The rest is not much longer
        than two words may be and an added token.
        """
        # Before this place it is decided which characters belong to added tokens.
        decided = max(len(held) - self._longest_name, 0)
        start = 0
        for match in self.added.finditer(held) if self.added else ():
            if match.start() >= decided:
                break
            start = match.end()
        ends = (i + 1 for i in range(decided - 1, start - 1, -1) if self._ends_word(held[i]))
        place = next(ends, start)
        ready, rest, decided = held[:place], held[place:], decided - place
        if decided > 2 * len(self._stand_in):
            if len(self.spaced(rest[:decided])) > self.max_chars:
                return ready, self._stand_in + rest[decided:]
            # Nearly all of it is dropped by the normalizer, and one such character between the
            # others does as well as many: so that they do not look like an added token.
            chars = (char for char in rest[:decided] if self.spaced(char))
            rest = "".join(char + self._dropped for char in chars) + rest[decided:]
        return ready, rest

    @memoised
    def _ends_word(self, char: str) -> bool:
        return self.spaced(char).endswith(SPACE)

    @cached_property
    def _longest_name(self) -> int:
        return max(map(len, self.names), default=0)

    @cached_property
    def _stand_in(self) -> str:
        """A word that is too long, of a letter that is in no added token."""
        used = set().union(*self.names)
        letters = map(chr, range(ord("a"), 0x110000))
        letter = next(c for c in letters if c not in used and self.spaced(c) == c)
        return letter * (self.max_chars + 1)

    @cached_property
    def _dropped(self) -> str:
        """A character that the normalizer drops and that is in no added token."""
        used = set().union(*self.names)
        return next(c for c in map(chr, range(0x110000)) if c not in used and not self.spaced(c))
