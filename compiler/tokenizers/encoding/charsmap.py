"""SentencePiece's precompiled table of replacements: a double array, and the texts it leads to.

    size of the array (4 bytes)  |  units of 4 bytes  |  texts, each ended by a NUL

A unit has the byte that leads to it, an offset, and whether a text ends there; the leaf below it
then has the place of what replaces that text. Numbers are little-endian.

Source: S. Yata, *Darts-clone*; SentencePiece's ``normalizer.cc``; Hugging Face's
``spm_precompiled``, which does another thing with it (``Precompiled``).
"""

from base64 import b64decode
from binascii import Error
from functools import cache, lru_cache

import numpy as np

from ...diagnostics import TokenizerError
from ...wordpiece.prefix_search import PrefixSearch
from ..definition import Precompiled
from .patterns import as_cut

# Unicode's own forms make 33 bytes of one character at most; the texts that SentencePiece's own
# tables replace have 8 characters.
_MOST_BYTES, _MOST_CHARACTERS = 1_000, 64

# Graphemes of fewer bytes are replaced as a whole.
_SHORT = 6

# A character's bytes lead to a node, which has the place of a text, or none.
_Step = tuple[int, int]
_NONE = -1


class CharsMap:
    """The table of some bytes. Raises ``TokenizerError`` for bytes that are none."""

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        if len(blob) < 8 or size % 4 or not 4 <= size <= len(blob) - 4:
            raise TokenizerError("the precompiled_charsmap is damaged: it has no array")
        units = np.frombuffer(blob, dtype="<u4", offset=4, count=size // 4)
        self._units: list[int] = units.tolist()
        self._texts = blob[4 + size :]
        try:
            self._texts.decode("utf-8")
        except UnicodeDecodeError:
            raise TokenizerError("the precompiled_charsmap has texts that are not UTF-8") from None
        if max(map(len, self._texts.split(b"\0"))) > _MOST_BYTES:
            raise TokenizerError(
                f"the precompiled_charsmap has a text of more than {_MOST_BYTES:,} bytes"
            )
        self._root = self._behind(0)
        self._step = lru_cache(maxsize=1 << 16)(self._found)
        self._grapheme = lru_cache(maxsize=1 << 14)(self._of_grapheme)

    def has(self, text: bytes) -> bool:
        """Whether what replaces some text has these bytes."""
        return text in self._texts

    @property
    def reads_spaces(self) -> bool:
        """Whether some text that is replaced begins with a space."""
        return self._step(self._root, " ") is not None

    def by_longest(self, text: str, kept: PrefixSearch | None) -> str:
        """Replace the longest text of the table at each place, but ``kept`` ones."""
        out: list[str] = []
        place, length = 0, len(text)
        while place < length:
            same = kept.longest_at(text, place) if kept else ""
            if same:
                out.append(same)
                place += len(same)
                continue
            node, at, end, found = self._root, place, place + 1, _NONE
            last = min(length, place + _MOST_CHARACTERS)
            while at < last and (step := self._step(node, text[at])) is not None:
                node, value = step
                at += 1
                if value != _NONE:
                    end, found = at, value
            out.append(text[place] if found == _NONE else self._text(found))
            place = end
        return "".join(out)

    def by_graphemes(self, text: str) -> str:
        """Replace short graphemes, else characters, as Hugging Face's library does."""
        import regex

        cut = as_cut(text)
        return "".join(
            self._grapheme(text[match.start() : match.end()])
            for match in regex.finditer(r"\X", cut)
        )

    def _of_grapheme(self, grapheme: str) -> str:
        if len(grapheme.encode("utf-8")) < _SHORT:
            whole = self._shortest(grapheme)
            if whole is not None:
                return whole
        each = ((char, self._shortest(char)) for char in grapheme)
        return "".join(char if found is None else found for char, found in each)

    def _shortest(self, text: str) -> str | None:
        """What replaces the shortest text of the table that this one begins with."""
        node = self._root
        for char in text:
            step = self._step(node, char)
            if step is None:
                return None
            node, value = step
            if value != _NONE:
                return self._text(value)
        return None

    def _text(self, place: int) -> str:
        end = self._texts.find(b"\0", place)
        return self._texts[place : end if end >= 0 else None].decode("utf-8", "replace")

    def _behind(self, node: int) -> int:
        """The base of a unit's children."""
        unit = self._units[node]
        return node ^ (unit >> 10 << ((unit & 1 << 9) >> 6))

    def _found(self, node: int, char: str) -> _Step | None:
        """Where a character leads from the children at ``node``, None for nowhere."""
        units, found = self._units, False
        for octet in char.encode("utf-8"):
            node ^= octet
            # The units of leaves have their highest bit set, and no byte leads there.
            if not octet or node >= len(units) or units[node] & 0x800000FF != octet:
                return None
            found = bool(units[node] >> 8 & 1)
            node = self._behind(node)
        value = units[node] & 0x7FFFFFFF if found and node < len(units) else len(self._texts)
        return node, value if value < len(self._texts) else _NONE


@lru_cache(maxsize=8)
def charsmap_of(encoded: str) -> CharsMap:
    """The table of a text in base64. Raises ``TokenizerError``."""
    try:
        return CharsMap(b64decode(encoded, validate=True))
    except (Error, ValueError):
        raise TokenizerError("the precompiled_charsmap is not in base64") from None


@cache
def _search(kept: tuple[str, ...]) -> PrefixSearch:
    return PrefixSearch(kept)


def replaced(text: str, step: Precompiled) -> str:
    """The text after a step."""
    found = charsmap_of(step.charsmap)
    if step.by_graphemes:
        return found.by_graphemes(text)
    return found.by_longest(text, _search(step.kept) if step.kept else None)
