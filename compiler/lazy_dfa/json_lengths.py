"""Lengths of JSON strings: repetitions of a character that may be written by an escape.

    '"' character{0,200} '"'    ->    at most 202 characters, quotes and escapes being one each

A lazy DFA counts bytes that begin a character where no escape is open. That is the number of
repetitions if each begins one character and no more; whether it does is looked at.
"""

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.conjunctions import CONTINUES, TOLD_APART, phase_after

from ..automata import regex_ir as regex
from ..automata.dfa import DEAD, Dfa
from ..automata.graphs import Numbered
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..limits import Limits


def json_length(node: regex.Node, limits: Limits) -> tuple[regex.Node, int, int | None] | None:
    """The node without bounds, and these, of a repetition of one character between quotes; None of
    any other node. Raises ``LimitError``."""
    if not isinstance(node, regex.Seq) or len(node.parts) != 3:
        return None
    first, repeated, last = node.parts
    are_quotes = all(isinstance(part, regex.Lit) and part.data == b'"' for part in (first, last))
    if not are_quotes or not isinstance(repeated, regex.Repeat):
        return None
    item = repeated.node
    if not isinstance(item, regex.Embedded) or not _begins_one(
        minimal(thompson(item, limits), limits)
    ):
        return None
    most = None if repeated.max_times is None else repeated.max_times + 2
    freely = regex.seq(first, regex.Repeat(item, 0, None), last)
    return freely, repeated.min_times + 2, most


def _begins_one(item: Dfa) -> bool:
    """Whether the first byte of each text begins a character, and no other one does."""
    states, phases, edges = _phased(item)
    accepting = {i for i, state in enumerate(states) if item.accepting[state]}
    if any(phases[i] for i in accepting) or 0 in accepting:
        return False
    return all(
        begins == (source == 0) and target != 0 and source not in accepting
        for source, begins, target in edges
    )


def phased(dfa: Dfa) -> tuple[Dfa, NDArray[np.uint8]]:
    """The same automaton with a state for each phase that one is reached in, and these phases,
    uint8 (S,); not minimal then."""
    states, phases, _ = _phased(dfa)
    number = {key: i + 1 for i, key in enumerate(zip(states, phases, strict=True))}
    # A byte tells phases apart only if its column does.
    classes, firsts = _columns(dfa)
    table = np.zeros((len(states) + 1, len(firsts)), dtype=np.int32)
    rows = dfa.table[:, dfa.classes[firsts]].tolist()
    for (state, phase), i in number.items():
        table[i] = [
            DEAD if target == DEAD else number[target, phase_after(phase, octet)]
            for target, octet in zip(rows[state], firsts, strict=True)
        ]
    accepting = np.append(False, dfa.accepting[states])
    origins = (frozenset[int](),) * len(table)
    found = Dfa(table, classes, accepting, 1, origins, is_trimmed=dfa.is_trimmed)
    return found, np.array([0, *phases], dtype=np.uint8)


def _columns(dfa: Dfa) -> tuple[NDArray[np.uint8], list[int]]:
    """Columns that tell apart what phases do, and a byte of each."""
    special = np.zeros(256, dtype=np.int64)
    special[CONTINUES] = 1
    for place, octets in enumerate(TOLD_APART):
        special[list(octets)] = place + 2
    keys = dfa.classes.astype(np.int64) * (len(TOLD_APART) + 2) + special
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return inverse.reshape(-1).astype(np.uint8), firsts.tolist()


def _phased(dfa: Dfa) -> tuple[list[int], list[int], list[tuple[int, bool, int]]]:
    """States and phases, in the order in which they are met, and edges between their numbers with
    whether a character begins."""
    _, firsts = _columns(dfa)
    rows = dfa.table[:, dfa.classes[firsts]].tolist()
    met, edges = Numbered((dfa.start, 0)), []
    for state, phase in met.order:
        source = met[state, phase]
        for target, octet in zip(rows[state], firsts, strict=True):
            if target != DEAD:
                key = target, phase_after(phase, octet)
                begins = phase == 0 and octet & 0xC0 != 0x80
                edges.append((source, begins, met[key]))
    return [state for state, _ in met.order], [phase for _, phase in met.order], edges
