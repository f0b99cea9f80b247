"""NFA to DFA by the subset construction."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .dfa import DEAD, Dfa, trimmed
from .nfa import FIRST_TERMINAL, Nfa, Origins, united

_STAGE = "determinisation"

# How many new states go by between two looks at the clock.
_CLOCK_STRIDE = 256

# Closures of so few states are kept and united; those of more overlap too much, as in (a?){500}.
_FEW = 8


def determinize(nfa: Nfa, limits: Limits | None = None, terminals: int = 0) -> Dfa:
    """The trimmed DFA of an NFA, by the subset construction.

    ``terminals``: T, how many token terminals the alphabet has. A DFA state is a set of NFA
    states, kept as those that matter (with arcs or final). Up to 2^n states in the worst
    case; raises ``LimitError`` naming the rules that most of the set came from.
    """
    limits = (limits or Limits()).started()
    classes, width = _byte_intervals(nfa)
    arcs = _arcs_by_column(nfa, classes, width)
    closures: dict[int, frozenset[int]] = {}

    def closure(state: int) -> frozenset[int]:
        if state not in closures:
            reached = nfa.epsilon_closure([state])
            closures[state] = frozenset(s for s in reached if arcs[s] or s in nfa.finals)
        return closures[state]

    start = closure(nfa.start)
    numbers: dict[frozenset[int], int] = {frozenset(): DEAD, start: 1}
    by_targets: dict[frozenset[int], int] = {}
    subsets = [frozenset[int](), start]
    rows = [[DEAD] * (width + terminals)]
    while len(rows) < len(subsets):
        subset = subsets[len(rows)]
        targets: dict[int, set[int]] = {}
        for state in subset:
            for low, high, target in arcs[state]:
                for column in range(low, high + 1):
                    targets.setdefault(column, set()).add(target)
        row = [DEAD] * (width + terminals)
        for column in sorted(targets):
            key = frozenset(targets[column])
            number = by_targets.get(key)
            if number is None:
                if len(key) <= _FEW:
                    reached = frozenset().union(*(closure(t) for t in key))
                else:
                    together = nfa.epsilon_closure(key)
                    reached = frozenset(s for s in together if arcs[s] or s in nfa.finals)
                number = numbers.setdefault(reached, len(subsets))
                if number == len(subsets):
                    subsets.append(reached)
                by_targets[key] = number
            row[column] = number
        rows.append(row)
        if len(rows) % _CLOCK_STRIDE == 0:
            limits.check_time(_STAGE, _rules_of(nfa, subset), _part_of(nfa, subset))
        if len(subsets) > limits.states:
            fault = _rules_of(nfa, subset), _part_of(nfa, subset)
            limits.check_states(len(subsets), _STAGE, *fault)
    return trimmed(
        Dfa(
            table=np.array(rows, dtype=np.int32),
            classes=classes,
            accepting=np.array([not nfa.finals.isdisjoint(s) for s in subsets], dtype=np.bool_),
            start=numbers[start],
            origins=tuple(_origins_of(nfa, subset) for subset in subsets),
        )
    )


def _byte_intervals(nfa: Nfa) -> tuple[NDArray[np.uint8], int]:
    """Cut the bytes wherever an arc begins or ends; byte to interval, and their number."""
    borders = np.zeros(257, dtype=np.bool_)
    for arcs in nfa.arcs:
        for arc in arcs:
            if arc.low < FIRST_TERMINAL:
                borders[arc.low] = borders[arc.high + 1] = True
    borders[0] = False
    classes = np.cumsum(borders[:256]).astype(np.uint8)
    return classes, int(classes[-1]) + 1


def _arcs_by_column(
    nfa: Nfa, classes: NDArray[np.uint8], width: int
) -> list[list[tuple[int, int, int]]]:
    """The arcs with columns instead of symbols: first column, last column, target."""
    column = [*map(int, classes)]
    shift = width - FIRST_TERMINAL
    return [
        [
            (column[a.low], column[a.high], a.target)
            if a.low < FIRST_TERMINAL
            else (a.low + shift, a.high + shift, a.target)
            for a in arcs
        ]
        for arcs in nfa.arcs
    ]


def _origins_of(nfa: Nfa, subset: frozenset[int]) -> Origins:
    return united(arc.origins for state in subset for arc in nfa.arcs[state])


def _rules_of(nfa: Nfa, subset: frozenset[int]) -> Sequence[str]:
    """The rules that most of a subset came from, at most three."""
    counted = Counter(
        nfa.rules[origin]
        for state in subset
        for arc in nfa.arcs[state]
        for origin in arc.origins
        if origin < len(nfa.rules)
    )
    return [name for name, _ in sorted(counted.items(), key=lambda kv: (-kv[1], kv[0]))[:3]]


def _part_of(nfa: Nfa, subset: frozenset[int]) -> str:
    """The repetition that most of a subset came from, if that is at least half of it."""
    counted = Counter(nfa.parts[state] for state in subset if state in nfa.parts)
    if not counted:
        return ""
    part, count = min(counted.items(), key=lambda kv: (-kv[1], kv[0]))
    return part if 2 * count >= len(subset) else ""
