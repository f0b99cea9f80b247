"""Behind which tokens, that end inside a character, decoding must look for an end of it.

Stable texts may forbid some ends of a character by what went before it. Of each token t that
ends inside one it is known which *tails*, tokens that begin inside a character, end it behind any
text (``merge.open_characters``: sets of tails, one of each of which must be left). Where all rows
behind t hold one of each set that may follow t, some end is always left, and t is sure.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_masks import CanonicalMasks
from constrain.artifacts.closed_rows import DEEPER, UNKNOWN
from constrain.artifacts.piece_walk import Frames

from ..merge.open_characters import OpenCharacters
from .rows import LaidOutRows


class OpenEnds:
    """The tokens and places that were met. ``is_opened``: bool (V,), the tokens asked for."""

    def __init__(self, masks: CanonicalMasks, opened: OpenCharacters) -> None:
        self._masks, self._opened = masks, opened
        self.is_opened = np.zeros(masks.vocabulary.size, dtype=np.bool_)
        self.is_opened[opened.tokens] = True
        # Pair and context, with the tokens that lead there.
        self._met: dict[tuple[int, int], set[int]] = {}

    def meet(self, pair: int, pushed: Frames, tokens: NDArray[np.int32], context: int) -> None:
        """Tokens lead to a pair with the frames ``pushed``, above a stack of a context."""
        endings = self._masks.threads.endings
        for frame in pushed:
            context = endings.push(frame, context)
        if endings.is_live(pair, context):
            self._met.setdefault((pair, context), set()).update(tokens.tolist())

    def unsure(
        self,
        answers: Mapping[tuple[int, int, int], tuple[int, int]],
        suffixes: Mapping[tuple[int, int], int],
        rows: LaidOutRows,
        doubtful: set[int],
    ) -> NDArray[np.int32]:
        """The tokens that are not sure, int32, ascending: tails among them. The arguments:
        of ``Decisions``, and the tokens that may themselves be dead ends."""
        opened, endings = self._opened, self._masks.threads.endings
        held = rows.held(opened.tails)
        allowed = ~self._masks.pairs.forbidden(opened.tokens.tolist(), opened.tails.tolist())
        allowed &= ~np.isin(opened.tails, sorted(doubtful))
        unsure = set(opened.tails.tolist())
        for (pair, context), tokens in self._met.items():
            left = np.zeros(len(opened.tails), dtype=np.bool_)
            state, cut = int(endings.states[pair]), int(endings.cut_of[pair])
            for plane in range(0, self._masks.planes, 2):
                entry = plane * len(self._masks.cuts.table) + cut
                key = entry, state, suffixes.get((UNKNOWN, context), -1)
                row, _ = answers.get(key, (DEEPER, 0))
                if row != DEEPER:
                    left |= held[row]
            for token in tokens - unsure:
                place = int(np.searchsorted(opened.tokens, token))
                if not (opened.sets_of(place) & left & allowed[place]).any(axis=1).all():
                    unsure.add(token)
        return np.array(sorted(unsure), dtype=np.int32)
