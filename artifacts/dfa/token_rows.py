"""Mask rows of conjunctions: which tokens lead from a state to one that is live.

ends of the DFA's state    ->    live by the DFA and the bounds    ->    live with any sets, or
                                                                         by a search for each
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from .conjunctions import DEAD
from .emptiness import Sets
from .token_walks import Ends, TokenWalks, tries_of
from .walked import Allowed, Walked

# How a budget is divided: walks, rows by their ends, states with sets that walks have met.
_WALKS, _ROWS, _CORES = 12, 10, 3


class TokenRows:
    """Of ``walked``, by number. ``trie``: makes the token trie when a row is first computed.
    ``caches``: for what is computed; nothing is interned."""

    def __init__(
        self,
        walked: Sequence[Walked],
        trie: Callable[[], Trie],
        vocab_size: int,
        caches: CacheBudget,
    ) -> None:
        walks, rows, self._core_budget = caches.divide(_WALKS, _ROWS, _CORES)
        self._walked, self._trie, self._vocab_size = walked, trie, vocab_size
        self._ends: BoundedCache[tuple[int, int, bool], Ends] = walks.cache()
        self._rows: BoundedCache[tuple[int, int, bytes], Words] = rows.cache()

    def row(self, number: int, state: int, sets: Sets, characters: int) -> Words:
        """The tokens after which a member of a conjunction still begins, uint32 (W,)."""
        walked = self._walked[number]
        ends = self._walks[number].ends(state)
        live = walked.live_ends(ends, characters)
        sure = walked.surely_live(ends, live, characters)
        undecided = live & ~sure
        if not undecided.any():
            key = number, state, sure.tobytes()
            found = self._rows.get(key)
            if found is None:
                row = tokenset.from_flags(ends.flags(sure))
                found = self._rows.keep(key, row, row.nbytes + ENTRY_BYTES)
            return found
        tokens = np.flatnonzero(ends.flags(undecided))
        flags = ends.flags(sure)
        if walked.cores.nbytes > self._core_budget.limit:
            walked.begin_cores()
        core = walked.cores.number(state, sets)
        cores, further = self._walks[number].cores_of(core, tokens, walked.cores)
        flags[tokens] = _live(walked, cores, further, characters)
        return tokenset.from_flags(flags)

    def ends(self, number: int, state: int) -> Ends:
        """What tokens make of a state of a conjunction's DFA."""
        return self._walks[number].ends(state)

    @cached_property
    def _walks(self) -> list[TokenWalks]:
        tries = tries_of(self._trie())
        return [
            TokenWalks(each.conjunction, each.lengths, tries, self._vocab_size, i, self._ends)
            for i, each in enumerate(self._walked)
        ]


def _live(
    walked: Walked, cores: NDArray[np.int64], further: NDArray[np.int64], characters: int
) -> Allowed:
    """Whether each of ``cores`` is live after so many further characters."""
    width = int(further.max(initial=0)) + 1
    codes, inverse = np.unique(cores * width + further, return_inverse=True)
    found = np.zeros(len(codes), dtype=np.bool_)
    for i, code in enumerate(codes.tolist()):
        core, begun = divmod(code, width)
        if core != DEAD:
            so_far = walked.clipped(characters + begun)
            state, sets = walked.cores.parts[core]
            found[i] = walked.is_live(state, sets, so_far)
    live: Allowed = found[inverse]
    return live
