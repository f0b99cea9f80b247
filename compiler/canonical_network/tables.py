"""What the canonical masks of one network are made of: the tokenizer's automata beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.character_ends import SplitCharacterEnds
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.tokenizer_steps.normal_form_dfa import NormalFormDfa
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs

from ..automata.dfa import TokenIds
from ..bpe.tokenizer_tables import TokenizerTables
from ..limits import Effort
from ..options import ArtifactRequest
from ..tokenizer_steps.normalized_members import NormalFormTables
from ..tokenizers import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalTables:
    """A network beside a tokenizer's boundaries and forbidden pairs.

    ``sections``: of the tokenizer. ``network``: the network under its pre-tokenizer. ``inert``:
    the same for inert characters alone, with ``normal_form``; None where masks follow no normal
    form. ``effort``: watches both. ``request``, ``tables``: what they are made for and of, with
    sentinels in the place of ``terminals``, which are the ids of each. ``notes``: for the user.
    """

    request: ArtifactRequest[Tokenizer]
    tables: TokenizerTables
    terminals: Sequence[TokenIds]
    sections: dict[str, NDArray[Any]]
    network: PretokenizedNetwork
    inert: PretokenizedNetwork | None
    normal_form: NormalFormTables | None
    effort: Effort
    notes: tuple[str, ...]

    @property
    def ends(self) -> SplitCharacterEnds | None:
        """The ends of characters that tokens leave open, where masks follow a normal form."""
        if self.inert is None or self.normal_form is None:
            return None
        tables = self.normal_form
        dfa, allowed = _beside(tables, self.network.forbidden)
        return SplitCharacterEnds(self.network, dfa, tables.split, tables.between, allowed)


@lru_cache(maxsize=4)
def _beside(
    tables: NormalFormTables, forbidden: ForbiddenPairs
) -> tuple[NormalFormDfa, dict[int, NDArray[np.bool_]]]:
    """The DFA of some tables, of which all tokens are undecided, and room for the tails that may
    follow each token by ``forbidden``."""
    dfa = NormalFormDfa(tables.table, tables.classes, tables.start, tables.tokens, tables.tokens)
    return dfa, {}
