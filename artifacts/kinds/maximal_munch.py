"""Artifacts of the kind ``greedy``: a grammar read by maximal munch, as a network over lexemes
after a lexer, some of whose lexemes may be too large for a complete DFA."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..maximal_munch.check import REFUSED, check_greedy
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .generations import SharedMachine
from .parser import names_of, network_of

if TYPE_CHECKING:
    from ..maximal_munch.machine import MaximalMunchMasks
    from ..maximal_munch.tables import MaximalMunchTables, ReadTables


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    if has_lazy_lexemes(arrays):
        from ..lazy_lexer.check import check_lazy_lexemes

        check_lazy_lexemes(arrays)
    check_greedy(manifest, arrays)


def has_lazy_lexemes(arrays: Arrays) -> bool:
    """Whether states of some lexemes are made while decoding, as their DFAs are too large."""
    return "lazy.lexemes" in arrays


def refused_of(arrays: Arrays) -> frozenset[int]:
    """The lexemes that are read and never end."""
    return frozenset(arrays[REFUSED].tolist()) if REFUSED in arrays else frozenset()


def ranks_of(arrays: Arrays) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
    """Of the lexemes their ranks, which are ignored, and which are as short as possible."""
    priorities = arrays["lexer.priorities"]
    none = np.zeros(len(priorities), dtype=np.uint8)
    return priorities, arrays["lexer.ignored"], arrays.get("lexer.shortest", none)


class LexemesRuntime(SharedMachine["MaximalMunchMasks"]):
    """Matchers share one machine, which interns the heads, frames and states of the lexer that
    they meet, until it is full. ``made``: the tables of a machine for which nothing is precomputed,
    begun again by each call."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        trie: Callable[[], Trie],
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget,
        lock: Lock,
        made: "Callable[[], ReadTables] | None" = None,
    ) -> None:
        self._made = made
        self.vocabulary, self.trie = vocabulary, trie
        self.eos, self.vocab_size = eos, vocab_size
        self._caches, self._lock = caches, lock

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        machine = self.machine()
        with machine.lock:
            return machine.configurations.follow(machine.start, text)[0]

    @property
    def names_tokens(self) -> bool:
        """Lexemes are texts."""
        return False

    def _following(self, full: "MaximalMunchMasks | None") -> "MaximalMunchMasks":
        return (None if full is None else full.following()) or self._begun()

    def _begun(self) -> "MaximalMunchMasks":
        from ..maximal_munch.machine import MaximalMunchMasks

        assert self._made is not None
        given = self._made(), self.trie, self.vocabulary, self.eos, self.vocab_size
        return MaximalMunchMasks(*given, caches=self._caches, lock=self._lock)


class MaximalMunchRuntime(LexemesRuntime):
    """The same of a file, with what was precomputed."""

    def __init__(self, contents: Contents) -> None:
        c, m = contents, contents.manifest
        self.contents = contents
        tokens = c.vocabulary, (lambda: c.trie), m.eos, m.vocab_size
        super().__init__(*tokens, c.caches, c.lock)

    def open_rules(self, text: bytes) -> tuple[str, ...]:
        """The rules that ``text`` has begun and not ended, the outermost first."""
        from ..maximal_munch.open_rules import open_rules

        machine = self.machine()
        with machine.lock:
            found = machine.configurations
            return open_rules(found, found.follow(found.start, text)[1])

    @cached_property
    def tables(self) -> "MaximalMunchTables":
        """The network over lexemes, and the lexer."""
        from ..dfa.stacked_dfas import StackedDfas
        from ..maximal_munch.lexer import LexerTables
        from ..maximal_munch.tables import MaximalMunchTables

        a, names = self.contents.arrays, names_of(self.contents.manifest)
        given = StackedDfas.from_arrays(a), *ranks_of(a), names.texts
        if has_lazy_lexemes(a):
            from ..lazy_lexer.lexer import LazyLexerTables, conjunctions_of

            lexer: LexerTables = LazyLexerTables(*given, conjunctions_of(a))
        else:
            lexer = LexerTables(*given, refused=refused_of(a))
        return MaximalMunchTables(network_of(self.contents), lexer)

    def _begun(self) -> "MaximalMunchMasks":
        from ..maximal_munch.parser_transitions import ParserTransitionTables
        from ..maximal_munch.summary_tables import HeadSummaryTables

        a = self.contents.arrays
        return self._machine_type(
            self.tables,
            self.trie,
            self.vocabulary,
            self.eos,
            self.vocab_size,
            HeadSummaryTables.from_arrays(a),
            ParserTransitionTables.from_arrays(a),
            self._caches,
            self._lock,
        )

    @property
    def _machine_type(self) -> "type[MaximalMunchMasks]":
        if has_lazy_lexemes(self.contents.arrays):
            from ..lazy_lexer.machine import LazyLexerMasks

            return LazyLexerMasks
        from ..maximal_munch.machine import MaximalMunchMasks

        return MaximalMunchMasks


def runtime(contents: Contents) -> MaximalMunchRuntime:
    """What runs the artifact."""
    return MaximalMunchRuntime(contents)
