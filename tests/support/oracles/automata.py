"""Slow and plain operations on automata."""

import numpy as np

from constrain.compiler.automata.boolean import difference
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.minimize import minimize, quotient
from constrain.compiler.automata.nfa import Nfa
from constrain.compiler.limits import Limits


def minimize_via_moore(dfa: Dfa) -> Dfa:
    """The minimal automaton by Moore's rounds, each of which splits all blocks at once; the oracle.

    O(C n²).
    """
    block_of = dfa.accepting.astype(np.int64)
    count = 0
    while True:
        signatures = np.column_stack([block_of, block_of[dfa.table]])
        _, refined = np.unique(signatures, axis=0, return_inverse=True)
        block_of = refined.reshape(-1)
        if int(block_of.max()) + 1 == count:
            return quotient(dfa, block_of, Limits())
        count = int(block_of.max()) + 1


def minimal_via_arrays(nfa: Nfa, limits: Limits | None = None, terminals: int = 0) -> Dfa:
    """``minimal`` with tables, whatever the size; the oracle."""
    return minimize(determinize(nfa, limits, terminals), limits)


def is_included_via_product(left: Dfa, right: Dfa, limits: Limits | None = None) -> bool:
    """The same by the difference of both; the oracle. Raises ``LimitError``."""
    return difference(left, right, limits).is_empty
