"""From Loup's normal form to one NFA, component by component.

A rule without recursion becomes the alternation of its bodies. A component that recurses
on one side becomes a network with a state q_C for each member C, after Nederhof (2000),
section 2:

    left,  entered at A      start -ε→ β -ε→ q_C       for C ::= β
                             q_D   -ε→ β -ε→ q_C       for C ::= D β,     the end is q_A
    right, entered at A      q_C   -ε→ β -ε→ end       for C ::= β
                             q_C   -ε→ β -ε→ q_D       for C ::= β D,     the start is q_A

Every use of a rule is a copy, as a regular language needs it. A rule that is used more than
once is built once, made small, and copied, so that rules that each use the next
one twice grow only as fast as their language.
"""

from collections import Counter
from collections.abc import Generator, Sequence

from constrain.artifacts.tokens.memo import Made, memoised, solve_recursive

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.dfa import Dfa, as_nfa
from ..automata.minimize import minimize
from ..automata.nfa import Nfa, Region
from ..automata.thompson import MANY_WORDS, Fragment, Thompson
from ..diagnostics import LimitError
from ..limits import Limits
from .components import Component, Recursion, components
from .form import Lnf, Origins, Production, Symbol

# Rules used more than once are made deterministic and minimal beyond this many states;
# smaller ones stay as their author would draw them.
_REDUCE_FROM = 64

_Steps = Generator[Symbol, Fragment, Fragment]


def to_nfa(lnf: Lnf, limits: Limits | None = None) -> tuple[Nfa, Sequence[tuple[str, int, int]]]:
    """The NFA of a grammar, and the table of atomic origins that its arcs refer to.

    Raises ``NotRegularError`` and ``LimitError``.
    """
    limits = (limits or Limits()).started()
    assembly = _Assembly(lnf, limits)
    for component in components(lnf):
        assembly.prepare(component)
    return assembly.whole(), assembly.origins


class _Assembly:
    def __init__(self, lnf: Lnf, limits: Limits) -> None:
        self.lnf = lnf
        self.limits = limits
        used = {o for t in lnf.terminals for o in t.origins}
        self.origins = sorted(used, key=lambda o: (o[1], o[2], o[0]))
        self.rules = [rule for rule, _, _ in self.origins]
        self._number = {origin: i for i, origin in enumerate(self.origins)}
        self._component: dict[int, Component] = {}
        self._shared: dict[int, Nfa] = {}
        self._resolved = Made[regex.Node, regex.Node](lambda node: resolved(node, limits))
        self._uses = Counter(s for p in lnf.productions for s in p.body if s >= 0)

    def prepare(self, component: Component) -> None:
        """Build the members that are used more than once (what they use is ready)."""
        for member in component.members:
            self._component[member] = component
        members = set(component.members)
        inside = Counter(
            symbol
            for head in component.members
            for production in self.lnf.by_head[head]
            for symbol in production.body
            if symbol in members
        )
        for member in component.members:
            if self._uses[member] - inside[member] > 1:
                nfa = self._built(member)
                if nfa.states > _REDUCE_FROM:
                    nfa = self._reduced(nfa, member)
                self._shared[member] = nfa

    def _reduced(self, nfa: Nfa, member: int) -> Nfa:
        """The minimal DFA of a rule, in whose states those inside it are mixed."""
        small = as_nfa(self._small(nfa), self.rules)
        inside = frozenset().union(*(region.rules for region in nfa.regions))
        small.regions = [Region(0, small.states, r) for r in (inside, self._rules_of(member))]
        return small

    def _small(self, nfa: Nfa) -> Dfa:
        return minimize(determinize(nfa, self.limits, len(self.lnf.tokens)), self.limits)

    @memoised
    def _rules_of(self, nonterminal: int) -> frozenset[str]:
        """Its own rule, and those that all of its bodies were taken over from."""
        bodies = self.lnf.by_head[nonterminal]
        common = frozenset[str].intersection(*(_rules(body) for body in bodies))
        return common | {self.lnf.owners[nonterminal]}

    def whole(self) -> Nfa:
        """The automaton of the start rule."""
        nfa = self._built(self.lnf.start)
        own = frozenset([self.lnf.owners[self.lnf.start]])
        nfa.regions.append(Region(0, nfa.states, own))
        return nfa

    def _built(self, nonterminal: int) -> Nfa:
        """By the generators below, on a stack of its own: rules nest as deep as they like."""
        self.limits.check_resources("the NFA", [self.lnf.owners[nonterminal]])
        builder = Thompson(self.limits, self.rules)

        def found(symbol: Symbol) -> Fragment | None:
            if builder.nfa.states > self.limits.states:
                rule = self.lnf.owners[symbol if symbol >= 0 else nonterminal]
                self.limits.check_states(builder.nfa.states, "the NFA", [rule])
            if symbol in self._shared:
                return builder.copy(self._shared[symbol])
            return self._terminal(symbol, builder) if symbol < 0 else None

        def begun(symbol: Symbol) -> _Steps:
            return self._nonterminal(symbol, builder)

        return builder.finish(solve_recursive(nonterminal, found, begun))

    def _terminal(self, symbol: Symbol, builder: Thompson) -> Fragment:
        terminal = self.lnf.terminals[~symbol]
        content = terminal.content
        if isinstance(content, bytes):
            return builder.compile(regex.lit(content), self._numbers(terminal.origins))
        node = self._without_assertions(content, terminal.origins)
        return builder.compile(node, self._numbers(terminal.origins))

    def _without_assertions(self, node: regex.Node, origins: Origins) -> regex.Node:
        try:
            return self._resolved[node]
        except LimitError as error:
            rules = sorted({rule for rule, _, _ in origins})
            raise error.blaming(rules) from None

    def _numbers(self, origins: Origins) -> frozenset[int]:
        return frozenset(self._number[o] for o in origins)

    def _nonterminal(self, nonterminal: int, builder: Thompson) -> _Steps:
        component, first = self._component[nonterminal], builder.nfa.states
        match component.recursion:
            case Recursion.NONE:
                steps = self._alternation(nonterminal, builder)
            case Recursion.LEFT:
                steps = self._left(nonterminal, component, builder)
            case Recursion.RIGHT:
                steps = self._right(nonterminal, component, builder)
        fragment = yield from steps
        region = Region(first, builder.nfa.states, self._rules_of(nonterminal))
        builder.nfa.regions.append(region)
        return fragment

    def _alternation(self, nonterminal: int, builder: Thompson) -> _Steps:
        productions = self.lnf.by_head[nonterminal]
        if len(productions) == 1:
            return (yield from self._body(productions[0], productions[0].body, builder))
        start = builder.new_state()
        words = self._words(productions)
        shares = len(words) >= MANY_WORDS
        ends = builder.add_trie(start, list(words.values())) if shares else []
        if shares:
            inside = frozenset().union(*(_rules(productions[place]) for place in words))
            builder.nfa.regions.append(Region(start + 1, builder.nfa.states, inside))
        for place, production in enumerate(productions):
            if shares and place in words:
                continue
            fragment = yield from self._body(production, production.body, builder)
            builder.add_epsilon(start, fragment.start)
            ends.append(fragment.end)
        end = builder.new_state()
        for option_end in ends:
            builder.add_epsilon(option_end, end)
        return Fragment(start, end)

    def _words(self, productions: Sequence[Production]) -> dict[int, tuple[bytes, frozenset[int]]]:
        """The productions that are one literal, by their place: its bytes and origins."""
        found = {}
        for place, production in enumerate(productions):
            if len(production.body) == 1 and production.body[0] < 0:
                terminal = self.lnf.terminals[~production.body[0]]
                if isinstance(terminal.content, bytes) and terminal.content:
                    found[place] = terminal.content, self._numbers(terminal.origins)
        return found

    def _left(self, entry: int, component: Component, builder: Thompson) -> _Steps:
        start = builder.new_state()
        state = {member: builder.new_state() for member in component.members}
        for head, production in self._productions(component):
            body, source = production.body, start
            if body and body[0] in state:
                body, source = body[1:], state[body[0]]
            fragment = yield from self._body(production, body, builder)
            builder.add_epsilon(source, fragment.start)
            builder.add_epsilon(fragment.end, state[head])
        end = builder.new_state()
        builder.add_epsilon(state[entry], end)
        return Fragment(start, end)

    def _right(self, entry: int, component: Component, builder: Thompson) -> _Steps:
        state = {member: builder.new_state() for member in component.members}
        end = builder.new_state()
        for head, production in self._productions(component):
            body, target = production.body, end
            if body and body[-1] in state:
                body, target = body[:-1], state[body[-1]]
            fragment = yield from self._body(production, body, builder)
            builder.add_epsilon(state[head], fragment.start)
            builder.add_epsilon(fragment.end, target)
        return Fragment(state[entry], end)

    def _productions(self, component: Component) -> list[tuple[int, Production]]:
        return [(head, p) for head in component.members for p in self.lnf.by_head[head]]

    def _body(self, production: Production, body: Sequence[Symbol], builder: Thompson) -> _Steps:
        """``body``: of the production, but for a symbol that recurses."""
        begin = builder.nfa.states
        if not body:
            state = builder.new_state()
            return Fragment(state, state)
        first = previous = yield body[0]
        for symbol in body[1:]:
            current = yield symbol
            builder.add_epsilon(previous.end, current.start)
            previous = current
        builder.nfa.regions.append(Region(begin, builder.nfa.states, _rules(production)))
        return Fragment(first.start, previous.end)


def _rules(production: Production) -> frozenset[str]:
    return frozenset([rule for rule, _, _ in production.origins])
