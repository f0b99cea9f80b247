"""One automaton a nonterminal over terminals and calls.

    e ::= e '+' t | t;  t ::= 'n' | '(' e ')';

    goal e:   s  -'n'-> f   s -'('-> 1   1 -call e-> 2   2 -')'-> f   f -'+'-> 3   3 -call t-> f

The *left corners* of A are the nonterminals that a derivation of A can begin with, A included,
after prefixes that may be missing. The states of A's goal automaton are A's start, the items
[C → α•β] with something read and C a left corner of A, and the end; a finished C goes on in every
production of a left corner that can begin with it (left-corner parsing, Rosenkrantz and Lewis 1970;
as an automaton, Nederhof 1993). Nothing but a left corner is expanded: every other nonterminal
stays a *call*, an edge labelled with it. A label B means L(B) without ε; a symbol that may be
missing has an ε edge beside it. The start's own ε is the caller's matter.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.nfa import FIRST_TERMINAL, Arc, Nfa
from constrain.compiler.automata.thompson import without_epsilon
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.lnf.components import nullable_nonterminals
from constrain.compiler.lnf.form import Lnf, Symbol

# How far a production is read: a place in all bodies, one after the other, each with a place at
# its end; ``_END`` says that the goal is complete.
_Item = int
_END = -1

_STAGE = "the grammar's network"


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
    """Makes the goal automata of a grammar in normal form, nullable symbols included.

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
        self._corners: dict[int, set[int]] = {}
        self._goals: dict[tuple[int, frozenset[int]], Goal] = {}
        # Of each item the symbol after it (0 at the end), whether it is at the end of its
        # body, and the production's head.
        self._symbols: list[Symbol] = []
        self._at_end: list[bool] = []
        self._heads: list[int] = []
        # Items after nothing but what may be missing: by the nonterminal that stands there,
        # and all of them by the production's head.
        self._leading: dict[int, list[_Item]] = {}
        self._beginning: dict[int, list[_Item]] = {}
        for production in lnf.productions:
            for item, symbol in enumerate(production.body, len(self._symbols)):
                if symbol >= 0:
                    self._leading.setdefault(symbol, []).append(item)
                self._beginning.setdefault(production.head, []).append(item)
                if symbol not in self.nullable:
                    break
            length = len(production.body)
            self._symbols += (*production.body, 0)
            self._at_end += (*[False] * length, True)
            self._heads += [production.head] * (length + 1)

    def _resolved(self, terminal: int, node: regex.Node) -> regex.Node:
        try:
            return resolved(node, self._limits)
        except LimitError as error:
            rules = sorted({rule for rule, _, _ in self.lnf.terminals[terminal].origins})
            raise error.blaming(rules) from None

    def reached(self, called: frozenset[int] = frozenset()) -> dict[int, Goal]:
        """The goals of the start and of all that is called; see ``goal``."""
        goals: dict[int, Goal] = {}
        pending = [self.lnf.start]
        while pending:
            nonterminal = pending.pop()
            if nonterminal not in goals:
                goals[nonterminal] = self.goal(nonterminal, called)
                pending.extend(callee for _, callee, _ in goals[nonterminal].calls)
        return goals

    def goal(self, nonterminal: int, called: frozenset[int] = frozenset()) -> Goal:
        """The automaton of one nonterminal. Raises ``LimitError``.

        Left corners in ``called`` are calls instead of expanded, if they do not lead back to the
        nonterminal as a left corner: so no call leads back to where it began.
        """
        corners = called & self.left_corners(nonterminal)
        key = nonterminal, frozenset(c for c in corners if nonterminal not in self.left_corners(c))
        if key not in self._goals:
            self._goals[key] = self._goal(*key)
        return self._goals[key]

    def _goal(self, nonterminal: int, called: frozenset[int]) -> Goal:
        self._limits.check_resources(_STAGE, [self.lnf.owners[nonterminal]])
        corners = self._expanded(nonterminal, called)
        symbols = self._symbols
        finished: dict[int, frozenset[_Item]] = {}
        rows: list[dict[Symbol, int]] = []
        finals: list[bool] = []
        numbers: dict[frozenset[_Item], int] = {}
        by_kernel: dict[frozenset[_Item], int] = {}
        pending: deque[frozenset[_Item]] = deque()

        def add(read: Mapping[Symbol, list[_Item]], *, ends: bool) -> None:
            row: dict[Symbol, int] = {}
            for symbol in sorted(read):
                # Many states read the same items by the same symbol.
                kernel = frozenset(read[symbol])
                if kernel not in by_kernel:
                    by_kernel[kernel] = number_of(kernel)
                row[symbol] = by_kernel[kernel]
            rows.append(row)
            finals.append(ends)

        def number_of(kernel: frozenset[_Item]) -> int:
            inner: set[_Item] = set()
            heads: set[int] = set()
            for item in kernel:
                over, waiting = self._waiting(item)
                inner.update(waiting)
                if over is not None:
                    heads.add(over)
            items = frozenset(inner.union(*map(behind, heads)))
            if items not in numbers:
                # The start, number 0, is no set of such items.
                numbers[items] = len(numbers) + 1
                self._limits.check_states(len(numbers), _STAGE, [self.lnf.owners[nonterminal]])
                pending.append(items)
            return numbers[items]

        def behind(head: int) -> frozenset[_Item]:
            if head not in finished:
                finished[head] = self._finished(head, nonterminal, corners)
            return finished[head]

        begun: dict[Symbol, list[_Item]] = {}
        for corner in corners:
            for item in self._beginning.get(corner, ()):
                symbol = symbols[item]
                if symbol < 0 or symbol in called:
                    begun.setdefault(symbol, []).append(item + 1)
        add(begun, ends=False)
        while pending:
            items = pending.popleft()
            read: dict[Symbol, list[_Item]] = {}
            for item in items - {_END}:
                read.setdefault(symbols[item], []).append(item + 1)
            add(read, ends=_END in items)
        return _minimal(rows, finals)

    def _waiting(self, item: _Item) -> tuple[int | None, range]:
        """The items that an item leads to within its production, and the head if it may be over."""
        first = item
        while not self._at_end[item]:
            item += 1
            if self._symbols[item - 1] not in self.nullable:
                return None, range(first, item)
        return self._heads[item], range(first, item)

    def _finished(self, head: int, nonterminal: int, corners: set[int]) -> frozenset[_Item]:
        """What follows a finished left corner, in all that can begin with it."""
        found: set[_Item] = set()
        heads = {head}
        pending = [head]
        while pending:
            current = pending.pop()
            if current == nonterminal:
                found.add(_END)
            for item in self._leading.get(current, ()):
                if self._heads[item] in corners:
                    over, items = self._waiting(item + 1)
                    found.update(items)
                    if over is not None and over not in heads:
                        heads.add(over)
                        pending.append(over)
        return frozenset(found)

    def left_corners(self, nonterminal: int) -> set[int]:
        """The nonterminals that a derivation can begin with, itself included."""
        if nonterminal not in self._corners:
            self._corners[nonterminal] = self._expanded(nonterminal, frozenset())
        return self._corners[nonterminal]

    def _expanded(self, nonterminal: int, called: frozenset[int]) -> set[int]:
        """The left corners that are reached without going through ``called``."""
        found = {nonterminal}
        pending = [nonterminal]
        while pending:
            for item in self._beginning.get(pending.pop(), ()):
                symbol = self._symbols[item]
                if symbol >= 0 and symbol not in found and symbol not in called:
                    found.add(symbol)
                    pending.append(symbol)
        return found


def _minimal(rows: Sequence[Mapping[Symbol, int]], finals: Sequence[bool]) -> Goal:
    """The minimal automaton by Moore's rounds, numbered from the start; all states are live."""
    targets = [tuple(row.values()) for row in rows]
    signatures: list[object] = [(final, *row) for final, row in zip(finals, rows, strict=True)]
    count = 0
    while True:
        numbers: dict[object, int] = {}
        block = [numbers.setdefault(signature, len(numbers)) for signature in signatures]
        if len(numbers) == count:
            break
        count = len(numbers)
        signatures = [
            (block[state], *(block[target] for target in row)) for state, row in enumerate(targets)
        ]
    # Blocks are numbered by their first states, so the start's is 0.
    edges: list[Mapping[Symbol, int]] = [{}] * count
    for state, row in enumerate(rows):
        edges[block[state]] = {symbol: block[target] for symbol, target in row.items()}
    return Goal(edges, frozenset(b for b, final in zip(block, finals, strict=True) if final))


def over_symbols(goals: Goals, goal: Goal, calls: Mapping[int, int]) -> Nfa | None:
    """A goal as it is, if it reads nothing but tokens and those ``calls``, each a symbol.

    It is minimal as long as no two edges of one state become the same symbol; else None.
    """
    labels: dict[int, int] = {}
    used = {symbol for edges in goal.edges for symbol in edges}
    for symbol in used:
        node = goals.nodes[~symbol] if symbol < 0 else None
        if isinstance(node, regex.TokenTerminal):
            labels[symbol] = FIRST_TERMINAL + node.index
        elif symbol in calls:
            labels[symbol] = calls[symbol]
    if len(labels) < len(used) or len(set(labels.values())) < len(labels):
        return None
    arcs = [
        [
            Arc(labels[symbol], labels[symbol], target, frozenset())
            for symbol, target in edges.items()
        ]
        for edges in goal.edges
    ]
    return Nfa(arcs, [[] for _ in arcs], 0, goal.finals)
