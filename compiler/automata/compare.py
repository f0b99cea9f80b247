"""Compare regular languages: equality, inclusion, where they differ, inclusions among states.

Equality is decided by union and find (Hopcroft and Karp 1971), without a product; differences are
products (``boolean``), and their shortest members the witnesses. Between the states of one DFA,
``Inclusion`` answers many questions by coinduction, in bounded time.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..limits import Limits
from ..progress import Step
from .boolean import common_classes, difference
from .dfa import DEAD, Dfa, nothing
from .graphs import reached
from .members import shortest

# Pairs of states that an ``Inclusion`` looks at, in all questions together.
_MAX_PAIRS = 1 << 20


class Inclusion:
    """Answers "is L(p) a part of L(q)?" for states of a trimmed DFA.

    Pairs that a proof has gone through are proven with it (coinduction): a run of questions about
    the states of one counter costs as much as one of them. Where the questions have looked at
    ``pairs`` pairs, all later ones are answered with no.
    """

    def __init__(self, dfa: Dfa, pairs: int = _MAX_PAIRS) -> None:
        self._rows = dfa.table.tolist()
        self._accepting = dfa.accepting.tolist()
        self._left = pairs
        self._proven: set[tuple[int, int]] = set()
        self._refuted: set[tuple[int, int]] = set()

    def largest(self, states: Iterable[int]) -> list[int]:
        """The states without those of which another accepts all; the earlier of equal ones."""
        maximal: list[int] = []
        for state in states:
            if not any(self.holds(state, other) for other in maximal):
                maximal = [other for other in maximal if not self.holds(other, state)]
                maximal.append(state)
        return maximal

    def holds(self, p: int, q: int) -> bool:
        """Whether all that is accepted from ``p`` is accepted from ``q``; no also means unknown."""
        if (p, q) in self._refuted:
            return False
        seen = {(p, q)}
        pending = [(p, q)]
        while pending:
            pair = pending.pop()
            one, other = pair
            if one in (DEAD, other) or pair in self._proven:
                continue
            self._left -= 1
            refuted = other == DEAD or (self._accepting[one] and not self._accepting[other])
            if refuted or pair in self._refuted or self._left < 0:
                self._refuted.add((p, q))
                return False
            for following in {*zip(self._rows[one], self._rows[other], strict=True)} - seen:
                seen.add(following)
                pending.append(following)
        self._proven |= seen
        return True


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


@Step("compare")
def compare(left: Dfa, right: Dfa, limits: Limits | None = None) -> Comparison:
    """Both one-sided differences. Raises ``LimitError``.

    Equal languages, the common case, need no product.
    """
    limits = (limits or Limits()).started()
    if are_equal(left, right, limits):
        return Comparison(nothing(), nothing())
    return Comparison(difference(left, right, limits), difference(right, left, limits))


def is_included(part: Dfa, whole: Dfa, limits: Limits | None = None) -> bool:
    """Whether every member of ``part`` is one of ``whole``; both trimmed.

    Pairs of states are looked at until one disagrees, which most do at the first byte. Raises
    ``LimitError``.
    """
    begins = part.table[part.start][part.classes] != DEAD
    if (begins & (whole.table[whole.start][whole.classes] == DEAD)).any():
        return False
    _, columns = common_classes(part, whole)
    rows, whole_rows = (
        dfa.table[:, c].tolist() for dfa, c in zip((part, whole), columns, strict=True)
    )

    def following(pair: tuple[int, int]) -> Iterable[tuple[int, int]]:
        one, other = pair
        return zip(rows[one], whole_rows[other], strict=True) if one != DEAD else ()

    for one, other in reached([(part.start, whole.start)], following):
        if one != DEAD and (other == DEAD or (part.accepting[one] and not whole.accepting[other])):
            return False
        if limits is not None:
            limits.check_resources("the comparison of two terminals")
    return True


def are_equal(left: Dfa, right: Dfa, limits: Limits | None = None) -> bool:
    """Whether both have the same members; neither needs to be minimal.

    Hopcroft and Karp (1971), "A linear algorithm for testing equivalence of finite automata":
    states that must be equivalent are merged, by union and find, until one accepts and the other
    does not. At most n + m merges for n and m states. Raises ``LimitError`` (time).
    """
    limits = (limits or Limits()).started()
    _, columns = common_classes(left, right)
    offset = left.states
    # One table, the states of the right after those of the left.
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
        limits.check_resources("the comparison")
        parent[one] = other
        pending.extend(zip(table[one].tolist(), table[other].tolist(), strict=True))
    return True
