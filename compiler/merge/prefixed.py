"""What a tokenizer puts before a text, as a part of automata of texts.

The prefix stands before each text that is not empty; or it is a space that stands only before
texts that do not begin with one themselves (``unless_begun``), so that what "a" and " a" are
encoded as spells " a".
"""

import numpy as np
from numpy.typing import NDArray

from ..automata.dfa import Dfa
from ..limits import Limits
from .marked_dfa import DEAD, MarkedDfa

_STAGE = "the members behind what the tokenizer puts before a text"


def members_behind(
    dfa: Dfa, prefix: bytes, limits: Limits, *, unless_begun: bool = False
) -> tuple[Dfa, int]:
    """The members that are not empty behind ``prefix``, and the empty one; and where a member
    begins at once.

    States of ``dfa`` keep their numbers. Raises ``LimitError``.
    """
    by_byte = dfa.table[:, dfa.classes]
    both = _Both(dfa.states + 1)
    begin, begun = by_byte[dfa.start].copy(), DEAD
    if unless_begun:
        begun, begin[prefix[0]] = int(begin[prefix[0]]), DEAD
    rows, ends = [both.joined(begin, by_byte[begun])], [bool(dfa.accepting[begun])]
    origins = [dfa.origins[dfa.start] | dfa.origins[begun]]
    for a, b in both.pairs:
        rows.append(both.joined(by_byte[a], by_byte[b]))
        ends.append(bool(dfa.accepting[a] | dfa.accepting[b]))
        origins.append(dfa.origins[a] | dfa.origins[b])
        limits.check_states(dfa.states + len(rows), _STAGE)
    start = dfa.states
    for octet in reversed(prefix):
        row = np.zeros(256, dtype=np.int32)
        row[octet], start = start, dfa.states + len(rows)
        rows.append(row)
        ends.append(False)
        origins.append(dfa.origins[dfa.start])
    ends[-1] = bool(dfa.accepting[dfa.start])
    whole = Dfa(
        table=np.concatenate([by_byte, np.stack(rows)]),
        classes=np.arange(256, dtype=np.uint8),
        accepting=np.append(dfa.accepting, ends),
        start=start,
        origins=(*dfa.origins, *origins),
    )
    return whole, dfa.start


class _Both:
    """Pairs of states: a member is read as it is, or behind the prefix, and either may end it.

    ``pairs``: those that were met, which are the states behind the first that is added.
    """

    def __init__(self, first: int) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._first = first
        self._numbers: dict[tuple[int, int], int] = {}

    def joined(self, one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
        """The row of a state that goes on as either of two rows does."""
        found, places = np.unique(np.stack([one, other]), axis=1, return_inverse=True)
        numbers = [self._number(a, b) for a, b in found.T.tolist()]
        return np.array(numbers, dtype=np.int32)[places.reshape(-1)]

    def _number(self, a: int, b: int) -> int:
        if a == b or DEAD in (a, b):
            return max(a, b)
        if (a, b) not in self._numbers:
            self._numbers[a, b] = self._first + len(self.pairs)
            self.pairs.append((a, b))
        return self._numbers[a, b]


def texts_behind(dfa: MarkedDfa, prefix: bytes, *, unless_begun: bool = False) -> MarkedDfa:
    """The texts of ``dfa``, whatever their marks, behind ``prefix``, and the empty one.

    With ``unless_begun`` those of them that begin with a space are among the others with one
    put before them; raises ``ValueError`` if ``dfa`` holds such a text, and not without its
    space.
    """
    table, final, start = dfa.table, dfa.final, dfa.start
    if unless_begun:
        octet = prefix[0]
        begun = int(table[start, 0, octet])
        row = table[start].copy()
        row[:, octet] = table[begun, :, octet]
        if not _is_within(dfa, np.stack([table[begun, 0], row[0]])):
            raise ValueError("a text is lost with the space that it begins with")
        table = np.concatenate([table, row[None]])
        final = np.append(final, final[begun])
        start = len(table) - 1
    for octet in reversed(prefix):
        row = np.zeros_like(table[0])
        row[:, octet], start = start, len(table)
        table = np.concatenate([table, row[None]])
        final = np.append(final, False)
    if prefix:
        final[start] = True
    return MarkedDfa(np.ascontiguousarray(table), final, start)


def _is_within(dfa: MarkedDfa, rows: NDArray[np.int32]) -> bool:
    """Whether all texts that begin by the first row are among those that begin by the second.

    ``rows``: int32 (2, A). Pairs of states, level by level; marks are left out of account.
    """
    table, width = dfa.table[:, 0].astype(np.int64), dfa.states
    known = np.zeros(0, dtype=np.int64)
    frontier = np.unique(rows[0].astype(np.int64) * width + rows[1])
    while len(frontier):
        one, other = np.divmod(frontier, width)
        if (dfa.final[one] & ~dfa.final[other]).any():
            return False
        known = np.union1d(known, frontier)
        different = one != other
        targets = table[one[different]] * width + table[other[different]]
        frontier = np.setdiff1d(targets, known)
    return True
