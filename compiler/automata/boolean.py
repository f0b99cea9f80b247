"""The product of two DFAs, and by it intersection, union, difference and complement.

A state of the product is a pair of states; which pairs accept is a table of four truth values
(Rabin and Scott 1959, theorem 5). A DFA is complete here, state 0 being dead, so a complement is a
difference from all texts, and what follows of one half of a pair alone is in the product, too.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.memo import Numbered

from ..limits import Limits
from . import regex_ir as regex
from .determinize import determinize
from .dfa import DEAD, Dfa, as_nfa
from .minimize import minimize
from .nfa import Arc, Nfa
from .regex_ir import ANY_CHARACTER, EVERYTHING
from .thompson import thompson

_STAGE = "the product of two automata"

# What is said of the parts of a text, bytes of memory for each state of their automaton, and states
# between two looks at the clock.
_SUBSTRINGS = "the parts of a text"
_OF_STATE, _CLOCK_STRIDE = 300, 1024

# Cells of the table that are found at once.
_BLOCK = 1 << 20


def product(
    left: Dfa,
    right: Dfa,
    holds: Callable[[bool, bool], bool],
    limits: Limits | None = None,
) -> Dfa:
    """The words of which ``holds(member of left, member of right)`` is true; minimal.

    ``holds(False, False)`` must be false: what is a member of neither is none of the product.
    Reachable pairs only, found breadth-first, each level as one array (n, C) over the common byte
    classes and the token terminals, which must be the same. Raises ``LimitError``,
    and ``ValueError`` for different numbers of token terminals.
    """
    limits = (limits or Limits()).started()
    classes, columns = common_classes(left, right)
    # A pair is one number; pairs from which no word can hold are one dead state.
    width = right.states
    left_table = left.table[:, columns[0]].astype(np.int64) * width
    right_table = right.table[:, columns[1]].astype(np.int64)
    needs_left, needs_right = not holds(False, True), not holds(True, False)
    start = left.start * width + right.start
    dead = DEAD * width + DEAD
    numbers = {dead: 0, start: 1} if start != dead else {dead: 0}
    pairs = np.array(list(numbers), dtype=np.int64)
    levels: list[NDArray[np.int32]] = []
    found = [pairs]
    rows = max(1, _BLOCK // left_table.shape[1])
    while len(pairs):
        level, pairs = pairs, np.zeros(0, dtype=np.int64)
        for begin in range(0, len(level), rows):
            block = level[begin : begin + rows]
            codes = left_table[block // width] + right_table[block % width]
            if needs_left:
                codes[codes < width] = dead
            if needs_right:
                codes[codes % width == DEAD] = dead
            distinct, inverse = np.unique(codes, return_inverse=True)
            first = len(numbers)
            given = [numbers.setdefault(code, len(numbers)) for code in distinct.tolist()]
            targets = np.array(given, dtype=np.int32)
            levels.append(targets[inverse].reshape(codes.shape))
            pairs = np.append(pairs, distinct[targets >= first])
            limits.check_states(len(numbers), _STAGE)
            limits.check_resources(_STAGE)
        found.append(pairs)
    every = np.concatenate(found)
    here, there = left.accepting[every // width], right.accepting[every % width]
    truth = np.array([[holds(a, b) for b in (False, True)] for a in (False, True)])
    result = Dfa(
        table=np.concatenate(levels),
        classes=classes,
        accepting=truth[here.astype(np.intp), there.astype(np.intp)],
        start=numbers[start],
        origins=(frozenset(),) * len(every),
    )
    return minimize(result, limits)


def common_classes(left: Dfa, right: Dfa) -> tuple[NDArray[np.uint8], tuple[list[int], list[int]]]:
    """Byte classes that refine both, and the columns of each, then of the token terminals."""
    terminals = range(left.token_columns)
    if len(terminals) != right.token_columns:
        raise ValueError("the two automata have different token terminals")
    columns = Numbered[tuple[int, int]]()
    both = zip(left.classes.tolist(), right.classes.tolist(), strict=True)
    classes = np.array([*map(columns.number, both)], dtype=np.uint8)
    return classes, (
        [*(a for a, _ in columns), *(left.byte_columns + k for k in terminals)],
        [*(b for _, b in columns), *(right.byte_columns + k for k in terminals)],
    )


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
    return minimize(Dfa(table, dfa.classes, dfa.accepting, dfa.start, dfa.origins))


def substrings(text: Sequence[str], limits: Limits | None = None) -> regex.Node:
    """Any run of neighbouring characters of ``text``, or of longer pieces, the empty one too.
    Raises ``LimitError``."""
    limits = limits or Limits()
    nfa = Nfa()
    letters = [piece.encode("utf-8") for piece in text]
    ends = np.cumsum([0, *map(len, letters)]).tolist()
    total = ends[-1] + 1
    limits.check_allocation(total * _OF_STATE, _SUBSTRINGS)
    nfa.arcs = [[] for _ in range(total + 1)]
    nfa.epsilon = [[] for _ in range(total + 1)]
    for place, octet in enumerate(b"".join(letters)):
        nfa.arcs[place].append(Arc(octet, octet, place + 1, frozenset()))
        if place % _CLOCK_STRIDE == 0:
            limits.check_resources(_SUBSTRINGS)
    nfa.start = total
    nfa.epsilon[total] = ends
    nfa.finals = frozenset([*ends, total])
    return regex.Embedded(nfa)


def embedded(dfa: Dfa) -> regex.Embedded:
    """The automaton as a part of an expression, without its origins."""
    return regex.Embedded(as_nfa(dfa, keep_origins=False))


def _compiled(node: regex.Node, limits: Limits) -> Dfa:
    return minimize(determinize(thompson(node, limits), limits), limits)
