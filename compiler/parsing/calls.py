"""Which calls of a network need no frame, and which goals must stay calls.

A call is a *tail call* if what follows it adds nothing to what can follow inside the callee:
u -B→ v with v final and either nothing behind v, or B is the goal itself and each of its
final states can do all that v can. The second frees ``e ::= e '+' e`` of frames. It is
decided on the deterministic automaton, where ``if s`` and ``if s else s`` are one path.

A goal can be copied into its callers as long as no cycle of calls comes back to it with a
frame. The goals that stay calls are a *feedback set*: outside it no cycle holds a call that is
not a tail call. Any superset of one will do; small ones make small stacks.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ..automata import regex
from ..automata.nfa import FIRST_TERMINAL, Arc, Nfa
from ..lnf.components import strongly_connected
from .goals import Goal, Goals

Call = tuple[int, int, int]

_NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Plan:
    """The goals that are reached, the tail calls of each, and those that stay calls."""

    goals: Mapping[int, Goal]
    tails: Mapping[int, set[Call]]
    kept: frozenset[int]

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
    """A small set of goals that all cycles with a framed call pass through, and ``called``.

    Greedy: the goal whose removal leaves the fewest framed calls on cycles, then the largest,
    which would be copied. A goal that stays a call need not be expanded as a left corner
    either, which may break other cycles; members that turn out not to be needed are dropped.
    """
    plan = _plan(goals, called)
    while bad := _framed_on_cycles(plan, plan.kept):
        candidates = sorted({goal for call in bad for goal in call})
        sizes = {c: len(plan.goals[c].edges) for c in candidates}
        # One goal less makes no new cycles, so the others on these are all that matter.
        left = _framed_without_each(plan, candidates, _on_cycles_with(plan, bad))
        plan = _plan(goals, plan.kept | {min(candidates, key=lambda c: (left[c], -sizes[c], c))})
    for member in sorted(plan.kept - called):
        smaller = _plan(goals, plan.kept - {member})
        if not _framed_on_cycles(smaller, smaller.kept):
            plan = smaller
    return plan


def _plan(goals: Goals, kept: frozenset[int]) -> Plan:
    made = goals.reached(kept)
    return Plan(made, {n: tail_calls(n, goal) for n, goal in made.items()}, kept & set(made))


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
    """The goals that call each other with those of ``calls`` which avoid what stays a call."""
    component = _components(plan, plan.goals.keys() - plan.kept)
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
