"""What a normal-form DFA beside the network adds to precomputing its rows.

    InertTokens          tokens that are live by inert characters alone, hence behind any text: by
                         the same certificates and searches, beside the inert pre-tokenizer DFA
    SplitCharacterEnds   tokens that end inside a character of which the normal-form DFA may forbid
                         some ends: whether the rows behind them always leave one
    NormalizedLiveness   both, around ``PlainLiveness``: rows are those of the pre-tokenizer DFA
                         alone; tokens of them not shown to be live behind any text are undecided

With NFC, ``e`` before a combining accent that must follow is undecided: the accent composes with
it. Behind the byte D9 nearly all rows leave an end of the character that no text before forbids.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.liveness import Place
from constrain.artifacts.canonical_network.precomputed_rows import DEEPER, UNKNOWN
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.canonical_network.trie_walk import Frames
from constrain.artifacts.network.configurations import BOTTOM
from constrain.artifacts.normalizer.normal_form_dfa import DEAD, NormalFormDfa

from ..normalizer.normalized_members import NormalFormTables
from .context_status import IS_DEAD, IS_LIVE, IS_UNDECIDED, StatusByContext
from .liveness import PlainLiveness, Results, SearchedTokens, Summaries
from .pair_walks import Part, Target
from .trie_walks import Joint

_States: TypeAlias = NDArray[np.int64]


class NormalizedLiveness:
    """``network``: beside the pre-tokenizer DFA; ``inert``: beside the inert one."""

    def __init__(
        self, network: PretokenizedNetwork, inert: PretokenizedNetwork, tables: NormalFormTables
    ) -> None:
        self._plain = PlainLiveness(network)
        self.joint = self._plain.joint
        self._inert = InertTokens(network, inert)
        self._ends = SplitCharacterEnds(network, tables)

    def follow(self, pushes: Iterable[tuple[int, int, int]]) -> None:
        """The contexts are all there; ``pushes``: frame, context and the context above."""
        self._inert.follow(pushes)

    def at_boundary(self, context: int) -> NDArray[np.bool_]:
        """Which pairs are at a boundary."""
        return self._plain.at_boundary(context)

    def decide(self, part: Part, context: int) -> NDArray[np.int8]:
        """As by the pre-tokenizer DFA alone. Tokens that are live, but not shown to be so behind
        any text, are searched; those that end inside a character are noted."""
        inert = self._inert.live(part, context)
        status = self._plain.decide(part, context, inert)
        split = np.flatnonzero(self._ends.is_split[part.ids])
        for target, ids in part.by_target(split).items():
            self._ends.meet(target, ids, context)
        others = np.flatnonzero((status == IS_LIVE) & ~inert)
        for target, ids in part.by_target(others).items():
            self._inert.search(target, ids, (), (UNKNOWN, context))
        return status

    def found_live(
        self,
        target: Target,
        ids: NDArray[np.int32],
        top: Frames,
        ground: tuple[int, int],
    ) -> None:
        """The same search by inert characters."""
        self._inert.search(target, ids, top, ground)

    def arrays(self, summaries: Summaries, *, has_all: bool) -> dict[str, NDArray[Any]]:
        """``closed.doubtful``, the undecided tokens; and ``stable.unsure`` without the tokens of
        which an end is always left."""
        undecided = self._inert.undecided
        sections = {"closed.doubtful": np.array(sorted(undecided), dtype=np.int32)}
        if has_all:
            sections["stable.unsure"] = self._ends.undecided(summaries, self.joint, undecided)
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
        self._pairs = self._contexts.pair[own.states, own.pre_states]
        # The contexts beside the inert DFA of stacks that have some context beside the other.
        self._contexts_of: dict[int, set[int]] = {}
        self._searched = SearchedTokens(inert.dead_ends, inert.watch)
        self._seen: set[tuple[Target, Frames, tuple[int, int], bytes]] = set()

    def follow(self, pushes: Iterable[tuple[int, int, int]]) -> None:
        """Find the contexts of all stacks; ``pushes``: frame, context and the context above."""
        above: dict[int, list[tuple[int, int]]] = {}
        for frame, below, context in pushes:
            above.setdefault(below, []).append((frame, context))
        pending = [(TEXT_END, TEXT_END)]
        seen = set(pending)
        for context, mine in pending:
            self._contexts_of.setdefault(context, set()).add(mine)
            for frame, pushed in above.get(context, ()):
                more = pushed, self._contexts.push(frame, mine)
                if more not in seen:
                    seen.add(more)
                    pending.append(more)

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
        self,
        target: Target,
        ids: NDArray[np.int32],
        top: Frames,
        ground: tuple[int, int],
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


class SplitCharacterEnds:
    """Whether the character that a token ends in can always be ended.

    Of each such token t the tokenizer's tables hold which *tails*, tokens that begin inside a
    character, end it behind any text: sets of tails, one of each of which must be left
    (``normalizer.inert_tokens``). Where all rows behind t hold one of each set that may follow t,
    some end is always left. Where they do not, ends of several tails are searched from each state
    of the normal-form DFA. ``is_split``: bool (V,), the tokens in question.
    """

    def __init__(self, network: PretokenizedNetwork, tables: NormalFormTables) -> None:
        self._network, self._split, self._between = network, tables.split, tables.between
        self._dfa = NormalFormDfa(
            tables.table, tables.classes, tables.start, tables.tokens, tables.tokens
        )
        self._is_free = self._dfa.are_free(np.arange(len(tables.table)))
        self.is_split = np.zeros(network.vocabulary.size, dtype=np.bool_)
        self.is_split[self._split.tokens] = True
        # Pair and context, with the tokens that lead there.
        self._met: dict[tuple[int, int], set[int]] = {}

    def meet(self, target: Target, ids: NDArray[np.int32], context: int) -> None:
        """Tokens lead to a pair with frames pushed, above a stack of a context."""
        pair, pushed = target
        above = self._network.contexts.push_all(pushed, context)
        if self._network.contexts.is_live(pair, above):
            self._met.setdefault((pair, above), set()).update(ids.tolist())

    def undecided(self, summaries: Summaries, joint: Joint, others: set[int]) -> NDArray[np.int32]:
        """All tails, and the tokens that may leave no end; int32, ascending.

        ``others``: the tokens that may themselves be dead ends."""
        split = self._split
        rows = _TailRows(self._network, summaries, split.tails, others)
        found = set(split.tails.tolist())
        for (pair, context), tokens in self._met.items():
            for token in sorted(tokens - found):
                left = rows.behind(pair, context, token)
                if left is None:
                    continue
                place = int(np.searchsorted(split.tokens, token))
                if (split.sets_of(place) & left).any(axis=1).all():
                    continue
                states = self._after(np.arange(1, self._between), token)
                states = np.unique(states[~self._is_free[states] & (states != DEAD)])
                if not self._have_ends(rows, joint, (pair, context, token), states).all():
                    found.add(token)
        return np.array(sorted(found), dtype=np.int32)

    def _have_ends(
        self, rows: "_TailRows", joint: Joint, place: tuple[int, int, int], states: _States
    ) -> NDArray[np.bool_]:
        """From which states of the DFA some tails end the character behind a token, which leads to
        a pair in a context."""
        pair, context, token = place
        found = np.zeros(len(states), dtype=np.bool_)
        deeper: list[tuple[int, _States]] = []
        left = rows.behind(pair, context, token)
        for tail in [] if left is None else self._split.tails[left].tolist():
            after = self._after(states, tail)
            found |= (after != DEAD) & self._is_free[after]
            deeper.append((tail, after))
        for tail, after in deeper:
            inside = np.flatnonzero(~found & (after != DEAD))
            target = pair
            for octet in self._network.vocabulary.token(tail):
                target = int(joint.table[target, joint.classes[octet]])
            if len(inside) and target and not joint.stops[target]:
                place = target, context, tail
                found[inside] = self._have_ends(rows, joint, place, after[inside])
        return found

    def _after(self, states: _States, token: int) -> _States:
        for octet in self._network.vocabulary.token(token):
            states = self._dfa.table[states, self._dfa.classes[octet]].astype(np.int64)
        return states


class _TailRows:
    """The tails that may follow a token at a place, as far as a context says."""

    def __init__(
        self,
        network: PretokenizedNetwork,
        summaries: Summaries,
        tails: NDArray[np.int32],
        undecided: set[int],
    ) -> None:
        self._network, self._summaries, self._tails = network, summaries, tails
        self._held = summaries.rows.held(tails)
        self._decided = ~np.isin(tails, sorted(undecided))
        self._allowed: dict[int, NDArray[np.bool_]] = {}

    def behind(self, pair: int, context: int, token: int) -> NDArray[np.bool_] | None:
        """Which tails continue the pre-token behind ``token``, which leads to a pair; None if no
        row holds the token there, because nothing follows it."""
        contexts = self._network.contexts
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        suffix = self._summaries.suffixes.get((UNKNOWN, context), -1)
        found, is_known = np.zeros(len(self._tails), dtype=np.bool_), True
        for plane in range(0, self._network.planes, 2):
            entry = self._summaries.root_entry(pre_state, plane)
            row, after = self._summaries.found.get((entry, state, suffix), (DEEPER, 0))
            is_known &= row != DEEPER and not after
            if row != DEEPER:
                found |= self._held[row]
        if token not in self._allowed:
            forbidden = self._network.forbidden.forbidden([token], self._tails.tolist())[0]
            self._allowed[token] = ~forbidden
        found &= self._allowed[token]
        return found & self._decided if found.any() or not is_known else None
