"""Which pairs of adjacent tokens the merges leave alone.

A sequence of tokens is canonical iff every adjacent pair is (bigram property); a pair is
canonical iff no merge fires across its boundary while the two tokens are built. At the
time of merge k the first token's right edge is a token on its right spine and the second
token's left edge one on its left spine: merge k = (a, b) fires across the boundary iff

    a is the right edge at time k: a = t1, or the spine's next token w has m(w) > k
    b is the left edge at time k:  b = t2, or the spine's next token w has m(w) >= k

with m(w) the index of the merge that makes w. The second bound is not strict because a
merge (a, a) takes the leftmost pair first.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_NEVER = 1 << 62


@dataclass(frozen=True, eq=False)
class MergeTable:
    """The merges of a tokenizer: ``merges`` int32 (n, 3), left, right and result id.

    Every result is made by one merge and every part is a single byte or the result of an
    earlier one (the tokenizer loader checks that).
    """

    merges: NDArray[np.int32]

    @cached_property
    def _made(self) -> dict[int, tuple[int, int, int]]:
        """Result id to (merge index, left part, right part)."""
        return {t: (k, a, b) for k, (a, b, t) in enumerate(self.merges.tolist())}

    @cached_property
    def _with_left(self) -> dict[int, list[tuple[int, int]]]:
        """Left part to its (right part, merge index)."""
        found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for k, (a, b, _) in enumerate(self.merges.tolist()):
            found[a].append((b, k))
        return found

    def spine(self, token_id: int, side: int) -> list[tuple[int, int]]:
        """(token, m of the token above it) from the token down to a byte.

        ``side``: 1 for the left spine, 2 for the right one.
        """
        found = [(token_id, _NEVER)]
        while (made := self._made.get(token_id)) is not None:
            token_id = made[side]
            found.append((token_id, made[0]))
        return found

    def forbidden(self, first: Sequence[int], second: Sequence[int]) -> NDArray[np.bool_]:
        """Whether ``first[i], second[j]`` is no canonical pair, shape (len(first), len(second)).

        Each merge forbids a rectangle of pairs; the rectangles are disjoint.
        """
        right_edges, left_edges = self._edges(first, 2), self._edges(second, 1)
        out = np.zeros((len(first), len(second)), dtype=np.bool_)
        for a, rows in right_edges.items():
            for b, k in self._with_left.get(a, ()):
                if b in left_edges:
                    firing = [i for i, bound in rows if k < bound]
                    hit = [j for j, bound in left_edges[b] if k <= bound]
                    out[np.ix_(firing, hit)] = True
        return out

    def _edges(self, tokens: Sequence[int], side: int) -> dict[int, list[tuple[int, int]]]:
        """Spine token to the (position in ``tokens``, bound) pairs that pass through it."""
        found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for i, token_id in enumerate(tokens):
            for edge, bound in self.spine(token_id, side):
                found[edge].append((i, bound))
        return found
