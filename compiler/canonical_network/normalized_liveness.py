"""Which tokens are alive by characters that are stable behind any text.

While the rows of a network are worked out, what the cuts say is held against what the inert cuts
say (``constrain.artifacts.canonical_network.normalized_machine``): the same certificates, then the
same searches. Tokens that
only the former call alive are in doubt.

Behind which tokens, that end inside a character, decoding must look for an end of it.

Stable texts may forbid some ends of a character by what went before it. Of each token t that
ends inside one it is known which *tails*, tokens that begin inside a character, end it behind any
text (``normalizer.inert_tokens``: sets of tails, one of each of which must be left). Where all rows
behind t hold one of each set that may follow t, some end is always left, and t is sure. Where
they do not, a way of several tails is searched from each state that stable texts may be in.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.certificates import Place
from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.masks import CanonicalMasks, LazyRows
from constrain.artifacts.canonical_network.precomputed_rows import UNKNOWN
from constrain.artifacts.canonical_network.trie_walk import Frames
from constrain.artifacts.network.configurations import BOTTOM

from .liveness import IS_DEAD, IS_DOUBTFUL, ContextStatus, Known, LivenessCache
from .trie_walks import joint_table


class InertLiveness:
    """``doubtful``: the tokens of which it was not shown. ``threads``: of the inert cuts, beside
    those of ``masks``."""

    def __init__(self, masks: CanonicalMasks, threads: LazyRows) -> None:
        self.doubtful: set[int] = set()
        self._masks, self._threads, self._stacks = masks, threads, masks.network.stacks
        self._endings = threads.endings
        self._joint = joint_table(masks.network.tables, threads.cuts, self._endings)
        own = masks.threads.endings
        self._states, self._cuts = own.states, own.cut_of
        # The pair of each pair of the cuts.
        self._pairs = self._endings.pair[own.states, own.cut_of]
        # The contexts of stacks that have some context by the cuts.
        self._contexts: dict[int, set[int]] = {}
        self._outlooks: dict[int, ContextStatus] = {}
        self._fates = LivenessCache(threads.dead_ends)
        self._searched: set[tuple[int, Frames, Frames, tuple[int, int], bytes]] = set()

    def follow(self, pushes: Iterable[tuple[int, int, int]]) -> None:
        """Find the contexts of all stacks; ``pushes``: frame, context and the context above."""
        above: dict[int, list[tuple[int, int]]] = {}
        for frame, below, context in pushes:
            above.setdefault(below, []).append((frame, context))
        pending = [(TEXT_END, TEXT_END)]
        seen = set(pending)
        for context, mine in pending:
            self._contexts.setdefault(context, set()).add(mine)
            for frame, pushed in above.get(context, ()):
                more = pushed, self._endings.push(frame, mine)
                if more not in seen:
                    seen.add(more)
                    pending.append(more)

    def certified(
        self,
        pairs: NDArray[np.integer],
        tokens: NDArray[np.integer],
        frames: Frames,
        context: int,
    ) -> NDArray[np.bool_]:
        """Which tokens, that lead to ``pairs`` with ``frames`` pushed, are surely alive."""
        found = np.ones(len(pairs), dtype=np.bool_)
        mine = self._pairs[pairs]
        for below in sorted(self._contexts[context]):
            outlook = self._outlook(self._pushed(frames, below))
            status = outlook.status[mine]
            found &= status != IS_DEAD
            places = np.flatnonzero(found & (status == IS_DOUBTFUL))
            found[places] = ~outlook.dead_ends(mine[places], tokens[places])
        return found

    def search(
        self,
        pair: int,
        pushed: Frames,
        tokens: NDArray[np.int32],
        known: Frames,
        ground: tuple[int, int],
    ) -> None:
        """Add to ``doubtful`` those of ``tokens``, alive by the cuts, of which no search shows it.

        They lead to ``pair`` with the frames ``pushed``, above the frames ``known``, the
        uppermost first, and the stack ``ground``; see ``Decisions.decide``.
        """
        # The same tokens lead to one place from many others.
        key = pair, pushed, known, ground, tokens.tobytes()
        if key in self._searched:
            return
        self._searched.add(key)
        nodes = [BOTTOM]
        if ground[0] == UNKNOWN:
            contexts = sorted(self._contexts[ground[1]])
            nodes = [self._endings.unknown(self._stacks, context) for context in contexts]
        for node in nodes:
            leads = self._threads.dead_ends.pushed((*reversed(known), *pushed), node)
            place = int(self._states[pair]), int(self._cuts[pair]), leads
            self._search(place, tokens, whole=ground[0] != UNKNOWN)

    def _search(self, place: Place, tokens: NDArray[np.int32], *, whole: bool) -> None:
        endings = self._endings
        if self._threads.dead_ends.is_open(place):
            return
        context = endings.of_node(self._stacks, place[2])
        alive: Known = {}
        if endings.is_live(endings.number(place[0], place[1]), context):
            alive = self._fates.of(place, tokens, whole=whole)
        self.doubtful.update(token for token in tokens.tolist() if not alive.get(token))

    def _pushed(self, frames: Frames, context: int) -> int:
        for frame in frames:
            context = self._endings.push(frame, context)
        return context

    def _outlook(self, context: int) -> ContextStatus:
        if context not in self._outlooks:
            first_token = self._threads.firsts.first_token
            self._outlooks[context] = ContextStatus(
                self._joint, self._endings, context, self._masks.pairs, first_token
            )
        return self._outlooks[context]
