"""Automata of regular grammars, and small ones for tests of what tokens do to states: languages of
few states, random tables."""

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.container.manifest import EXACT
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
