"""Mask rows compressed by sharing blocks of 512 tokens.

The rows of a grammar repeat the same blocks: 7,403 rows of a C-like grammar over 151,665 tokens,
141 MB, have some hundred different blocks at each place. So a row is one number for each place, and
a block is stored once for its place; with blocks of two words:

    rows [[1, 2 | 5, 6], [1, 2 | 7, 8]]  ->  blocks [1, 2], [5, 6], [7, 8], codes [0, 0], [0, 1]
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from . import tokenset
from .tokenset import Words

# Words of a block.
BLOCK = 16

# Places of which the words are asked for together.
_TOGETHER = 16

# Rows beyond which the codes would not fit.
MOST_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class BlockRows:
    """R rows of W words, padded with zeros to B = ceil(W / ``BLOCK``) blocks.

    ``codes``: uint16 (R, B), the block of each place. ``blocks``: uint32 (K, ``BLOCK``), those of
    place b from ``offsets[b]`` on (int64 (B + 1,)). ``name``: of their sections.
    """

    codes: NDArray[np.uint16]
    blocks: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    name: str = "greedy"

    def __len__(self) -> int:
        """R."""
        return len(self.codes)

    def row(self, number: int, vocab_size: int) -> Words:
        """Row ``number``: uint32 (W,), read-only. Raises ``ArtifactError`` for a code that has
        no block, or a token that there is not (an unverified file)."""
        row: Words = self.rows(slice(number, number + 1), vocab_size)[0]
        return row

    def rows(self, numbers: slice | list[int], vocab_size: int) -> NDArray[np.uint32]:
        """Rows, uint32 (n, W), read-only. Raises as ``row`` does."""
        places = self.codes[numbers] + self.offsets[:-1]
        if (places >= self.offsets[1:]).any():
            raise self._damaged("codes")
        whole = self.blocks.take(places, axis=0).reshape(len(places), BLOCK * places.shape[1])
        rows: NDArray[np.uint32] = whole[:, : tokenset.word_count(vocab_size)]
        if vocab_size % 32 and (rows[:, -1] >> np.uint32(vocab_size % 32)).any():
            raise self._damaged("blocks")
        rows.flags.writeable = False
        return rows

    def words(self, places: NDArray[np.integer]) -> NDArray[np.uint32]:
        """Some words of all rows, uint32 (R, n)."""
        block, word = np.divmod(places, BLOCK)
        found: NDArray[np.uint32] = self.blocks[self.codes[:, block] + self.offsets[block], word]
        return found

    def _damaged(self, section: str) -> ArtifactError:
        name = f"{self.name}.{section}"
        return ArtifactError(f"section '{name}' is damaged: it does not fit the others")


def shared_blocks(rows: NDArray[np.uint32]) -> BlockRows:
    """Rows, uint32 (R, W), compressed. Raises ``ValueError`` for more than ``MOST_ROWS``."""
    count, words = rows.shape
    return shared_blocks_of(count, words, lambda first, end: rows[:, first:end])


def shared_blocks_of(
    count: int, words: int, columns: Callable[[int, int], NDArray[np.uint32]]
) -> BlockRows:
    """``count`` rows of so many words, compressed, which need not be in memory together.
    ``columns``: from one word to another, uint32 (R, n). Raises as ``shared_blocks``."""
    if count > MOST_ROWS:
        raise ValueError(f"{count:,} rows are more than {MOST_ROWS:,}")
    places = -(-words // BLOCK)
    if count == 1:
        only = np.zeros(places * BLOCK, dtype=np.uint32)
        only[:words] = columns(0, words)[0]
        ends_of_one = np.arange(places + 1, dtype=np.int64)
        codes = np.zeros((1, places), dtype=np.uint16)
        return BlockRows(codes, only.reshape(places, BLOCK), ends_of_one)
    # Blocks are distinguished by a hash; a comparison then rules collisions out.
    factors = np.random.default_rng(0).integers(0, 1 << 63, BLOCK, dtype=np.uint64) | np.uint64(1)
    codes = np.zeros((count, places), dtype=np.uint16)
    blocks: list[NDArray[np.uint32]] = []
    ends = [0]
    for place in range(places):
        begin = place % _TOGETHER * BLOCK
        if not begin:
            together = columns(place * BLOCK, min((place + _TOGETHER) * BLOCK, words))
        part = together[:, begin : begin + BLOCK]
        hashes = part @ factors[: part.shape[1]]
        _, first, codes_here = np.unique(hashes, return_index=True, return_inverse=True)
        if not np.array_equal(part[first][codes_here], part):
            first, codes_here = _distinct_via_comparison(part)
        codes[:, place] = codes_here
        block = np.zeros((len(first), BLOCK), dtype=np.uint32)
        block[:, : part.shape[1]] = part[first]
        blocks.append(block)
        ends.append(ends[-1] + len(first))
    whole = np.concatenate(blocks) if blocks else np.zeros((0, BLOCK), dtype=np.uint32)
    return BlockRows(codes, whole, np.array(ends, dtype=np.int64))


def _distinct_via_comparison(
    part: NDArray[np.uint32],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First places of the different rows, and which of them each row is."""
    _, first, inverse = np.unique(part, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)
