"""TODO."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.precomputed_rows import DEEPER, UNKNOWN
from constrain.artifacts.canonical_network.trie_walk import Frames
from constrain.artifacts.normalizer.normal_form_dfa import DEAD, NormalFormDfa

from ..normalizer.normalized_members import NormalFormTables
from .decisions import Decisions
from .trie_walks import Joint

_States: TypeAlias = NDArray[np.int64]


class SplitCharacterEnds:
    """The tokens and places that were met. ``is_opened``: bool (V,), the tokens asked for."""

    def __init__(self, masks: CanonicalMasks, stable: NormalFormTables) -> None:
        self._masks, self._opened, self._between = masks, stable.opened, stable.between
        self._texts = NormalFormDfa(
            stable.table, stable.classes, stable.start, stable.tokens, stable.tokens
        )
        self._is_free = self._texts.are_free(np.arange(len(stable.table)))
        self.is_opened = np.zeros(masks.vocabulary.size, dtype=np.bool_)
        self.is_opened[self._opened.tokens] = True
        # Pair and context, with the tokens that lead there.
        self._met: dict[tuple[int, int], set[int]] = {}

    def meet(self, pair: int, pushed: Frames, tokens: NDArray[np.int32], context: int) -> None:
        """Tokens lead to a pair with the frames ``pushed``, above a stack of a context."""
        endings = self._masks.threads.endings
        for frame in pushed:
            context = endings.push(frame, context)
        if endings.is_live(pair, context):
            self._met.setdefault((pair, context), set()).update(tokens.tolist())

    def unsure(self, decisions: Decisions, joint: Joint, doubtful: set[int]) -> NDArray[np.int32]:
        """The tokens that are not sure, int32, ascending: all tails, and others.

        ``doubtful``: the tokens that may themselves be dead ends."""
        opened = self._opened
        rows = _TailRows(self._masks, decisions, opened.tails, doubtful)
        unsure = set(opened.tails.tolist())
        for (pair, context), tokens in self._met.items():
            for token in sorted(tokens - unsure):
                left = rows.behind(pair, context, token)
                if left is None:
                    continue
                place = int(np.searchsorted(opened.tokens, token))
                if (opened.sets_of(place) & left).any(axis=1).all():
                    continue
                states = self._after(np.arange(1, self._between), token)
                states = np.unique(states[~self._is_free[states] & (states != DEAD)])
                if not self._go_on(rows, joint, (pair, context, token), states).all():
                    unsure.add(token)
        return np.array(sorted(unsure), dtype=np.int32)

    def _go_on(
        self, rows: "_TailRows", joint: Joint, place: tuple[int, int, int], states: _States
    ) -> NDArray[np.bool_]:
        """From which states of the texts some tails end the character behind a token, which
        leads to a pair in a context."""
        pair, context, token = place
        found = np.zeros(len(states), dtype=np.bool_)
        deeper: list[tuple[int, _States]] = []
        left = rows.behind(pair, context, token)
        for tail in [] if left is None else self._opened.tails[left].tolist():
            after = self._after(states, tail)
            found |= (after != DEAD) & self._is_free[after]
            deeper.append((tail, after))
        for tail, after in deeper:
            open_ = np.flatnonzero(~found & (after != DEAD))
            target = pair
            for octet in self._masks.vocabulary.token(tail):
                target = int(joint.table[target, joint.classes[octet]])
            if len(open_) and target and not joint.stops[target]:
                found[open_] = self._go_on(rows, joint, (target, context, tail), after[open_])
        return found

    def _after(self, states: _States, token: int) -> _States:
        for octet in self._masks.vocabulary.token(token):
            states = self._texts.table[states, self._texts.classes[octet]].astype(np.int64)
        return states


class _TailRows:
    """The tails that may follow a token at a place, as far as is known of the stack there."""

    def __init__(
        self,
        masks: CanonicalMasks,
        decisions: Decisions,
        tails: NDArray[np.int32],
        doubtful: set[int],
    ) -> None:
        self._masks, self._decisions, self._tails = masks, decisions, tails
        self._endings = masks.threads.endings
        self._held = decisions.rows.held(tails)
        self._sure = ~np.isin(tails, sorted(doubtful))
        self._allowed: dict[int, NDArray[np.bool_]] = {}

    def behind(self, pair: int, context: int, token: int) -> NDArray[np.bool_] | None:
        """Which tails continue the piece behind ``token``, which leads to a pair; None if no row
        holds the token there, because nothing follows it."""
        state, cut = int(self._endings.states[pair]), int(self._endings.cut_of[pair])
        suffix = self._decisions.suffixes.get((UNKNOWN, context), -1)
        found, is_known = np.zeros(len(self._tails), dtype=np.bool_), True
        for plane in range(0, self._masks.planes, 2):
            entry = plane * len(self._masks.cuts.table) + cut
            row, pending = self._decisions.answers.get((entry, state, suffix), (DEEPER, 0))
            is_known &= row != DEEPER and not pending
            if row != DEEPER:
                found |= self._held[row]
        if token not in self._allowed:
            forbidden = self._masks.pairs.forbidden([token], self._tails.tolist())[0]
            self._allowed[token] = ~forbidden
        found &= self._allowed[token]
        return found & self._sure if found.any() or not is_known else None
