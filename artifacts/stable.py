"""Texts that a tokenizer's normalizer leaves alone, followed while a product is walked.

What a normalization form changes depends on the last characters of the text. Taken into the
product's own states that would multiply them by thousands, so it is a second factor here: a
state is one of the product and one of the automaton of stable texts, and the mask is

    mask of the product, without tokens that lead the other automaton to its dead state,
    without tokens that end inside a character of which no end is left

Compiling made sure that nothing else is a dead end: between two characters, and inside one that
may end as it likes, some characters that the form never changes lead to an end. It also says
behind which tokens an end must be looked for at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from . import tokenset
from .memo import Memo
from .product import ProductMachine
from .rectangles import ForbiddenPairs
from .stable_texts import DEAD, StableTexts
from .text_tokens import TextTokens
from .tokenset import Words
from .vocabulary import Vocabulary

# Answers of searches that are kept.
_KEPT_ANSWERS = 1 << 18


@dataclass(eq=False)
class WithTexts:
    """A product and the stable texts beside it."""

    product: ProductMachine
    texts: StableTexts

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
class StableMachine(WithTexts):
    """A product in step with ``texts``: the machine and the rows of a matcher.

    A state number is that of the product's state, times S, plus that of ``texts``.
    """

    _masks: dict[int, Words] = field(default_factory=dict)
    _alive: Memo[tuple[int, int], bool] = field(default_factory=lambda: Memo(_KEPT_ANSWERS))

    def __post_init__(self) -> None:
        self._width = len(self.texts.table)
        self._tokens = TextTokens(self.texts, self.vocabulary, self.product.vocab_size)

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
