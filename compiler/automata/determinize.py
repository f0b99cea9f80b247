"""From an NFA to a DFA by the subset construction (Rabin and Scott 1959)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import ranges

from ..diagnostics import LimitError
from ..limits import Limits
from .dfa import DEAD, Dfa, trimmed
from .nfa import FIRST_TERMINAL, Nfa, Origins, closure_by, united

# NFA states that one symbol leads to, ascending, before ε.
Targets: TypeAlias = tuple[int, ...]

_STAGE = "determinisation"

# What a cell takes, in the table and in the one that is trimmed.
_CELL_BYTES = 8

# Cells of the table that are filled at once.
_BLOCK = 1 << 20

# NFA states from which on it is worth a look whether the automaton is deterministic already.
_MANY = 256

# Closures of so few states are cached and united; those of more overlap too much, as in (a?){500}.
_FEW = 8


@dataclass(frozen=True, slots=True, eq=False)
class Subsets:
    """A deterministic automaton as the subset construction leaves it; state 0 is dead.

    ``sets``: the NFA states of each of S states. State s has the runs of columns ``first[i]`` to
    ``last[i]`` that lead to ``targets[i]``, ascending, i from ``begins[s]`` to ``begins[s + 1]``.
    ``columns``: of each byte; ``width``: how many there are, token terminals included.
    """

    nfa: Nfa
    sets: list[frozenset[int]]
    begins: list[int]
    first: list[int]
    last: list[int]
    targets: list[int]
    columns: list[int]
    width: int
    start: int

    @property
    def edges(self) -> int:
        """Number of cells that the runs fill."""
        return sum(self.last) - sum(self.first) + len(self.first)

    def accepting(self) -> list[bool]:
        """Whether each set holds a final state."""
        return [not self.nfa.finals.isdisjoint(subset) for subset in self.sets]

    def origins(self) -> tuple[Origins, ...]:
        """For each set the origins of its arcs."""
        arcs = self.nfa.arcs
        if not any(arc.origins for leaving in arcs for arc in leaving):
            return (frozenset(),) * len(self.sets)
        return tuple(
            united(arc.origins for state in subset for arc in arcs[state]) for subset in self.sets
        )

    def dfa(self, limits: Limits | None = None) -> Dfa:
        """The same as a table, trimmed. Raises ``LimitError`` (memory)."""
        if limits is not None:
            try:
                limits.check_allocation(len(self.sets) * self.width * _CELL_BYTES, _STAGE)
            except LimitError as error:
                raise error.blaming(_rules_of(self.nfa, max(self.sets, key=len))) from None
        return trimmed(
            Dfa(
                table=self._table(),
                classes=np.array(self.columns, dtype=np.uint8),
                accepting=np.array(self.accepting(), dtype=np.bool_),
                start=self.start,
                origins=self.origins(),
            ),
            limits,
        )

    def _table(self) -> NDArray[np.int32]:
        """int32 (S, width): cells of runs hold their targets, the others are dead."""
        return _filled(self.width, self.begins, self.first, self.last, self.targets)


def determinize(
    nfa: Nfa,
    limits: Limits | None = None,
    terminals: int = 0,
    prune: Callable[[frozenset[int]], frozenset[int]] | None = None,
) -> Dfa:
    """The trimmed DFA of an NFA, by the subset construction. See ``subsets``."""
    limits = (limits or Limits()).started()
    if prune is None and nfa.states >= _MANY:
        found = _as_it_is(nfa, limits, terminals)
        if found is not None:
            return found
    return subsets(nfa, limits, terminals, prune).dfa(limits)


def _as_it_is(nfa: Nfa, limits: Limits, terminals: int) -> Dfa | None:
    """``determinize`` of an automaton in which each text leads to at most one state that has arcs,
    as in the trie of an enumeration: no sets of states are made. None of any other automaton, and
    where a limit may be exceeded."""
    if nfa.states >= limits.states:
        return None
    counts = np.array([len(leaving) for leaving in nfa.arcs], dtype=np.int64)
    place = np.cumsum(counts) - counts
    arcs = [arc for leaving in nfa.arcs for arc in leaving]
    low = np.array([arc.low for arc in arcs], dtype=np.int64)
    high = np.array([arc.high for arc in arcs], dtype=np.int64)
    target = np.array([arc.target for arc in arcs], dtype=np.int64)
    order = np.lexsort((low, np.repeat(np.arange(nfa.states), counts)))
    low, high, target = low[order], high[order], target[order]
    overlaps = low[1:] <= high[:-1]
    overlaps[place[(place > 0) & (place < len(arcs))] - 1] = False
    if overlaps.any():
        return None
    # Of each state that a text leads to the one with arcs in its closure, and if it is final.
    ahead = np.where(counts > 0, np.arange(nfa.states), -1)
    final = np.zeros(nfa.states, dtype=np.bool_)
    final[list(nfa.finals)] = True
    met = np.unique(np.append(target, nfa.start))
    for state in met.tolist():
        if nfa.epsilon[state]:
            closure = nfa.epsilon_closure([state])
            inside = [s for s in closure if nfa.arcs[s]]
            if len(inside) > 1:
                return None
            ahead[state] = inside[0] if inside else -1
            final[state] = not nfa.finals.isdisjoint(closure)
            limits.check_resources(_STAGE)
    # Of two states with the same arcs, both final or neither, one is enough.
    code = np.where((ahead < 0) & ~final, -2, 2 * ahead + final)
    codes = np.append(-2, np.setdiff1d(code[met], [-2]))
    columns = np.array(byte_intervals(nfa))
    width = int(columns[-1]) + 1 + terminals
    try:
        limits.check_allocation(len(codes) * width * _CELL_BYTES, _STAGE)
    except LimitError:
        return None
    columns = np.append(columns, columns[-1] + 1 + np.arange(terminals))
    number = np.searchsorted(codes, code)
    reading = codes >> 1
    counted = np.where(reading < 0, 0, counts[reading])
    runs = ranges(place[reading], counted)
    begins = np.append(0, np.cumsum(counted))
    first, last = columns[low[runs]], columns[high[runs]]
    return trimmed(
        Dfa(
            table=_filled(width, begins, first, last, number[target[runs]]),
            classes=columns[:256].astype(np.uint8),
            accepting=(codes & 1).astype(np.bool_),
            start=int(number[nfa.start]),
            origins=tuple(
                nfa.arcs[state][0].origins
                if number == 1
                else united([arc.origins for arc in nfa.arcs[state][:number]])
                for state, number in zip(reading.tolist(), counted.tolist(), strict=True)
            ),
        ),
        limits,
    )


def _filled(
    width: int,
    begins: Sequence[int] | NDArray[np.int64],
    first: Sequence[int] | NDArray[np.int64],
    last: Sequence[int] | NDArray[np.int64],
    targets: Sequence[int] | NDArray[np.int64],
) -> NDArray[np.int32]:
    """int32 (S, width) of the runs of columns ``first[i]`` to ``last[i]`` that lead to
    ``targets[i]``, those of state s from ``begins[s]`` to ``begins[s + 1]``; others are dead."""
    states = len(begins) - 1
    table = np.full((states, width), DEAD, dtype=np.int32)
    rows = max(1, _BLOCK // width)
    for row in range(0, states, rows):
        block = table[row : row + rows].reshape(-1)
        bounds = np.array(begins[row : row + rows + 1])
        runs = slice(bounds[0], bounds[-1])
        cells = np.array(first[runs], dtype=np.int64)
        lengths = np.array(last[runs], dtype=np.int64) + 1 - cells
        # Cells are counted through all rows of the block.
        cells += np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) * width
        following = np.array(targets[runs], dtype=np.int32)
        block[ranges(cells, lengths)] = np.repeat(following, lengths)
    return table


def subsets(
    nfa: Nfa,
    limits: Limits | None = None,
    terminals: int = 0,
    prune: Callable[[frozenset[int]], frozenset[int]] | None = None,
) -> Subsets:
    """The subset construction.

    ``terminals``: T, how many token terminals the alphabet has. A DFA state is a set of NFA
    states, without those that do not matter (no arcs, not final) and those that ``prune`` drops,
    whose languages must be parts of others' in the set. Up to 2^n states in the worst case;
    raises ``LimitError`` naming the rules that most of the set came from.
    """
    limits = (limits or Limits()).started()
    columns = byte_intervals(nfa)
    width = columns[-1] + 1
    arcs, finals = _arcs_by_column(nfa, columns, width), nfa.finals
    epsilon = nfa.shortened_epsilon()
    closures: dict[int, frozenset[int]] = {}

    def closure(state: int) -> frozenset[int]:
        found = closures.get(state)
        if found is None:
            if epsilon[state]:
                reached = closure_by(epsilon, [state])
                found = frozenset([s for s in reached if arcs[s] or s in finals])
            else:
                found = frozenset((state,)) if arcs[state] or state in finals else frozenset()
            found = closures[state] = prune(found) if prune else found
        return found

    start = closure(nfa.start)
    numbers: dict[frozenset[int], int] = {frozenset(): DEAD, start: 1}
    by_targets: dict[Targets, int] = {}
    sets = [frozenset[int](), start]
    # Runs of columns that lead to one state, row after row.
    begins: list[int] = []
    first: list[int] = []
    last: list[int] = []
    following: list[int] = []

    def check(subset: frozenset[int]) -> None:
        try:
            limits.check_resources(_STAGE)
        except LimitError as error:
            raise error.blaming(_rules_of(nfa, subset), _part_of(nfa, subset)) from None

    for subset in sets:
        begins.append(len(first))
        for low, high, targets in _by_columns([arc for state in subset for arc in arcs[state]]):
            number = by_targets.get(targets)
            if number is None:
                if len(targets) == 1:
                    reached = closure(targets[0])
                else:
                    if len(targets) <= _FEW:
                        reached = frozenset().union(*map(closure, targets))
                    else:
                        check(subset)
                        together = closure_by(epsilon, targets)
                        reached = frozenset(s for s in together if arcs[s] or s in finals)
                    reached = prune(reached) if prune else reached
                number = numbers.setdefault(reached, len(sets))
                if number == len(sets):
                    sets.append(reached)
                by_targets[targets] = number
            first.append(low)
            last.append(high)
            following.append(number)
        check(subset)
        if len(sets) > limits.states:
            fault = _rules_of(nfa, subset), _part_of(nfa, subset)
            limits.check_states(len(sets), _STAGE, *fault)
    begins.append(len(first))
    begin, width = numbers[start], width + terminals
    return Subsets(nfa, sets, begins, first, last, following, columns, width, begin)


def byte_intervals(nfa: Nfa) -> list[int]:
    """The column of each byte: bytes that every arc holds both or neither of share one."""
    borders = bytearray(257)
    for arcs in nfa.arcs:
        for arc in arcs:
            if arc.low < FIRST_TERMINAL:
                borders[arc.low] = borders[arc.high + 1] = 1
    borders[0] = 0
    return list(accumulate(borders[:256]))


def _arcs_by_column(
    nfa: Nfa, columns: Sequence[int], width: int
) -> list[list[tuple[int, int, int]]]:
    """The arcs with columns instead of symbols: first column, last column, target."""
    shift = width - FIRST_TERMINAL
    return [
        [
            (columns[low], columns[high], target)
            if low < FIRST_TERMINAL
            else (low + shift, high + shift, target)
            for low, high, target, _ in arcs
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
    after = -1
    for low, high, _ in arcs:
        if low <= after:
            break
        after = high
    else:
        yield from [(low, high, (target,)) for low, high, target in arcs]
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
