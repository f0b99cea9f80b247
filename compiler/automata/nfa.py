"""Nondeterministic automata over bytes and token terminals, with ε edges.

``accepts`` asks for a final state, which "Compiling IR to NFA" does not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

from .graphs import reached

FIRST_TERMINAL = 256

# The atomic origins that something came from, as indices into a table of the caller's.
Origins = frozenset[int]


class Arc(NamedTuple):
    """An edge over the symbols low..high (a byte range, or one token terminal)."""

    low: int
    high: int
    target: int
    origins: Origins


class Region(NamedTuple):
    """The states ``first`` to ``last - 1``, which were made of ``rules``.

    Two regions of an automaton lie one inside the other, or apart.
    """

    first: int
    last: int
    rules: frozenset[str]


def united(parts: Iterable[Origins]) -> Origins:
    """The union; equal parts give the one object, so that large sets are shared."""
    distinct = {id(part): part for part in parts}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    return frozenset().union(*distinct.values())


def closure_by(epsilon: Sequence[Sequence[int]], states: Iterable[int]) -> set[int]:
    """``states`` and all that ``epsilon``, the edges of each state, lead to from there."""
    closure = set(states)
    pending = list(closure)
    while pending:
        for target in epsilon[pending.pop()]:
            if target not in closure:
                closure.add(target)
                pending.append(target)
    return closure


@dataclass(slots=True, eq=False)
class Nfa:
    """States are 0 to ``len(arcs) - 1``; ``arcs[s]`` and ``epsilon[s]`` leave s.

    ``rules``: the rule name after each atomic origin, ``parts``: the innermost counted
    repetition around a state, as its author wrote it (both for error messages). ``regions``:
    what was made of rules that are inlined, those inside before those around them (for drawings).
    """

    arcs: list[list[Arc]] = field(default_factory=list)
    epsilon: list[list[int]] = field(default_factory=list)
    start: int = 0
    finals: frozenset[int] = frozenset()
    rules: Sequence[str] = ()
    parts: dict[int, str] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.arcs)

    def epsilon_closure(self, states: Iterable[int]) -> set[int]:
        """``states`` and all that they reach without reading anything."""
        return closure_by(self.epsilon, states)

    def shortened_epsilon(self) -> list[Sequence[int]]:
        """The ε edges past the states that only lead on: no arcs, not final, one ε edge.

        After the items of ``x{0,n}`` there is a chain of n such states, which the closure of each
        item would walk again. Takes time linear in the automaton.
        """
        arcs, epsilon, finals = self.arcs, self.epsilon, self.finals
        ahead = list(range(len(arcs)))
        for state, targets in enumerate(epsilon):
            if len(targets) == 1 and not arcs[state] and state not in finals:
                ahead[state] = targets[0]
        for begin in range(len(ahead)):
            path = []
            state = begin
            while ahead[state] != state:
                path.append(state)
                following = ahead[state]
                # A cycle of them leads nowhere.
                ahead[state] = state
                state = following
            for passed in path:
                ahead[passed] = state
        return [[ahead[target] for target in targets] for targets in epsilon]

    def step(self, states: Iterable[int], symbol: int) -> set[int]:
        """The closure of what ``states`` (a closed set) reach by one symbol."""
        return self.epsilon_closure(
            arc.target
            for state in states
            for arc in self.arcs[state]
            if arc.low <= symbol <= arc.high
        )

    def run(self, symbols: Iterable[int]) -> set[int]:
        """The active states after ``symbols``; empty where no member begins with them."""
        states = self.epsilon_closure({self.start})
        for symbol in symbols:
            states = self.step(states, symbol)
        return states

    def targets(self, state: int) -> Iterator[int]:
        """Where a state leads, with and without reading."""
        return chain(self.epsilon[state], (arc.target for arc in self.arcs[state]))

    def accepts(self, symbols: Iterable[int]) -> bool:
        """Whether ``symbols`` is a member."""
        return not self.finals.isdisjoint(self.run(symbols))


def without_dead_ends(automaton: Nfa) -> Nfa:
    """The same automaton without edges to states from which no final one is reached."""
    before: list[list[int]] = [[] for _ in automaton.arcs]
    for state in range(automaton.states):
        for target in automaton.targets(state):
            before[target].append(state)
    live = set(reached(automaton.finals, before.__getitem__))
    if len(live) == automaton.states:
        return automaton
    alive = [[arc for arc in leaving if arc.target in live] for leaving in automaton.arcs]
    epsilon = [[target for target in targets if target in live] for targets in automaton.epsilon]
    return replace(automaton, arcs=alive, epsilon=epsilon)


def matches_empty(automaton: object) -> bool:
    """Whether an ``Nfa`` accepts ε."""
    assert isinstance(automaton, Nfa)
    return not automaton.finals.isdisjoint(automaton.epsilon_closure([automaton.start]))
