"""What tokens are live beside a normal-form DFA, as far as inert characters show it.

    InertTokens          tokens that are live by inert characters alone, hence after any text: by
                         the same certificates and searches, beside the inert pre-tokenizer DFA
    NormalizedLiveness   both, around ``Liveness``: rows are those of the pre-tokenizer DFA
                         alone; tokens of them not shown to be live after any text are undecided

With NFC, ``e`` before a combining accent that must follow is undecided: the accent composes with
it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...network.configurations import BOTTOM
from ...tokens.memo import top_down
from ..certificates import Place
from ..contexts import TEXT_END
from ..precomputed_rows import UNKNOWN
from ..pretokenized import PretokenizedNetwork
from ..trie_walk import Frames
from .character_ends import SplitCharacterEnds
from .context_status import IS_DEAD, IS_LIVE, IS_UNDECIDED, StatusByContext
from .pair_walks import Part, Target
from .token_liveness import Liveness, Results, SearchedTokens, Summaries


class NormalizedLiveness(Liveness):
    """``network``: beside the pre-tokenizer DFA; ``inert``: beside the inert one. ``ends``: None
    where all ends of characters are left to decoding."""

    def __init__(
        self,
        network: PretokenizedNetwork,
        inert: PretokenizedNetwork,
        ends: SplitCharacterEnds | None = None,
    ) -> None:
        super().__init__(network)
        self._inert = InertTokens(network, inert)
        self._ends = ends

    def follow(self, pushes: Iterable[tuple[int, int, int]]) -> None:
        """The contexts are all there; ``pushes``: frame, context and the context above."""
        self._inert.follow(pushes)

    def decide(
        self, part: Part, context: int, live: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int8]:
        """As by the pre-tokenizer DFA alone. Tokens that are live, but not shown to be so after
        any text, are searched; those that end inside a character are noted."""
        inert = self._inert.live(part, context)
        status = super().decide(part, context, inert)
        if self._ends is not None:
            split = np.flatnonzero(self._ends.is_split[part.ids])
            for target, ids in part.by_target(split).items():
                self._ends.meet(target, ids, context)
        others = np.flatnonzero((status == IS_LIVE) & ~inert)
        for target, ids in part.by_target(others).items():
            self._inert.search(target, ids, (), (UNKNOWN, context))
        return status

    def found_live(
        self, target: Target, ids: NDArray[np.int32], top: Frames, ground: tuple[int, int]
    ) -> None:
        """The same search by inert characters."""
        self._inert.search(target, ids, top, ground)

    def arrays(self, summaries: Summaries, *, has_all: bool) -> dict[str, NDArray[Any]]:
        """``closed.doubtful``, the undecided tokens; and ``stable.unsure`` without the tokens of
        which an end is always left."""
        undecided = self._inert.undecided
        sections = {"closed.doubtful": np.array(sorted(undecided), dtype=np.int32)}
        if has_all and self._ends is not None:
            sections["stable.unsure"] = self._ends.undecided(
                summaries, lambda: self.joint, undecided
            )
        return sections


class InertTokens:
    """``undecided``: the tokens that are live, but of which no search has shown that they are so by
    inert characters."""

    def __init__(self, network: PretokenizedNetwork, inert: PretokenizedNetwork) -> None:
        self.undecided: set[int] = set()
        self._inert = inert
        self._contexts, self._stack_contexts = inert.contexts, inert.stack_contexts
        self._status = StatusByContext(inert)
        own = network.contexts
        self._states, self._pre_states = own.states, own.pre_states
        # The pair of each pair beside the pre-tokenizer DFA.
        self._pairs = self._contexts.numbers(own.states, own.pre_states)
        # The contexts beside the inert DFA of stacks that have some context beside the other.
        self._contexts_of: dict[int, set[int]] = {}
        self._searched = SearchedTokens(inert.dead_ends, inert.watch)
        self._seen: set[tuple[Target, Frames, tuple[int, int], bytes]] = set()

    def follow(self, pushes: Iterable[tuple[int, int, int]]) -> None:
        """Find the contexts of all stacks; ``pushes``: frame, context and the context above."""
        above: dict[int, list[tuple[int, int]]] = {}
        for frame, below, context in pushes:
            above.setdefault(below, []).append((frame, context))

        def above_both(below: tuple[int, int]) -> Iterator[tuple[int, int]]:
            for frame, pushed in above.get(below[0], ()):
                yield pushed, self._contexts.push(frame, below[1])

        for context, mine in top_down([(TEXT_END, TEXT_END)], above_both):
            self._contexts_of.setdefault(context, set()).add(mine)

    def live(self, part: Part, context: int) -> NDArray[np.bool_]:
        """Which tokens of a part are live by inert characters, at a boundary or by a
        certificate."""
        found = np.ones(len(part.ids), dtype=np.bool_)
        for frames, places in part.by_frames:
            pairs = self._pairs[part.pairs[places]]
            for below in sorted(self._contexts_of[context]):
                above = self._status.above(frames, below)
                status = above.status[pairs]
                found[places[status == IS_DEAD]] = False
                left = np.flatnonzero(found[places] & (status == IS_UNDECIDED))
                found[places[left]] = above.has_certificate(pairs[left], part.ids[places[left]])
        return found

    def search(
        self, target: Target, ids: NDArray[np.int32], top: Frames, ground: tuple[int, int]
    ) -> None:
        """Add to ``undecided`` those of ``ids``, which are live, of which no search shows it.

        They lead to a pair with frames pushed, above the frames ``top``, the uppermost first, and
        the stack ``ground``; see ``precompute``.
        """
        # The same tokens lead to one place from many others.
        key = target, top, ground, ids.tobytes()
        if key in self._seen:
            return
        self._seen.add(key)
        pair, pushed = target
        nodes = [BOTTOM]
        if ground[0] == UNKNOWN:
            contexts = sorted(self._contexts_of[ground[1]])
            nodes = [self._stack_contexts.unknown(context) for context in contexts]
        for node in nodes:
            leads = self._inert.dead_ends.push_all((*reversed(top), *pushed), node)
            place = int(self._states[pair]), int(self._pre_states[pair]), leads
            self._search(place, ids, whole=ground[0] != UNKNOWN)

    def _search(self, place: Place, ids: NDArray[np.int32], *, whole: bool) -> None:
        if self._inert.dead_ends.at_boundary(place):
            return
        context = self._stack_contexts.of_node(place[2])
        results: Results = {}
        if self._contexts.is_live(self._contexts.number(place[0], place[1]), context):
            results = self._searched.of(place, ids, whole=whole)
        self.undecided.update(token for token in ids.tolist() if not results.get(token))
