"""DirectMerge: from the DFA of L to the DFA of merge_{a,b}(L), Algorithms 1 and 2.

Source: Tran-Thien, "Technical Appendix" (2024), sections 2, 3, 5.1 and 5.2. The variable
names are the listings'. Transitions are those of whole families (see ``families``); "for
S_a with S = δ(S_a, a)" runs over the families that have members S_a.

Errata kept in mind: E1, the loop of Algorithm 2 ranges over the original states (here it
never sees new ones); the predecessors of a state are read when it is processed; lines 14
to 16 of Algorithm 1 come before lines 17 and 18.
"""

from collections.abc import Iterable

from .families import FamilyAutomaton


def direct_merge(dfa: FamilyAutomaton, a: int, b: int, ab: int) -> None:
    """Transform ``dfa`` into the DFA of merge_{a,b} of its language.

    All states are relevant before and after. Nothing is done, in constant time, where a or b
    labels no transition; otherwise the work is that of the families touched.
    """
    if a not in dfa.sources or b not in dfa.sources:
        return
    if a == b:
        _merge_same(dfa, a, ab)
        return
    reached = {dfa.families[q].targets[a] for q in dfa.sources[a]}
    for state in sorted(reached):
        if dfa.has(state, b):
            _process_state(dfa, state, a, b, ab)


def _process_state(dfa: FamilyAutomaton, state: int, a: int, b: int, ab: int) -> None:
    """``ProcessState`` of Algorithm 1, for a ≠ b."""
    state_b = dfa.target(state, b)
    predecessors = list(dfa.incoming[state][a])
    for q in predecessors:
        # Who forbids a forbids ab: the pair is only made where a could be read.
        dfa.add_edges(q, ab, state_b, dfa.families[q].allows(a))
    entered_otherwise = state == dfa.start or dfa.has_incoming_besides(state, a)
    left_otherwise = dfa.accepting[state] or dfa.degree(state) > 1
    if entered_otherwise and left_otherwise:
        new = dfa.copy_state(state)
        dfa.forbid(new, b)
        _redirect(dfa, predecessors, a, new)
    elif entered_otherwise:
        _remove(dfa, predecessors, a)
    elif left_otherwise:
        dfa.forbid(state, b)
    else:
        _remove(dfa, predecessors, a)
        dfa.forbid(state, b)
        dfa.remove_state(state)


def _merge_same(dfa: FamilyAutomaton, a: int, aa: int) -> None:
    """Algorithm 2: merge_{a,a}.

    A state of E that can be reached after an odd number of a's gets an odd version (itself if
    it can only be reached so). Odd versions lose their transition by a: the pair it would
    complete is the token aa, read from the state before.
    """
    targets = {q: dfa.families[q].targets[a] for q in dfa.sources[a]}
    both = {s for s in targets.values() if dfa.has(s, a)}  # E of the listing
    if not both:
        return
    even, odd_parity = _parities(dfa, both, a)
    after = {s: dfa.target(s, a) for s in both}
    odd: dict[int, int] = {}
    for state in sorted(odd_parity):
        odd[state] = dfa.copy_state(state) if state in even else state
    for state in odd.values():
        dfa.forbid(state, a)
    for q, target in targets.items():
        if a not in dfa.families[q].targets:
            continue  # Only odd states had it.
        if target in both:
            dfa.add_edges(q, aa, after[target], dfa.families[q].allows(a))
            dfa.redirect_edges(q, a, odd[target])
    for state in odd.values():
        if not dfa.accepting[state] and not dfa.degree(state):
            _remove(dfa, list(dfa.incoming[state][a]), a)
            dfa.remove_state(state)


def _parities(dfa: FamilyAutomaton, both: set[int], a: int) -> tuple[set[int], set[int]]:
    """The states of E that are reached after an even and after an odd number of a's.

    Section 5.2: searched before any state is created, so that none is created in vain. Even
    is every state that is entered otherwise (inside E too) and the start; odd is every state
    that a state outside E enters by a (such a state follows no a).
    """
    found: dict[tuple[int, int], None] = {}
    for state in sorted(both):
        if state == dfa.start or dfa.has_incoming_besides(state, a):
            found[state, 0] = None
        if any(_outside(dfa, q, both, a) for q in dfa.incoming[state][a]):
            found[state, 1] = None
    pending = list(found)
    for state, parity in pending:
        target = dfa.target(state, a)
        if target in both and (target, 1 - parity) not in found:
            found[target, 1 - parity] = None
            pending.append((target, 1 - parity))
    return {s for s, parity in found if parity == 0}, {s for s, parity in found if parity == 1}


def _outside(dfa: FamilyAutomaton, q: int, both: set[int], a: int) -> bool:
    """Whether a member of family ``q`` outside E has a transition by a."""
    family = dfa.families[q]
    allowed = family.allows(a)
    return any(family.members[place] not in both for place in allowed.nonzero()[0].tolist())


def _redirect(dfa: FamilyAutomaton, families: Iterable[int], token: int, target: int) -> None:
    for q in families:
        dfa.redirect_edges(q, token, target)


def _remove(dfa: FamilyAutomaton, families: Iterable[int], token: int) -> None:
    for q in families:
        dfa.remove_edges(q, token)
