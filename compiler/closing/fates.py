"""Whether tokens are alive at a place: asked for together, and kept one by one."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dead_ends import DeadEnds
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.first_tokens import Place

# Steps of a search above frames that are not known; and searches that may come to nothing. Where
# more do, the rest is left to decoding, which knows the stacks.
_BUDGET, _MOST_FAILED = 50, 500

# Whether tokens are alive at a place; None, or nothing, where that was not decided.
Known: TypeAlias = dict[int, bool | None]


class Fates:
    """The answers of ``dead_ends``. ``has_given_up``: no more searches are made."""

    def __init__(self, dead_ends: DeadEnds) -> None:
        self._dead_ends = dead_ends
        self._known: dict[Place, Known] = {}
        self._failed = 0

    @property
    def has_given_up(self) -> bool:
        """Whether too many searches came to nothing."""
        return self._failed > _MOST_FAILED

    def of(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> Known:
        """Of each of ``ids``, and of others; the place is not open."""
        known = self._known.setdefault(place, {})
        if self.has_given_up:
            return known
        new = [token for token in ids.tolist() if token not in known]
        # Tokens are sieved together, and one by one only where some depend on more.
        for asked in ([new], [[token] for token in new]):
            for some in asked:
                if self.has_given_up:
                    return known
                if some and some[0] not in known:
                    found = self._asked(place, np.array(some, dtype=np.int32), whole=whole)
                    if found is not None:
                        known.update(dict.fromkeys(some, False) | dict.fromkeys(found, True))
                    elif len(some) == 1:
                        known[some[0]] = None
        return known

    def _asked(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> list[int] | None:
        try:
            found = self._dead_ends.alive(place, ids, whole=whole, budget=_BUDGET)
        except ArtifactError:
            found = None
        self._failed += found is None
        return None if found is None else found.tolist()
