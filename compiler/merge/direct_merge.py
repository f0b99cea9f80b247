"""DirectMerge: from the DFA of a language to the DFA of its canonical token sequences.

    letters (one token a byte)  ->  merge after merge, Algorithms 1 and 2  ->  fuse equal states

Each merge (a, b) transforms the DFA of L into the DFA of merge_{a,b}(L), in which no b follows an a
any more: a state S that a enters and b leaves gets a copy S' without b, which the predecessors by a
enter instead, and these read the new token ab to where b led. For L = {ab, ac}, S between:

    0 --a--> S --b--> 2,  S --c--> 3     becomes     0 --ab--> 2,  0 --a--> S --c--> 3

Section 1.3 of the source: one merge at a time, over the whole language, is enough. States of one
family with equal transitions are fused at the end, as section 5.3 does for tokenize(Σ*).

Source: Tran-Thien, "Technical Appendix" (2024), sections 2, 3, 5.1 and 5.2. The variable names are
the listings'. A transition is here that of a whole family (``families``): "for S_a with
S = δ(S_a, a)" runs over the families that have members S_a. Errata: E1, the loop of Algorithm 2
ranges over the original states (it never sees new ones here); the predecessors of a state are read
when it is processed; lines 14 to 16 of Algorithm 1 come before lines 17 and 18.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.token_dfa import TokenDfa
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs

from ..automata.dfa import DEAD, Dfa
from ..automata.graphs import reached
from ..limits import Limits
from ..progress import Progress, silent
from .families import FamilyAutomaton, with_letters

_STAGE = "DirectMerge"

# Merges between two checks of the time limit and steps of the progress bar.
_STRIDE = 512


@dataclass(frozen=True, slots=True)
class Growth:
    """The size of the automaton after the first ``merges`` merges of the list."""

    merges: int
    states: int
    transitions: int


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalDfa:
    """The DFA of tokenize(L).

    ``allowed``: uint8, one bit for each state and edge of its family (little-endian within a
    byte); those of state s begin at ``allowed[allowed_offsets[s]]``. ``growth``: one item for each
    merge that changed the automaton, and the first and the last. ``transitions``: how many a plain
    table would hold. ``family_states``: int32 (Q,), the byte-DFA state of each family, None where
    it is the family's own number. ``pairs``: the forbidden pairs that a matcher needs after a
    prompt (``with_pairs``).
    """

    dfa: TokenDfa
    allowed: NDArray[np.uint8]
    allowed_offsets: NDArray[np.int64]
    growth: tuple[Growth, ...]
    transitions: int
    family_states: NDArray[np.int32] | None = None
    pairs: ForbiddenPairs | None = None

    def flags(self, state: int) -> NDArray[np.bool_]:
        """Which edges of its family a state allows, bool, parallel to ``dfa.edges_of(state)``."""
        octets = self.allowed[
            int(self.allowed_offsets[state]) : int(self.allowed_offsets[state + 1])
        ]
        count = len(self.dfa.edges_of(state)[0])
        return np.unpackbits(octets, count=count, bitorder="little").view(np.bool_)


def canonical_dfa(
    dfa: Dfa,
    base: Sequence[int],
    terminals: Sequence[int],
    merges: NDArray[np.int32],
    limits: Limits | None = None,
    progress: Progress = silent,
    rules: Sequence[str] = (),
) -> CanonicalDfa:
    """The DFA of tokenize(L) for the language L of ``dfa``, which is trimmed and not empty.

    ``base``: the token id of each byte that L uses. ``terminals``: the token ids of the token
    terminals. ``merges``: int32 (n, 3), left, right and result, in a proper order. ``rules``: the
    grammar rule after each atomic origin. Raises ``LimitError`` naming the rules that grew most.
    """
    finals = np.flatnonzero(dfa.accepting).tolist()
    automaton = with_letters(dfa.states, dfa.start, finals, _letters(dfa, base, terminals))
    names = [sorted({rules[o] for o in found if o < len(rules)}) for found in dfa.origins]
    return merge_families(automaton, merges, names, limits, progress)


def merge_families(
    automaton: FamilyAutomaton,
    merges: NDArray[np.int32],
    rules: Sequence[list[str]],
    limits: Limits | None = None,
    progress: Progress = silent,
) -> CanonicalDfa:
    """Apply all merges to an automaton over letters whose state 0 is dead.

    ``merges``: int32 (n, 3). ``rules``: the grammar rules after each family. Raises ``LimitError``
    naming the rules of the family that grew most.
    """
    limits = (limits or Limits()).started()
    automaton.remove_state(DEAD)

    def culprits() -> list[str]:
        sizes = [int(family.degree.sum()) for family in automaton.families]
        return rules[max(range(len(sizes)), key=lambda q: sizes[q])]

    growth = _merge_all(automaton, merges, limits, progress, culprits)
    return _tables(automaton, growth)


def with_pairs(canonical: CanonicalDfa, pairs: ForbiddenPairs) -> CanonicalDfa:
    """The same DFA with the forbidden pairs whose second token it reads.

    After a prompt a matcher excludes the first tokens that may not follow the prompt's last one.
    """
    used = np.zeros(len(pairs.part), dtype=np.bool_)
    used[canonical.dfa.edge_tokens] = True
    return replace(canonical, pairs=pairs.followed_by(used))


def _letters(
    dfa: Dfa, base: Sequence[int], terminals: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """The edges over the tokens of single bytes, and over terminals: (source, token, target)."""
    letters: list[list[int]] = [[] for _ in range(dfa.table.shape[1])]
    for octet, column in enumerate(dfa.classes.tolist()):
        letters[column].append(base[octet])
    for column, token in enumerate(terminals, start=dfa.byte_columns):
        letters[column].append(token)
    for source, row in enumerate(dfa.table.tolist()):
        for column, target in enumerate(row):
            if target != DEAD:
                yield from ((source, letter, target) for letter in letters[column])


def _merge_all(
    automaton: FamilyAutomaton,
    merges: NDArray[np.int32],
    limits: Limits,
    progress: Progress,
    culprits: Callable[[], list[str]],
) -> tuple[Growth, ...]:
    growth = [Growth(0, automaton.states, automaton.transitions)]
    total = len(merges)
    for number, (a, b, ab) in enumerate(merges.tolist(), start=1):
        direct_merge(automaton, a, b, ab)
        if (automaton.states, automaton.transitions) != (growth[-1].states, growth[-1].transitions):
            growth.append(Growth(number, automaton.states, automaton.transitions))
            if limits.exceeded(automaton.states, automaton.transitions, automaton.cells):
                limits.check_states(automaton.states, _STAGE, culprits())
                limits.check_transitions(automaton.transitions, _STAGE, culprits())
                limits.check_memory(automaton.cells, _STAGE, culprits())
        if number % _STRIDE == 0:
            limits.check_resources(_STAGE, culprits() if limits.is_over() else ())
            progress(_STAGE, number, total)
    progress(_STAGE, total, total)
    growth.append(Growth(total, automaton.states, automaton.transitions))
    return tuple(growth)


def direct_merge(dfa: FamilyAutomaton, a: int, b: int, ab: int) -> None:
    """Transform ``dfa``, in place, into the DFA of merge_{a,b} of its language.

    ``ab``: the id of the new token. All states are relevant (on a path from the start to an
    accepting state) before and after. Takes constant time where a or b labels no transition, else
    time linear in the families touched.
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
    """``ProcessState`` of Algorithm 1, for a ≠ b: ``state`` is entered by a and left by b."""
    state_b = dfa.target(state, b)
    predecessors = list(dfa.incoming[state][a])
    for q in predecessors:
        # A member that forbids a forbids ab: the pair occurs only where a could be read.
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

    E is the set of states that a enters and leaves. A state of E that can be reached after an odd
    number of a's gets an odd version (itself if it can only be reached so). Odd versions lose their
    transition by a: the pair that it would complete is the token aa, read from the state before.
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
    """The states of E that are reached after an even, and after an odd, number of a's.

    Section 5.2: searched before any state is created, so that none is created in vain. Even is the
    start, and every state that another letter than a enters (inside E too); odd is every state that
    a state outside E enters by a (after such a state there is no a).
    """
    found: dict[tuple[int, int], None] = {}
    for state in sorted(both):
        if state == dfa.start or dfa.has_incoming_besides(state, a):
            found[state, 0] = None
        if any(_outside(dfa, q, both, a) for q in dfa.incoming[state][a]):
            found[state, 1] = None

    def after(place: tuple[int, int]) -> Iterator[tuple[int, int]]:
        state, parity = place
        if (target := dfa.target(state, a)) in both:
            yield target, 1 - parity

    places = list(reached(found, after))
    return {s for s, parity in places if parity == 0}, {s for s, parity in places if parity == 1}


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


def _tables(automaton: FamilyAutomaton, growth: tuple[Growth, ...]) -> CanonicalDfa:
    """The automaton as arrays, its states numbered family by family and equal ones fused."""
    number: dict[int, int] = {}
    family_of: list[int] = []
    bits: list[bytes] = []
    tokens: list[NDArray[np.int32]] = []
    edge_offsets = [0]
    for q, family in enumerate(automaton.families):
        order = sorted(family.targets)
        tokens.append(np.array(order, dtype=np.int32))
        edge_offsets.append(edge_offsets[-1] + len(order))
        rows = family.forbidden[[family.slots[t] for t in order], : len(family.members)]
        packed = np.packbits(~rows, axis=0, bitorder="little").T
        fused: dict[bytes, int] = {}
        for place, state in enumerate(family.members):
            if family.gone[place]:
                continue
            key = packed[place].tobytes()
            if key not in fused:
                fused[key] = len(family_of)
                family_of.append(q)
                bits.append(key)
            number[state] = fused[key]
    targets = [
        number[family.targets[token]]
        for family in automaton.families
        for token in sorted(family.targets)
    ]
    accepting = np.zeros(len(family_of), dtype=np.uint8)
    for state, new in number.items():
        accepting[new] = automaton.accepting[state]
    allowed_offsets = np.concatenate(([0], np.cumsum([len(b) for b in bits]))).astype(np.int64)
    allowed = np.frombuffer(b"".join(bits), dtype=np.uint8)
    table = TokenDfa(
        family=np.array(family_of, dtype=np.int32),
        accepting=accepting,
        edge_offsets=np.array(edge_offsets, dtype=np.int64),
        edge_tokens=np.concatenate(tokens) if tokens else np.zeros(0, np.int32),
        edge_targets=np.array(targets, dtype=np.int32),
        start=number[automaton.start],
    )
    count = int(np.unpackbits(allowed).sum())
    return CanonicalDfa(table, allowed, allowed_offsets, growth, count)
