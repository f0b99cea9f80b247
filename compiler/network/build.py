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
from collections.abc import Collection, Iterable

import numpy as np

from constrain.artifacts.network.tables import NetworkTables

from ..automata.dfa import DEAD
from ..automata.minimize import Quotient, minimal_lists, minimal_nfa
from ..automata.nfa import FIRST_TERMINAL, Nfa
from ..automata.thompson import Thompson
from ..diagnostics import LimitError
from ..limits import Limits, blaming
from ..lnf.form import Lnf
from .goal_automata import Goals, over_symbols
from .plan import Plan, planned

# A goal that is larger than this and is called in several places is not copied ...
INLINED_STATES = 200

# ... nor, where so many states have been copied, one that is larger than this; so each call adds a
# few states to a large grammar.
_COPIED_STATES, _INLINED_LATER = 20_000, 20

# A goal that is called in one place is not copied if it is larger than this: its callers may be
# copied in turn, one inside the other.
_INLINED_ONCE = 1000

# Deterministic states for each of an automaton's own, and beyond them, that copies may cost.
_GROWTH, _SLACK = 4, 1000

_STAGE = "the grammar's network"


def network(
    lnf: Lnf, limits: Limits | None = None, terminals: int = 0, most_states: int | None = None
) -> NetworkTables:
    """The network of a grammar in ``lnf``'s normal form, nullable symbols included.

    ``terminals``: T, the number of the grammar's token terminals. ``most_states``: of the automaton
    of any one rule, if that is bounded by less than ``limits``. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    within = limits if most_states is None else limits.within(most_states)
    goals = Goals(lnf, within)
    plan = planned(goals)
    overlapping = frozenset[int]()
    while True:
        build = _Build(goals, plan, limits, within, terminals)
        try:
            build.inline_all()
            return build.joint()
        except _Overlap as overlap:
            overlapping |= {overlap.goal}
            plan = planned(goals, overlapping)


class _Overlap(Exception):  # noqa: N818
    """Copies of a ``goal`` make their caller's subsets too many."""

    def __init__(self, goal: int) -> None:
        super().__init__(goal)
        self.goal = goal


class _Build:
    """One attempt with a given set R of procedures.

    ``limits``: of the whole, ``within``: of each component.
    """

    def __init__(
        self, goals: Goals, plan: Plan, limits: Limits, within: Limits, terminals: int
    ) -> None:
        self.goals, self.limits, self.within, self.terminals = goals, limits, within, terminals
        self.reached, self.tails = plan.goals, plan.tails
        # R grows: any superset will do. Large goals are still expanded as left corners: to call
        # them there would only add threads.
        self.procedures = set(plan.procedures)
        start = goals.lnf.start
        numbered = [start, *sorted(set(self.reached) - {start})]
        self._symbols = terminals + len(numbered)
        self._call_symbol = {
            nonterminal: FIRST_TERMINAL + terminals + i for i, nonterminal in enumerate(numbered)
        }
        # The entries of components, and tail calls of procedures by others until all are in one
        # automaton.
        self._entry_symbol = {
            nonterminal: FIRST_TERMINAL + self._symbols + i
            for i, nonterminal in enumerate(numbered)
        }
        self.inlined: dict[int, Nfa] = {}
        # What each goal outside R has copied into it.
        self._copied: dict[int, set[int]] = {}

    def inline_all(self) -> None:
        """Make the automata of the goals that are copied; those that are too large for it become
        procedures. What others only jump to is not copied."""
        sites = Counter(
            call[1]
            for caller, goal in self.reached.items()
            for call in goal.calls
            if call not in self.tails[caller]
        )
        copied = 0
        calls = {nonterminal: self._call_symbol[nonterminal] for nonterminal in self.procedures}
        for nonterminal in self._callees_first(sorted(sites.keys() - self.procedures)):
            plain = over_symbols(self.goals, self.reached[nonterminal], calls)
            if plain is not None and plain.states < INLINED_STATES:
                self._copied[nonterminal], self.inlined[nonterminal] = set(), plain
                continue
            component = self._component(nonterminal, inside=True)
            self.inlined[nonterminal] = component
            once = sites[nonterminal] == 1
            later = copied > _COPIED_STATES
            most = _INLINED_ONCE if once else _INLINED_LATER if later else INLINED_STATES
            if component.states > most:
                self.procedures.add(nonterminal)
                calls[nonterminal] = self._call_symbol[nonterminal]
            else:
                copied += sites[nonterminal] * component.states

    def joint(self) -> NetworkTables:
        """All components in one automaton; what has become a tail call on the way jumps too."""
        whole = Nfa(arcs=[[]], epsilon=[[]], start=0)
        starts: dict[int, int] = {}
        finals = set[int]()
        builder = Thompson(self.limits)
        builder.nfa = whole
        for nonterminal in self.entries:
            component = self._component(nonterminal, inside=False)
            offset = whole.states
            builder.copy(component)
            starts[self._entry_symbol[nonterminal]] = component.start + offset
            finals.update(final + offset for final in component.finals)
        # A component ends in its own final states, not in the states that join them.
        whole.finals = frozenset(finals)
        for state, arcs in enumerate(whole.arcs):
            whole.epsilon[state] += [starts[arc.low] for arc in arcs if arc.low in starts]
            whole.arcs[state] = [arc for arc in arcs if arc.low not in starts]
        for symbol, start in starts.items():
            builder.add_arc(0, symbol, symbol, start, frozenset())
        found = self._joined(whole)
        while tails := self._tail_calls(found):
            found = self._joined(self._jumping(found, tails))
        return self._tables(found)

    @property
    def entries(self) -> list[int]:
        """The start and the goals in R."""
        start = self.goals.lnf.start
        return [start, *sorted((self.procedures & set(self.reached)) - {start})]

    def _callees_first(self, roots: Iterable[int]) -> Iterable[int]:
        """``roots``, goals outside R, each behind those that it has copied into it."""
        done: set[int] = set()
        for root in roots:
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
        limits = self._growing(nfa, copied, self.within)
        try:
            with blaming([self.goals.lnf.owners[nonterminal]]):
                component = minimal_nfa(nfa, limits, self._symbols + len(self.reached))
        except LimitError as error:
            raise self._overlapping(error, copied) from None
        self._copied[nonterminal] = copied
        return component

    @staticmethod
    def _growing(nfa: Nfa, copied: Collection[int], limits: Limits) -> Limits:
        """How many states may become of an automaton with copies."""
        return limits.within(_GROWTH * nfa.states + _SLACK) if copied else limits

    def _overlapping(self, error: LimitError, copied: Collection[int]) -> Exception:
        """What is raised for too many states: the goal that had better be called, if there is one
        among those that are ``copied``."""
        if error.limit != "states" or not copied:
            return error
        return _Overlap(max(copied, key=self._overlap))

    def _overlap(self, goal: int) -> tuple[int, int, int]:
        """How far a goal outside R overlaps with what follows; of two the smaller comes first."""
        return _bytes_after_ends(self.inlined[goal]), -self.inlined[goal].states, -goal

    def _assembled(self, nonterminal: int, *, inside: bool) -> tuple[Nfa, set[int]]:
        """A goal's automaton over bytes, with copies for calls, and the goals that are copied,
        also in copies. Tail calls to procedures have frames ``inside`` another component; in one of
        its own they are edges to its end, which ``joint`` makes jump."""
        builder = Thompson(self.within)
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
                        if symbol in self.procedures and symbol != nonterminal:
                            label = self._entry_symbol[symbol]
                            builder.add_arc(source, label, label, end, frozenset())
                        else:
                            builder.add_epsilon(source, start_of(symbol))
                        continue
                    elif symbol in self.procedures:
                        label = self._call_symbol[symbol]
                        builder.add_arc(source, label, label, end, frozenset())
                        continue
                    else:
                        fragment = builder.copy(self.inlined[symbol])
                        copied |= {symbol, *self._copied[symbol]}
                    builder.add_epsilon(source, fragment.start)
                    builder.add_epsilon(fragment.end, end)
        builder.nfa.finals = frozenset(finals)
        return builder.nfa, copied

    def _joined(self, whole: Nfa) -> Quotient:
        copied = set().union(*(self._copied[entry] for entry in self.entries))
        limits = self._growing(whole, copied, self.limits)
        try:
            with blaming([self.goals.lnf.owners[self.goals.lnf.start]]):
                return minimal_lists(whole, limits, self._symbols + len(self.reached))
        except LimitError as error:
            raise self._overlapping(error, copied) from None

    def _tail_calls(self, found: Quotient) -> list[tuple[int, int]]:
        """(state, goal's number) of the calls behind which there is nothing but the end."""
        ends = {s for s, row in enumerate(found.edges) if not row and found.accepting[s]}
        return [(state, number) for state, number, target in self._calls(found) if target in ends]

    def _calls(self, found: Quotient) -> list[tuple[int, int, int]]:
        """All (state, goal's number, target), by states."""
        first = found.byte_columns + self.terminals
        span = range(first, first + len(self.reached))
        return [
            (state, column - first, target)
            for state, row in enumerate(found.edges)
            for column, target in row
            if column in span
        ]

    def _jumping(self, found: Quotient, tails: list[tuple[int, int]]) -> Nfa:
        nfa = found.nfa()
        entry = FIRST_TERMINAL + self._symbols
        starts = {arc.low - entry: arc.target for arc in nfa.arcs[nfa.start] if arc.low >= entry}
        call = FIRST_TERMINAL + self.terminals
        for state, number in tails:
            nfa.arcs[state] = [arc for arc in nfa.arcs[state] if arc.low != call + number]
            nfa.epsilon[state].append(starts[number])
        return nfa

    def _tables(self, found: Quotient) -> NetworkTables:
        # The state that joins the components is no part of them; nothing leads to it.
        states = np.arange(len(found.edges))
        inner = np.flatnonzero((states != found.start) | (states == DEAD))
        number = np.zeros(len(states), dtype=np.int32)
        number[inner] = np.arange(len(inner))
        first = found.byte_columns + self.terminals
        last = first + len(self.reached)
        begins = np.full(len(self.reached), DEAD, dtype=np.int32)
        for column, target in found.edges[found.start]:
            begins[column - last] = number[target]
        entries = [
            self._entry_symbol[entry] - self._entry_symbol[self.goals.lnf.start]
            for entry in self.entries
        ]
        table, classes = found.table(first)
        calls = np.array(self._calls(found), dtype=np.int64).reshape(-1, 3)
        sources = number[calls[:, 0]]
        owners = self.goals.lnf.owners
        return NetworkTables(
            table=np.ascontiguousarray(number[table[inner]]),
            classes=classes,
            accepting=np.array(found.accepting, dtype=np.uint8)[inner],
            call_offsets=np.searchsorted(sources, np.arange(len(inner) + 1)).astype(np.int64),
            call_starts=begins[calls[:, 1]],
            call_returns=number[calls[:, 2]],
            start=int(begins[0]),
            nullable_start=self.goals.lnf.start in self.goals.nullable,
            names=tuple(owners[nonterminal] for nonterminal in self.entries),
            entries=begins[entries],
        )


def _bytes_after_ends(nfa: Nfa) -> int:
    """The most bytes that a deterministic automaton goes on with where it may also end."""
    leaving = ([arc for arc in nfa.arcs[state] if arc.low < FIRST_TERMINAL] for state in nfa.finals)
    return max((sum(arc.high + 1 - arc.low for arc in arcs) for arcs in leaving), default=0)
