"""The product of two deterministic automata (Rabin and Scott 1959, theorem 5)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .dfa import DEAD, Dfa, trimmed
from .minimize import minimize

_STAGE = "the product of two automata"


def product(
    left: Dfa,
    right: Dfa,
    keep: Callable[[bool, bool], bool],
    limits: Limits | None = None,
) -> Dfa:
    """The words of which ``keep(member of left, member of right)`` holds; minimal.

    ``keep(False, False)`` must be false: what is a member of neither is none of the product.
    Reachable pairs only, found level by level, each level as one array (n, C) over the
    common byte classes and the token terminals, which must be the same. Raises ``LimitError``,
    and ``ValueError`` for different numbers of token terminals.
    """
    limits = (limits or Limits()).started()
    classes, columns = common_classes(left, right)
    # A pair is one number; pairs from which nothing can be kept are one dead state.
    width = right.states
    left_table = left.table[:, columns[0]].astype(np.int64) * width
    right_table = right.table[:, columns[1]].astype(np.int64)
    needs_left, needs_right = not keep(False, True), not keep(True, False)
    start = left.start * width + right.start
    dead = DEAD * width + DEAD
    numbers = {dead: 0, start: 1} if start != dead else {dead: 0}
    pairs = np.array(list(numbers), dtype=np.int64)
    levels: list[NDArray[np.int32]] = []
    known = [pairs]
    while len(pairs):
        codes = left_table[pairs // width] + right_table[pairs % width]
        if needs_left:
            codes[codes < width] = dead
        if needs_right:
            codes[codes % width == DEAD] = dead
        distinct, inverse = np.unique(codes, return_inverse=True)
        first = len(numbers)
        given = [numbers.setdefault(code, len(numbers)) for code in distinct.tolist()]
        targets = np.array(given, dtype=np.int32)
        levels.append(targets[inverse].reshape(codes.shape))
        pairs = distinct[targets >= first]
        known.append(pairs)
        limits.check_states(len(numbers), _STAGE)
        limits.check_time(_STAGE)
    every = np.concatenate(known)
    here, there = left.accepting[every // width], right.accepting[every % width]
    answers = np.array([[keep(a, b) for b in (False, True)] for a in (False, True)])
    result = Dfa(
        table=np.concatenate(levels),
        classes=classes,
        accepting=answers[here.astype(np.intp), there.astype(np.intp)],
        start=numbers[start],
        origins=(frozenset(),) * len(every),
    )
    return minimize(trimmed(result), limits)


def common_classes(left: Dfa, right: Dfa) -> tuple[NDArray[np.uint8], tuple[list[int], list[int]]]:
    """Byte classes that refine both, and the columns of each, then of the token terminals."""
    terminals = range(left.token_columns)
    if len(terminals) != right.token_columns:
        raise ValueError("the two automata have different token terminals")
    known: dict[tuple[int, int], int] = {}
    classes = np.zeros(256, dtype=np.uint8)
    both = zip(left.classes.tolist(), right.classes.tolist(), strict=True)
    for octet, pair in enumerate(both):
        classes[octet] = known.setdefault(pair, len(known))
    return classes, (
        [*(a for a, _ in known), *(left.byte_columns + k for k in terminals)],
        [*(b for _, b in known), *(right.byte_columns + k for k in terminals)],
    )
