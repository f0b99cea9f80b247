"""What the kinds of grammars that nest share: names for messages, a network, and productions.

All of them hold productions for an Earley recogniser, by which texts are explained. Besides the
bounds of their indices ``check_earley`` proves that the recogniser ends: no symbol matches ε, and
single nonterminals derive each other without a cycle.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import EXACT, Manifest, ParserNames
from ..container.sections import Arrays, check_sections, is_acyclic, require
from ..dfa.check import check_stacked_dfas
from ..errors import ArtifactError
from .contents import Contents, terminals_of

if TYPE_CHECKING:
    from ..earley.recogniser import Earley
    from ..earley.tables import EarleyTables
    from ..network.tables import NetworkTables


def names_of(manifest: Manifest) -> ParserNames:
    """What the tables are about. Raises ``ArtifactError`` if it is not said."""
    if manifest.parser is None:
        raise ArtifactError("the manifest is damaged: it has no 'parser'")
    return manifest.parser


def network_of(contents: Contents) -> "NetworkTables":
    """The recursive transition network of an artifact, over bytes or over lexemes; that of a
    regular grammar is its byte DFA."""
    from ..network.tables import NetworkTables

    if contents.manifest.is_regular:
        from .without_calls import network_without_calls

        return network_without_calls(contents.byte_dfa)
    m = contents.manifest
    return NetworkTables.from_sections(contents.arrays, m.byte_start, names_of(m))


def named_in(manifest: Manifest, arrays: Arrays) -> list[NDArray[np.int32]]:
    """The ids of each token terminal, ascending; of none where there are no such sections."""
    terminals = terminals_of(manifest, arrays)
    return [terminals.members(number) for number in range(len(terminals))]


class NestingGrammar:
    """The productions of an artifact that has them."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    @cached_property
    def named(self) -> list[NDArray[np.int32]]:
        """The ids of each token terminal, ascending. One of canonical tokens with
        counters names none."""
        return named_in(self.contents.manifest, self.contents.arrays)

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        return bool(self.named)

    def recogniser(self) -> "Earley":
        """An Earley recogniser before any text."""
        from ..dfa.stacked_dfas import StackedDfas
        from ..earley.recogniser import Earley

        terminals = StackedDfas.from_arrays(self.contents.completed.arrays)
        return Earley(self._tables, terminals, len(terminals.table))

    @cached_property
    def _tables(self) -> "EarleyTables":
        from ..earley.tables import EarleyTables

        contents = self.contents.completed
        return EarleyTables.from_sections(contents.arrays, names_of(contents.manifest))


_PRODUCTIONS = {
    "earley.bodies": "int32 (bodies)",
    "earley.first": "int32 (rules+1) to:bodies",
    "earley.path_offsets": "int64 (bodies+1) to:paths",
    "earley.paths": "int32 (paths) 0..names",
    "earley.rests": "uint8 (rules)",
    "earley.symbols": "int32 (symbols)",
}
_TERMINALS = {
    "terminals.ids": "int32 (ids) 0..vocab",
    "terminals.offsets": "int64 (terminals+1) to:ids",
}


def has_productions(manifest: Manifest, arrays: Arrays) -> bool:
    """Whether a file of a grammar that nests has productions: those of counted repetitions would be
    copies, and by maximal munch they would be of lexemes."""
    return manifest.meaning == EXACT and "count.items" not in arrays


def check_earley(manifest: Manifest, names: ParserNames, arrays: Arrays) -> int:
    """The number of token terminals. Raises ``ArtifactError`` naming the first bad section."""
    rules = check_sections(arrays, _PRODUCTIONS, names=len(names.rules))["rules"]
    named = check_terminals(manifest, arrays)
    check_stacked_dfas(arrays, len(names.texts), 256 + named)
    _check_productions(names, arrays, rules)
    return named


def check_terminals(manifest: Manifest, arrays: Arrays) -> int:
    """The number of token terminals. Raises ``ArtifactError`` naming the first bad section."""
    return check_sections(arrays, _TERMINALS, vocab=manifest.vocab_size)["terminals"]


def _check_productions(names: ParserNames, arrays: Arrays, rules: int) -> None:
    from ..earley.tables import END

    symbols, bodies = arrays["earley.symbols"], arrays["earley.bodies"]
    terminals = len(names.texts)
    if not 0 <= names.start < rules:
        raise ArtifactError("the manifest is damaged: bad 'parser'")
    is_end = symbols == END
    inside = symbols[~is_end]
    require(bool(((inside >= -terminals) & (inside < rules)).all()), "earley.symbols")
    # Each body begins where the one before has ended, and is not empty.
    begins = np.append(0, np.flatnonzero(is_end) + 1)
    require(int(begins[-1]) == len(symbols), "earley.symbols")
    require(np.array_equal(begins[:-1], bodies), "earley.bodies")
    lengths = np.diff(begins) - 1
    require(bool((lengths > 0).all()), "earley.bodies")
    heads = np.repeat(np.arange(rules), np.diff(arrays["earley.first"]))
    alone = symbols[bodies]
    single = (lengths == 1) & (alone >= 0)
    require(is_acyclic(rules, heads[single], alone[single]), "earley.symbols")
