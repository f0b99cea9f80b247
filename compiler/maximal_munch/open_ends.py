r"""Two lexemes that end together, of which one asks for the byte after it and the other does not.

    A: /a(?!b)/   B: /[ac]/      "a" before "b" could be B alone

The lexer says which lexemes have ended before it sees that byte. So this is refused, where that
byte may follow.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..automata.dfa import DEAD, Dfa
from ..automata.reached import reached
from ..diagnostics import CheckError, Diagnostic, Source
from ..limits import Limits
from .lexemes import Lexeme


def check_open_ends(lexemes: Sequence[Lexeme], source: Source, limits: Limits) -> None:
    """Raise ``CheckError`` for such a pair, and ``LimitError``."""
    begins = np.zeros(256, dtype=np.bool_)
    for each in lexemes:
        begins |= each.dfa.table[each.dfa.start, each.dfa.classes] != DEAD
    for one, other in product((each for each in lexemes if each.followed), lexemes):
        if other is not one and other.precedence <= one.precedence:
            found = _before(one.refusing, other.refusing, begins, limits)
            if found is not None:
                message = f"whether this or {other.text} ends before {found!r} is open"
                hint = "give the other one the same look-ahead, or this one none"
                raise CheckError(source, [Diagnostic(message, one.span, hint)])


def _before(one: Dfa, other: Dfa, begins: NDArray[np.bool_], limits: Limits) -> str | None:
    """A byte before which the first may not end where the other does, and reads no further."""
    left, right = _rows(one), _rows(other)
    refused = one.states - 1

    def following(pair: tuple[int, int]) -> set[tuple[int, int]]:
        limits.check_resources("the ends of lexemes")
        targets = zip(left[pair[0]].tolist(), right[pair[1]].tolist(), strict=True)
        return {(a, b) for a, b in targets if a != DEAD and b != DEAD}

    for a, b in reached([(one.start, other.start)], following):
        if one.accepting[a] and other.accepting[b]:
            differ = (left[a] == refused) & (right[b] == DEAD) & begins
            if differ.any():
                return chr(int(np.flatnonzero(differ)[0]))
    return None


def _rows(dfa: Dfa) -> NDArray[np.int32]:
    """Where each byte leads from each state: int32 (S, 256)."""
    rows: NDArray[np.int32] = dfa.table[:, dfa.classes]
    return rows
