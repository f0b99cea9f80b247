"""Rows that are laid out for an artifact: equal ones once, short ones as lists of ids."""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts import tokenset
from constrain.artifacts.tokenset import Words

# Rows of more tokens are kept as bits.
LONGEST_LIST = 512


class LaidOutRows:
    """``add`` numbers rows, even those of bits and odd those of lists; ``place`` is where a row
    lies among all, which is known in the end."""

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._lists: dict[bytes, int] = {}
        self._bits: dict[bytes, int] = {}
        self.nbytes = 0

    def add(self, ids: NDArray[np.int32]) -> int:
        """The number of the row of ``ids``."""
        if len(ids) <= 2 * LONGEST_LIST:
            ids = np.unique(ids)
        if len(ids) <= LONGEST_LIST:
            content, known = ids.astype("<i4").tobytes(), self._lists
        else:
            content, known = tokenset.from_ids(ids, self._vocab_size).tobytes(), self._bits
        if content not in known:
            self.nbytes += len(content)
            known[content] = len(known)
        return 2 * known[content] + (known is self._lists)

    def held(self, tokens: NDArray[np.int32]) -> dict[int, NDArray[np.bool_]]:
        """Which of ``tokens`` each row holds, by its number."""
        found: dict[int, NDArray[np.bool_]] = {}
        for number, content in enumerate(self._bits):
            words: Words = np.frombuffer(content, dtype="<u4")
            found[2 * number] = tokenset.to_flags(words)[tokens]
        for number, content in enumerate(self._lists):
            found[2 * number + 1] = np.isin(tokens, np.frombuffer(content, dtype="<i4"))
        return found

    def place(self, number: int) -> int:
        """The place of a row among all, those of bits first."""
        return number // 2 + len(self._bits) * (number % 2)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The sections ``closed.rows``, ``closed.ids`` and ``closed.id_offsets``."""
        width = tokenset.word_count(self._vocab_size)
        packed: Words = np.frombuffer(b"".join(self._bits), dtype="<u4").reshape(-1, width)
        ids = np.frombuffer(b"".join(self._lists), dtype="<i4")
        offsets = np.cumsum([0, *(len(content) // 4 for content in self._lists)])
        return {
            "closed.id_offsets": offsets.astype(np.int64),
            "closed.ids": ids,
            "closed.rows": packed,
        }
