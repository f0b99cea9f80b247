"""Differences and their like, on deterministic automata.

All are the product of ``product.py`` with another table of answers. A DFA is complete here
(state 0 is dead), so a complement is a difference from all texts.
"""

import numpy as np

from ..limits import Limits
from . import regex
from .determinize import determinize
from .dfa import DEAD, Dfa, as_nfa, trimmed
from .minimize import minimize
from .nfa import Arc, Nfa
from .product import product
from .regex import ANY_CHARACTER, EVERYTHING
from .thompson import thompson


def difference(left: Dfa, right: Dfa, limits: Limits | None = None) -> Dfa:
    """The members of ``left`` that are no members of ``right``; minimal.

    Both have the same token terminals, each a symbol of its own. Raises ``LimitError``, and
    ``ValueError`` where one has more of them.
    """
    return product(left, right, lambda a, b: a and not b, limits)


def common(left: Dfa, right: Dfa, limits: Limits | None = None) -> Dfa:
    """The members of both; minimal. Conditions and errors as for ``difference``."""
    return product(left, right, lambda a, b: a and b, limits)


def union(left: Dfa, right: Dfa, limits: Limits | None = None) -> Dfa:
    """The members of either; minimal. Conditions and errors as for ``difference``."""
    return product(left, right, lambda a, b: a or b, limits)


def complement(dfa: Dfa, limits: Limits | None = None) -> Dfa:
    """All texts (well-formed UTF-8) that are no members; minimal. Raises ``LimitError``."""
    return difference(_compiled(EVERYTHING, limits or Limits()), dfa, limits)


def excluding(item: Dfa, at_most: int | None, limits: Limits | None = None) -> Dfa:
    """One or more characters (at most ``at_most``) that do not contain a member of ``item``.

    The complement-until of "Implementing a Constrained Decoding Engine": all texts without
    those that match ``any* item any*``. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    containing = regex.seq(EVERYTHING, embedded(item), EVERYTHING)
    universe = regex.repeat(ANY_CHARACTER, 1, at_most)
    return difference(_compiled(universe, limits), _compiled(containing, limits), limits)


def shortest_matches(dfa: Dfa) -> Dfa:
    """The members of which no proper prefix is a member."""
    table = np.where(dfa.accepting[:, None], DEAD, dfa.table).astype(np.int32)
    return minimize(trimmed(Dfa(table, dfa.classes, dfa.accepting, dfa.start, dfa.origins)))


def substrings(text: str) -> regex.Node:
    """Any run of neighbouring characters of ``text``, the empty one too."""
    nfa = Nfa()
    letters = [char.encode("utf-8") for char in text]
    ends = np.cumsum([0, *map(len, letters)]).tolist()
    total = ends[-1] + 1
    nfa.arcs = [[] for _ in range(total + 1)]
    nfa.epsilon = [[] for _ in range(total + 1)]
    for place, octet in enumerate(text.encode("utf-8")):
        nfa.arcs[place].append(Arc(octet, octet, place + 1, frozenset()))
    nfa.start = total
    nfa.epsilon[total] = ends
    nfa.finals = frozenset([*ends, total])
    return regex.Embedded(nfa)


def embedded(dfa: Dfa) -> regex.Node:
    """The automaton as a part of an expression, without its origins."""
    return regex.Embedded(as_nfa(dfa, keep_origins=False))


def _compiled(node: regex.Node, limits: Limits) -> Dfa:
    return minimize(determinize(thompson(node, limits), limits), limits)
