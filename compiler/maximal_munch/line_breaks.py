"""A terminal of line breaks, and the blanks after it, by their width.

/(\\r?\\n[\\t ]*)+/     first: \\r?\\n    blank: [\\t ]*\\r?\\n    rest: [\\t ]*
"""

from dataclasses import dataclass, replace

import numpy as np

from ..automata import regex_ir as regex
from ..automata.boolean import common, embedded
from ..automata.compare import are_equal
from ..automata.dfa import DEAD, Dfa, trimmed
from ..automata.graphs import reached
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..limits import Limits


@dataclass(frozen=True, slots=True)
class LineBreaks:
    """A terminal of line breaks, divided. ``first``: to the end of the line; ``blank``: one more
    line, which does not count; ``rest``: what stands before the next one."""

    first: Dfa
    blank: Dfa
    rest: Dfa


def divided(whole: Dfa, limits: Limits) -> LineBreaks | None:
    """The terminal of line breaks, if each line of it is like any other, else None."""
    feed = int(whole.classes[10])
    columns = sorted({int(whole.classes[byte]) for byte in range(256) if byte != 10})
    line = list(reached([whole.start], lambda q: {int(n) for n in whole.table[q, columns]}))
    behind = {int(whole.table[state, feed]) for state in line} - {DEAD}
    if len(behind) == 1 and whole.accepting[next(iter(behind))]:
        rest = trimmed(replace(whole, start=behind.pop()))
        word = regex.repeat(regex.byte_class([(0, 9), (11, 255)]), 0, None)
        one = minimal(thompson(regex.seq(word, regex.lit(b"\n")), limits), limits)
        no = minimal(thompson(word, limits), limits)
        lines = LineBreaks(common(whole, one, limits), common(rest, one, limits), common(rest, no))
        first, blank, last = (embedded(dfa) for dfa in (lines.first, lines.blank, lines.rest))
        again = regex.seq(first, regex.repeat(blank, 0, None), last)
        alone = embedded(common(whole, no, limits))
        if are_equal(whole, minimal(thompson(regex.alt(again, alone), limits), limits), limits):
            return lines
    return None


def blanks_of(width: int, tab_length: int) -> Dfa:
    """Blanks and tabs that are so wide together: the minimal automaton, its states in order."""
    table = np.full((width + 2, 3), DEAD, dtype=np.int32)
    classes = np.zeros(256, dtype=np.uint8)
    for column, (mark, wide) in enumerate(((b" ", 1), (b"\t", tab_length)), 1):
        classes[ord(mark)] = column
        table[1 : max(1, width + 2 - wide), column] = np.arange(1 + wide, width + 2)
    accepting = np.arange(width + 2) == width + 1
    return Dfa(table, classes, accepting, 1, (frozenset(),) * len(table))
