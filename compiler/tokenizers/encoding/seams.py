"""Where a text may be cut without changing what its merges give.

A merge can only bridge two neighbouring characters c, d if its left part ends with c and its
right part begins with d. Between characters that no merge bridges, both sides are merged each
for itself: rank order is kept on either side, and nothing on one side touches the other.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..definition import Definition

_NUL = "\x00"

# Code points are below this.
_CODES = 0x110000


class Seams:
    """The seams of a tokenizer that merges characters.

    Only where every character has symbols of its own: one that is dropped would make its
    neighbours adjacent, and runs of unknown ones may be fused.
    """

    def __init__(self, tokenizer: Definition) -> None:
        found = _bridged(tokenizer) if tokenizer.byte_fallback else None
        self._bridged = None if found is None else _Pairs(*found)

    def pieces(self, text: str) -> list[str]:
        """The text, cut wherever that is safe."""
        if self._bridged is None or len(text) < 2:
            return [text]
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        cut = np.append(False, ~self._bridged.has(codes[:-1], codes[1:]))
        if _NUL in text:
            ends = [*np.flatnonzero(cut).tolist(), len(text)]
            return [text[start:end] for start, end in pairwise([0, *ends])]
        # A character that the text lacks is put into each seam, and the text split there.
        places = np.arange(len(codes)) + np.cumsum(cut)
        divided = np.zeros(places[-1] + 1, dtype=np.uint32)
        divided[places] = codes
        return divided.tobytes().decode("utf-32-le").split(_NUL)


class _Pairs:
    """A set of pairs of code points: a bit for each left one and right one that occur in it."""

    def __init__(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        lefts, rights = np.unique(left), np.unique(right)
        # The row and the column of a character; those of all others, 0, have no bit set.
        self._row = np.zeros(_CODES, dtype=np.int64)
        self._column = np.zeros(_CODES, dtype=np.int64)
        self._row[lefts] = np.arange(1, len(lefts) + 1) * (len(rights) + 1)
        self._column[rights] = np.arange(1, len(rights) + 1)
        places = self._row[left] + self._column[right]
        self._bits = np.zeros((len(lefts) + 1) * (len(rights) + 1) // 8 + 1, dtype=np.uint8)
        np.bitwise_or.at(self._bits, places >> 3, (1 << (places & 7)).astype(np.uint8))

    def has(self, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which pairs of two equally long rows are in the set."""
        places = self._row[left] + self._column[right]
        bits: NDArray[np.uint8] = self._bits[places >> 3] >> (places & 7) & 1
        return bits.astype(bool)


def _bridged(tokenizer: Definition) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Pairs of characters that a merge bridges; None if a part is of no characters."""
    first = np.full(tokenizer.vocab_size, -1, dtype=np.int64)
    for char, token_id in tokenizer.characters.items():
        first[token_id] = ord(char)
    last = first.copy()
    left, right, result = tokenizer.merges.astype(np.int64).T
    # A list need not be in the order of building: go on until nothing new is spelled.
    while True:
        ready = (first[result] < 0) & (first[left] >= 0) & (last[right] >= 0)
        if not ready.any():
            break
        first[result[ready]], last[result[ready]] = first[left[ready]], last[right[ready]]
    if (last[left] < 0).any() or (first[right] < 0).any():
        return None
    return last[left], first[right]
