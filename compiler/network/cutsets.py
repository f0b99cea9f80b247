"""Rules that cycles of calls cannot do without: those that are called.

A rule can be copied to where it is named as long as no cycle of calls comes back to it with a
frame. The others, the *procedures*, are a feedback set: outside it no cycle holds a call that is
not a tail call. Any superset of one will do; small ones make small stacks. To find a small one
takes long, so components of mutually nested rules are searched one by one, and what is done in one
of them is bounded: all of it is linear in the size of the grammar.

    up to 24 rules   the rule whose removal leaves the fewest framed calls on cycles, then the next
    more             rules that nest themselves, then those with most calls in and out of them,
                     while rules without either go (Levy and Low, A contraction algorithm for
                     finding small cycle cutsets, 1988)
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from ..automata.graphs import strongly_connected
from .tree_rules import Uses

# The most rules of a component of which each is tried.
SEARCHED = 24

# The calls that are followed to drop procedures that are not needed, for each call of the grammar.
_FOLLOWED = 32


# What the rules that a grammar's start needs name; those by calls that are no tail calls are
# ``copies``.
TreeCalls: TypeAlias = Mapping[int, Uses]


def chosen(calls: TreeCalls, members: Set[int]) -> set[int]:
    """Some of ``members`` that have to become procedures, of each component with a framed call on
    a cycle."""
    found: set[int] = set()
    for part in _components(calls, members):
        inside = frozenset(part)
        if all(calls[caller].copies.keys().isdisjoint(inside) for caller in part):
            continue
        if len(part) <= SEARCHED:
            found.add(_best(calls, part))
        else:
            found |= _cutset(calls, part)
    return found


def most_followed(calls: TreeCalls) -> int:
    """How many calls ``framed_cycle`` may follow for all rules together."""
    return _FOLLOWED * (len(calls) + sum(len(uses.callees) for uses in calls.values()))


def _components(calls: TreeCalls, members: Set[int]) -> list[list[int]]:
    """``members`` that call each other, together."""
    ordered, uses = _calls_among(calls, members)
    return [[ordered[place] for place in places] for places in strongly_connected(uses)]


def _calls_among(calls: TreeCalls, members: Set[int]) -> tuple[list[int], list[list[int]]]:
    """``members``, and the places of those that each of them calls."""
    ordered = sorted(members)
    place = {rule: i for i, rule in enumerate(ordered)}
    return ordered, [[place[c] for c in calls[rule].callees if c in place] for rule in ordered]


def _best(calls: TreeCalls, members: Sequence[int]) -> int:
    """Of the rules of a component with a framed call on a cycle, the one without which the fewest
    are left, then the largest, which would be copied."""

    ordered, uses = _calls_among(calls, set(members))
    framed = [calls[rule].copies.keys() & set(members) for rule in ordered]

    def left(place: int) -> int:
        """One rule less makes no new cycles: the component is all that matters."""
        found = 0
        for places in strongly_connected(uses, place):
            part = {ordered[i] for i in places}
            found += sum(len(framed[i] & part) for i in places)
        return found

    named = set().union(*framed)
    candidates = [i for i, rule in enumerate(ordered) if framed[i] or rule in named]
    best = min(candidates, key=lambda i: (left(i), -calls[ordered[i]].size, ordered[i]))
    return ordered[best]


def _cutset(calls: TreeCalls, members: Iterable[int]) -> set[int]:
    """Goals of a large component that all its cycles pass through but tail calls of one rule by
    itself; most of them are needed."""
    inside = set(members)
    found = {rule for rule in inside if rule in calls[rule].copies}
    inside -= found
    callees = {rule: set(calls[rule].callees & inside) - {rule} for rule in sorted(inside)}
    callers: dict[int, set[int]] = {rule: set() for rule in callees}
    for caller, called in callees.items():
        for callee in called:
            callers[callee].add(caller)

    def weight(rule: int) -> tuple[int, int, int]:
        through = len(callees[rule]) * len(callers[rule])
        return -through, -calls[rule].size, rule

    # Entries whose weight has changed since are left behind.
    heap = [weight(rule) for rule in callees]
    heapify(heap)
    without = [rule for rule in callees if not callees[rule] or not callers[rule]]
    while callees:
        if without:
            rule = without.pop()
            if rule not in callees:
                continue
        else:
            entry = heappop(heap)
            rule = entry[2]
            if rule not in callees or entry != weight(rule):
                continue
            found.add(rule)
        for here, there in ((callers, callees), (callees, callers)):
            for other in here.pop(rule):
                there[other].discard(rule)
                if there[other]:
                    heappush(heap, weight(other))
                else:
                    without.append(other)
    return found


def framed_cycle(
    calls: TreeCalls, member: int, procedures: Set[int], most: int
) -> tuple[bool, int]:
    """Whether a cycle through ``member`` with a framed call avoids ``procedures``, and how many
    calls were followed to find that out; True after the ``most`` calls."""
    seen = {(member, False)}
    pending = [(member, False)]
    followed = 0
    while pending:
        if followed > most:
            return True, followed
        caller, has_frame = pending.pop()
        for callee in calls[caller].callees:
            followed += 1
            if callee in procedures:
                continue
            after = callee, has_frame or callee in calls[caller].copies
            if after == (member, True):
                return True, followed
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return False, followed
