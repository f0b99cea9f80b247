"""The last merge that byte-pair encoding makes of a token's own text, for all tokens at once.

A merge (a, b) makes token t last where the texts of a and b give a and b, and nothing is merged
across the boundary between them before. Only tokens along the right spine of a and the left spine
of b ever stand at the boundary, each from the moment it is made until what it is a part of is. A
moment is a rank: tau(t) = max(rank of t's merge, tau(a), tau(b)).

    a = "ab" of rank 7, b = "cd" of rank 3     at the boundary: (b, c), then (b, cd), then (ab, cd)
    (b, c) of rank 2                           is merged before "cd" is made: t is made otherwise
    (b, c) of rank 5                           is not: "c" is gone by then

Where two things happen in one moment the lower rank goes first, and of one rule the left one. What
that leaves open is encoded, token by token.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# tau of a token that no merge has to make, and of what never happens.
_LETTER, _NEVER = -1, np.iinfo(np.int64).max

_Numbers = NDArray[np.int64]
_Flags = NDArray[np.bool_]


def last_merges(
    lengths: _Numbers,
    letters: _Numbers,
    merges: NDArray[np.int32],
    one_by_one: Callable[[int], int],
) -> _Numbers:
    """By token, int64 (V,), the number of the merge that makes it last; -1 for letters and for
    tokens that their own text does not give.

    ``lengths``: int64 (V,), of how many letters each token's text is, 0 where it is of none.
    ``letters``: ids. ``merges``: int32 (n, 3), left, right and result, in rank order.
    ``one_by_one``: the same of one token. Linear in the merges times the length of spines, but for
    the tokens that are encoded one by one.
    """
    made = _Made.of(lengths, letters, merges)
    left, right, result = made.left, made.right, made.result
    has_text = lengths[result] > 1
    fits = (lengths[left] > 0) & (lengths[right] > 0)
    fits &= lengths[left] + lengths[right] == lengths[result]
    is_odd = np.zeros(len(lengths), dtype=np.bool_)
    is_odd[result[has_text & ~fits]] = True
    # Of a pair that stands in the list twice, the last place counts.
    used = np.flatnonzero(has_text & (made.rank_of(left, right) == np.arange(len(merges))))
    # Parts are shorter than what they are parts of.
    used = used[np.argsort(lengths[result[used]], kind="stable")]
    ends = np.flatnonzero(np.diff(lengths[result[used]], append=-1)) + 1
    for level in np.split(used, ends[:-1]):
        odd = is_odd[result[level]]
        reached = (made.tau[left[level]] < _NEVER) & (made.tau[right[level]] < _NEVER)
        tried = level[reached & ~odd]
        crossed, is_open = made.crossed(left[tried], right[tried])
        made.add(tried[~crossed & ~is_open])
        unknown = np.unique(result[np.concatenate((tried[is_open], level[odd]))])
        for token in unknown[made.merge[unknown] < 0].tolist():
            number = one_by_one(token)
            if number >= 0:
                made.add(np.array([number]))
    return made.merge


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """What is known of tokens so far. ``left``, ``right``, ``result``: int64 (n,), of the merges.
    ``merge``: int64 (V,), the last one of each token, else -1; ``tau``: int64 (V,)."""

    left: _Numbers
    right: _Numbers
    result: _Numbers
    merge: _Numbers
    tau: _Numbers
    _keys: _Numbers
    _ranks: _Numbers

    @classmethod
    def of(cls, lengths: _Numbers, letters: _Numbers, merges: NDArray[np.int32]) -> "_Made":
        """Nothing but letters."""
        size = len(lengths)
        left, right, result = merges.T.astype(np.int64)
        keys = left * size + right
        order = np.argsort(keys, kind="stable")
        last = np.flatnonzero(np.diff(keys[order], append=-1))
        tau = np.full(size, _NEVER, dtype=np.int64)
        tau[letters] = _LETTER
        merge = np.full(size, -1, dtype=np.int64)
        return cls(left, right, result, merge, tau, keys[order][last], order[last])

    def rank_of(self, left: _Numbers, right: _Numbers) -> _Numbers:
        """The rank of each pair, -1 for none."""
        keys = left * len(self.tau) + right
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._ranks[places], -1)

    def add(self, numbers: _Numbers) -> None:
        """These merges are the last ones of what they result in."""
        results = self.result[numbers]
        parts = np.maximum(self.tau[self.left[numbers]], self.tau[self.right[numbers]])
        self.merge[results], self.tau[results] = numbers, np.maximum(numbers, parts)

    def crossed(self, a: _Numbers, b: _Numbers) -> tuple[_Flags, _Flags]:
        """Whether something is merged across the boundary of two texts before they give a and b,
        bool (n,); and where that is open, bool (n,)."""
        crossed, is_open = np.zeros((2, len(a)), dtype=np.bool_)
        never = np.full(len(a), _NEVER)
        places, x, y, x_end, y_end = np.arange(len(a)), a, b, never, never
        # Whether all four, made and ending, were made by a rule of the moment's own rank.
        is_plain = np.ones(len(a), dtype=np.bool_)
        # Time runs backwards, to the letters at the boundary.
        while True:
            moves = np.flatnonzero(np.maximum(self.tau[x], self.tau[y]) > _LETTER)
            if not len(moves):
                return crossed, is_open
            places, x, y, is_plain = places[moves], x[moves], y[moves], is_plain[moves]
            x_made, y_made = self.tau[x], self.tau[y]
            is_plain &= self._is_plain(x) & self._is_plain(y)
            # Of two that one rule makes in one moment, the left one is made first.
            is_right = y_made >= x_made
            undecided = (x_made == y_made) & ~is_plain
            x_end = np.where(is_right, x_end[moves], x_made)
            y_end = np.where(is_right, y_made, y_end[moves])
            x, y = (
                np.where(is_right, x, self.right[self.merge[x]]),
                np.where(is_right, self.left[self.merge[y]], y),
            )
            found = self.rank_of(x, y)
            moment = np.maximum(found, np.maximum(self.tau[x], self.tau[y]))
            meets = (found >= 0) & (moment <= x_end) & (moment <= y_end)
            at_once = meets & ((moment == x_end) | (moment == y_end))
            is_plain_now = is_plain & self._is_plain(x) & self._is_plain(y)
            undecided |= at_once & ~is_plain_now
            meets &= moment < x_end
            is_open[places[undecided]] = True
            crossed[places[meets & ~undecided]] = True
            kept = np.flatnonzero(~meets & ~undecided)
            places, x, y, is_plain = places[kept], x[kept], y[kept], is_plain[kept]
            x_end, y_end = x_end[kept], y_end[kept]

    def _is_plain(self, tokens: _Numbers) -> _Flags:
        """Whether tokens are letters or made in the moment of their merge's own rank."""
        found: _Flags = self.tau[tokens] == self.merge[tokens]
        return found
