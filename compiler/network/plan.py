"""Which calls of a grammar need frames, and which goals stay procedures.

A call is a *tail call*, and needs no frame, if what follows it adds nothing to what can follow
inside the callee: u -B→ v with v final and either nothing behind v, or B is the goal itself and
each of its final states can do all that v can. The second frees ``e ::= e '+' e`` of frames. It is
decided on the deterministic automaton, where ``if s`` and ``if s else s`` are one path.

A goal can be copied into its callers, and the call with it goes away, as long as no cycle of calls
comes back to it with a frame. The others, the *procedures*, are a feedback set: outside it no cycle
holds a call that is not a tail call. Any superset of one will do; small ones make small stacks.

To find a small one takes long, so components of mutually nested rules are searched one by one, and
what is done in one of them is bounded: all of it is linear in the size of the grammar.

    up to 24 rules   the rule whose removal leaves the fewest framed calls on cycles, then the next
    more             rules that nest themselves, then those with most calls in and out of them,
                     while rules without either go (Levy and Low, A contraction algorithm for
                     finding small cycle cutsets, 1988)
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Protocol

from ..lnf.components import strongly_connected
from .goal_automata import Goal, Goals

Call = tuple[int, int, int]

# The most rules of a component of which each is tried.
SEARCHED = 24

# The most procedures that are tried to be dropped where that changes other goals' automata, and the
# calls that are followed for the others, for each call of the grammar.
_REPLANNED, _FOLLOWED = 64, 32


class Calls(Protocol):
    """What calls what, and by calls that are no tail calls; goals or rules by their numbers."""

    @property
    def callees(self) -> Mapping[int, Set[int]]:
        """What each calls."""

    @property
    def framed(self) -> Mapping[int, Set[int]]:
        """What each calls by calls that are no tail calls."""

    def size(self, goal: int) -> int:
        """How large one is beside the others."""


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
    def framed(self) -> Mapping[int, set[int]]:
        """What each goal calls by calls that are no tail calls."""
        return {
            caller: {call[1] for call in goal.calls if call not in self.tails[caller]}
            for caller, goal in self.goals.items()
        }

    def size(self, goal: int) -> int:
        """The states of a goal."""
        return len(self.goals[goal].edges)


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


def planned(goals: Goals, called: frozenset[int] = frozenset()) -> Plan:
    """A small set of procedures that all cycles with a framed call pass through, and ``called``.

    A procedure need not be expanded as a left corner either, which may break other cycles; members
    that turn out not to be needed are dropped, as far as that is looked for.
    """
    planner = _Planner(goals)
    plan = planner.plan(called)
    while found := chosen(plan, plan.goals.keys() - plan.procedures):
        plan = planner.plan(plan.procedures | found)
    return planner.without_needless(plan, called)


class _Planner:
    """Makes plans of ``goals``; what does not depend on the procedures is kept between them."""

    def __init__(self, goals: Goals) -> None:
        self.goals = goals
        self._tails: dict[Goal, set[Call]] = {}

    def plan(self, procedures: frozenset[int]) -> Plan:
        """The plan with these procedures, as far as they are reached."""
        found = self.goals.reached(procedures)
        for nonterminal, goal in found.items():
            if goal not in self._tails:
                self._tails[goal] = tail_calls(nonterminal, goal)
        tails = {nonterminal: self._tails[goal] for nonterminal, goal in found.items()}
        return Plan(found, tails, procedures & set(found))

    def without_needless(self, plan: Plan, called: frozenset[int]) -> Plan:
        """Without procedures, others than ``called``, that no framed cycle needs."""
        replanned = 0
        left = most_followed(plan)
        corners = self._called_corners(plan)
        for member in sorted(plan.procedures - called):
            if member not in plan.procedures:
                continue
            procedures = plan.procedures - {member}
            if member in corners:
                if replanned < _REPLANNED:
                    replanned += 1
                    smaller = self.plan(procedures)
                    if not chosen(smaller, smaller.goals.keys() - procedures):
                        plan, corners = smaller, self._called_corners(smaller)
                continue
            # Nothing else changes: any new cycle leads through the member.
            needed, followed = framed_cycle(plan, member, procedures, left)
            left -= followed
            if not needed:
                plan = Plan(plan.goals, plan.tails, procedures)
        return plan

    def _called_corners(self, plan: Plan) -> set[int]:
        """Procedures that would be expanded as left corners of other goals if they were none."""
        corners = (plan.procedures & self.goals.left_corners(goal) - {goal} for goal in plan.goals)
        return set().union(*corners)


def chosen(calls: Calls, members: Set[int]) -> set[int]:
    """Some of ``members`` that have to become procedures, of each component with a framed call on
    a cycle."""
    found: set[int] = set()
    for part in _components(calls, members):
        inside = frozenset(part)
        if not any(calls.framed[caller] & inside for caller in part):
            continue
        if len(part) <= SEARCHED:
            found.add(_best(calls, part))
        else:
            found |= _cutset(calls, part)
    return found


def most_followed(calls: Calls) -> int:
    """How many calls ``framed_cycle`` may follow for all goals together."""
    return _FOLLOWED * (len(calls.callees) + sum(map(len, calls.callees.values())))


def _components(plan: Calls, members: Set[int]) -> list[list[int]]:
    """``members`` that call each other, together."""
    ordered, uses = _calls_among(plan, members)
    return [[ordered[place] for place in places] for places in strongly_connected(uses)]


def _calls_among(plan: Calls, members: Set[int]) -> tuple[list[int], list[list[int]]]:
    """``members``, and the places of those that each of them calls."""
    ordered = sorted(members)
    place = {goal: i for i, goal in enumerate(ordered)}
    return ordered, [[place[c] for c in plan.callees[goal] if c in place] for goal in ordered]


def _best(plan: Calls, members: Sequence[int]) -> int:
    """Of the goals of a component with a framed call on a cycle, the one without which the fewest
    are left, then the largest, which would be copied."""

    def left(goal: int) -> int:
        """One goal less makes no new cycles: the component is all that matters."""
        rest = _components(plan, set(members) - {goal})
        return sum(len(plan.framed[caller] & set(part)) for part in rest for caller in part)

    candidates = {c for caller in members for c in plan.framed[caller] & set(members)}
    candidates |= {caller for caller in members if plan.framed[caller] & set(members)}
    return min(sorted(candidates), key=lambda c: (left(c), -plan.size(c), c))


def _cutset(plan: Calls, members: Iterable[int]) -> set[int]:
    """Goals of a large component that all its cycles pass through but tail calls of one goal by
    itself; most of them are needed."""
    inside = set(members)
    found = {goal for goal in inside if goal in plan.framed[goal]}
    inside -= found
    callees = {goal: set(plan.callees[goal] & inside) - {goal} for goal in sorted(inside)}
    callers: dict[int, set[int]] = {goal: set() for goal in callees}
    for caller, called in callees.items():
        for callee in called:
            callers[callee].add(caller)

    def weight(goal: int) -> tuple[int, int, int]:
        through = len(callees[goal]) * len(callers[goal])
        return -through, -plan.size(goal), goal

    # Entries whose weight has changed since are left behind.
    heap = [weight(goal) for goal in callees]
    heapify(heap)
    without = [goal for goal in callees if not callees[goal] or not callers[goal]]
    while callees:
        if without:
            goal = without.pop()
            if goal not in callees:
                continue
        else:
            entry = heappop(heap)
            goal = entry[2]
            if goal not in callees or entry != weight(goal):
                continue
            found.add(goal)
        for caller in callers.pop(goal):
            callees[caller].discard(goal)
            if callees[caller]:
                heappush(heap, weight(caller))
            else:
                without.append(caller)
        for callee in callees.pop(goal):
            callers[callee].discard(goal)
            if callers[callee]:
                heappush(heap, weight(callee))
            else:
                without.append(callee)
    return found


def framed_cycle(plan: Calls, member: int, procedures: Set[int], most: int) -> tuple[bool, int]:
    """Whether a cycle through ``member`` with a framed call avoids ``procedures``, and how many
    calls were followed to find that out; True behind the ``most`` calls."""
    seen = {(member, False)}
    pending = [(member, False)]
    followed = 0
    while pending:
        if followed > most:
            return True, followed
        caller, has_frame = pending.pop()
        for callee in plan.callees[caller]:
            followed += 1
            if callee in procedures:
                continue
            after = callee, has_frame or callee in plan.framed[caller]
            if after == (member, True):
                return True, followed
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return False, followed
