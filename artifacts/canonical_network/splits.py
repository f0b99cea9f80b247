"""What becomes of the tokens of a landing above a context: live ones, and those that are left.

    landing, context  ->  Split(tokens, left)

Tokens are live that lead to a boundary, or by a byte (``live_octets``); those that lead where
nothing goes on are dead. The others are left, by pair: ``liveness`` searches for what is after
them. A token may be live on one way and left on another.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.distinct import distinct
from ..tokens.memo import ENTRY_BYTES
from ..tokens.tokenset import Words
from .contexts import Contexts
from .live_octets import LiveOctets
from .trie_walk import Landing

# Beyond so many tokens a set is packed.
FEW = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Left:
    """Tokens ``ids`` (int32, ascending) that lead to a pair of states."""

    state: int
    pre_state: int
    ids: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``few``: live tokens, int32, or else ``many``: packed, uint32 (W,); and what is ``left``.
    ``is_whole``: all tokens are live."""

    few: NDArray[np.int32]
    many: Words | None
    left: tuple[Left, ...]
    is_whole: bool

    def holds(self, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tokens are live, bool (len(ids),)."""
        if self.many is None:
            return np.isin(ids, self.few)
        return tokenset.held(self.many, ids)

    def live(self) -> NDArray[np.int32]:
        """The live tokens, int32."""
        return self.few if self.many is None else tokenset.to_ids(self.many).astype(np.int32)


class Splits:
    """The splits of a network's landings, each made once."""

    def __init__(self, contexts: Contexts, octets: LiveOctets, vocab_size: int) -> None:
        self._contexts, self.octets, self._vocab_size = contexts, octets, vocab_size
        self._found: dict[tuple[Landing, int, Split | None], Split] = {}
        self._array_bytes = 0

    @property
    def nbytes(self) -> int:
        """About the size of all that was found."""
        return 4 * ENTRY_BYTES * len(self._found) + self._array_bytes + self.octets.nbytes

    def of(self, landing: Landing, context: int, shown: Split | None = None) -> Split:
        """The split of a landing above a context. ``shown``: beside another pre-tokenizer DFA, by
        which no token is live that is not by this one."""
        key = landing, context, shown
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._split(landing, context, shown)
            size = found.few.nbytes if found.many is None else found.many.nbytes
            self._array_bytes += size + sum(ENTRY_BYTES + each.ids.nbytes for each in found.left)
        return found

    def _split(self, landing: Landing, context: int, shown: Split | None) -> Split:
        contexts = self._contexts
        pairs = landing.pairs_of(contexts)
        at_boundary = contexts.are_at_boundary(pairs, context)
        inside = contexts.are_live(pairs, context) & ~at_boundary
        live = landing.order[:0]
        if at_boundary.any():
            live, _ = landing.tokens(at_boundary)
        left = list[Left]()
        if inside.any():
            ids, places = landing.tokens(inside)
            is_live = np.zeros(len(ids), dtype=np.bool_) if shown is None else shown.holds(ids)
            unknown = np.flatnonzero(~is_live)
            if len(unknown):
                at = distinct(places[unknown])
                some, which = ids[unknown], np.searchsorted(at, places[unknown])
                is_live[unknown] = self.octets.certified(pairs[at], context, some, which)
            live = np.concatenate((live, ids[is_live]))
            ids, places = ids[~is_live], places[~is_live]
            for place in distinct(places).tolist():
                pair = int(pairs[place])
                states = int(contexts.states[pair]), int(contexts.pre_states[pair])
                left.append(Left(*states, distinct(ids[places == place])))
        is_whole = not left and bool((at_boundary | inside).all())
        if len(live) <= FEW:
            return Split(live, None, tuple(left), is_whole)
        return Split(live[:0], tokenset.from_ids(live, self._vocab_size), tuple(left), is_whole)
