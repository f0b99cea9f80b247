"""A tokenizer's cuts and pairs as sections of an artifact."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.pretokenizer.dfa import PretokenizerDfa

from ..pretokenizer.boundary_tables import PretokenizerTables
from .cached_tables import TokenizerTables


def cuts_of(tables: PretokenizerTables) -> PretokenizerDfa:
    """The cuts as they are followed at run time."""
    whole = frozenset(tables.whole_pieces)
    return PretokenizerDfa(
        tables.dfa.table, tables.classes, tables.fallback, tables.dfa.start, whole
    )


def pretokenizer_sections(cuts: PretokenizerTables) -> dict[str, NDArray[Any]]:
    """The sections ``cuts.*``."""
    once = {"cuts.unless_begun": np.ones(1, dtype=np.uint8)} if cuts.unless_begun else {}
    whole = {"cuts.whole": cuts.whole} if cuts.whole_pieces else {}
    return {
        **once,
        **whole,
        "cuts.classes": cuts.classes,
        "cuts.fallback": cuts.fallback,
        "cuts.prefix": np.frombuffer(cuts.prefix, dtype=np.uint8),
        "cuts.start": np.array([cuts.dfa.start], dtype=np.int32),
        "cuts.table": cuts.dfa.table,
    }


def tokenizer_sections(tables: TokenizerTables, vocab_size: int) -> dict[str, NDArray[Any]]:
    """The same, and all pairs. Raises ``TokenizerError`` for what they cannot express."""
    pairs = tables.pairs.rectangles.rows.padded(vocab_size)
    return {**pretokenizer_sections(tables.cuts), **pairs.arrays("pairs.")}
