"""DirectMerge on each merge of a tokenizer: the DFA of tokenize(L).

    letters (one token a byte)  ->  merge after merge  ->  fuse equal states  ->  tables

Section 1.3 of the source: one merge at a time is enough. States of one family with the
same transitions are fused at the end, as section 5.3 does for tokenize(Σ*).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.dfa.token_dfa import TokenDfa

from ..automata.dfa import DEAD, Dfa
from ..bpe.forbidden_pairs import only_followed_by
from ..limits import Limits
from ..progress import Progress, silent
from .direct import direct_merge
from .families import FamilyAutomaton, with_letters

_STAGE = "DirectMerge"

# Merges between two looks at the clock and the progress bar.
_STRIDE = 512


@dataclass(frozen=True, slots=True)
class Growth:
    """The size of the automaton after ``merges`` merges (of the list, effective or not)."""

    merges: int
    states: int
    transitions: int


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalDfa:
    """The DFA of tokenize(L).

    ``allowed``: uint8, one bit for each state and edge of its family (little-endian within a
    byte); those of state s begin at ``allowed[allowed_offsets[s]]``. ``growth``: one entry
    for each merge that changed the automaton, and the first and the last. ``transitions``:
    how many a plain table would hold. ``family_states``: int32 (Q,), the byte-DFA state of
    each family where it is not the family's own number. ``pairs``: see ``with_pairs``.
    """

    dfa: TokenDfa
    allowed: NDArray[np.uint8]
    allowed_offsets: NDArray[np.int64]
    growth: tuple[Growth, ...]
    transitions: int
    family_states: NDArray[np.int32] | None = None
    pairs: ForbiddenPairs | None = None

    def flags(self, state: int) -> NDArray[np.bool_]:
        """Which edges of its family a state allows."""
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
    """The DFA of tokenize(L) for the language of ``dfa``, trimmed and not empty.

    ``base``: token id of each byte that the language uses; ``terminals``: token ids of the
    token terminals; ``merges``: int32 (n, 3), left, right and result; ``rules``: the rule
    behind each atomic origin. Raises ``LimitError`` naming the rules that grew most.
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
    """Apply all merges to an automaton of letters whose state 0 is dead.

    ``rules``: those behind each family. Raises ``LimitError`` naming what grew most.
    """
    limits = (limits or Limits()).started()
    automaton.remove_state(DEAD)

    def culprits() -> list[str]:
        sizes = [int(family.degree.sum()) for family in automaton.families]
        return rules[max(range(len(sizes)), key=lambda q: sizes[q])]

    growth = _merge_all(automaton, merges, limits, progress, culprits)
    return _tables(automaton, growth)


def with_pairs(canonical: CanonicalDfa, pairs: ForbiddenPairs) -> CanonicalDfa:
    """The same with the forbidden pairs of which its edges read the second token.

    A matcher needs them behind a prompt: the prompt's last token forbids some of the first ones.
    """
    used = np.zeros(len(pairs.part), dtype=np.bool_)
    used[canonical.dfa.edge_tokens] = True
    return replace(canonical, pairs=only_followed_by(pairs, used))


def _letters(
    dfa: Dfa, base: Sequence[int], terminals: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """The edges over letters, the tokens of single bytes: (source, token, target)."""
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
            limits.check_time(_STAGE, culprits() if limits.is_over() else ())
            progress(_STAGE, number, total)
    progress(_STAGE, total, total)
    growth.append(Growth(total, automaton.states, automaton.transitions))
    return tuple(growth)


def _tables(automaton: FamilyAutomaton, growth: tuple[Growth, ...]) -> CanonicalDfa:
    """Number the states family by family, fusing equal ones, and lay out the arrays."""
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
        known: dict[bytes, int] = {}
        for place, state in enumerate(family.members):
            if family.gone[place]:
                continue
            key = packed[place].tobytes()
            if key not in known:
                known[key] = len(family_of)
                family_of.append(q)
                bits.append(key)
            number[state] = known[key]
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
