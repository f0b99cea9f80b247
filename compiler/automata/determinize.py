"""NFA to DFA by the subset construction."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .dfa import DEAD, Dfa, trimmed
from .nfa import FIRST_TERMINAL, Nfa, Origins, united

# NFA states that one symbol leads to, ascending, before ε.
Targets: TypeAlias = tuple[int, ...]

_STAGE = "determinisation"

# How many new states go by between two looks at the clock.
_CLOCK_STRIDE = 256

# Closures of so few states are kept and united; those of more overlap too much, as in (a?){500}.
_FEW = 8


def determinize(
    nfa: Nfa,
    limits: Limits | None = None,
    terminals: int = 0,
    prune: Callable[[frozenset[int]], frozenset[int]] | None = None,
) -> Dfa:
    """The trimmed DFA of an NFA, by the subset construction.

    ``terminals``: T, how many token terminals the alphabet has. A DFA state is a set of NFA
    states, kept as those that matter (with arcs or final) and that ``prune`` leaves: it may drop
    states whose language is part of another's in the set. Up to 2^n states in the worst case;
    raises ``LimitError`` naming the rules that most of the set came from.
    """
    limits = (limits or Limits()).started()
    classes, width = _byte_intervals(nfa)
    arcs = _arcs_by_column(nfa, classes, width)
    closures: dict[int, frozenset[int]] = {}

    def closure(state: int) -> frozenset[int]:
        found = closures.get(state)
        if found is None:
            reached = nfa.epsilon_closure([state]) if nfa.epsilon[state] else (state,)
            found = frozenset(s for s in reached if arcs[s] or s in nfa.finals)
            found = closures[state] = prune(found) if prune else found
        return found

    start = closure(nfa.start)
    numbers: dict[frozenset[int], int] = {frozenset(): DEAD, start: 1}
    by_targets: dict[Targets, int] = {}
    subsets = [frozenset[int](), start]
    width += terminals
    # Runs of cells of the table, row after row, that lead to one state.
    first: list[int] = []
    length: list[int] = []
    following: list[int] = []
    for place, subset in enumerate(subsets):
        for low, high, targets in _by_columns([arc for state in subset for arc in arcs[state]]):
            number = by_targets.get(targets)
            if number is None:
                if len(targets) <= _FEW:
                    reached = frozenset().union(*map(closure, targets))
                else:
                    together = nfa.epsilon_closure(targets)
                    reached = frozenset(s for s in together if arcs[s] or s in nfa.finals)
                reached = prune(reached) if prune else reached
                number = numbers.setdefault(reached, len(subsets))
                if number == len(subsets):
                    subsets.append(reached)
                by_targets[targets] = number
            first.append(place * width + low)
            length.append(high + 1 - low)
            following.append(number)
        if place % _CLOCK_STRIDE == 0:
            limits.check_time(_STAGE, _rules_of(nfa, subset), _part_of(nfa, subset))
        if len(subsets) > limits.states:
            fault = _rules_of(nfa, subset), _part_of(nfa, subset)
            limits.check_states(len(subsets), _STAGE, *fault)
    return trimmed(
        Dfa(
            table=_filled(first, length, following, len(subsets), width),
            classes=classes,
            accepting=np.array([not nfa.finals.isdisjoint(s) for s in subsets], dtype=np.bool_),
            start=numbers[start],
            origins=_origins(nfa, subsets),
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


def _by_columns(arcs: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, Targets]]:
    """Runs of columns, ascending, with the targets of all arcs over them; runs without are left
    out."""
    if len(arcs) == 1:
        low, high, target = arcs[0]
        yield low, high, (target,)
        return
    arcs.sort()
    if all(one[1] < other[0] for one, other in pairwise(arcs)):
        yield from ((low, high, (target,)) for low, high, target in arcs)
        return
    borders = sorted({border for low, high, _ in arcs for border in (low, high + 1)})
    place = {border: i for i, border in enumerate(borders)}
    found: list[set[int]] = [set() for _ in borders]
    for low, high, target in arcs:
        for i in range(place[low], place[high + 1]):
            found[i].add(target)
    for (low, after), targets in zip(pairwise(borders), found, strict=False):
        if targets:
            yield low, after - 1, tuple(sorted(targets))


def _filled(
    first: list[int], length: list[int], number: list[int], states: int, width: int
) -> NDArray[np.int32]:
    """The table (states, width) whose cells from ``first[i]`` on, ``length[i]`` of them, are
    ``number[i]``, and dead elsewhere; cells are counted through all rows."""
    table = np.full(states * width, DEAD, dtype=np.int32)
    lengths = np.array(length, dtype=np.int64)
    # Where each run begins among the cells filled, and from there on cell by cell.
    begins = np.cumsum(lengths) - lengths
    offsets = np.arange(int(lengths.sum())) - np.repeat(begins, lengths)
    cells = np.repeat(np.array(first, dtype=np.int64), lengths) + offsets
    table[cells] = np.repeat(np.array(number, dtype=np.int32), lengths)
    return table.reshape(states, width)


def _origins(nfa: Nfa, subsets: Sequence[frozenset[int]]) -> tuple[Origins, ...]:
    """For each subset the origins of its arcs."""
    if not any(arc.origins for arcs in nfa.arcs for arc in arcs):
        return (frozenset(),) * len(subsets)
    return tuple(
        united(arc.origins for state in subset for arc in nfa.arcs[state]) for subset in subsets
    )


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
