r"""Look-around anywhere in a pattern, in repetitions too: automata of expressions with guards.

    (?:(?!-)[a-z-]{1,63}(?<!-)\.)+   ->   a guard at the beginning and one at the end of each label

A guard may be passed where what is before, or what follows, is in a language. What is before is
followed by that language's automaton, which runs beside the expression's. What follows is guessed
as a state of the automaton of the reversed language: each text that may follow leads, read
backwards, to one state, so each step forwards goes to a state from which the automaton steps back,
and at the end of the text stands its start. (This makes an automaton of one with look-ahead as
alternating automata are made nondeterministic; Chandra, Kozen and Stockmeyer 1981.)
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..automata import regex_ir as ir
from ..automata.determinize import determinize
from ..automata.dfa import Dfa, as_nfa
from ..automata.minimize import minimal
from ..automata.nfa import FIRST_TERMINAL, Arc, Nfa
from ..automata.thompson import thompson
from ..limits import Limits

_STAGE = "the look-around of a pattern"

# What an interval of a state takes, with the states that it comes from.
_CELL_BYTES = 100

# States of several automata at once.
_Joint: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A place that may be passed where what follows (``is_ahead``) or what is before is a member of
    ``language``, or where it is none (``is_negative``)."""

    is_ahead: bool
    is_negative: bool
    language: Dfa


def guarded(node: ir.Node, guards: Sequence[Guard], limits: Limits) -> Dfa:
    """The texts of an expression in which token terminal k is the k-th guard; minimal.

    Raises ``LimitError``.
    """
    nfa = thompson(node, limits)
    languages = [_reversed(g.language, limits) if g.is_ahead else g.language for g in guards]
    borders = _borders(nfa, languages)
    sides = list(zip(languages, guards, strict=True))
    before = _Machine([dfa for dfa, guard in sides if not guard.is_ahead], borders, limits)
    behind = _Machine([dfa for dfa, guard in sides if guard.is_ahead], borders, limits)
    place = [sum(h.is_ahead == g.is_ahead for h in guards[:k]) for k, g in enumerate(guards)]

    def passes(k: int, past: int, future: int) -> bool:
        machine, state = (behind, future) if guards[k].is_ahead else (before, past)
        return machine.accepts(state, place[k]) != guards[k].is_negative

    return minimal(_product(nfa, before, behind, borders, passes, limits), limits)


class _Machine:
    """Some automata that read the same text, over intervals of bytes.

    ``after``: of each joint state that is reached, the following ones; 0 is the start.
    """

    def __init__(self, dfas: Sequence[Dfa], borders: Sequence[int], limits: Limits) -> None:
        self._dfas = dfas
        start: _Joint = tuple(dfa.start for dfa in dfas)
        number = {start: 0}
        self._states = [start]
        rows = [dfa.table[:, dfa.classes[list(borders)]].tolist() for dfa in dfas]
        self.after: list[list[int]] = []
        for state in self._states:
            limits.check_states(len(number), _STAGE)
            limits.check_allocation(len(number) * len(borders) * _CELL_BYTES, _STAGE)
            leading = [row[s] for row, s in zip(rows, state, strict=True)]
            following = zip(*leading, strict=True) if dfas else ((),) * len(borders)
            here = []
            for joint in following:
                if joint not in number:
                    number[joint] = len(number)
                    self._states.append(joint)
                here.append(number[joint])
            self.after.append(here)

    def accepts(self, state: int, k: int) -> bool:
        """Whether the k-th automaton accepts there."""
        return bool(self._dfas[k].accepting[self._states[state][k]])

    def backwards(self) -> list[list[list[int]]]:
        """For each state and interval the states that this one follows."""
        found: list[list[list[int]]] = [[[] for _ in here] for here in self.after]
        for state, here in enumerate(self.after):
            for interval, following in enumerate(here):
                found[following][interval].append(state)
        return found


def _product(
    nfa: Nfa,
    before: _Machine,
    behind: _Machine,
    borders: Sequence[int],
    passes: Callable[[int, int, int], bool],
    limits: Limits,
) -> Nfa:
    """States are those of ``nfa``, of what is before and of what is behind."""
    backwards = behind.backwards()
    result = Nfa(arcs=[[]], epsilon=[[]])
    number: dict[tuple[int, int, int], int] = {}
    pending: list[tuple[int, int, int]] = []

    def numbered(state: int, past: int, future: int) -> int:
        key = (state, past, future)
        if key not in number:
            number[key] = len(result.arcs)
            result.arcs.append([])
            result.epsilon.append([])
            pending.append(key)
        return number[key]

    result.epsilon[0] = [numbered(nfa.start, 0, future) for future in range(len(backwards))]
    ends = [*(border - 1 for border in borders[1:]), 255]
    while pending:
        state, past, future = key = pending.pop()
        limits.check_states(len(result.arcs), _STAGE)
        limits.check_resources(_STAGE)
        here = number[key]
        result.epsilon[here] += [numbered(target, past, future) for target in nfa.epsilon[state]]
        for low, high, target, _ in nfa.arcs[state]:
            if low >= FIRST_TERMINAL:
                if passes(low - FIRST_TERMINAL, past, future):
                    result.epsilon[here].append(numbered(target, past, future))
                continue
            first, last = bisect_right(borders, low) - 1, bisect_right(borders, high) - 1
            for interval in range(first, last + 1):
                for following in backwards[future][interval]:
                    leads_to = numbered(target, before.after[past][interval], following)
                    arc = Arc(borders[interval], ends[interval], leads_to, frozenset())
                    result.arcs[here].append(arc)
    # Nothing follows the end of the text: that is where the automata behind begin.
    result.finals = frozenset(
        place for (state, _, future), place in number.items() if state in nfa.finals and not future
    )
    return result


def _borders(nfa: Nfa, dfas: Sequence[Dfa]) -> list[int]:
    """The first bytes of intervals that neither the arcs nor the automata divide, ascending."""
    found = {0}
    for arcs in nfa.arcs:
        for low, high, _, _ in arcs:
            found |= {low, high + 1} if low < FIRST_TERMINAL else set()
    for dfa in dfas:
        found.update((np.flatnonzero(dfa.classes[1:] != dfa.classes[:-1]) + 1).tolist())
    return sorted(found - {256})


def _reversed(dfa: Dfa, limits: Limits) -> Dfa:
    """The members of an automaton, read backwards."""
    forwards = as_nfa(dfa, keep_origins=False)
    backwards = Nfa([[] for _ in forwards.arcs], [[] for _ in forwards.arcs])
    for state, arcs in enumerate(forwards.arcs):
        for low, high, target, origins in arcs:
            backwards.arcs[target].append(Arc(low, high, state, origins))
    backwards.start = len(backwards.arcs)
    backwards.arcs.append([])
    backwards.epsilon.append(sorted(forwards.finals))
    backwards.finals = frozenset([forwards.start])
    return determinize(backwards, limits)
