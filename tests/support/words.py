"""The words of an automaton."""

from collections import deque
from collections.abc import Iterator

from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.automata.nfa import FIRST_TERMINAL


def words_of(dfa: Dfa, longest: int) -> Iterator[tuple[int, ...]]:
    """All members of at most ``longest`` symbols, shortest first."""
    by_column: list[list[int]] = [[] for _ in range(dfa.table.shape[1])]
    for octet, column in enumerate(dfa.classes.tolist()):
        by_column[column].append(octet)
    for k, column in enumerate(range(dfa.byte_columns, dfa.table.shape[1])):
        by_column[column].append(FIRST_TERMINAL + k)
    pending: deque[tuple[int, tuple[int, ...]]] = deque([(dfa.start, ())])
    while pending:
        state, word = pending.popleft()
        if dfa.accepting[state]:
            yield word
        if len(word) < longest:
            for column, target in enumerate(dfa.table[state].tolist()):
                if target != DEAD:
                    pending.extend((target, (*word, s)) for s in by_column[column])
