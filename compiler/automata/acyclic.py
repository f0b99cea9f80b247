"""The states of a DFA that reach no cycle, minimised from the end.

Revuz (1992), "Minimisation of acyclic deterministic automata in linear time": in the order of
their heights, the lengths of the longest words they accept, two states are equivalent if both
or neither accept and their edges lead to equivalent states.
"""

import numpy as np
from numpy.typing import NDArray

from .dfa import DEAD, Dfa, edges


def acyclic_classes(dfa: Dfa) -> NDArray[np.int64]:
    """For each state of a trimmed automaton its class, or -1 if it reaches a cycle; shape (S,).

    States of one class are equivalent, and to no state of another class or of none. The dead
    state is class 0.
    """
    classes = np.full(dfa.states, -1, dtype=np.int64)
    classes[DEAD] = 0
    sources, targets = edges(dfa.table)
    order = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[order], np.arange(dfa.states + 1)).tolist()
    before = sources[order].tolist()
    missing = np.bincount(sources, minlength=dfa.states).tolist()
    accepting = dfa.accepting.tolist()
    known: dict[tuple[bool, bytes], int] = {}
    level = [state for state in range(1, dfa.states) if not missing[state]]
    while level:
        rows = classes[dfa.table[level]]
        for state, row in zip(level, rows, strict=True):
            key = (accepting[state], row.tobytes())
            classes[state] = known.setdefault(key, len(known) + 1)
        following = []
        for state in level:
            for source in before[starts[state] : starts[state + 1]]:
                missing[source] -= 1
                if not missing[source]:
                    following.append(source)
        level = following
    return classes
