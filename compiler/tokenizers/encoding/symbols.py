"""The symbols of a pre-token that merging begins with: its bytes, or its characters."""

from collections.abc import Sequence
from itertools import compress, repeat

import numpy as np
from numpy.typing import NDArray

from .. import byte_alphabet
from ..definition import ByteLevel, Definition


class Symbols:
    """Maps pre-tokens to the ids of single symbols, and to bytes.

    A character without a symbol is spelled by byte tokens (``byte_fallback``), else by ``unk``,
    else it is dropped. ``has_affixes``: what is written for a symbol depends on where in its
    pre-token it is.
    """

    def __init__(self, tokenizer: Definition) -> None:
        self._tokenizer = tokenizer
        self.has_affixes = bool(tokenizer.continuing_prefix or tokenizer.end_suffix)
        self._of_byte = tuple(tokenizer.base).__getitem__
        # Steps after ``ByteLevel`` split text that is written in its alphabet.
        levels = [isinstance(step, ByteLevel) for step in tokenizer.pre_tokenizers]
        self._in_alphabet = any(levels) and not levels[-1]

    def octets(self, piece: str) -> bytes:
        """The bytes of a pre-token."""
        if self._in_alphabet:
            decoded = byte_alphabet.decode(piece)
            if decoded is not None:
                return decoded
        return piece.encode("utf-8")

    def of_bytes(self, octets: bytes) -> list[int]:
        """The symbols of some bytes; those that the vocabulary lacks are ``unk`` or dropped."""
        if self.has_affixes:
            alphabet = byte_alphabet.characters()
            base = self._tokenizer.base
            return self._with_affixes([(alphabet[octet], base[octet]) for octet in octets])
        ids = list(map(self._of_byte, octets))
        if -1 not in ids:
            return ids
        return self._with_unknown([[i] if i >= 0 else None for i in ids])

    def of_characters(self, piece: str) -> list[int]:
        """The symbols of a pre-token in characters, with fallbacks."""
        symbol_of, fallback = self._tokenizer.characters, self._tokenizer.byte_fallback
        if self.has_affixes:
            return self._with_affixes([(char, symbol_of.get(char, -1)) for char in piece])
        try:
            return [symbol_of[char] for char in piece]
        except KeyError:
            pass
        found: list[list[int] | None] = []
        for char in piece:
            if char in symbol_of:
                found.append([symbol_of[char]])
            elif fallback:
                found.append([fallback[octet] for octet in char.encode("utf-8")])
            else:
                found.append(None)
        return self._with_unknown(found)

    def _with_affixes(self, plain: Sequence[tuple[str, int]]) -> list[int]:
        """The symbols of a pre-token's characters, given the ids of these without affixes."""
        prefix, suffix = self._tokenizer.continuing_prefix, self._tokenizer.end_suffix
        found = list[list[int] | None]()
        for place, (char, symbol) in enumerate(plain):
            written = f"{prefix * (place > 0)}{char}{suffix * (place == len(plain) - 1)}"
            if written != char:
                symbol = self._tokenizer.affixed.get(written, -1)
            found.append([symbol] if symbol >= 0 else None)
        return self._with_unknown(found)

    def of_pieces(
        self, pieces: Sequence[str], widest: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[bool]]:
        """The symbols of many pre-tokens, int64, one after another, and how many each has, int64.

        Only of those of at most ``widest`` characters or bytes that are all symbols themselves. The
        last result says for each of ``pieces`` whether it is one of these.
        """
        if self._tokenizer.byte_level:
            written = list(map(self.octets, pieces))
            lengths = np.fromiter(map(len, written), np.int64, len(written))
            plain = lengths <= widest
            octets = np.frombuffer(b"".join(compress(written, plain.tolist())), np.uint8)
            ids = np.array(self._tokenizer.base, dtype=np.int64)[octets]
        else:
            lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
            plain = lengths <= widest
            text = "".join(compress(pieces, plain.tolist()))
            found = map(self._tokenizer.characters.get, text, repeat(-1))
            ids = np.fromiter(found, np.int64, len(text))
        lengths = lengths[plain]
        if (ids < 0).any():
            known = np.minimum.reduceat(ids, np.cumsum(lengths) - lengths) >= 0
            plain[plain] = known
            ids, lengths = ids[np.repeat(known, lengths)], lengths[known]
        return ids, lengths, plain.tolist()

    def _with_unknown(self, found: list[list[int] | None]) -> list[int]:
        """The symbols in order, where None (no symbol) becomes ``unk`` or is dropped."""
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
