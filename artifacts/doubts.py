"""Tokens of a network's canonical masks of which it is not known that stable texts follow.

Which characters a text may go on with depends on the last ones before (``stable_texts``). But
*inert* characters are stable behind any text. So beside the cuts there are the *inert cuts*: the
same, where all that follows a token, behind the end of the character that it may end in, is
inert. A token that leads to an end by these does so whatever went before:

    alive by the inert cuts  =>  alive beside the stable texts  =>  alive by the cuts

and the tokens between the first and the last of these are *in doubt*. Most grammars have none.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .canonical_masks import CanonicalMasks, Thread
from .cuts import Cuts
from .errors import ArtifactError
from .memo import Memo
from .numbered_rows import NumberedRows
from .requirements import Arrays
from .thread_rows import ThreadRows
from .tokenset import Words

# Bytes of numbered rows that are kept, and of rows of doubts.
_KEPT_BYTES = 1 << 25


def inert_cuts(
    cuts: Cuts, final: NDArray[np.bool_], arrays: Arrays
) -> tuple[Cuts, NDArray[np.bool_]]:
    """The inert cuts, of the sections of an artifact: the cuts with other rows for some states,
    and more states behind theirs. ``final``: bool (Q,), the states that a text may end in."""
    states, rows = arrays["inert.states"], arrays["inert.rows"]
    size = max(len(cuts.table), int(states.max(initial=0)) + 1)
    table = np.zeros((size, *cuts.table.shape[1:]), dtype=np.int32)
    table[: len(cuts.table)] = cuts.table
    table[states] = rows
    return replace(cuts, table=table), np.append(final, np.zeros(size - len(final), np.bool_))


class Doubts:
    """``masks``: of the cuts. ``cuts`` and ``final``: the inert ones, and those of their states
    that a text may end in. ``ahead``: the tokens in doubt in some row that was worked out
    ahead of time."""

    def __init__(
        self,
        masks: CanonicalMasks,
        cuts: Cuts,
        final: NDArray[np.bool_],
        ahead: NDArray[np.int32],
    ) -> None:
        self._masks, self._cuts, self.final = masks, cuts, final
        size = masks.vocabulary.size
        self._ahead = tokenset.from_ids(ahead, size) if len(ahead) else None
        self._rows = NumberedRows(size, _KEPT_BYTES)
        self._known: Memo[tuple[Thread, ...], Words] = Memo(_KEPT_BYTES)

    @cached_property
    def threads(self) -> ThreadRows:
        """The tokens that are alive by the inert cuts."""
        masks = self._masks
        return ThreadRows(
            masks.network,
            self._cuts,
            self.final,
            masks.pairs,
            masks.vocabulary,
            self._rows,
            masks.continued,
            masks.threads,
        )

    def of(self, state: int) -> Words | None:
        """The tokens in doubt, and maybe others that the mask of ``state`` does not hold; None
        for no tokens. The mask has been made."""
        threads = self._masks.on_demand(state)
        if not threads:
            return self._ahead
        found = self._known.get(threads)
        if found is None:
            found = self._found(threads)
            self._known.keep(threads, found, found.nbytes)
        return found

    def _found(self, threads: Sequence[Thread]) -> Words:
        words = tokenset.from_ids([], self._masks.vocabulary.size)
        if self._ahead is not None:
            words |= self._ahead
        for thread in threads:
            words |= self._of_thread(*thread)
        return words

    def _of_thread(self, state: int, cut: int, node: int, plane: int) -> Words:
        read = self._masks.rows[self._masks.threads.row(state, cut, node, plane)]
        if self._rows.is_full:
            self._rows.clear()
            self.threads.forget()
        try:
            sure = self._rows[self.threads.row(state, cut, node, plane)]
        except ArtifactError:
            # Too much to search: none of them is known to be sure.
            return read
        return read & ~sure
