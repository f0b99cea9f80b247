"""Tokens that end inside a character of which the normal-form DFA may forbid some ends: whether the
rows after them always leave one.

After the byte D9 nearly all rows leave an end of the character that no text before forbids.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...tokenizer_steps.normal_form_dfa import DEAD, NormalFormDfa
from ...tokenizer_steps.split_characters import SplitCharacters
from ..precomputed_rows import DEEPER, UNKNOWN
from ..pretokenized import PretokenizedNetwork
from .joint_walks import Joint
from .pair_walks import Target
from .token_liveness import Summaries

_States: TypeAlias = NDArray[np.int64]


class SplitCharacterEnds:
    """Whether the character that a token ends in can always be ended.

    Of each such token t ``split`` holds which *tails*, tokens that begin inside a character, end it
    after any text: sets of tails, one of each of which must be left
    (``compiler/tokenizer_steps/inert_tokens.py``). Where all rows after t hold one of each set that
    may follow t, some end is always left. Where they do not, ends of several tails are searched
    from each state of the normal-form DFA, of which those below ``between`` lie between two
    characters. ``is_split``: bool (V,), the tokens in question. ``allowed``: of a token the tails
    that may follow it, bool (U,), as far as they were asked for; networks of a tokenizer may share
    it.
    """

    def __init__(
        self,
        network: PretokenizedNetwork,
        dfa: NormalFormDfa,
        split: SplitCharacters,
        between: int,
        allowed: dict[int, NDArray[np.bool_]] | None = None,
    ) -> None:
        self._network, self._split, self._dfa, self._between = network, split, dfa, between
        self._allowed = {} if allowed is None else allowed
        self._is_free = dfa.free
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

    def undecided(
        self, summaries: Summaries, joint: Callable[[], Joint], others: set[int]
    ) -> NDArray[np.int32]:
        """All tails, and the tokens that may leave no end; int32, ascending.

        ``joint``: of all pairs; it is asked for if a tail may lead on inside the character.
        ``others``: the tokens that may themselves be dead ends."""
        split = self._split
        rows = _TailRows(self._network, summaries, split.tails, others, self._allowed)
        found = set(split.tails.tolist())
        # By rows the tokens after which they leave some end, or nothing follows.
        settled: dict[tuple[int, ...], set[int]] = {}
        for (pair, context), tokens in self._met.items():
            behind = rows.numbers(pair, context)
            done = settled.setdefault(behind, set())
            for token in sorted(tokens - found - done):
                left = rows.behind(behind, token)
                place = int(np.searchsorted(split.tokens, token))
                if left is None or (split.sets_of(place) & left).any(axis=1).all():
                    done.add(token)
                    continue
                states = self._after(np.arange(1, self._between), token)
                states = np.unique(states[~self._is_free[states] & (states != DEAD)])
                if not self._have_ends(rows, joint, (pair, context, token), states).all():
                    found.add(token)
        return np.array(sorted(found), dtype=np.int32)

    def _have_ends(
        self,
        rows: "_TailRows",
        joint: Callable[[], Joint],
        place: tuple[int, int, int],
        states: _States,
    ) -> NDArray[np.bool_]:
        """From which states of the DFA some tails end the character after a token, which leads to
        a pair in a context."""
        pair, context, token = place
        found = np.zeros(len(states), dtype=np.bool_)
        deeper: list[tuple[int, _States]] = []
        left = rows.behind(rows.numbers(pair, context), token)
        for tail in [] if left is None else self._split.tails[left].tolist():
            after = self._after(states, tail)
            found |= (after != DEAD) & self._is_free[after]
            deeper.append((tail, after))
        for tail, after in deeper:
            inside = np.flatnonzero(~found & (after != DEAD))
            if not len(inside):
                continue
            target, whole = pair, joint()
            for octet in self._network.vocabulary.token(tail):
                target = int(whole.table[target, whole.classes[octet]])
            if target and not whole.stops[target]:
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
        allowed: dict[int, NDArray[np.bool_]],
    ) -> None:
        self._network, self._summaries, self._tails = network, summaries, tails
        self._held = summaries.rows.held(tails)
        self._decided, self._allowed = ~np.isin(tails, sorted(undecided)), allowed
        self._of_rows = cache(self._any_of)

    def numbers(self, pair: int, context: int) -> tuple[int, ...]:
        """The rows of what continues the pre-token at a pair, ``DEEPER`` where one is not known."""
        contexts = self._network.contexts
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        suffix = self._summaries.suffixes.get((UNKNOWN, context), -1)
        found = []
        for plane in range(0, self._network.planes, 2):
            entry = self._summaries.root_entry(pre_state, plane)
            row, after = self._summaries.found.get((entry, state, suffix), (DEEPER, 0))
            found += [row, DEEPER] if after else [row]
        return tuple(found)

    def behind(self, numbers: tuple[int, ...], token: int) -> NDArray[np.bool_] | None:
        """Which tails of some rows continue the pre-token after ``token``; None if none does and
        the rows are known, as no row holds the token where nothing follows it."""
        if token not in self._allowed:
            forbidden = self._network.forbidden.forbidden([token], self._tails.tolist())[0]
            self._allowed[token] = ~forbidden
        found = self._of_rows(numbers) & self._allowed[token]
        return found & self._decided if found.any() or DEEPER in numbers else None

    def _any_of(self, numbers: tuple[int, ...]) -> NDArray[np.bool_]:
        found = np.zeros(len(self._tails), dtype=np.bool_)
        for row in numbers:
            if row != DEEPER:
                found |= self._held(row)
        return found
