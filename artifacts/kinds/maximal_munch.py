"""Artifacts of the kind ``greedy``: a grammar read by maximal munch, as a network over lexemes
behind a lexer."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..matcher import Begun
from ..maximal_munch.check import check_greedy
from ..tokens.allowance import Precomputed
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .generations import Generations
from .parser import names_of, network_of

if TYPE_CHECKING:
    from ..maximal_munch.machine import MaximalMunchMasks
    from ..maximal_munch.slices import Slices
    from ..maximal_munch.tables import MaximalMunchTables
    from .mask_walks import MaskWalks


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_greedy(manifest, arrays)


class MaximalMunchRuntime:
    """Matchers share one machine, which interns the heads, frames and states of the lexer that
    they meet, until it is full."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    def machine(self) -> "MaximalMunchMasks":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks that walks by masks meet."""
        with self.contents.precomputing:
            return self._walks.precompute(seconds, answers)

    @cached_property
    def _walks(self) -> "MaskWalks":
        from .mask_walks import MaskWalks

        c = self.contents
        return MaskWalks(
            partial(self.begun, ()), c.vocabulary, c.manifest.eos, c.manifest.vocab_size
        )

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return self._generations.begun()

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        machine = self.machine()
        with machine.lock:
            return machine.configurations.follow(machine.start, text)[0]

    @property
    def names_tokens(self) -> bool:
        """Lexemes are texts."""
        return False

    @cached_property
    def tables(self) -> "MaximalMunchTables":
        """The network over lexemes, and the lexer."""
        from ..dfa.stacked_dfas import StackedDfas
        from ..maximal_munch.lexer import LexerTables
        from ..maximal_munch.tables import MaximalMunchTables

        a, names = self.contents.arrays, names_of(self.contents.manifest)
        dfas = StackedDfas.from_sections(a)
        lexer = LexerTables(dfas, a["lexer.priorities"], a["lexer.ignored"], names.texts)
        return MaximalMunchTables(network_of(self.contents), lexer)

    @cached_property
    def _generations(self) -> "Generations[MaximalMunchMasks]":
        return Generations(self.contents.lock, self._following)

    def _following(self, full: "MaximalMunchMasks | None") -> "MaximalMunchMasks":
        following = None if full is None else full.following()
        return self._made() if following is None else following

    def _made(self) -> "MaximalMunchMasks":
        from ..maximal_munch.machine import MaximalMunchMasks
        from ..maximal_munch.parser_transitions import ParserTransitionTables
        from ..maximal_munch.summary_tables import HeadSummaryTables

        c = self.contents
        a, m = c.arrays, c.manifest
        return MaximalMunchMasks(
            self.tables,
            lambda: c.trie,
            c.vocabulary,
            m.eos,
            m.vocab_size,
            self._slices if len(a["slices.starts"]) else None,
            HeadSummaryTables.from_arrays(a),
            ParserTransitionTables.from_arrays(a),
            c.caches,
            c.lock,
        )

    def _slices(self) -> "Slices":
        from ..maximal_munch.slices import Slice, Slices

        a = self.contents.arrays
        table, classes = a["slices.table"], a["slices.classes"]
        slices = [Slice(table, classes, start) for start in a["slices.starts"].tolist()]
        return Slices(slices, self.contents.trie, self.contents.manifest.vocab_size)


def runtime(contents: Contents) -> MaximalMunchRuntime:
    """What runs the artifact."""
    return MaximalMunchRuntime(contents)
