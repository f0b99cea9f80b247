"""Seams: places where a text can be split without changing what merging gives.

A merge can cross the boundary between adjacent characters c and d only if its left part ends with c
and its right part begins with d. Where no merge does, both sides can be merged separately: each
side is merged in rank order, and nothing on one side depends on the other. Long texts of tokenizers
that do not split (SentencePiece) become many short ones that way.
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

    There are none unless every character has symbols: a dropped one would make its neighbours
    adjacent, and runs of unknown ones may be fused.
    """

    def __init__(self, tokenizer: Definition) -> None:
        found = _crossed(tokenizer) if tokenizer.byte_fallback else None
        self._crossed = None if found is None else _Pairs(*found)

    def pieces(self, text: str) -> list[str]:
        """The text, split at its seams."""
        if self._crossed is None or len(text) < 2:
            return [text]
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        is_seam = np.append(False, ~self._crossed.has(codes[:-1], codes[1:]))
        if _NUL in text:
            ends = [*np.flatnonzero(is_seam).tolist(), len(text)]
            return [text[start:end] for start, end in pairwise([0, *ends])]
        # Faster than slicing: put a character that the text lacks into each seam and split there.
        places = np.arange(len(codes)) + np.cumsum(is_seam)
        divided = np.zeros(places[-1] + 1, dtype=np.uint32)
        divided[places] = codes
        return divided.tobytes().decode("utf-32-le").split(_NUL)


class _Pairs:
    """A set of pairs of code points: a bit for each left and right code point that occur in it."""

    def __init__(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        lefts, rights = np.unique(left), np.unique(right)
        # The row and the column of each code point; 0 for all others, where no bit is set.
        self._row = np.zeros(_CODES, dtype=np.int64)
        self._column = np.zeros(_CODES, dtype=np.int64)
        self._row[lefts] = np.arange(1, len(lefts) + 1) * (len(rights) + 1)
        self._column[rights] = np.arange(1, len(rights) + 1)
        places = self._row[left] + self._column[right]
        self._bits = np.zeros((len(lefts) + 1) * (len(rights) + 1) // 8 + 1, dtype=np.uint8)
        np.bitwise_or.at(self._bits, places >> 3, (1 << (places & 7)).astype(np.uint8))

    def has(self, left: NDArray[np.uint32], right: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which pairs ``left[i], right[i]`` are in the set, bool."""
        places = self._row[left] + self._column[right]
        bits: NDArray[np.uint8] = self._bits[places >> 3] >> (places & 7) & 1
        return bits.astype(bool)


def _crossed(tokenizer: Definition) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The pairs of characters, int64, that a merge can cross; None if a part has no characters."""
    first = np.full(tokenizer.vocab_size, -1, dtype=np.int64)
    for char, token_id in tokenizer.characters.items():
        first[token_id] = ord(char)
    last = first.copy()
    left, right, result = tokenizer.merges.astype(np.int64).T
    # Lists need not be proper: repeat until no further token is spelled.
    while True:
        ready = (first[result] < 0) & (first[left] >= 0) & (last[right] >= 0)
        if not ready.any():
            break
        first[result[ready]], last[result[ready]] = first[left[ready]], last[right[ready]]
    if (last[left] < 0).any() or (first[right] < 0).any():
        return None
    return last[left], first[right]
