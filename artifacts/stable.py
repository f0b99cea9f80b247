"""Texts that a tokenizer's normalizer leaves alone, followed while a product is walked.

What a normalization form changes depends on the last characters of the text. Taken into the
product's own states that would multiply them by thousands, so it is a second factor here: a
state is one of the product and one of the automaton of stable texts, and the mask is

    mask of the product, without tokens that lead the other automaton to its dead state,
    without tokens that end inside a character of which no end is left

Compiling made sure that nothing else is a dead end: between two characters, and inside one that
may end as it likes, some characters that the form never changes lead to an end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import tokenset
from .manifest import Manifest
from .product import ProductMachine, ProductRows
from .rectangles import ForbiddenPairs
from .requirements import Arrays
from .token_runs import TokenRuns
from .tokenset import Words
from .vocabulary import Vocabulary

DEAD = 0

_CONTINUATION = slice(0x80, 0xC0)


@dataclass(frozen=True, eq=False)
class StableTexts:
    """``table``: uint16 (S, J), next state by byte class, state 0 dead. ``classes``: uint8
    (256,), class of each byte. ``start``: the state before any text, and where all that went
    before makes no difference. ``tokens``: int32, the tokens that lead some state between two
    characters to the dead state or into a character.
    """

    table: NDArray[np.uint16]
    classes: NDArray[np.uint8]
    start: int
    tokens: NDArray[np.int32]

    def step(self, state: int, octets: bytes) -> int:
        """The state after some bytes."""
        for octet in octets:
            state = int(self.table[state, self.classes[octet]])
        return state

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Which states lie inside a character."""
        found: NDArray[np.bool_] = (self.table[:, self.classes[_CONTINUATION]] != DEAD).any(axis=1)
        return found

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """Which states let all that is stable by itself follow: all between two characters, and
        those inside one that the start leads to."""
        found = ~self.inside
        pending = [self.start]
        for state in pending:
            inner = np.unique(self.table[state])
            inner = inner[self.inside[inner] & ~found[inner]]
            found[inner] = True
            pending.extend(inner.tolist())
        return found


class _Found(NamedTuple):
    """What the tokens do at a state of the texts: those that do not lead to the dead state;
    those of them that lead to free states; and the others, with the states."""

    kept: Words
    free: Words
    unsure: list[tuple[int, int]]


@dataclass(eq=False)
class StableMachine:
    """A product in step with ``texts``: the machine and the rows of a matcher.

    A state number is that of the product's state, times S, plus that of ``texts``.
    """

    product: ProductMachine
    texts: StableTexts
    _by_text: dict[int, "_Found"] = field(default_factory=dict)
    _masks: dict[int, Words] = field(default_factory=dict)
    _alive: dict[tuple[int, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._width = len(self.texts.table)

    @property
    def start(self) -> int:
        """The state before any token, at the start of a text."""
        return self.product.start * self._width + self.texts.start

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

    def members(self, state: int) -> tuple[int, ...]:
        """The product states that the text so far may be in."""
        return self.product.members(state // self._width)

    def is_accepting(self, state: int) -> bool:
        """Whether the tokens so far spell a member."""
        return self.product.is_accepting(state // self._width)

    def behind(self, state: int, ids: Iterable[int]) -> int:
        """A state of the product behind a prompt, as one of both.

        Text begins anew behind a special token, and where the prompt is not stable.
        """
        found = self.texts.start
        for token in ids:
            is_text = self.vocabulary.is_text(token)
            found = self.texts.step(found, self.vocabulary.token(token)) if is_text else DEAD
            found = found or self.texts.start
        return state * self._width + found

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
        kept, _, unsure = self._found(text)
        mask = self.product.row(number) & kept
        dead = [
            token
            for token, after in unsure
            if tokenset.contains(mask, token)
            and not self._may_end(self.product.step(number, token), after)
        ]
        if dead:
            mask &= ~tokenset.from_ids(dead, self.product.vocab_size)
        return mask

    def _found(self, text: int) -> "_Found":
        if text not in self._by_text:
            texts = self.texts
            tokens, states = self._runs.run(text)
            flags = self._others.copy()
            flags[tokens] = True
            kept = tokenset.from_flags(flags)
            bound = ~texts.is_free[states]
            flags[tokens[bound]] = False
            unsure = zip(tokens[bound].tolist(), states[bound].tolist(), strict=True)
            self._by_text[text] = _Found(kept, tokenset.from_flags(flags), sorted(unsure))
        return self._by_text[text]

    def _may_end(self, number: int, text: int) -> bool:
        """Whether a character that has begun may end in some way: a search for a free state."""
        key = number, text
        if key not in self._alive:
            self._alive[key] = self._search(key)
        return self._alive[key]

    def _search(self, begin: tuple[int, int]) -> bool:
        pending, seen = [begin], {begin}
        while pending:
            number, text = pending.pop()
            if self.product.finds(number, partial(self._leads_to_free, text)):
                return True
            _, free, unsure = self._found(text)
            row = self.product.row(number)
            if (row & free).any():
                return True
            for token, after in unsure:
                if not tokenset.contains(row, token):
                    continue
                pair = self.product.step(number, token), after
                if pair not in seen:
                    seen.add(pair)
                    pending.append(pair)
        return False

    def _leads_to_free(self, text: int, token_id: int) -> bool:
        after = self.texts.step(text, self.vocabulary.token(token_id))
        return after != DEAD and bool(self.texts.is_free[after])

    @cached_property
    def _others(self) -> NDArray[np.bool_]:
        """The tokens that are none of the texts' own, a multiple of 32."""
        flags = np.ones(tokenset.word_count(self.product.vocab_size) * 32, dtype=np.bool_)
        flags[self.product.vocab_size :] = False
        flags[self.texts.tokens] = False
        return flags

    @cached_property
    def _runs(self) -> TokenRuns:
        ids, texts = self.texts.tokens, self.texts
        octets = [self.vocabulary.token(token) for token in ids.tolist()]
        return TokenRuns(ids, octets, texts.table, texts.classes)


def product_machine(
    manifest: Manifest, arrays: Arrays, vocabulary: Vocabulary
) -> ProductMachine | StableMachine:
    """The machine in the sections of a product."""
    product = ProductMachine(
        arrays["product.table"],
        arrays["product.classes"],
        arrays["product.accepting"],
        manifest.token_start,
        arrays["cuts.fallback"],
        ProductRows(
            arrays["product.row_of"],
            arrays["product.rows"],
            arrays["product.ids"],
            arrays["product.id_offsets"],
        ),
        ForbiddenPairs.from_arrays(arrays, "pairs."),
        vocabulary,
        manifest.eos,
        manifest.vocab_size,
        whole_pieces(arrays),
    )
    if "stable.table" not in arrays:
        return product
    table, classes, tokens = (arrays[f"stable.{name}"] for name in ("table", "classes", "tokens"))
    return StableMachine(
        product, StableTexts(table, classes, int(arrays["stable.start"][0]), tokens)
    )


def whole_pieces(arrays: Arrays) -> frozenset[int]:
    """The tokens of whole pieces."""
    return frozenset(arrays["cuts.whole"].tolist()) if "cuts.whole" in arrays else frozenset()
