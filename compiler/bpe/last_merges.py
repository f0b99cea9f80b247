"""The last merge that byte-pair encoding makes of a token's own text, for all tokens at once.

A merge (a, b) makes token t last where the texts of a and b give a and b, and nothing is merged
across the boundary between them before. Only tokens along the right spine of a and the left spine
of b ever stand at the boundary, each from the moment it is made until what it is a part of is. A
moment is a rank: tau(t) = max(rank of t's merge, tau(a), tau(b)).

    a = "ab" of rank 7, b = "cd" of rank 3     at the boundary: (b, c), then (b, cd), then (ab, cd)
    (b, c) of rank 2                           is merged before "cd" is made: t is made otherwise
    (b, c) of rank 5                           is not: "c" is gone by then

Where two things happen in one moment, the left one goes first. A pair that stands at the boundary
is merged if its rank is below the *limits* of what its tokens become parts of. ``README.md`` proves
it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import stable_order

from ..tokenizers.encoding.bpe import PairRanks

# tau of a token that no merge has to make, and of what never happens.
LETTER, _NEVER = -1, np.iinfo(np.int64).max

_Numbers = NDArray[np.int64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LastMerges:
    """How merging makes each token; all fields are int64 (V,), by token.

    ``merge``: the rank of its last merge, -1 for letters and for tokens that their own text does
    not give. ``tau``: the moment at which it is made, -1 for letters. ``right_limit``: a merge of
    its right part with what follows comes first if its rank is below. ``left_limit``: a merge of
    its left part with what comes before is first if its rank is at most this.
    """

    merge: _Numbers
    tau: _Numbers
    right_limit: _Numbers
    left_limit: _Numbers


def last_merges(
    lengths: _Numbers,
    letters: _Numbers,
    merges: NDArray[np.int32],
    one_by_one: Callable[[int], int],
) -> LastMerges:
    """The last merge of each token's own text.

    ``lengths``: int64 (V,), of how many letters each token's text is, 0 where it is of none.
    ``letters``: ids. ``merges``: int32 (n, 3), left, right and result, in rank order.
    ``one_by_one``: the last merge of one token, asked for where the list has merges that do not
    make the token's text. Linear in the merges times the length of spines.
    """
    made = _Made.of(lengths, letters, merges)
    left, right, result = made.left, made.right, made.result
    has_text = lengths[result] > 1
    fits = (lengths[left] > 0) & (lengths[right] > 0)
    fits &= lengths[left] + lengths[right] == lengths[result]
    is_odd = np.zeros(len(lengths), dtype=np.bool_)
    is_odd[result[has_text & ~fits]] = True
    # Of a pair that stands in the list twice, the last place counts.
    counts = np.zeros(len(merges), dtype=np.bool_)
    counts[made.pairs.of(left, right)] = True
    used = np.flatnonzero(has_text & counts)
    # Parts are shorter than what they are parts of.
    used = used[stable_order(lengths[result[used]])]
    ends = np.flatnonzero(np.diff(lengths[result[used]], append=-1)) + 1
    for level in np.split(used, ends[:-1]):
        odd = is_odd[result[level]]
        reached = (made.tau[left[level]] < _NEVER) & (made.tau[right[level]] < _NEVER)
        tried = level[reached & ~odd]
        made.add(tried[~made.crossed(left[tried], right[tried])])
        for token in np.unique(result[level[odd]]).tolist():
            number = one_by_one(token)
            if number >= 0:
                made.add(np.array([number]))
    return LastMerges(made.merge, made.tau, made.right_limit, made.left_limit)


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """What is known of tokens so far. ``left``, ``right``, ``result``: int64 (n,), of the merges.
    ``pairs``: their ranks. The others are those of ``LastMerges``."""

    left: _Numbers
    right: _Numbers
    result: _Numbers
    merge: _Numbers
    tau: _Numbers
    right_limit: _Numbers
    left_limit: _Numbers
    pairs: PairRanks

    @classmethod
    def of(cls, lengths: _Numbers, letters: _Numbers, merges: NDArray[np.int32]) -> "_Made":
        """Nothing but letters."""
        size = len(lengths)
        left, right, result = merges.T.astype(np.int64)
        tau = np.full(size, _NEVER, dtype=np.int64)
        tau[letters] = LETTER
        merge, right_limit, left_limit = np.full((3, size), -1, dtype=np.int64)
        made = merge, tau, right_limit, left_limit
        return cls(left, right, result, *made, PairRanks(merges))

    def add(self, numbers: _Numbers) -> None:
        """These merges are the last ones of what they result in."""
        results = self.result[numbers]
        left, right = self.tau[self.left[numbers]], self.tau[self.right[numbers]]
        tau = np.maximum(numbers, np.maximum(left, right))
        self.merge[results], self.tau[results] = numbers, tau
        # A part that is made in the last moment itself waits for this merge alone; but where both
        # are, the left part waits for the right one.
        self.right_limit[results] = np.where(right < tau, tau, numbers)
        self.left_limit[results] = np.where((left < tau) | (right == tau), tau, numbers)

    def crossed(self, a: _Numbers, b: _Numbers) -> _Flags:
        """Whether something is merged across the boundary of two texts before they give a and b,
        bool (n,)."""
        crossed = np.zeros(len(a), dtype=np.bool_)
        never = np.full(len(a), _NEVER)
        places, x, y, x_limit, y_limit = np.arange(len(a)), a, b, never, never
        # Time runs backwards, to the letters at the boundary.
        while True:
            x_made, y_made = self.tau[x], self.tau[y]
            # Of two that are made in one moment, the left one is made first.
            is_right = y_made >= x_made
            x_limit = np.where(is_right, x_limit, self.right_limit[x])
            y_limit = np.where(is_right, self.left_limit[y], y_limit)
            moves = np.flatnonzero(np.maximum(x_made, y_made) > LETTER)
            if not len(moves):
                return crossed
            places, is_right = places[moves], is_right[moves]
            x, y, x_limit, y_limit = x[moves], y[moves], x_limit[moves], y_limit[moves]
            x, y = (
                np.where(is_right, x, self.right[self.merge[x]]),
                np.where(is_right, self.left[self.merge[y]], y),
            )
            found = self.pairs.of(x, y)
            meets = (found < self.pairs.none) & (found < x_limit) & (found <= y_limit)
            crossed[places[meets]] = True
            kept = np.flatnonzero(~meets)
            places, x, y = places[kept], x[kept], y[kept]
            x_limit, y_limit = x_limit[kept], y_limit[kept]
