"""Relations between two regular languages: equal, included, and how they differ."""

from dataclasses import dataclass

import numpy as np

from ..limits import Limits
from .boolean import difference
from .dfa import Dfa, nothing
from .members import shortest
from .product import common_classes


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What two languages do not share, as minimal automata (empty ones where nothing)."""

    only_left: Dfa
    only_right: Dfa

    @property
    def is_equal(self) -> bool:
        """Whether both languages are the same."""
        return self.only_left.is_empty and self.only_right.is_empty

    @property
    def witnesses(self) -> tuple[bytes | None, bytes | None]:
        """The shortest word of either difference, of equally long ones the first; or None."""
        return shortest(self.only_left), shortest(self.only_right)


def compare(left: Dfa, right: Dfa, limits: Limits | None = None) -> Comparison:
    """Both one-sided differences. Raises ``LimitError``.

    Equal languages, the common case, are found out without any product.
    """
    limits = (limits or Limits()).started()
    if are_equal(left, right, limits):
        return Comparison(nothing(), nothing())
    return Comparison(difference(left, right, limits), difference(right, left, limits))


def is_included(left: Dfa, right: Dfa, limits: Limits | None = None) -> bool:
    """Whether every member of ``left`` is one of ``right``. Raises ``LimitError``."""
    return difference(left, right, limits).is_empty


def are_equal(left: Dfa, right: Dfa, limits: Limits | None = None) -> bool:
    """Whether both have the same members; neither needs to be minimal.

    Hopcroft and Karp (1971), "A linear algorithm for testing equivalence of finite automata":
    states that must be equivalent are merged, by union and find, until two of them answer
    differently. At most n + m merges for n and m states. Raises ``LimitError`` (time).
    """
    limits = (limits or Limits()).started()
    _, columns = common_classes(left, right)
    offset = left.states
    # One table, the states of the right behind those of the left.
    table = np.concatenate([left.table[:, columns[0]], right.table[:, columns[1]] + offset])
    accepting = [*left.accepting.tolist(), *right.accepting.tolist()]
    parent = list(range(len(table)))

    def find(state: int) -> int:
        while parent[state] != state:
            parent[state] = state = parent[parent[state]]
        return state

    pending = [(left.start, right.start + offset)]
    while pending:
        one, other = pending.pop()
        one, other = find(one), find(other)
        if one == other:
            continue
        if accepting[one] != accepting[other]:
            return False
        limits.check_time("the comparison")
        parent[one] = other
        pending.extend(zip(table[one].tolist(), table[other].tolist(), strict=True))
    return True
