"""Product states of Algorithm 5 that may be dead ends: a state that is not open, a last token.

Tokens that lead the same rows to the same state are not told apart before they have to be: a
*ward* is a state and a group of tokens that enters it (``lift.Bundles``).
"""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.frontiers import ranges

from .lift import Lift
from .product import Product


class Entries:
    """``state_of``, ``token_of``: int64 (n,), of each entry, by state. ``bounds``: int64, the
    entries of state p are ``bounds[p]`` to ``bounds[p + 1] - 1``.
    """

    def __init__(self, product: Product, lift: Lift) -> None:
        self.unsure = unsure = lift.unsure
        self._is_open, self._size = product.is_open, lift.size
        self._width = np.int64(len(unsure.bounds))
        keys = unsure.targets * self._width + unsure.groups
        self._wards, self._ward_of = np.unique(keys, return_inverse=True)
        states, groups = np.divmod(self._wards, self._width)
        self._sizes, tokens = unsure.tokens_of(groups)
        self._first = np.cumsum(self._sizes) - self._sizes
        self.state_of, self.token_of = np.repeat(states, self._sizes), tokens.astype(np.int64)
        self.bounds = np.searchsorted(self.state_of, np.arange(product.states + 1))
        self._ward_of_entry = np.repeat(np.arange(len(states)), self._sizes)
        self._row_bounds = np.searchsorted(unsure.rows, np.arange(2 * product.states + 1))
        self._by_ward = np.argsort(self._ward_of, kind="stable")
        self._ward_bounds = np.searchsorted(
            self._ward_of[self._by_ward], np.arange(len(states) + 1)
        )

    def continuing(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens that continue a piece at a state and lead to an entry, and the entries."""
        low, high = self._row_bounds[2 * state : 2 * state + 2]
        _, tokens = self.unsure.tokens_of(self.unsure.groups[low:high])
        wards = self._ward_of[low:high]
        return tokens, ranges(self._first[wards], self._sizes[wards]).astype(np.int64)

    def places_of(self, tokens: NDArray[np.integer]) -> dict[int, list[tuple[int, int]]]:
        """For each of some tokens the groups that hold it, and its place in each."""
        wanted = np.zeros(self._size, dtype=np.bool_)
        wanted[tokens] = True
        places = np.flatnonzero(wanted[self.unsure.tokens])
        groups = np.searchsorted(self.unsure.bounds, places, side="right") - 1
        found: dict[int, list[tuple[int, int]]] = {token: [] for token in tokens.tolist()}
        held = zip(places.tolist(), groups.tolist(), strict=True)
        for token, (place, group) in zip(self.unsure.tokens[places].tolist(), held, strict=True):
            found[token].append((group, place - int(self.unsure.bounds[group])))
        return found

    def among(
        self,
        wanted: NDArray[np.bool_],
        states: NDArray[np.integer],
        places: list[tuple[int, int]],
    ) -> NDArray[np.bool_]:
        """Which states, entered by the token of ``places``, are entries of ``wanted``."""
        found = np.zeros(len(states), dtype=np.bool_)
        for group, place in places if len(wanted) else ():
            keys = states * self._width + group
            wards = np.minimum(np.searchsorted(self._wards, keys), len(self._wards) - 1)
            entries = np.minimum(self._first[wards] + place, len(wanted) - 1)
            found |= (self._wards[wards] == keys) & wanted[entries]
        return found

    def transitions(self, wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Row and token of each transition to one of the entries ``wanted``, int32 (2, m)."""
        held = np.zeros(len(self._wards), dtype=np.bool_)
        held[self._ward_of_entry[wanted]] = True
        chosen = held[self._ward_of]
        wards = self._ward_of[chosen]
        rows, tokens, _ = self.unsure.each(chosen)
        kept = wanted[ranges(self._first[wards], self._sizes[wards])]
        return np.stack([rows[kept], tokens[kept]])

    def leading(self, entries: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int32]]]:
        """The states that a token leads from into some entries, with these tokens, where it
        continues a piece and the state is not open (where one may start, none is needed)."""
        wards = self._ward_of_entry[entries]
        first = self._ward_bounds[wards]
        counts = self._ward_bounds[wards + 1] - first
        rows = self.unsure.rows[self._by_ward[ranges(first, counts)]]
        tokens = np.repeat(self.token_of[entries], counts).astype(np.int32)
        kept = (rows % 2 == 0) & ~self._is_open[rows // 2]
        rows, tokens = rows[kept], tokens[kept]
        if not len(rows):
            return []
        order = np.argsort(rows, kind="stable")
        before, bounds = np.unique(rows[order], return_index=True)
        parts = np.split(tokens[order], bounds[1:])
        return list(zip((before // 2).tolist(), parts, strict=True))
