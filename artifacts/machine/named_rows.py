"""Rows of a file for states that have numbers only when texts meet them.

named.members    by state its positions, as the file numbers them
memo.*           rows of states over frames (``artifacts/walk/summary_tables.py``)

A position of a copy of a repetition is named by the front, by how many items are read before it,
and by its place in the item. A thousand copies that are far from their bounds have one name; what
is nearer to them than a token is long has none, and its rows are found while decoding.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays, check_sections, require
from ..network.configurations import Entries
from ..network.tables import DEAD
from ..tokens.memo import memoised
from ..tokens.tokenset import Words
from ..walk.node_sets import NOTHING
from ..walk.summary_tables import StoredRows, SummaryTables, check_summaries
from .position_states import Name
from .repetitions import ENOUGH
from .states import States

MEMBERS, OFFSETS = "named.members", "named.offsets"


class NamedRows:
    """Rows of ``states``, as far as checked sections have them. ``vocab_size``: bits of a row.
    ``longest``: no token has more characters."""

    is_full = False

    def __init__(self, arrays: Arrays, states: States, vocab_size: int, longest: int) -> None:
        members, offsets = arrays[MEMBERS].tolist(), arrays[OFFSETS].tolist()
        names = [tuple(map(tuple, members[i:j])) for i, j in pairwise(offsets)]
        self._numbers: dict[Name, int] = {name: i for i, name in enumerate(names)}
        self._rows = StoredRows(SummaryTables.from_arrays(arrays), vocab_size, len(names), 0)
        self._states, self._longest = states, longest

    def forget(self) -> None:
        """Nothing is kept that is not in the file."""

    def row(
        self, state: int, node: int, entries: Sequence[Entries]
    ) -> tuple[Words, set[int]] | None:
        """As ``StoredRows.row``."""
        nodes, looked_at = NOTHING, set[int]()
        while True:
            number = self._number(state)
            found = None if number is None else self._rows.summary(nodes, number)
            if found is None:
                return None
            row, nodes = found
            if nodes == NOTHING:
                return self._rows[row], looked_at
            if (state == DEAD and looked_at) or len(entries[node]) > 1:
                return None
            looked_at.add(node)
            ((state, node),) = entries[node]

    @memoised
    def _number(self, state: int) -> int | None:
        """What the file calls a state."""
        name = self._states.name(self._states.within(state, self._longest))
        return None if name is None else self._numbers.get(name)


def named_sections(names: Sequence[Name]) -> dict[str, NDArray[np.int32]]:
    """The sections of names."""
    members = [member for name in names for member in name]
    return {
        MEMBERS: np.array(members, np.int32).reshape(-1, 3),
        OFFSETS: np.cumsum([0, *map(len, names)], dtype=np.int32),
    }


def check_named_rows(arrays: Arrays, vocab_size: int, positions: int) -> None:
    """Check the rows of a file of so many ``positions``. Raises ``ArtifactError`` naming the first
    section that does not fit."""
    members = f"int32 (members, 3) 0..positions,{ENOUGH}..,0.."
    declared = {MEMBERS: members, OFFSETS: "int32 (states+1) to:members"}
    states = check_sections(arrays, declared, positions=positions)["states"]
    require(states > 0, OFFSETS)
    check_summaries(arrays, vocab_size, states)
