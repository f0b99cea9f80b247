"""The goal automaton of a nonterminal: left corners become loops, the rest are calls.

    e ::= e '+' t | t;  t ::= 'n' | '(' e ')';

    goal e:   s  -'n'-> f   s -'('-> 1   1 -call e-> 2   2 -')'-> f   f -'+'-> 3   3 -call t-> f

The left corners of A are the nonterminals that a derivation of A can begin with, A included,
behind prefixes that may be missing. The automaton's states are A's start, the items
[C → α•β] with something read and C a left corner of A, and the end; a finished C goes on in
every production of a left corner that can begin with it (left-corner parsing, Rosenkrantz &
Lewis 1970; as an automaton, Nederhof 1993). Nothing but a left corner is expanded: every
other nonterminal stays a *call*, an edge labelled with it. A label B means L(B) without ε; a
symbol that may be missing has an ε edge beside it. The start's own ε is the caller's matter.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..automata import regex
from ..automata.determinize import determinize
from ..automata.epsilon import without_epsilon
from ..automata.minimize import minimize
from ..automata.nfa import FIRST_TERMINAL, Arc, Nfa
from ..automata.resolve import resolved
from ..diagnostics import LimitError
from ..limits import Limits
from ..lnf.derivable import nullable_nonterminals
from ..lnf.form import Lnf, Symbol

_NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Goal:
    """A minimal deterministic automaton over symbols; state 0 is the start.

    ``edges``: for each state its (symbol, target); a symbol is a nonterminal (a call) or
    ``~t``. ``finals``: states where the nonterminal is complete.
    """

    edges: Sequence[Mapping[Symbol, int]]
    finals: frozenset[int]

    @cached_property
    def calls(self) -> list[tuple[int, int, int]]:
        """All (state, nonterminal, target)."""
        return [
            (state, symbol, target)
            for state, edges in enumerate(self.edges)
            for symbol, target in edges.items()
            if symbol >= 0
        ]


class Goals:
    """Makes goal automata of a grammar (``normalize``'s result: nullable symbols are kept).

    ``nodes``: what terminal t matches, without ε and assertions.
    """

    def __init__(self, lnf: Lnf, limits: Limits | None = None) -> None:
        self.lnf = lnf
        self._limits = (limits or Limits()).started()
        contents = [
            regex.lit(t.content) if isinstance(t.content, bytes) else t.content
            for t in lnf.terminals
        ]
        self.nullable: set[Symbol] = {
            ~number for number, node in enumerate(contents) if regex.is_nullable(node)
        }
        self.nodes = [
            self._resolved(number, without_epsilon(node) if ~number in self.nullable else node)
            for number, node in enumerate(contents)
        ]
        self.nullable |= nullable_nonterminals(lnf, self.nullable)
        # Places behind nothing but what may be missing, as (production, place): by the
        # nonterminal that stands there, and all of them by the production's head.
        self._corners: dict[int, set[int]] = {}
        self._made: dict[tuple[int, frozenset[int]], Goal] = {}
        self._leading: dict[int, list[tuple[int, int]]] = {}
        self._beginning: dict[int, list[tuple[int, int]]] = {}
        for number, production in enumerate(lnf.productions):
            for place, symbol in enumerate(production.body):
                if symbol >= 0:
                    self._leading.setdefault(symbol, []).append((number, place))
                self._beginning.setdefault(production.head, []).append((number, place))
                if symbol not in self.nullable:
                    break

    def _resolved(self, terminal: int, node: regex.Node) -> regex.Node:
        try:
            return resolved(node, self._limits)
        except LimitError as error:
            rules = sorted({rule for rule, _, _ in self.lnf.terminals[terminal].origins})
            raise LimitError(error.stage, error.limit, error.value, rules, error.part) from None

    def reached(self, cut: frozenset[int] = frozenset()) -> dict[int, Goal]:
        """The goals of the start and of all that is called; see ``goal``."""
        goals: dict[int, Goal] = {}
        pending = [self.lnf.start]
        while pending:
            nonterminal = pending.pop()
            if nonterminal not in goals:
                goals[nonterminal] = self.goal(nonterminal, cut)
                pending.extend(called for _, called, _ in goals[nonterminal].calls)
        return goals

    def goal(self, nonterminal: int, cut: frozenset[int] = frozenset()) -> Goal:
        """The automaton of one nonterminal. Raises ``LimitError``.

        Left corners in ``cut`` are called instead of expanded, if they do not lead back to
        the nonterminal as a left corner: so no call leads back to where it began.
        """
        key = nonterminal, frozenset(c for c in cut if self._is_cut(c, nonterminal))
        if key not in self._made:
            self._made[key] = self._goal(*key)
        return self._made[key]

    def _is_cut(self, corner: int, nonterminal: int) -> bool:
        return corner in self.left_corners(nonterminal) and nonterminal not in self.left_corners(
            corner
        )

    def _goal(self, nonterminal: int, cut: frozenset[int]) -> Goal:
        self._limits.check_time("the grammar's network", [self.lnf.owners[nonterminal]])
        corners = self._expanded(nonterminal, cut)
        productions = self.lnf.productions
        nfa = Nfa(arcs=[[], []], epsilon=[[], []], start=0, finals=frozenset([1]))
        labels: dict[Symbol, int] = {}
        states: dict[tuple[int, int], int] = {}
        pending: deque[tuple[int, int]] = deque()

        def state_of(item: tuple[int, int]) -> int:
            if item not in states:
                states[item] = nfa.states
                nfa.arcs.append([])
                nfa.epsilon.append([])
                pending.append(item)
            return states[item]

        def read(source: int, symbol: Symbol, item: tuple[int, int]) -> None:
            label = FIRST_TERMINAL + labels.setdefault(symbol, len(labels))
            nfa.arcs[source].append(Arc(label, label, state_of(item), _NOTHING))

        for corner in sorted(corners):
            for number, place in self._beginning.get(corner, ()):
                symbol = productions[number].body[place]
                if symbol < 0 or symbol in cut:
                    read(0, symbol, (number, place + 1))
        while pending:
            number, dot = item = pending.popleft()
            source, production = states[item], productions[number]
            if dot < len(production.body):
                symbol = production.body[dot]
                read(source, symbol, (number, dot + 1))
                if symbol in self.nullable:
                    nfa.epsilon[source].append(state_of((number, dot + 1)))
                continue
            if production.head == nonterminal:
                nfa.epsilon[source].append(1)
            for other, place in self._leading.get(production.head, ()):
                if productions[other].head in corners:
                    nfa.epsilon[source].append(state_of((other, place + 1)))
        return _deterministic(nfa, list(labels), self._limits)

    def left_corners(self, nonterminal: int) -> set[int]:
        """The nonterminals that a derivation can begin with, itself included."""
        if nonterminal not in self._corners:
            self._corners[nonterminal] = self._expanded(nonterminal, frozenset())
        return self._corners[nonterminal]

    def _expanded(self, nonterminal: int, cut: frozenset[int]) -> set[int]:
        """The left corners that are reached without going through ``cut``."""
        found = {nonterminal}
        pending = [nonterminal]
        while pending:
            for number, place in self._beginning.get(pending.pop(), ()):
                symbol = self.lnf.productions[number].body[place]
                if symbol >= 0 and symbol not in found and symbol not in cut:
                    found.add(symbol)
                    pending.append(symbol)
        return found


def _deterministic(nfa: Nfa, labels: Sequence[Symbol], limits: Limits) -> Goal:
    """The minimal automaton with its labels put back, numbered from the start."""
    dfa = minimize(determinize(nfa, limits, len(labels)), limits)
    base = dfa.byte_columns
    number = {dfa.start: 0}
    for state in range(1, dfa.states):
        number.setdefault(state, len(number))
    edges: list[dict[Symbol, int]] = [{} for _ in number]
    for state, row in enumerate(dfa.table.tolist()):
        for column, target in enumerate(row):
            if target:
                edges[number[state]][labels[column - base]] = number[target]
    finals = frozenset(number[s] for s in range(1, dfa.states) if dfa.accepting[s])
    return Goal(edges, finals)
