"""Where a text may be cut without changing what its merges give.

A merge can only bridge two neighbouring characters c, d if its left part ends with c and its
right part begins with d. Between characters that no merge bridges, both sides are merged each
for itself: rank order is kept on either side, and nothing on one side touches the other.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .tokenizer import Tokenizer

# Code points have 21 bits.
_SHIFT = 21


class Seams:
    """The seams of a tokenizer that merges characters.

    Only where every character has symbols of its own: one that is dropped would make its
    neighbours adjacent, and runs of unknown ones may be fused.
    """

    def __init__(self, tokenizer: "Tokenizer") -> None:
        bridged = _bridged(tokenizer) if tokenizer.byte_fallback else None
        self._bridged = bridged

    def pieces(self, text: str) -> list[str]:
        """The text, cut wherever that is safe."""
        if self._bridged is None or len(text) < 2:
            return [text]
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
        pairs = codes[:-1] << _SHIFT | codes[1:]
        nearest = self._bridged[np.searchsorted(self._bridged[:-1], pairs)]
        cuts = np.flatnonzero(nearest != pairs) + 1
        return [text[start:end] for start, end in pairwise([0, *cuts.tolist(), len(text)])]


def _bridged(tokenizer: "Tokenizer") -> NDArray[np.int64] | None:
    """Sorted pairs of characters that a merge bridges; None if a part is of no characters."""
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
    # A pair that no text has, so that there is always a nearest one.
    return np.unique(np.append(last[left] << _SHIFT | first[right], np.iinfo(np.int64).max))
