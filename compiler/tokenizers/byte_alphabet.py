"""The byte-level alphabet: every byte as a visible character.

GPT-2's byte-level BPE stores tokens as text; a byte that is printable Latin-1 stands for
itself, the others for the code points from 256 on, in order.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray


@cache
def characters() -> tuple[str, ...]:
    """The character of each of the 256 bytes."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    shifted = (octet for octet in range(256) if octet not in printable)
    moved = {octet: 256 + i for i, octet in enumerate(shifted)}
    return tuple(chr(moved.get(octet, octet)) for octet in range(256))


# What Latin-1 has no byte for.
_OUTSIDE = 0x10FFFF


@cache
def _octets() -> dict[int, int]:
    outside = dict.fromkeys(range(256), _OUTSIDE)
    return outside | {ord(char): octet for octet, char in enumerate(characters())}


def decode(token: str) -> bytes | None:
    """The bytes of a token's text; None if it holds a character outside the alphabet."""
    try:
        return token.translate(_octets()).encode("latin-1")
    except UnicodeEncodeError:
        return None


def decode_each(tokens: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of tokens' texts in a row, and of how many each is, -1 for None of ``decode``."""
    codes = np.frombuffer("".join(tokens).encode("utf-32-le"), dtype="<u4")
    octet_of = np.full(1 + max(map(ord, characters())) + 1, -1, dtype=np.int16)
    octet_of[[*map(ord, characters())]] = np.arange(256)
    octets = octet_of[np.minimum(codes, len(octet_of) - 1)]
    lengths = np.array([*map(len, tokens)], dtype=np.int64)
    outside = np.append(0, np.cumsum(octets < 0))
    ends = np.cumsum(lengths)
    is_outside = outside[ends] > outside[ends - lengths]
    return octets[~np.repeat(is_outside, lengths)].astype(np.uint8), np.where(
        is_outside, -1, lengths
    )


def encode(octets: bytes) -> str:
    """Bytes in the alphabet; inverse of ``decode``."""
    return octets.decode("latin-1").translate(_shifts())


@cache
def _shifts() -> dict[int, str]:
    return dict(enumerate(characters()))
