"""The encoder: all steps of a tokenizer in order, with a cache of pre-tokens and their ids.

text -> added tokens -> normalize -> added tokens -> split -> ids of each pre-token, by its model

A model has three methods (``PieceModel``): one file for each, and one line in ``_model_of``.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, filterfalse
from typing import Protocol

from ...wordpiece.cached_ids import MOST_CACHED, CachedIds
from ..definition import AddedToken, Definition
from .added_tokens import searched_tokens
from .allowance import Allowance
from .merging import Merging
from .steps import normalize, pretokenize
from .viterbi import Viterbi

# From so many new pre-tokens on, merging all of them at once is faster.
_MANY = 48


class PieceModel(Protocol):
    """What makes ids of pre-tokens."""

    def parts(self, piece: str) -> list[str]:
        """The parts of a pre-token that can be encoded each by itself."""

    def ids(self, piece: str) -> list[int]:
        """The ids of a pre-token."""

    def ids_of(self, pieces: list[str]) -> Iterable[tuple[str, list[int]]]:
        """Many pre-tokens and their ids, in any order."""


def _model_of(tokenizer: Definition) -> PieceModel:
    if tokenizer.unigram is not None:
        return Viterbi(tokenizer, tokenizer.unigram)
    return Merging(tokenizer)


class Encoder:
    """Encodes as a tokenizer does, without adding special tokens around the text.

    ``verbatim``: the added tokens that are found in the text, ``rewritten``: those that are found
    in the normalized text.
    """

    def __init__(self, tokenizer: Definition) -> None:
        self.tokenizer = tokenizer
        self.verbatim, self.rewritten = searched_tokens(tokenizer)
        self._ids = CachedIds[list[int]](lambda piece: self.model.ids(piece))

    @cached_property
    def model(self) -> PieceModel:
        """What makes ids of pre-tokens, not cached."""
        return _model_of(self.tokenizer)

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        ids: list[int] = []
        for part in self.parts(text):
            if isinstance(part, AddedToken):
                ids.append(part.id)
            else:
                self._encode_new(part)
                ids.extend(chain.from_iterable(map(self._ids.__getitem__, part)))
        return ids

    def parts(self, text: str, *, continued: bool = False) -> Iterator[AddedToken | list[str]]:
        """Added tokens, and between them the pre-tokens, each of which is merged by itself.

        A tokenizer that does not split has one pre-token between two added tokens, which is split
        into what its model can encode part by part. ``continued``: an earlier part of the text came
        before.
        """
        tokenizer, allowance = self.tokenizer, Allowance(len(text))
        for start, end, token in self.verbatim.parts(text):
            if token is not None:
                yield token
                continue
            follows = continued and start == 0
            rewritten = normalize(
                text[start:end], tokenizer.normalizers, continued=follows, allowance=allowance
            )
            for begin, stop, found in self.rewritten.parts(rewritten):
                if found is not None:
                    yield found
                    continue
                pieces = pretokenize(
                    rewritten[begin:stop],
                    tokenizer.pre_tokenizers,
                    first=start == begin == 0 and not continued,
                    continued=follows and begin == 0,
                    allowance=allowance,
                )
                if not tokenizer.splits:
                    pieces = [part for piece in pieces for part in self.model.parts(piece)]
                if pieces:
                    yield pieces

    def _encode_new(self, part: list[str]) -> None:
        """Cache the ids of a part's new pre-tokens, if they are many."""
        if len(part) < _MANY:
            return
        cached = self._ids
        new = list(dict.fromkeys(filterfalse(cached.__contains__, part)))
        if len(new) >= _MANY:
            if len(cached) + len(new) > MOST_CACHED:
                cached.clear()
            cached.update(self.model.ids_of(new[:MOST_CACHED]))

    def ids_of(self, piece: str) -> list[int]:
        """The ids of one pre-token of ``parts``."""
        return self._ids[piece]

    def is_seam(self, left: str, right: str) -> bool:
        """Whether the texts on both sides of two adjacent characters' boundary are encoded each by
        itself."""
        return len(self.model.parts(left + right)) == 2
