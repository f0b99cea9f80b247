"""Automata of regular grammars, and small ones for tests of what tokens do to states: languages of
few states, random tables."""

import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.container.manifest import EXACT
from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.automata.nfa import FIRST_TERMINAL
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.choose import AS_ASKED, EngineChoice
from constrain.compiler.frontend import Automaton, compile_regular, read_checked
from constrain.compiler.merge.product import Product
from constrain.compiler.options import DFA, CompileOptions, with_changes

REGEXES = {
    "counted words": "[a-c ]{1,12}",
    "scripts": "[a-zéñ漢字 ]{0,7}",
    "quoted": r'"([^"\\]|\\.)*"',
    "one way out": "(in|ing|the){1,5}s",
    "white space": r"( |\n|x)*y",
}

# Those whose every token is soon run from every state.
SMALL_REGEXES = [name for name in REGEXES if name != "quoted"]


def build_automaton(
    text: str, options: CompileOptions | None = None, *, name: str = "<grammar>", **changes: Any
) -> Automaton:
    """The automaton of a regular grammar, which is read exactly."""
    wanted = with_changes(options, changes)
    grammar = read_checked(text, wanted, name)
    return compile_regular(grammar, EngineChoice(EXACT, DFA, AS_ASKED), wanted.limits)


def lifted_via_running(product: Product, tables: TokenizerTables) -> dict[tuple[int, int], int]:
    """(row, token) to target, by running every token from every state."""
    trie = tables.pairs.trie
    tokens = tables.tokenizer.tokens
    found = {}
    for state in range(1, product.states):
        for plane in (0, 1):
            for token in trie.ids.tolist():
                here, first = state, plane
                for octet in tokens[token]:
                    here, first = int(product.table[here, first, product.classes[octet]]), 0
                if here:
                    found[2 * state + plane, token] = here
    return found


def random_table(rng: random.Random, states: int, columns: int) -> NDArray[np.int32]:
    """A random automaton; state 0 is dead."""
    table = np.zeros((states, columns), dtype=np.int32)
    for state in range(1, states):
        for column in range(columns):
            table[state, column] = rng.randrange(states) if rng.random() < 0.7 else 0
    return table


def run(table: NDArray[np.int32], state: int, columns: list[int]) -> int:
    """Where a text leads, 0 for nowhere."""
    for column in columns:
        state = int(table[state, column])
    return state


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
