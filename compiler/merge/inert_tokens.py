"""Tokens whose characters a normalizer leaves alone behind any text."""

from codecs import getincrementaldecoder

import numpy as np
from numpy.typing import NDArray

_TAIL_END, _LONGEST_TAIL = 0xC0, 3
_LEAD = b"\xc0"
_TAILS = bytes(range(0x80, _TAIL_END))


def is_plain(octets: bytes, plain: NDArray[np.bool_]) -> bool:
    """Whether these are whole characters of ``plain``, bool (0x110000,)."""
    try:
        codes = np.frombuffer(octets.decode("utf-8").encode("utf-32-le"), dtype="<u4")
    except UnicodeDecodeError:
        return False
    return bool(plain[codes].all())


def ends_inside(octets: bytes) -> bool:
    """Whether a token ends inside a character."""
    decoder = getincrementaldecoder("utf-8")("ignore")
    decoder.decode(octets)
    return bool(decoder.getstate()[0])


def is_inert(octets: bytes, plain: NDArray[np.bool_], may_begin: NDArray[np.bool_]) -> bool:
    """Whether a token holds, behind the end of a character, characters of ``plain`` alone.

    ``may_begin``: bool (0x110000,), those of which a last one that has begun may be any.
    """
    rest = octets.lstrip(_TAILS)
    if len(octets) - len(rest) > _LONGEST_TAIL:
        return False
    begun = next((i for i in range(1, 4) if rest[-i : -i + 1 or None] >= _LEAD), 0)
    whole = rest
    if begun and begun < _length(rest[-begun]):
        # A character has begun: whichever it becomes.
        whole, last = rest[:-begun], rest[-begun:]
        shift = 6 * (_length(last[0]) - begun)
        code = last[0] & (0x7F >> _length(last[0]))
        for octet in last[1:]:
            code = code << 6 | octet & 0x3F
        if not may_begin[code << shift : (code + 1) << shift].all():
            return False
    return is_plain(whole, plain)


def _length(lead: int) -> int:
    """Bytes of the character that a lead byte begins."""
    return 2 + (lead >= 0xE0) + (lead >= 0xF0)
