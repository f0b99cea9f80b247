"""The ranks of many pairs of symbols at once, in a hash table with open addressing.

The table is searched by all pairs in step: one look at the place that a pair's hash names, and
another look, one place further, for those that find another pair there (linear probing; D. E.
Knuth, The Art of Computer Programming 3, section 6.4, Algorithm L).
"""

import numpy as np
from numpy.typing import NDArray

# A pair of symbols as one number: no id reaches this.
_SHIFT = 32

# 2^64 divided by the golden ratio: multiples of it are spread evenly (ibid., Fibonacci hashing).
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

# Places for each pair, so that most looks are the last.
_ROOM = 4

# The key of an empty place. A symbol may be -1, so that a pair's key may be negative too.
_EMPTY = np.iinfo(np.int64).min


class PairRanks:
    """The ranks of a merge list, int32 (n, 3), left, right and result id in rank order.

    Of several merges of one pair the last one counts. ``none``: n, the rank of other pairs.
    """

    def __init__(self, merges: NDArray[np.int32]) -> None:
        self.none = len(merges)
        bits = (_ROOM * len(merges) + 1).bit_length()
        self._shift = np.uint64(64 - bits)
        self._last = (1 << bits) - 1
        self._keys = np.full(1 << bits, _EMPTY, dtype=np.int64)
        self._ranks = np.full(1 << bits, self.none, dtype=np.int32)
        wide = merges.astype(np.int64)
        keys = wide[:, 0] << _SHIFT | wide[:, 1]
        ranks = np.arange(len(keys), dtype=np.int32)
        places = self._places(keys)
        while len(keys):
            free = self._keys[places] == _EMPTY
            self._keys[places[free]] = keys[free]
            # subtle: equal keys come here together, and of several values numpy keeps the last.
            settled = self._keys[places] == keys
            self._ranks[places[settled]] = ranks[settled]
            keys, ranks = keys[~settled], ranks[~settled]
            places = (places[~settled] + 1) & self._last

    def of(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int32]:
        """The ranks of pairs, int32; ``none`` for those without, as where a symbol is -1."""
        keys = left << _SHIFT | right
        places = self._places(keys)
        found = self._keys[places]
        ranks = self._ranks[places]
        wrong = found != keys
        ranks[wrong] = self.none
        pending = np.flatnonzero(wrong & (found != _EMPTY))
        places = places[pending]
        while len(pending):
            places = (places + 1) & self._last
            found = self._keys[places]
            hits = found == keys[pending]
            ranks[pending[hits]] = self._ranks[places[hits]]
            further = ~hits & (found != _EMPTY)
            pending, places = pending[further], places[further]
        return ranks

    def _places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place where each key is looked for first."""
        places: NDArray[np.uint64] = keys.view(np.uint64) * _FACTOR >> self._shift
        return places.view(np.int64)
