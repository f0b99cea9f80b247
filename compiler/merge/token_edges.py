"""Token terminals after DirectMerge: symbols of token classes become the tokens of the class.

Merging leaves the symbols of token classes alone: the texts before and after one are merged
separately, as a tokenizer does with the texts around an added token. Then each symbol is replaced:

    q --class {5, 6}--> r      ->      q --5--> r,  q --6--> r

At the same place a token of the class may also be what merging made of a text. It then leads to
both targets at once, so the subset construction follows. Subsets of one state of a family in which
this never happens stay in that family; every other subset is a family of its own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.token_dfa import TokenDfa
from constrain.artifacts.tokens.memo import memoised

from ..automata.dfa import TokenIds
from ..automata.graphs import Numbered
from ..automata.token_classes import grouped
from ..limits import Limits
from .direct_merge import CanonicalDfa

_STAGE = "the DFA over tokens"
# Bytes of an edge in memory: token, target, and the index of its bit.
_CELL_BYTES = 16
_States = tuple[int, ...]


def with_token_edges(
    canonical: CanonicalDfa,
    first: int,
    classes: Sequence[TokenIds],
    limits: Limits | None = None,
    rules_of: Sequence[Sequence[str]] = (),
) -> CanonicalDfa:
    """The DFA over token ids. Raises ``LimitError``.

    ``classes``: int32, the ids that the symbols ``first``, ``first + 1``, … of ``canonical`` stand
    for. ``rules_of``: for each byte-DFA state the rules after it, which errors name.
    """
    limits = (limits or Limits()).started()
    return _Subsets(canonical, first, classes, limits, rules_of).run()


class _Family:
    """The edges of a family over token ids.

    ``tokens`` (ascending), ``targets``: of each edge. ``edge``: the index of its bit among the
    family's edges before the replacement. ``ambiguous``: some token has two edges.
    """

    def __init__(
        self,
        symbols: NDArray[np.int32],
        targets: NDArray[np.int32],
        first: int,
        classes: Sequence[TokenIds],
    ) -> None:
        places = np.arange(len(symbols))
        spelled = symbols < first
        tokens, edges = [symbols[spelled]], [places[spelled]]
        for place in places[~spelled].tolist():
            ids = classes[int(symbols[place]) - first]
            tokens.append(ids)
            edges.append(np.full(len(ids), place))
        every = np.concatenate(tokens)
        order = np.argsort(every, kind="stable")
        self.tokens = every[order]
        self.edge = np.concatenate(edges)[order]
        self.targets = targets[self.edge]
        self.ambiguous = bool((self.tokens[1:] == self.tokens[:-1]).any())


class _Subsets:
    """The subset construction, breadth first from the start state.

    ``sets``: subsets of states by number. ``edges``: tokens and targets of each family; families of
    ``canonical`` keep their numbers. ``byte_states``: the byte-DFA state of each family.
    """

    def __init__(
        self,
        canonical: CanonicalDfa,
        first: int,
        classes: Sequence[TokenIds],
        limits: Limits,
        rules_of: Sequence[Sequence[str]],
    ) -> None:
        self.canonical, self.first, self.classes = canonical, first, classes
        self.limits, self.rules_of = limits, rules_of
        self.sources = len(canonical.dfa.edge_offsets) - 1
        start = (canonical.dfa.start,)
        self.numbers = Numbered[_States](start)
        self.sets = self.numbers.order
        nobody = np.zeros(0, dtype=np.int32)
        self.edges = [(nobody, nobody)] * self.sources
        self.expanded: set[int] = set()
        self.byte_states = list(range(self.sources))
        self.family_of: list[int] = []
        self.bits: list[NDArray[np.uint8]] = []
        self.transitions = 0
        self.cells = 0

    def run(self) -> CanonicalDfa:
        """Expand all subsets that are reached, and give the DFA."""
        while len(self.family_of) < len(self.sets):
            states = self.sets[len(self.family_of)]
            family = int(self.canonical.dfa.family[states[0]])
            if len(states) == 1 and not self._family(family).ambiguous:
                self._add_member(states[0], family)
            else:
                self._add_family(states, family)
            rules = self.rules_of[family] if family < len(self.rules_of) else ()
            self.limits.check_states(len(self.sets), _STAGE, rules)
            self.limits.check_transitions(self.transitions, _STAGE, rules)
            self.limits.check_memory(self.cells * _CELL_BYTES, _STAGE, rules)
            self.limits.check_resources(_STAGE, rules)
        return self._tables()

    @memoised
    def _family(self, number: int) -> _Family:
        dfa = self.canonical.dfa
        span = slice(int(dfa.edge_offsets[number]), int(dfa.edge_offsets[number + 1]))
        return _Family(dfa.edge_tokens[span], dfa.edge_targets[span], self.first, self.classes)

    def _add_member(self, state: int, number: int) -> None:
        """A subset of one unambiguous state is a member of that state's family."""
        family = self._family(number)
        if number not in self.expanded:
            self.expanded.add(number)
            distinct, place = np.unique(family.targets, return_inverse=True)
            numbers = [self.numbers[target,] for target in distinct.tolist()]
            targets = np.array(numbers, dtype=np.int32)[place.reshape(-1)]
            self.edges[number] = (family.tokens, targets)
            self.cells += len(targets)
        self._end(number, self.canonical.flags(state)[family.edge])

    def _add_family(self, states: _States, number: int) -> None:
        """Any other subset gets a family of its own."""
        tokens, targets = [], []
        for state in states:
            family = self._family(int(self.canonical.dfa.family[state]))
            allowed = self.canonical.flags(state)[family.edge]
            tokens.append(family.tokens[allowed])
            targets.append(family.targets[allowed])
        groups = grouped(np.concatenate(tokens), np.concatenate(targets))
        every = np.concatenate([np.zeros(0, dtype=np.int32), *(ids for ids, _ in groups)])
        numbers = np.array([self.numbers[reached] for _, reached in groups], dtype=np.int32)
        sizes = np.array([len(ids) for ids, _ in groups], dtype=np.int64)
        leads = np.repeat(numbers, sizes)
        order = np.argsort(every)
        self.edges.append((every[order], leads[order]))
        self.cells += len(every)
        self.byte_states.append(number)
        self._end(len(self.edges) - 1, np.ones(len(every), dtype=np.bool_))

    def _end(self, family: int, allowed: NDArray[np.bool_]) -> None:
        self.family_of.append(family)
        self.bits.append(np.packbits(allowed, bitorder="little"))
        self.transitions += int(allowed.sum())

    def _tables(self) -> CanonicalDfa:
        accepting = self.canonical.dfa.accepting
        table = TokenDfa(
            family=np.array(self.family_of, dtype=np.int32),
            accepting=np.array([max(accepting[list(s)]) for s in self.sets], dtype=np.uint8),
            edge_offsets=np.cumsum([0, *(len(t) for t, _ in self.edges)]).astype(np.int64),
            edge_tokens=np.concatenate([tokens for tokens, _ in self.edges]).astype(np.int32),
            edge_targets=np.concatenate([targets for _, targets in self.edges]).astype(np.int32),
            start=0,
        )
        added = len(self.byte_states) > self.sources
        return CanonicalDfa(
            dfa=table,
            allowed=np.concatenate(self.bits),
            allowed_offsets=np.cumsum([0, *map(len, self.bits)]).astype(np.int64),
            growth=self.canonical.growth,
            transitions=self.transitions,
            family_states=np.array(self.byte_states, dtype=np.int32) if added else None,
        )
