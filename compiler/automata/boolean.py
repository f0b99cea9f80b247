"""Differences and their like, on deterministic automata.

A DFA is complete here (state 0 is dead), so the complement needs no construction of its
own: it is the other answer of ``accepting``.
"""

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from . import regex
from .determinize import determinize
from .dfa import DEAD, Dfa, as_nfa, trimmed
from .minimize import minimize
from .nfa import Arc, Nfa
from .regex import ANY_CHARACTER
from .thompson import thompson

_STAGE = "the product of two automata"


def difference(left: Dfa, right: Dfa, limits: Limits | None = None) -> Dfa:
    """The members of ``left`` that are no members of ``right``; minimal. Raises as ``_product``."""
    return _product(left, right, False, limits)


def common(left: Dfa, right: Dfa, limits: Limits | None = None) -> Dfa:
    """The members of both; minimal. Raises as ``_product``."""
    return _product(left, right, True, limits)


def _product(left: Dfa, right: Dfa, wanted: bool, limits: Limits | None) -> Dfa:
    """The members of ``left`` for which membership in ``right`` is ``wanted``.

    The product of both over their common byte classes, reachable part only. Both have the
    same token terminals, each of which is a symbol of its own. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    classes, columns = _common_classes(left, right)
    left_table = left.table[:, columns[0]]
    right_table = right.table[:, columns[1]]
    # Where nothing more can be accepted all pairs are one dead state.
    numbers = {(DEAD, DEAD): 0, (left.start, right.start): 1}
    pairs = [(DEAD, DEAD), (left.start, right.start)]
    rows: list[list[int]] = [[DEAD] * len(columns[0])]
    while len(rows) < len(pairs):
        here, there = pairs[len(rows)]
        row = []
        for a, b in zip(left_table[here].tolist(), right_table[there].tolist(), strict=True):
            pair = (DEAD, DEAD) if a == DEAD or (wanted and b == DEAD) else (a, b)
            if pair not in numbers:
                numbers[pair] = len(pairs)
                pairs.append(pair)
                limits.check_states(len(pairs), _STAGE)
            row.append(numbers[pair])
        rows.append(row)
    accepting = [bool(left.accepting[a]) and bool(right.accepting[b]) == wanted for a, b in pairs]
    start = 1 if left.start != DEAD else DEAD
    product = Dfa(
        table=np.array(rows, dtype=np.int32),
        classes=classes,
        accepting=np.array(accepting, dtype=np.bool_),
        start=start,
        origins=(frozenset(),) * len(pairs),
    )
    return minimize(trimmed(product), limits)


def excluding(item: Dfa, at_most: int | None, limits: Limits | None = None) -> Dfa:
    """One or more characters (at most ``at_most``) that do not contain a member of ``item``.

    The complement-until of "Implementing a Constrained Decoding Engine": all texts without
    those that match ``any* item any*``. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    every = regex.EVERYTHING
    containing = regex.seq(every, embedded(item), every)
    universe = regex.repeat(ANY_CHARACTER, 1, at_most)
    return difference(
        minimize(determinize(thompson(universe, limits), limits), limits),
        minimize(determinize(thompson(containing, limits), limits), limits),
        limits,
    )


def shortest_matches(dfa: Dfa) -> Dfa:
    """The members of which no proper prefix is a member."""
    table = np.where(dfa.accepting[:, None], DEAD, dfa.table).astype(np.int32)
    return minimize(trimmed(Dfa(table, dfa.classes, dfa.accepting, dfa.start, dfa.origins)))


def substrings(text: str) -> regex.Node:
    """Any run of neighbouring characters of ``text``, the empty one too."""
    nfa = Nfa()
    letters = [char.encode("utf-8") for char in text]
    ends = np.cumsum([0, *map(len, letters)]).tolist()
    total = ends[-1] + 1
    nfa.arcs = [[] for _ in range(total + 1)]
    nfa.epsilon = [[] for _ in range(total + 1)]
    for place, octet in enumerate(text.encode("utf-8")):
        nfa.arcs[place].append(Arc(octet, octet, place + 1, frozenset()))
    nfa.start = total
    nfa.epsilon[total] = ends
    nfa.finals = frozenset([*ends, total])
    return regex.Embedded(nfa)


def embedded(dfa: Dfa) -> regex.Node:
    """The automaton as a part of an expression, without its origins."""
    return regex.Embedded(as_nfa(dfa, keep_origins=False))


def _common_classes(left: Dfa, right: Dfa) -> tuple[NDArray[np.uint8], tuple[list[int], list[int]]]:
    """Byte classes that refine both, and the columns of each, then of the token terminals."""
    known: dict[tuple[int, int], int] = {}
    classes = np.zeros(256, dtype=np.uint8)
    both = zip(left.classes.tolist(), right.classes.tolist(), strict=True)
    for octet, pair in enumerate(both):
        classes[octet] = known.setdefault(pair, len(known))
    terminals = range(left.table.shape[1] - left.byte_columns)
    return classes, (
        [*(a for a, _ in known), *(left.byte_columns + k for k in terminals)],
        [*(b for _, b in known), *(right.byte_columns + k for k in terminals)],
    )
