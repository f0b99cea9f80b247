"""Replace token terminals, which may share tokens, by disjoint classes of tokens.

    <[5]>  and  !<[7]>      ->      {5}  and  all others but 7

A DFA over terminals is no DFA over tokens: token 5 is read by both. Every terminal is
replaced by the classes that it is made of, and the result made deterministic again.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .determinize import determinize
from .dfa import Dfa, TokenIds, as_nfa
from .minimize import minimize
from .nfa import FIRST_TERMINAL, Arc


def token_classes(terminals: Sequence[TokenIds]) -> tuple[list[TokenIds], list[list[int]]]:
    """The coarsest disjoint sets that all ``terminals`` are unions of, by their first ids.

    Also the numbers of the sets that make up each terminal.
    ``[{1, 2}, {2, 3}] -> [{1}, {2}, {3}], [[0, 1], [1, 2]]``
    """
    size = max((int(ids[-1]) + 1 for ids in terminals if len(ids)), default=0)
    held = np.zeros((size, len(terminals)), dtype=np.bool_)
    for number, ids in enumerate(terminals):
        held[ids, number] = True
    used = np.flatnonzero(held.any(axis=1))
    groups, first, group_of = np.unique(
        np.packbits(held[used], axis=1), axis=0, return_index=True, return_inverse=True
    )
    group_of = group_of.reshape(-1)
    order = np.argsort(first).tolist() if len(groups) else []
    classes = [used[group_of == group].astype(np.int32) for group in order]
    parts: list[list[int]] = [[] for _ in terminals]
    for number, ids in enumerate(classes):
        for terminal in np.flatnonzero(held[ids[0]]).tolist():
            parts[terminal].append(number)
    return classes, parts


def over_classes(
    dfa: Dfa,
    terminals: Sequence[TokenIds],
    limits: Limits | None = None,
    rules: Sequence[str] = (),
) -> tuple[Dfa, list[TokenIds]]:
    """The minimal DFA over classes of tokens, and the ids of each class.

    ``terminals``: the ids of each of the T token terminals of ``dfa``. One without ids is
    never read. ``rules``: the rule after each atomic origin. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    classes, parts = token_classes(terminals)
    nfa = as_nfa(dfa, rules)
    arcs = [[new for arc in arcs for new in _over(arc, parts)] for arcs in nfa.arcs]
    split = determinize(replace(nfa, arcs=arcs), limits, len(classes))
    return minimize(split, limits), classes


def _over(arc: Arc, parts: Sequence[Sequence[int]]) -> list[Arc]:
    """An arc over bytes as it is, one over a terminal as arcs over its classes."""
    if arc.low < FIRST_TERMINAL:
        return [arc]
    symbols = [FIRST_TERMINAL + number for number in parts[arc.low - FIRST_TERMINAL]]
    return [arc._replace(low=symbol, high=symbol) for symbol in symbols]


def grouped(
    tokens: NDArray[np.integer], states: NDArray[np.integer]
) -> list[tuple[TokenIds, tuple[int, ...]]]:
    """The tokens that lead to the same set of states, together with that set, ascending.

    ``tokens`` and ``states`` are parallel, in any order, pairs may repeat.
    ``tokens=[7, 8, 7], states=[1, 1, 2] -> [([7], (1, 2)), ([8], (1,))]``
    """
    if not len(tokens):
        return []
    base = int(states.max()) + 1
    # One number a pair sorts many times faster than rows of two.
    pairs = np.sort(tokens.astype(np.int64) * base + states)
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    first = np.flatnonzero(np.diff(pairs // base, prepend=-1))
    ids = pairs[first] // base
    counts = np.diff(first, append=len(pairs))
    found: list[tuple[TokenIds, tuple[int, ...]]] = []
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        chosen = counts == count
        sets = pairs[first[chosen][:, None] + np.arange(count)] % base
        key = sets[:, 0]
        for column in range(1, count):
            _, key = np.unique(key * base + sets[:, column], return_inverse=True)
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.diff(key[order], prepend=-1))
        groups = np.split(ids[chosen][order].astype(np.int32), begins[1:])
        reached = sets[order[begins]].tolist()
        found.extend(zip(groups, map(tuple, reached), strict=True))
    return sorted(found, key=lambda item: int(item[0][0]))
