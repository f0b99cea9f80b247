"""One automaton a nonterminal over terminals and calls, and the plan which calls need frames.

    e ::= e '+' t | t;  t ::= 'n' | '(' e ')';

    goal e:   s  -'n'-> f   s -'('-> 1   1 -call e-> 2   2 -')'-> f   f -'+'-> 3   3 -call t-> f

The *left corners* of A are the nonterminals that a derivation of A can begin with, A included,
behind prefixes that may be missing. The states of A's goal automaton are A's start, the items
[C → α•β] with something read and C a left corner of A, and the end; a finished C goes on in every
production of a left corner that can begin with it (left-corner parsing, Rosenkrantz and Lewis 1970;
as an automaton, Nederhof 1993). Nothing but a left corner is expanded: every other nonterminal
stays a *call*, an edge labelled with it. A label B means L(B) without ε; a symbol that may be
missing has an ε edge beside it. The start's own ε is the caller's matter.

A call is a *tail call*, and needs no frame, if what follows it adds nothing to what can follow
inside the callee: u -B→ v with v final and either nothing behind v, or B is the goal itself and
each of its final states can do all that v can. The second frees ``e ::= e '+' e`` of frames. It is
decided on the deterministic automaton, where ``if s`` and ``if s else s`` are one path.

A goal can be copied into its callers, and the call with it goes away, as long as no cycle of calls
comes back to it with a frame. The others, the *procedures*, are a feedback set: outside it no cycle
holds a call that is not a tail call. Any superset of one will do; small ones make small stacks.
"""

from collections import deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.nfa import FIRST_TERMINAL, Arc, Nfa
from ..automata.thompson import without_epsilon
from ..diagnostics import LimitError
from ..limits import Limits
from ..lnf.components import nullable_nonterminals, strongly_connected
from ..lnf.form import Lnf, Symbol

# How far a production is read: a place in all bodies, one behind the other, each with a place at
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
        # Of each item the symbol behind it (0 at the end), whether it is at the end of its
        # body, and the production's head.
        self._symbols: list[Symbol] = []
        self._at_end: list[bool] = []
        self._heads: list[int] = []
        # Items behind nothing but what may be missing: by the nonterminal that stands there,
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
        key = nonterminal, frozenset(c for c in called if self._may_be_called(c, nonterminal))
        if key not in self._goals:
            self._goals[key] = self._goal(*key)
        return self._goals[key]

    def _may_be_called(self, corner: int, nonterminal: int) -> bool:
        return corner in self.left_corners(nonterminal) and nonterminal not in self.left_corners(
            corner
        )

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


Call = tuple[int, int, int]

_NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Plan:
    """The goals that are reached, the tail calls of each, and those that stay procedures."""

    goals: Mapping[int, Goal]
    tails: Mapping[int, set[Call]]
    procedures: frozenset[int]

    @cached_property
    def callees(self) -> Mapping[int, set[int]]:
        """What each goal calls."""
        return {caller: {call[1] for call in goal.calls} for caller, goal in self.goals.items()}

    @cached_property
    def framed(self) -> set[tuple[int, int]]:
        """(caller, callee) of the calls that are no tail calls."""
        return {
            (caller, call[1])
            for caller, goal in self.goals.items()
            for call in goal.calls
            if call not in self.tails[caller]
        }


def tail_calls(nonterminal: int, goal: Goal) -> set[Call]:
    """The calls (state, callee, target) of a goal that need no frame."""
    found = set()
    for call in goal.calls:
        _, callee, target = call
        if target in goal.finals and (
            not goal.edges[target]
            or (callee == nonterminal and all(_simulates(goal, f, target) for f in goal.finals))
        ):
            found.add(call)
    return found


def _simulates(goal: Goal, left: int, right: int) -> bool:
    """Whether all that can follow ``right`` can follow ``left``."""
    seen = {(left, right)}
    pending = [(left, right)]
    while pending:
        ahead, behind = pending.pop()
        if behind in goal.finals and ahead not in goal.finals:
            return False
        for symbol, target in goal.edges[behind].items():
            if symbol not in goal.edges[ahead]:
                return False
            pair = goal.edges[ahead][symbol], target
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return True


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
        [Arc(labels[symbol], labels[symbol], target, _NOTHING) for symbol, target in edges.items()]
        for edges in goal.edges
    ]
    return Nfa(arcs, [[] for _ in arcs], 0, goal.finals)


def planned(goals: Goals, called: frozenset[int] = frozenset()) -> Plan:
    """A small set of procedures that all cycles with a framed call pass through, and ``called``.

    By a greedy heuristic: the goal whose removal leaves the fewest framed calls on cycles, then the
    largest, which would be copied. A procedure need not be expanded as a left corner either, which
    may break other cycles; members that turn out not to be needed are dropped.
    """
    plan = _plan(goals, called)
    while bad := _framed_on_cycles(plan, plan.procedures):
        candidates = sorted({goal for call in bad for goal in call})
        sizes = {c: len(plan.goals[c].edges) for c in candidates}
        # One goal less makes no new cycles, so the others on these are all that matter.
        left = _framed_without_each(plan, candidates, _on_cycles_with(plan, bad))
        chosen = min(candidates, key=lambda c: (left[c], -sizes[c], c))
        plan = _plan(goals, plan.procedures | {chosen})
    for member in sorted(plan.procedures - called):
        smaller = _plan(goals, plan.procedures - {member})
        if not _framed_on_cycles(smaller, smaller.procedures):
            plan = smaller
    return plan


def _plan(goals: Goals, procedures: frozenset[int]) -> Plan:
    found = goals.reached(procedures)
    tails = {n: tail_calls(n, goal) for n, goal in found.items()}
    return Plan(found, tails, procedures & set(found))


def _framed_on_cycles(plan: Plan, without: frozenset[int]) -> Sequence[tuple[int, int]]:
    """The framed calls (caller, callee) on some cycle that avoids ``without``."""
    return _framed_among(plan, plan.goals.keys() - without)


def _framed_among(plan: Plan, members: Set[int]) -> Sequence[tuple[int, int]]:
    """The same on the cycles through nothing but ``members``."""
    component = _components(plan, members)
    both = ((a, b) for a, b in plan.framed if a in component and b in component)
    return sorted((a, b) for a, b in both if component[a] == component[b])


def _framed_without_each(
    plan: Plan, candidates: Sequence[int], members: Set[int]
) -> Mapping[int, int]:
    """How many framed calls are on cycles through ``members`` but one, for each candidate."""
    ordered, uses = _calls_among(plan, members)
    framed = [(a, b) for a, b in plan.framed if a in members and b in members]
    found = {}
    for place, goal in enumerate(ordered):
        if goal in candidates:
            # What calls nothing is on no cycle.
            group = _numbered(ordered, [*uses[:place], [], *uses[place + 1 :]])
            found[goal] = sum(goal not in (a, b) and group[a] == group[b] for a, b in framed)
    return found


def _on_cycles_with(plan: Plan, calls: Sequence[tuple[int, int]]) -> set[int]:
    """The goals that call each other with those of ``calls``, past no procedure."""
    component = _components(plan, plan.goals.keys() - plan.procedures)
    wanted = {component[caller] for caller, _ in calls}
    return {goal for goal, number in component.items() if number in wanted}


def _components(plan: Plan, members: Set[int]) -> dict[int, int]:
    """For each of ``members`` the number of those that call each other with it."""
    return _numbered(*_calls_among(plan, members))


def _calls_among(plan: Plan, members: Set[int]) -> tuple[list[int], list[list[int]]]:
    """``members``, and the places of those that each of them calls."""
    ordered = sorted(members)
    place = {goal: i for i, goal in enumerate(ordered)}
    return ordered, [[place[c] for c in plan.callees[goal] if c in place] for goal in ordered]


def _numbered(ordered: Sequence[int], uses: Sequence[Sequence[int]]) -> dict[int, int]:
    return {
        ordered[place]: i for i, places in enumerate(strongly_connected(uses)) for place in places
    }
