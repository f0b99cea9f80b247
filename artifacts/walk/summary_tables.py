"""Precomputed procedure summaries (``summaries.py``) as arrays, and the rows of stacks by them."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..container.section_tables import SectionTables
from ..container.sections import Arrays, check_sections, require
from ..network.configurations import Entries
from ..network.tables import DEAD
from ..tokens import tokenset
from ..tokens.tokenset import Words
from .node_sets import NOTHING
from .results import Results, pair_at
from .summaries import down_the_stacks
from .summary_rows import RowTable

_SECTIONS = {
    "memo.rows": "uint32 (rows, words) dead",
    "memo.keys": "int32 (keys, 2) 0..,0..states",
    "memo.answers": "int32 (keys, 2) 0..rows,0..",
}


@dataclass(frozen=True, eq=False)
class SummaryTables(SectionTables):
    """R rows and A summaries. ``rows``: uint32 (R, W); row 0 is empty. ``keys``: int32 (A, 2), the
    set and the state of each summary, ascending; ``answers``: int32 (A, 2), its row and what it
    leaves. Sets are numbers: ``ROOT`` is what each token begins with, ``NOTHING`` is left where
    no token goes on. Masks of one stack are summaries, too: of ``NOTHING`` and the state on top,
    and of what that leaves and the frame below, 0 for none, each with the rows of all before it."""

    PREFIX = "memo."

    rows: NDArray[np.uint32]
    keys: NDArray[np.int32]
    answers: NDArray[np.int32]

    @classmethod
    def of(
        cls, rows: RowTable, found: Mapping[tuple[int, int], tuple[int, int]]
    ) -> "SummaryTables":
        """Of what ``Summaries`` found."""
        keys = sorted(found)
        return cls(
            np.array([rows[i] for i in range(len(rows))], dtype=np.uint32),
            np.array(keys, dtype=np.int32).reshape(-1, 2),
            np.array([found[key] for key in keys], dtype=np.int32).reshape(-1, 2),
        )


def check_summaries(arrays: Arrays, vocab_size: int, states: int) -> None:
    """Check the sections of a network of so many ``states``. Raises ``ArtifactError`` naming the
    first that does not fit."""
    words = tokenset.word_count(vocab_size)
    check_sections(arrays, _SECTIONS, words=words, states=states)
    keys = arrays["memo.keys"]
    joined = keys[:, 0].astype(np.int64) * states + keys[:, 1]
    require(bool((joined[1:] > joined[:-1]).all()), "memo.keys")


class StoredRows:
    """Rows of ``states`` over sets of stacks, as far as a file has them: ``tables``. Nothing is
    decoded before it is asked for. ``capacity``: bytes of unions of rows."""

    has_named = False
    # No state: the compiler left out what tokens cannot spell.
    dead: Set[int] = frozenset()

    def __init__(self, tables: SummaryTables, vocab_size: int, states: int, capacity: int) -> None:
        sets, ends = tables.keys.astype(np.int64).T
        self._states = states
        self._found = Results(sets * states + ends, pair_at(tables.answers))
        self._rows = RowTable(vocab_size, tables.rows, capacity)

    @property
    def is_full(self) -> bool:
        """Whether there is more than the capacity allows."""
        return self._rows.is_full

    def forget(self) -> None:
        """Drop what is not in the file."""
        self._rows.forget()

    def of_stack(self, state: int, node: int, entries: Sequence[Entries]) -> Words | None:
        """The mask of a state over one stack, read-only, EOS with it; None where the file lacks it.
        Needs no lock. Raises as ``row``."""
        found = self.summary(NOTHING, state)
        while found is not None and found[1] != NOTHING and state != DEAD:
            pairs = entries[node]
            if len(pairs) > 1:
                return None
            state, node = pairs[0]
            found = self.summary(found[1], state)
        return None if found is None else self._rows[found[0]]

    def __getitem__(self, number: int) -> Words:
        """A row by its number, read-only."""
        return self._rows[number]

    def row(
        self, state: int, node: int, entries: Sequence[Entries]
    ) -> tuple[Words, set[int]] | None:
        """The tokens that fit a state over a set of stacks, uint32 (W,), read-only, and which sets
        were looked at; None where the file lacks something. ``entries``: those of ``Stacks``.
        Raises ``ArtifactError`` for a row with a token that there is not."""
        found = down_the_stacks([(state, node)], entries, self.summary)
        if found is None:
            return None
        rows, looked_at = found
        return self._rows[self._rows.union(rows)], looked_at

    def summary(self, nodes: int, state: int) -> tuple[int, int] | None:
        """A row, by its number, and what it leaves, if the file has it."""
        return self._found.get(nodes * self._states + state)
