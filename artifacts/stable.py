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
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .memo import Memo
from .product import ProductMachine
from .rectangles import ForbiddenPairs
from .stable_texts import DEAD, StableTexts
from .token_runs import TokenRuns
from .tokenset import Words
from .vocabulary import Vocabulary

# What the tokens do at states of the texts, in bytes, and answers of searches, that are kept.
_KEPT_BYTES, _KEPT_ANSWERS = 1 << 25, 1 << 18


class _Found(NamedTuple):
    """What the tokens do at a state of the texts. ``kept``: uint32, the words of a mask that
    hold any of them, without those that lead to the dead state. ``tokens``, ``states``: the
    others, and where they lead. ``unsure``: those for which an end must be looked for."""

    kept: Words
    tokens: NDArray[np.int32]
    states: NDArray[np.int64]
    unsure: list[tuple[int, int]]


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

    _by_text: Memo[int, _Found] = field(default_factory=lambda: Memo(_KEPT_BYTES))
    _masks: dict[int, Words] = field(default_factory=dict)
    _alive: Memo[tuple[int, int], bool] = field(default_factory=lambda: Memo(_KEPT_ANSWERS))

    def __post_init__(self) -> None:
        self._width = len(self.texts.table)
        # So that the first mask need not lay the tokens out.
        self._found(self.texts.start)

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
        found = self._found(text)
        mask = self.product.row(number).copy()
        mask[self._words] &= found.kept
        for token, after in found.unsure:
            if not tokenset.contains(mask, token):
                continue
            if not self._may_end(self.product.step(number, token), after):
                mask[token >> 5] &= ~self._bits[token & 31]
        return mask

    def _found(self, text: int) -> _Found:
        known = self._by_text.get(text)
        if known is not None:
            return known
        tokens, states = self._runs.run(text)
        kept = self._others.copy()
        np.bitwise_or.at(kept, self._place[tokens >> 5], self._bits[tokens & 31])
        some = np.flatnonzero(self._is_unsure[tokens])
        some = some[~self.texts.are_free(states[some])]
        unsure = sorted(zip(tokens[some].tolist(), states[some].tolist(), strict=True))
        found = _Found(kept, tokens, states, unsure)
        return self._by_text.keep(text, found, kept.nbytes + tokens.nbytes + states.nbytes)

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
            found = self._found(text)
            row = self.product.row(number)
            held = np.flatnonzero(row[found.tokens >> 5] & self._bits[found.tokens & 31])
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

    @cached_property
    def _bits(self) -> Words:
        """The words of one bit."""
        return np.uint32(1) << np.arange(32, dtype=np.uint32)

    @cached_property
    def _words(self) -> NDArray[np.int32]:
        """The words of a mask that hold tokens of the texts' own."""
        return np.unique(self.texts.tokens >> 5)

    @cached_property
    def _place(self) -> NDArray[np.int32]:
        """The place of each word of a mask among those."""
        found = np.zeros(tokenset.word_count(self.product.vocab_size), dtype=np.int32)
        found[self._words] = np.arange(len(self._words))
        return found

    @cached_property
    def _others(self) -> Words:
        """Those words with the bits of all other tokens."""
        found = ~tokenset.from_ids(self.texts.tokens, self.product.vocab_size)
        return found[self._words]

    @cached_property
    def _is_unsure(self) -> NDArray[np.bool_]:
        found = np.zeros(self.product.vocab_size, dtype=np.bool_)
        found[self.texts.unsure] = True
        return found

    @cached_property
    def _runs(self) -> TokenRuns:
        ids, texts = self.texts.tokens, self.texts
        octets = [self.vocabulary.token(token) for token in ids.tolist()]
        return TokenRuns(ids, octets, texts.table, texts.classes)
