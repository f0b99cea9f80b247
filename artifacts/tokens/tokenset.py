"""Sets of token ids as packed words, one bit a token: what a mask is.

Bit ``i % 32`` of the little-endian 32-bit word ``i // 32``: the layout that mask
consumers share. Bits past the vocabulary are clear.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint32]

# Up to so many ids are set one by one, which takes less time than a flag for each token does.
_SET_SINGLY = 16


def word_count(vocab_size: int) -> int:
    """Number of 32-bit words that hold ``vocab_size`` bits."""
    return (vocab_size + 31) // 32


def from_ids(ids: Sequence[int] | NDArray[np.integer], vocab_size: int) -> Words:
    """The set of ``ids``; ids may come in any order and more than once.

    ``ids=[0, 33], vocab_size=40 -> [1, 2]``
    """
    whole = np.asarray(ids, dtype=np.int64)
    if len(whole) <= _SET_SINGLY:
        words = np.zeros(word_count(vocab_size), dtype=np.uint32)
        for token_id in whole.tolist():
            words[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        return words
    flags = np.zeros(word_count(vocab_size) * 32, dtype=np.bool_)
    flags[whole] = True
    return from_flags(flags)


@lru_cache(maxsize=16)
def fixed(ids: tuple[int, ...], vocab_size: int) -> Words:
    """The same, read-only, and one for all who ask, as for the tokens that end texts."""
    words = from_ids(ids, vocab_size)
    words.flags.writeable = False
    return words


def from_flags(flags: NDArray[np.bool_]) -> Words:
    """Pack booleans, shape (..., 32 * n), into words, shape (..., n), dtype uint32."""
    return np.packbits(flags, axis=-1, bitorder="little").view("<u4")


def to_ids(words: Words) -> NDArray[np.int64]:
    """The members in ascending order, shape (count,), dtype int64."""
    return np.flatnonzero(to_flags(words))


def to_flags(words: Words) -> NDArray[np.bool_]:
    """One boolean a token, shape (32 * len(words),)."""
    octets = np.ascontiguousarray(words, dtype="<u4").view(np.uint8)
    return np.unpackbits(octets, bitorder="little").view(np.bool_)


def is_within(rows: NDArray[np.uint32], vocab_size: int) -> bool:
    """Whether no row, uint32 (..., W), has a bit at or beyond V."""
    used = vocab_size % 32
    return not used or not bool((rows[..., -1] >> np.uint32(used)).any())


def ends_of(words: Words) -> tuple[int, int]:
    """The lowest and the highest id of a set; of an empty one no ids, the lower one larger."""
    filled = words != 0
    first, last = int(filled.argmax()), len(words) - 1 - int(filled[::-1].argmax())
    low, high = int(words[first]), int(words[last])
    if not low:
        return 0, -1
    return (first << 5) + (low & -low).bit_length() - 1, (last << 5) + high.bit_length() - 1


def only_id(words: Words) -> int | None:
    """The id of a set of one; None if there are none or several."""
    if np.count_nonzero(words) != 1:
        return None
    first, last = ends_of(words)
    return first if first == last else None


def held(words: Words, ids: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which of some ids are in the set, bool (len(ids),)."""
    bits = words[ids >> 5] >> (ids & 31).astype(np.uint32)
    found: NDArray[np.bool_] = (bits & 1).astype(np.bool_)
    return found


def contains(words: Words, token_id: int) -> bool:
    """Whether the set holds ``token_id``; ids outside the words are not held."""
    word = token_id >> 5
    return 0 <= word < len(words) and bool(int(words[word]) >> (token_id & 31) & 1)
