"""What a tokenizer's files say: its vocabulary, its merges, its steps, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .steps import AddedToken, Normalizer, PreTokenizer


@dataclass(frozen=True)
class Definition:
    """A BPE tokenizer, over bytes or over characters. ``steps.py`` says how its parts act.

    ``name``: the path. ``sha256``: of the file. ``tokens``: id to the bytes that it stands for
    in a text, of all tokens but the special ones. ``added_tokens``: those that are matched in
    the text before anything else. ``merges``: int32 (n, 3), left, right and result id in rank
    order. ``base``: the id of each byte as a symbol of its own, -1 for none. ``eos``: the ids
    that end a text, empty if none is known. ``vocab_size``: highest id + 1, of all tokens, also
    those that no text gives.

    ``characters``: id of each character that is a symbol, if merging begins with characters (as
    SentencePiece does); empty if it begins with bytes. ``byte_fallback``: the 256 tokens of
    single bytes that spell a character which is not one of those, empty without that rule.
    ``unk``: what stands for what has no token at all, None to drop it; ``fuse_unk``: one for a
    run of it. ``ignore_merges``: a whole piece that is a token is that token.
    """

    name: str
    sha256: str
    tokens: Mapping[int, bytes]
    added_tokens: tuple[AddedToken, ...]
    merges: NDArray[np.int32]
    base: Sequence[int]
    eos: tuple[int, ...]
    vocab_size: int
    normalizers: tuple[Normalizer, ...] = ()
    pre_tokenizers: tuple[PreTokenizer, ...] = ()
    characters: Mapping[str, int] = field(default_factory=dict)
    byte_fallback: tuple[int, ...] = ()
    unk: int | None = None
    fuse_unk: bool = False
    ignore_merges: bool = False

    @property
    def byte_level(self) -> bool:
        """Whether merging begins with bytes."""
        return not self.characters

    @property
    def splits(self) -> bool:
        """Whether text is cut into pieces before it is merged."""
        return any(step.split is not None for step in self.pre_tokenizers)

    @cached_property
    def added(self) -> Mapping[int, str]:
        """Id to name of the added tokens."""
        return {token.id: token.content for token in self.added_tokens}

    @cached_property
    def special(self) -> frozenset[int]:
        """Ids of the added tokens that stand for no text."""
        return frozenset(token.id for token in self.added_tokens if token.special)
