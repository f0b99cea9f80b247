"""Artifacts of the kind ``word-dfa``: a regular grammar as a WordPiece tokenizer encodes it."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_byte_dfa
from ..matcher import Begun
from ..wordpiece.check import check_words
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .generations import always
from .regular import RegularGrammar

if TYPE_CHECKING:
    from ..wordpiece.machine import WordMachine


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_byte_dfa(manifest, arrays)
    check_words(manifest, arrays)


class WordPieceRuntime(RegularGrammar):
    """Steps canonical text and the trie of words."""

    def machine(self) -> "WordMachine":
        """The machine of all matchers."""
        with self.contents.lock:
            return self._machine

    def begun(self, prompt: Sequence[int]) -> Begun:
        """A member begins a new word after every prompt."""
        return always(self.machine())

    @cached_property
    def _machine(self) -> "WordMachine":
        from ..wordpiece.machine import word_machine

        c = self.contents
        return word_machine(c.manifest, c.arrays, c.vocabulary, c.caches)


def runtime(contents: Contents) -> WordPieceRuntime:
    """What runs the artifact."""
    return WordPieceRuntime(contents)
