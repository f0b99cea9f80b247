"""TODO."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .marked_dfa import MarkedDfa


@dataclass(frozen=True, slots=True, eq=False)
class PretokenizerTables:
    """Which texts have an encoding, and where it cuts them.

    ``dfa``: over planes and byte classes. ``classes``: uint8 (256,), class of each byte.
    ``fallback``: int32 (256,), token of each byte of a character that has none of its own, -1
    without. ``prefix``: what the tokenizer puts before a text that is not empty; if
    ``unless_begun`` only before texts that do not begin with it. ``texts``: the same texts over
    bytes, (S, 2, 256), with their start as the only mark, and behind ``text_prefix``.
    ``pretokenizer.ignore_merges``: the tokens that are given for whole pieces alone, with their
    bytes.
    """

    dfa: MarkedDfa
    classes: NDArray[np.uint8]
    fallback: NDArray[np.int32]
    prefix: bytes
    texts: MarkedDfa
    whole_pieces: Mapping[int, bytes]
    unless_begun: bool = False

    @property
    def text_prefix(self) -> bytes:
        """What is put before each of ``texts``."""
        return b"" if self.unless_begun else self.prefix

    @property
    def whole(self) -> NDArray[np.int32]:
        """The ids of ``pretokenizer.ignore_merges``, int32, ascending."""
        return np.array(sorted(self.whole_pieces), dtype=np.int32)
