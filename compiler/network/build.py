"""Build the recursive transition network of a grammar: byte automata that call one another.

    goal automata  one a nonterminal, over terminals and calls (``goal_automata``)
    plan           tail calls, and the goals R that stay procedures
    inlined        a goal outside R: copied where it is called; its tail calls outside R jump
    components     the start and the goals in R; all their tail calls jump
    joint          all components in one minimal automaton, tail calls gone

A copy that may end where it may also go on can overlap with all that follows it, as a comment does
which any of its characters can end: determinizing its caller then takes exponentially many states.
Such a goal is called after all, and at run time a configuration has a thread for each of the
places that the text may be at.

A frame is pushed at a call that is no tail call only, and no frame is there just to return: one
that accepts can also read on.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from constrain.artifacts.network.tables import NetworkTables

from ..automata.dfa import DEAD, Dfa, as_nfa
from ..automata.minimize import minimal, minimal_nfa
from ..automata.nfa import FIRST_TERMINAL, Nfa
from ..automata.thompson import Fragment, Thompson
from ..diagnostics import LimitError
from ..limits import Limits, blaming
from ..lnf.form import Lnf
from .goal_automata import Goals, Plan, over_symbols, planned

# A goal that is larger than this and is called in several places is not copied.
INLINED_STATES = 200

# Deterministic states for each of an automaton's own, and beyond them, that copies may cost.
_GROWTH, _SLACK = 4, 1000

_STAGE = "the grammar's network"


def network(lnf: Lnf, limits: Limits | None = None, terminals: int = 0) -> NetworkTables:
    """The network of a grammar in ``lnf``'s normal form, nullable symbols included.

    ``terminals``: T, the number of the grammar's token terminals. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    goals = Goals(lnf, limits)
    plan = planned(goals)
    overlapping = large = frozenset[int]()
    while True:
        # Any superset will do. Large goals are still expanded as left corners: to call them there
        # would only add threads.
        build = _Build(goals, replace(plan, procedures=plan.procedures | large), limits, terminals)
        try:
            too_large = build.inline_all()
            if not too_large:
                return build.joint()
            large |= too_large
        except _Overlap as overlap:
            overlapping |= {overlap.goal}
            plan = planned(goals, overlapping)


class _Overlap(Exception):  # noqa: N818
    """Copies of a ``goal`` make their caller's subsets too many."""

    def __init__(self, goal: int) -> None:
        super().__init__(goal)
        self.goal = goal


class _Build:
    """One attempt with a given set R of procedures."""

    def __init__(self, goals: Goals, plan: Plan, limits: Limits, terminals: int) -> None:
        self.goals, self.limits, self.terminals = goals, limits, terminals
        self.reached, self.tails, self.procedures = plan.goals, plan.tails, plan.procedures
        start = goals.lnf.start
        self.entries = [start, *sorted((self.procedures & set(self.reached)) - {start})]
        self._call_symbol = {
            nonterminal: FIRST_TERMINAL + terminals + i
            for i, nonterminal in enumerate(self.entries)
        }
        self._symbols = terminals + len(self.entries)
        self.inlined: dict[int, Nfa] = {}
        # What each goal outside R has copied into it.
        self._copied: dict[int, set[int]] = {}

    def inline_all(self) -> set[int]:
        """Make the automata of the goals that are copied; gives those that are too large for it."""
        sites = Counter(
            call[1]
            for caller, goal in self.reached.items()
            for call in goal.calls
            if call not in self.tails[caller]
        )
        too_large = set()
        calls = {nonterminal: self._call_symbol[nonterminal] for nonterminal in self.procedures}
        for nonterminal in self._callees_first():
            plain = over_symbols(self.goals, self.reached[nonterminal], calls)
            if plain is not None and plain.states < INLINED_STATES:
                self._copied[nonterminal], self.inlined[nonterminal] = set(), plain
                continue
            component = self._component(nonterminal, inside=True)
            if component.states > INLINED_STATES and sites[nonterminal] > 1:
                too_large.add(nonterminal)
            self.inlined[nonterminal] = component
        return too_large

    def joint(self) -> NetworkTables:
        """All components in one automaton; what has become a tail call on the way jumps too."""
        whole = Nfa(arcs=[[]], epsilon=[[]], start=0)
        starts, finals = [], set[int]()
        entry = FIRST_TERMINAL + self._symbols
        for i, nonterminal in enumerate(self.entries):
            builder = Thompson(self.limits)
            builder.nfa = whole
            component = self._component(nonterminal, inside=False)
            offset = whole.states
            builder.copy(component)
            starts.append(component.start + offset)
            finals.update(final + offset for final in component.finals)
            builder.add_arc(0, entry + i, entry + i, starts[i], frozenset())
        # A component ends in its own final states, not in the states that join them.
        whole.finals = frozenset(finals)
        dfa = self._joined(whole)
        while tails := self._tail_calls(dfa):
            dfa = self._joined(self._jumping(dfa, tails))
        return self._tables(dfa)

    def _callees_first(self) -> Iterable[int]:
        """The goals outside R, each behind those that it has copied into it."""
        done: set[int] = set()
        for root in sorted(set(self.reached) - self.procedures):
            pending = [root]
            while pending:
                nonterminal = pending[-1]
                needed = [
                    callee
                    for member in self._jumped_to(nonterminal)
                    for call in self.reached[member].calls
                    for callee in [call[1]]
                    if call not in self.tails[member] and callee not in self.procedures | done
                ]
                if needed:
                    pending.extend(needed)
                    continue
                pending.pop()
                if nonterminal not in done:
                    done.add(nonterminal)
                    yield nonterminal

    def _jumped_to(self, nonterminal: int) -> set[int]:
        """The goal and those outside R that its tail calls lead to."""
        found = {nonterminal}
        pending = [nonterminal]
        while pending:
            for _, callee, _ in sorted(self.tails[pending.pop()]):
                if callee not in found | self.procedures:
                    found.add(callee)
                    pending.append(callee)
        return found

    def _component(self, nonterminal: int, *, inside: bool) -> Nfa:
        """A goal's minimal automaton. Raises ``_Overlap`` if a goal that is copied into it had
        better be called, and ``LimitError``."""
        with blaming([self.goals.lnf.owners[nonterminal]]):
            return self._minimal_component(nonterminal, inside=inside)

    def _minimal_component(self, nonterminal: int, *, inside: bool) -> Nfa:
        nfa, copied = self._assembled(nonterminal, inside=inside)
        most = min(self.limits.states, _GROWTH * nfa.states + _SLACK) if copied else None
        try:
            limits = self.limits if most is None else replace(self.limits, states=most)
            with blaming([self.goals.lnf.owners[nonterminal]]):
                component = minimal_nfa(nfa, limits, self._symbols)
        except LimitError as error:
            if error.limit != "states" or not copied:
                raise
            raise _Overlap(max(copied, key=self._overlap)) from None
        self._copied[nonterminal] = copied
        return component

    def _overlap(self, goal: int) -> tuple[int, int, int]:
        """How far a goal outside R overlaps with what follows; of two the smaller comes first."""
        return _bytes_after_ends(self.inlined[goal]), -self.inlined[goal].states, -goal

    def _assembled(self, nonterminal: int, *, inside: bool) -> tuple[Nfa, set[int]]:
        """A goal's automaton over bytes, with copies for calls, and the goals that are copied,
        also in copies; ``inside`` another component its tail calls to procedures have frames."""
        builder = Thompson(self.limits)
        copied: set[int] = set()
        starts: dict[int, int] = {}
        finals: set[int] = set()
        pending = [nonterminal]

        def start_of(goal: int) -> int:
            if goal not in starts:
                starts[goal] = builder.nfa.states
                for _ in self.reached[goal].edges:
                    builder.new_state()
                pending.append(goal)
            return starts[goal]

        builder.nfa.start = start_of(nonterminal)
        done: set[int] = set()
        while pending:
            current = pending.pop()
            if current in done:
                continue
            done.add(current)
            goal, base = self.reached[current], start_of(current)
            finals.update(base + final for final in goal.finals)
            for state, edges in enumerate(goal.edges):
                for symbol, target in edges.items():
                    source, end = base + state, base + target
                    if symbol < 0:
                        fragment = builder.compile(self.goals.nodes[~symbol])
                    elif (state, symbol, target) in self.tails[current] and not (
                        inside and symbol in self.procedures
                    ):
                        builder.add_epsilon(source, start_of(symbol))
                        continue
                    elif symbol in self.procedures:
                        label = self._call_symbol[symbol]
                        builder.add_arc(source, label, label, end, frozenset())
                        continue
                    else:
                        fragment = builder.copy(self.inlined[symbol])
                        copied |= {symbol, *self._copied[symbol]}
                    self._join(builder, source, fragment, end)
        builder.nfa.finals = frozenset(finals)
        return builder.nfa, copied

    @staticmethod
    def _join(builder: Thompson, source: int, fragment: Fragment, end: int) -> None:
        builder.add_epsilon(source, fragment.start)
        builder.add_epsilon(fragment.end, end)

    def _joined(self, whole: Nfa) -> Dfa:
        return minimal(whole, self.limits, self._symbols + len(self.entries))

    def _tail_calls(self, dfa: Dfa) -> list[tuple[int, int]]:
        """(state, entry) of the calls behind which there is nothing but the end."""
        first = dfa.byte_columns + self.terminals
        dead_ends = dfa.accepting & (dfa.table == DEAD).all(axis=1)
        states, entries = np.nonzero(dead_ends[dfa.table[:, first : first + len(self.entries)]])
        return list(zip(states.tolist(), entries.tolist(), strict=True))

    def _jumping(self, dfa: Dfa, tails: list[tuple[int, int]]) -> Nfa:
        nfa = as_nfa(dfa)
        entry = FIRST_TERMINAL + self._symbols
        starts = {arc.low - entry: arc.target for arc in nfa.arcs[nfa.start] if arc.low >= entry}
        call = FIRST_TERMINAL + self.terminals
        for state, number in tails:
            nfa.arcs[state] = [arc for arc in nfa.arcs[state] if arc.low != call + number]
            nfa.epsilon[state].append(starts[number])
        return nfa

    def _tables(self, dfa: Dfa) -> NetworkTables:
        # The state that joins the components is no part of them; nothing leads to it.
        states = np.arange(dfa.states)
        inner = np.flatnonzero((states != dfa.start) | (states == DEAD))
        number = np.zeros(dfa.states, dtype=np.int32)
        number[inner] = np.arange(len(inner))
        first = dfa.byte_columns + self.terminals
        last = first + len(self.entries)
        begins = number[dfa.table[dfa.start, last:]]
        table = number[dfa.table[inner]]
        sources, callees = np.nonzero(table[:, first:last])
        owners = self.goals.lnf.owners
        return NetworkTables(
            table=np.ascontiguousarray(table[:, :first]),
            classes=dfa.classes,
            accepting=dfa.accepting[inner].astype(np.uint8),
            call_offsets=np.searchsorted(sources, np.arange(len(inner) + 1)).astype(np.int64),
            call_starts=begins[callees],
            call_returns=table[sources, first + callees],
            start=int(begins[0]),
            nullable_start=self.goals.lnf.start in self.goals.nullable,
            names=tuple(owners[nonterminal] for nonterminal in self.entries),
            entries=begins.astype(np.int32),
        )


def _bytes_after_ends(nfa: Nfa) -> int:
    """The most bytes that a deterministic automaton goes on with where it may also end."""
    leaving = ([arc for arc in nfa.arcs[state] if arc.low < FIRST_TERMINAL] for state in nfa.finals)
    return max((sum(arc.high + 1 - arc.low for arc in arcs) for arcs in leaving), default=0)
