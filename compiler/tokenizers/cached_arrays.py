"""What of a tokenizer is kept in the cache on disk, and a hash of its definition."""

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, get_args

import numpy as np

from ..files.packed import packed
from .definition import (
    AddedToken,
    Behaviour,
    Form,
    Normalizer,
    PrependScheme,
    PreTokenizer,
    Unigram,
)
from .tokenizer import Tokenizer, TokenTable

if TYPE_CHECKING:
    from ..wordpiece.tokenizer import WordPieceTokenizer

# Goes up with every change of a reader or of these classes: older entries are then not found.
VERSION = 9

# What a tokenizer is made of.
CLASSES = (
    Tokenizer,
    TokenTable,
    AddedToken,
    Unigram,
    Behaviour,
    Form,
    PrependScheme,
    *get_args(Normalizer),
    *get_args(PreTokenizer),
)


def fingerprint(tokenizer: "Tokenizer | WordPieceTokenizer") -> str:
    """A hash of all that tables of the tokenizer can depend on: of its definition, not its file.

    A tokenizer that was changed in memory has the hash of the file that it was read from, and
    another fingerprint.
    """
    if not isinstance(tokenizer, Tokenizer):
        return tokenizer.fingerprint
    plain = replace(tokenizer, name="", sha256="", eos=(), tokens=TokenTable.of(tokenizer.tokens))
    digest = sha256()
    for name, array in packed(plain).items():
        digest.update(f"{name} {array.shape} ".encode("ascii"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
