"""Tokens that a byte DFA reads both as a text and as a token.

    S ::= <[5]> "x" | "ab" "y"     and token 5 is "ab": behind it both x and y may follow

Where any token sequence is allowed that spells a member, the byte DFA itself is stepped by
tokens. Here its states become sets of states, by the subset construction, in which the
column of a token says where the token leads in every way; tokens that lead to different
sets get columns of their own.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import DEAD
from constrain.artifacts.tokens.trie import Trie, walk
from constrain.artifacts.tokens.vocabulary import TokenClasses

from ..automata.dfa import Dfa, TokenIds, trimmed
from ..automata.nfa import united
from ..automata.token_classes import grouped
from ..limits import Limits
from ..options import ArtifactRequest
from ..token_ids import TokenColumns

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

_STAGE = "the byte DFA over tokens"
_States = frozenset[int]


def read_in_one_way(
    columns: TokenColumns, request: ArtifactRequest["Tokenizer"], rules: Sequence[str]
) -> TokenColumns:
    """The same members, each token being read in one way. Raises ``LimitError``."""
    trie = request.trie
    dfa, classes = without_overlaps(columns.dfa, columns.classes, trie, request.limits, rules)
    return TokenColumns(dfa, classes, columns.notes)


def without_overlaps(
    dfa: Dfa,
    classes: Sequence[TokenIds],
    trie: Trie,
    limits: Limits | None = None,
    rules: Sequence[str] = (),
) -> tuple[Dfa, list[TokenIds]]:
    """The DFA and its classes of tokens such that a token in a live column leads there alone.

    ``classes``: the ids of the token columns of ``dfa``, disjoint. Where no token is read in
    two ways both come back as they are. ``rules``: the rule behind each
    atomic origin, which a ``LimitError`` names.
    """
    subsets = _Subsets(dfa, classes, trie, (limits or Limits()).started(), rules)
    subsets.follow()
    return subsets.tables() if subsets.overridden else (dfa, list(classes))


class _Subsets:
    def __init__(
        self,
        dfa: Dfa,
        classes: Sequence[TokenIds],
        trie: Trie,
        limits: Limits,
        rules: Sequence[str],
    ) -> None:
        self.dfa, self.trie, self.limits, self.rules = dfa, trie, limits, rules
        self.classes = TokenClasses.of(classes)
        highest = [*self.classes.ids.tolist(), *trie.ids.tolist()]
        self.class_of = self.classes.class_of(max(highest, default=0) + 1)
        empty, start = frozenset[int](), frozenset([dfa.start])
        self.numbers = {empty: DEAD, start: 1}
        self.sets: list[_States] = [empty, start]
        width = dfa.table.shape[1]
        self.rows = [[DEAD] * width]
        # For each set of states the tokens that are also texts there, and where they lead.
        self.overridden: dict[int, list[tuple[TokenIds, int]]] = {}
        self._hits: dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}

    def follow(self) -> None:
        """The sets that bytes and tokens lead to, from the start on."""
        table = self.dfa.table
        while len(self.rows) < len(self.sets):
            states = sorted(self.sets[len(self.rows)])
            columns = table[states].T.tolist()
            targets = [frozenset(column) - {DEAD} for column in columns]
            self._override(len(self.rows), states, targets[self.dfa.byte_columns :])
            self.rows.append([self._number(target) for target in targets])
            if len(self.sets) > self.limits.states or self.limits.is_over():
                found = {
                    self.rules[o]
                    for q in states
                    for o in self.dfa.origins[q]
                    if o < len(self.rules)
                }
                self.limits.check_states(len(self.sets), _STAGE, sorted(found))
                self.limits.check_resources(_STAGE, sorted(found))

    def _override(self, number: int, states: list[int], by_class: list[_States]) -> None:
        """Note where tokens lead that are read as a text and as a token."""
        live = np.array([bool(target) for target in by_class] + [False])
        if not live.any():
            return
        hits = [self._texts(state) for state in states]
        tokens = np.concatenate([found for found, _ in hits])
        ends = np.concatenate([found for _, found in hits])
        both = live[self.class_of[tokens]]
        for ids, reached in grouped(tokens[both], ends[both]):
            for k in np.unique(self.class_of[ids]).tolist():
                target = self._number(by_class[k] | frozenset(reached))
                found = (ids[self.class_of[ids] == k], target)
                self.overridden.setdefault(number, []).append(found)

    def _texts(self, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The tokens of classes whose bytes the DFA reads from a state, and where they lead."""
        if state not in self._hits:
            found = list(walk(self.trie, self.dfa.table, self.dfa.classes, np.array([state])))
            nobody = np.zeros(0, dtype=np.int32)
            tokens = np.concatenate([nobody, *(hits.tokens for hits in found)])
            ends = np.concatenate([nobody, *(hits.states for hits in found)])
            held = self.class_of[tokens] >= 0
            self._hits[state] = (tokens[held], ends[held])
        return self._hits[state]

    def _number(self, states: _States) -> int:
        number = self.numbers.setdefault(states, len(self.sets))
        if number == len(self.sets):
            self.sets.append(states)
        return number

    def tables(self) -> tuple[Dfa, list[TokenIds]]:
        """The automaton over the sets; a class is split where its tokens lead apart."""
        ids = np.sort(self.classes.ids)
        group = self.class_of[ids].astype(np.int64)
        for overridden in self.overridden.values():
            leads = np.zeros(len(self.class_of), dtype=np.int64)
            for tokens, target in overridden:
                leads[tokens] = target
            _, group = np.unique(group * len(self.sets) + leads[ids], return_inverse=True)
            group = group.reshape(-1)
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        classes = [ids[group.reshape(-1) == number] for number in range(len(first))]
        table = np.array(self.rows, dtype=np.int32)
        by_byte = table[:, : self.dfa.byte_columns]
        by_token = table[:, self.dfa.byte_columns + self.class_of[ids[first]]]
        for number, overridden in self.overridden.items():
            leads = np.zeros(len(self.class_of), dtype=np.int32)
            for tokens, target in overridden:
                leads[tokens] = target
            own = leads[ids[first]]
            by_token[number] = np.where(own != DEAD, own, by_token[number])
        split = Dfa(
            table=np.concatenate([by_byte, by_token], axis=1),
            classes=self.dfa.classes,
            accepting=np.array([bool(self.dfa.accepting[list(s)].any()) for s in self.sets]),
            start=1,
            origins=tuple(united(self.dfa.origins[q] for q in sorted(s)) for s in self.sets),
        )
        return trimmed(split), classes
