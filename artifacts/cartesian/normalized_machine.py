"""Texts that a tokenizer's normalizer leaves alone, followed while a product is walked.

What a normalization form changes depends on the last characters of the text. Taken into the
product's own states that would multiply them by thousands, so it is a second factor here: a
state is one of the product and one of the automaton of stable texts, and the mask is

    mask of the product, without tokens that lead the other automaton to its dead state,
    without tokens that end inside a character of which no end is left

Compiling made sure that nothing else is a dead end: between two characters, and inside one that
may end as it likes, some characters that the form never changes lead to an end. It also says
behind which tokens an end must be looked for at all.

Behind a prompt, products that have no member but stable ones.

Where compiling cannot prove that what a normalizer forbids leads to no dead end, the stable texts
are part of the product's own states. Those know nothing of a prompt, whose last character may
compose with what a member begins with. So behind a prompt the automaton of stable texts is run
twice until both runs agree, mostly for one character: from where the prompt ends, and from its
start. From there on the product says all. Till then the mask is

    mask of the product, without tokens after which the first run is dead, or can no longer
    come to an end of the text or to agree with the second
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..normalizer.normal_form_dfa import DEAD, BoundaryTokens, NormalFormDfa
from ..tokens import tokenset
from ..tokens.memo import BoundedCache
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary
from .machine import ProductMachine

# Answers of searches that are kept.
_KEPT_ANSWERS = 1 << 18


@dataclass(eq=False)
class WithTexts:
    """A product and the stable texts beside it."""

    product: ProductMachine
    texts: NormalFormDfa

    @property
    def pairs(self) -> ForbiddenPairs:
        """Which tokens may not follow which."""
        return self.product.pairs

    @property
    def eos(self) -> Sequence[int]:
        """The tokens that end a text."""
        return self.product.eos

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens."""
        return self.product.vocabulary


@dataclass(eq=False)
class NormalizedProduct(WithTexts):
    """A product in step with ``texts``: the machine and the rows of a matcher.

    A state number is that of the product's state, times S, plus that of ``texts``.
    """

    _masks: dict[int, Words] = field(default_factory=dict)
    _alive: BoundedCache[tuple[int, int], bool] = field(
        default_factory=lambda: BoundedCache(_KEPT_ANSWERS)
    )

    def __post_init__(self) -> None:
        self._width = len(self.texts.table)
        self._tokens = BoundaryTokens(self.texts, self.vocabulary, self.product.vocab_size)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.product.start * self._width + self.texts.start

    def members(self, state: int) -> tuple[int, ...]:
        """The product states that the text so far may be in."""
        return self.product.members(state // self._width)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return self.product.is_accepting(state // self._width)

    def behind(self, state: int, ids: Iterable[int]) -> int:
        """A state of the product behind a prompt, as one of both."""
        return state * self._width + self.texts.behind(ids, self.vocabulary)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows."""
        number, text = divmod(state, self._width)
        after = self.texts.step(text, self.vocabulary.token(token_id))
        return self.product.step(number, token_id) * self._width + after

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        return self.step(state, token_id) if tokenset.contains(self.row(state), token_id) else None

    def row(self, state: int) -> Words:
        """The mask at a state: read-only, computed on a miss."""
        known = self._masks.get(state)
        if known is None:
            known = self._computed(*divmod(state, self._width))
            known.flags.writeable = False
            if len(self._masks) >= self.product.most_masks:
                self._masks.pop(next(iter(self._masks)))
            self._masks[state] = known
        return known

    def _computed(self, number: int, text: int) -> Words:
        found = self._tokens.at(text)
        mask = self.product.row(number).copy()
        mask[self._tokens.words] &= found.kept
        for token, after in found.unsure:
            if not tokenset.contains(mask, token):
                continue
            if not self._may_end(self.product.step(number, token), after):
                mask[token >> 5] &= ~self._tokens.bits[token & 31]
        return mask

    def _may_end(self, number: int, text: int) -> bool:
        """Whether a character that has begun may end in some way: a search for a free state."""
        key = number, text
        known = self._alive.get(key)
        return self._alive.keep(key, self._search(key)) if known is None else known

    def _search(self, begin: tuple[int, int]) -> bool:
        pending, seen = [begin], {begin}
        while pending:
            number, text = pending.pop()
            if self.product.finds(number, partial(self._leads_to_free, text)):
                return True
            found = self._tokens.at(text)
            held = self._tokens.held(found, self.product.row(number))
            states = found.states[held]
            if self.texts.are_free(states).any():
                return True
            for token, after in zip(found.tokens[held].tolist(), states.tolist(), strict=True):
                pair = self.product.step(number, token), after
                if pair not in seen:
                    seen.add(pair)
                    pending.append(pair)
        return False

    def _leads_to_free(self, text: int, token_id: int) -> bool:
        after = self.texts.step(text, self.vocabulary.token(token_id))
        return after != DEAD and bool(self.texts.are_free(np.array([after]))[0])


# A state of the product, and those of the two runs.
_Runs = tuple[int, int, int]


@dataclass(eq=False)
class NormalizedAfterPrompt(WithTexts):
    """Both the machine and the rows of a matcher.

    State 2 p is the product's state p alone, 2 i + 1 the i-th of the others that were met.
    """

    _runs: list[_Runs] = field(default_factory=list)
    _number: dict[_Runs, int] = field(default_factory=dict)
    _masks: dict[int, Words] = field(default_factory=dict)
    _alive: dict[_Runs, bool] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return 2 * self.product.start

    def members(self, state: int) -> tuple[int, ...]:
        """The product states that the text so far may be in."""
        return self.product.members(self._parts(state)[0])

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return self.product.is_accepting(self._parts(state)[0])

    def behind(self, state: int, ids: Iterable[int]) -> int:
        """A state of the product behind a prompt, with what the prompt ends in."""
        return self._numbered((state, self.texts.behind(ids, self.vocabulary), self.texts.start))

    def step(self, state: int, token_id: int) -> int:
        """The state after a token that the mask allows."""
        number, first, second = self._parts(state)
        after = self.product.step(number, token_id)
        if first == second:
            return 2 * after
        octets = self.vocabulary.token(token_id)
        return self._numbered(
            (after, self.texts.step(first, octets), self.texts.step(second, octets))
        )

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the mask at ``state`` lacks it."""
        return self.step(state, token_id) if tokenset.contains(self.row(state), token_id) else None

    def row(self, state: int) -> Words:
        """The mask at a state: read-only."""
        number, first, second = self._parts(state)
        if first == second:
            return self.product.row(number)
        if state not in self._masks:
            mask, watched = self._watched((number, first, second))
            dead = [token for token, after in watched if not self._may_end(after)]
            mask = mask & ~tokenset.from_ids(dead, self.product.vocab_size)
            mask.flags.writeable = False
            self._masks[state] = mask
        return self._masks[state]

    def _parts(self, state: int) -> _Runs:
        return self._runs[state >> 1] if state & 1 else (state >> 1, DEAD, DEAD)

    def _numbered(self, runs: _Runs) -> int:
        number, first, second = runs
        if first == second:
            return 2 * number
        if runs not in self._number:
            self._number[runs] = len(self._runs)
            self._runs.append(runs)
        return 2 * self._number[runs] + 1

    def _watched(self, runs: _Runs) -> tuple[Words, list[tuple[int, _Runs]]]:
        """The mask of the product without tokens that the first run cannot read; and those of
        its tokens after which the runs differ, with what follows."""
        mask = self.product.row(runs[0])
        tokens = self.texts.tokens[tokenset.to_flags(mask)[self.texts.tokens]]
        lost, watched = [], []
        for token in tokens.tolist():
            octets = self.vocabulary.token(token)
            first = self.texts.step(runs[1], octets)
            if first == DEAD:
                lost.append(token)
            elif first != (second := self.texts.step(runs[2], octets)):
                watched.append((token, (self.product.step(runs[0], token), first, second)))
        return mask & ~tokenset.from_ids(lost, self.product.vocab_size), watched

    def _may_end(self, begin: _Runs) -> bool:
        """Whether there is a way to an end, or to where the runs agree: depth first."""
        if begin not in self._alive:
            self._alive[begin] = self._search(begin)
        return self._alive[begin]

    def _search(self, begin: _Runs) -> bool:
        pending, seen = [begin], {begin}
        while pending:
            runs = pending.pop()
            left, watched = self._watched(runs)
            # EOS is a token of the mask, too.
            if len(tokenset.to_ids(left)) > len(watched):
                return True
            for _, after in watched:
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        return False
