"""The symbols that merging begins with: bytes, or characters with their fallbacks."""

from typing import TYPE_CHECKING

from . import byte_alphabet
from .steps import ByteLevel

if TYPE_CHECKING:
    from .tokenizer import Tokenizer


class Symbols:
    """Turns pieces of text into the ids of single symbols, and into bytes."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer
        self._base = tuple(tokenizer.base)
        # Behind ``ByteLevel`` other steps cut text that is written in its alphabet.
        levels = [isinstance(step, ByteLevel) for step in tokenizer.pre_tokenizers]
        self._in_alphabet = any(levels[:-1])

    def octets(self, piece: str) -> bytes:
        """The bytes that a piece is written with."""
        decoded = byte_alphabet.decode(piece) if self._in_alphabet else None
        return piece.encode("utf-8") if decoded is None else decoded

    def of(self, piece: str) -> list[int]:
        """The symbols of a piece, without those that the vocabulary lacks."""
        if not self._tokenizer.byte_level:
            return self._of_characters(piece)
        ids = list(map(self._base.__getitem__, self.octets(piece)))
        if -1 not in ids:
            return ids
        return self._with_unknown([[i] if i >= 0 else None for i in ids])

    def _of_characters(self, piece: str) -> list[int]:
        known, fallback = self._tokenizer.characters, self._tokenizer.byte_fallback
        try:
            return [known[char] for char in piece]
        except KeyError:
            pass
        found: list[list[int] | None] = []
        for char in piece:
            if char in known:
                found.append([known[char]])
            elif fallback:
                found.append([fallback[octet] for octet in char.encode("utf-8")])
            else:
                found.append(None)
        return self._with_unknown(found)

    def _with_unknown(self, found: list[list[int] | None]) -> list[int]:
        """Symbols in order; what has none (None) is ``unk``, or is dropped."""
        unk, fuse = self._tokenizer.unk, self._tokenizer.fuse_unk
        ids: list[int] = []
        pending = False
        for symbols in found:
            if symbols is not None:
                ids += symbols
            elif unk is not None and not (fuse and pending):
                ids.append(unk)
            pending = symbols is None
        return ids
