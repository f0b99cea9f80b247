"""What the kinds of grammars that nest share: names for messages, the tables of a network, and
productions for an Earley recogniser, by which texts are explained, too."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest, ParserNames
from ..errors import ArtifactError
from .contents import Contents

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
    """The recursive transition network of an artifact, over bytes or over lexemes."""
    from ..network.tables import NetworkTables

    a, names = contents.arrays, names_of(contents.manifest)
    return NetworkTables(
        a["network.table"],
        a["network.classes"],
        a["network.accepting"],
        a["network.call_offsets"],
        a["network.call_starts"],
        a["network.call_returns"],
        contents.manifest.byte_start,
        names.nullable_start,
        names.called,
        a["network.entries"],
    )


class NestingGrammar:
    """The productions of an artifact that has them."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.names = names_of(contents.manifest)

    @cached_property
    def named(self) -> list[NDArray[np.int32]]:
        """The ids of each token terminal, ascending."""
        a = self.contents.arrays
        ids, offsets = a["terminals.ids"], a["terminals.offsets"]
        return np.split(ids, offsets[1:-1])[: len(offsets) - 1]

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        return bool(self.named)

    def recogniser(self) -> "Earley":
        """An Earley recogniser before any text."""
        from ..dfa.stacked_dfas import StackedDfas
        from ..earley.recogniser import Earley

        terminals = StackedDfas.from_sections(self.contents.arrays)
        return Earley(self._tables, terminals, len(terminals.table))

    @cached_property
    def _tables(self) -> "EarleyTables":
        from ..earley.tables import EarleyTables

        a, names = self.contents.arrays, self.names
        return EarleyTables(
            a["earley.symbols"],
            a["earley.bodies"],
            a["earley.first"],
            names.start,
            names.nullable_start,
            names.rules,
            names.texts,
            a["earley.paths"],
            a["earley.path_offsets"],
            a["earley.rests"],
        )
