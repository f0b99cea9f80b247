"""Terminals' DFAs built lazily while a text is read; run by tests alone, against complete DFAs.

"Implementing a Constrained Decoding Engine", "Support regular expressions": a regular expression of
a grammar is a lazily built DFA. States are made one at a time, by subset construction; what the
product runs are the complete DFAs of ``StackedDfas``, which have the same methods.
"""

from collections.abc import Sequence

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.nfa import Nfa
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.limits import Limits

_Subset = tuple[int, frozenset[int]]


class LazyTerminals:
    """The methods of ``StackedDfas``; a state is a terminal and a set of its NFA's states.

    Raises ``LimitError`` for more than ``limits.states`` of them.
    """

    def __init__(self, nodes: Sequence[regex.Node], limits: Limits | None = None) -> None:
        self._limits = (limits or Limits()).started()
        self._nfas: list[Nfa] = [
            thompson(resolved(node, self._limits), self._limits) for node in nodes
        ]
        self._live = [_co_accessible(nfa) for nfa in self._nfas]
        self._subsets: list[_Subset] = [(-1, frozenset())]
        self._number: dict[_Subset, int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._outgoing: dict[int, int] = {}
        self._starts = [self._state(t, {nfa.start}) for t, nfa in enumerate(self._nfas)]

    @property
    def states(self) -> int:
        """How many states were made so far, the dead one included."""
        return len(self._subsets)

    def start(self, terminal: int) -> int:
        """The state before a terminal."""
        return self._starts[terminal]

    def step(self, state: int, symbol: int) -> int:
        """The state after a symbol, made on first use."""
        cached = self._steps.get((state, symbol))
        if cached is None:
            terminal, subset = self._subsets[state]
            arcs = self._nfas[terminal].arcs if terminal >= 0 else ()
            targets = {a.target for s in subset for a in arcs[s] if a.low <= symbol <= a.high}
            cached = self._steps[state, symbol] = self._state(terminal, targets)
        return cached

    def accepts(self, state: int) -> bool:
        """Whether the terminal may end here."""
        terminal, subset = self._subsets[state]
        return terminal >= 0 and not self._nfas[terminal].finals.isdisjoint(subset)

    def next_symbols(self, state: int) -> int:
        """The symbols that lead on, as bits."""
        cached = self._outgoing.get(state)
        if cached is None:
            terminal, subset = self._subsets[state]
            cached = 0
            for source in subset:
                for arc in self._nfas[terminal].arcs[source]:
                    if arc.target in self._live[terminal]:
                        cached |= (1 << arc.high + 1) - (1 << arc.low)
            self._outgoing[state] = cached
        return cached

    def _state(self, terminal: int, targets: set[int]) -> int:
        """The number of the ε-closure of ``targets``, without states that are not live."""
        if not targets:
            return DEAD
        subset = self._nfas[terminal].epsilon_closure(targets) & self._live[terminal]
        if not subset:
            return DEAD
        key = terminal, frozenset(subset)
        if key not in self._number:
            self._limits.check_states(len(self._subsets) + 1, "the terminals' automata")
            self._number[key] = len(self._subsets)
            self._subsets.append(key)
        return self._number[key]


def _co_accessible(nfa: Nfa) -> frozenset[int]:
    """The states from which a final one can be reached."""
    before: list[list[int]] = [[] for _ in range(nfa.states)]
    for state in range(nfa.states):
        for target in (*nfa.epsilon[state], *(arc.target for arc in nfa.arcs[state])):
            before[target].append(state)
    found = set(nfa.finals)
    pending = list(found)
    while pending:
        for state in before[pending.pop()]:
            if state not in found:
                found.add(state)
                pending.append(state)
    return frozenset(found)
