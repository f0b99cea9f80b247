"""Networks over lexemes whose states know how wide the block around is.

    state 5: as wide -> 6, wider -> 7     ->     state 5 at width w: <w> -> 6 at w
                                                 <v> -> 7 at v, for each v > w

Rules are written once for blocks of any width (``indentation.py``): what stands before a line is as
wide as the block around, or wider. A state of all widths is one of theirs and a width, which stays
as it is but where a block begins. That is a call, or the last thing of one, so that the frame below
has the width to go on with. Rules for which the width does not matter are at width 0.

Here the states of all widths are numbered; where they are made when they are met, those alone that
texts come to are (``compiler/machine/indented_states.py``).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from constrain.artifacts.maximal_munch.tables import FIRST_LEXEME
from constrain.artifacts.network.tables import DEAD, NetworkTables
from constrain.artifacts.tokens.distinct import distinct

from ..automata.graphs import reached
from ..limits import Limits
from ..network.tree_expressions import RUNS
from ..network.tree_rules import Rules
from .lexemes import LexemeWidths

_STAGE = "the widths of lines"


def blocks_and_lines(rules: Rules, widths: LexemeWidths) -> tuple[set[int], set[int]]:
    """The rules that must be called, as another width holds inside; and those for which it matters
    which one holds."""
    users, blanks = defaultdict[int, list[int]](list), defaultdict[int, set[int]](set)
    symbols = {FIRST_LEXEME + lexeme: lexeme for lexeme in (widths.same, widths.wider)}
    for rule in rules.reached:
        for callee in rules.uses(rule).callees:
            users[callee].append(rule)
        loop = rules.loops[rule]
        parts = reached((*loop.heads, *loop.tails), rules.parts.__getitem__)
        for runs in (rules.contents[e] for e in parts if rules.kinds[e] == RUNS):
            assert isinstance(runs, tuple)
            for symbol, lexeme in symbols.items():
                if any(a <= symbol <= b for a, b in zip(runs[::2], runs[1::2], strict=True)):
                    blanks[lexeme].add(rule)
    lines = reached([rule for found in blanks.values() for rule in found], users.__getitem__)
    return blanks[widths.wider], set(lines)


class OpenBlocks:
    """The widths of the blocks that a text has begun, by its lexemes; ``widths``: None where there
    are no blocks."""

    def __init__(self, widths: LexemeWidths | None) -> None:
        self._widths, self._open, self._is_begun = widths, [0], False
        self._width_of = {} if widths is None else {i: w for w, i in widths.each.items()}

    def read(self, lexemes: frozenset[int]) -> frozenset[int]:
        """The same lexemes, whichever it was, with those that stand for blanks before a line."""
        if self._widths is None or not lexemes:
            return lexemes
        width = next((self._width_of[each] for each in lexemes if each in self._width_of), 0)
        was_begun, self._is_begun = self._is_begun, not lexemes.isdisjoint(self._widths.lines)
        if self._is_begun or not was_begun:
            return lexemes
        while self._open[-1] > width:
            self._open.pop()
        if not width:
            return lexemes
        if self._open[-1] == width:
            return lexemes | {self._widths.same}
        self._open.append(width)
        return lexemes | {self._widths.wider}

    def waiting(self, lexemes: frozenset[int]) -> frozenset[int]:
        """The same lexemes, and those that stand for some of them."""
        if self._widths is None or lexemes.isdisjoint(self._width_of):
            return lexemes
        return lexemes | {self._widths.same, self._widths.wider}


def of_all_widths(given: NetworkTables, widths: LexemeWidths, limits: Limits) -> NetworkTables:
    """The network of all widths, ``given`` that of the rules. Raises ``LimitError``."""
    assert given.counters is None
    width_of = {FIRST_LEXEME + lexeme: width for width, lexeme in widths.each.items()}
    columns = given.table.shape[1] - given.terminals
    same, wider = columns + widths.same, columns + widths.wider
    knows = _knowing(given, same, wider)
    inside = _inside(given, distinct(given.table[:, wider]).tolist())
    copied = [state for state in sorted(inside) if knows[state]]
    levels = sorted(width_of.values())
    count = given.states + len(levels) * len(copied)
    limits.check_states(count, _STAGE, given.names[:1])
    # Of each level where its states are; those for which the width does not matter stay.
    plain = np.arange(given.states, dtype=np.int32)
    at = {0: plain}
    for place, level in enumerate(levels):
        at[level] = plain.copy()
        at[level][copied] = given.states + place * len(copied) + np.arange(len(copied))
    tables, starts, returns, sizes = [], [], [], []
    of_calls = np.repeat(plain, np.diff(given.call_offsets))
    for level, numbers in at.items():
        of = plain if not level else np.array(copied, dtype=np.int32)
        table = numbers[given.table[of]]
        table[:, [same, wider]] = DEAD
        for symbol, width in width_of.items():
            column = columns + symbol - FIRST_LEXEME
            if width >= level:
                leads = given.table[of, same if width == level else wider]
                table[:, column] = at[width][leads]
        tables.append(table)
        kept = np.concatenate([np.flatnonzero(of_calls == state) for state in of.tolist()])
        kept = kept.astype(np.int64)
        starts.append(numbers[given.call_starts[kept]])
        returns.append(numbers[given.call_returns[kept]])
        sizes.append(np.diff(given.call_offsets)[of])
    return replace(
        given,
        table=np.concatenate(tables),
        accepting=given.accepting[np.concatenate([plain, *[copied] * len(levels)]).astype(int)],
        call_offsets=np.cumsum(np.concatenate([[0], *sizes])).astype(np.int64),
        call_starts=np.concatenate(starts),
        call_returns=np.concatenate(returns),
    )


def _knowing(given: NetworkTables, same: int, wider: int) -> Sequence[bool]:
    """Of which states it matters how wide the block around is."""
    knows = (given.table[:, [same, wider]] != DEAD).any(axis=1)
    callers = np.repeat(np.arange(given.states), np.diff(given.call_offsets))
    before = -1
    while before < knows.sum():
        before = int(knows.sum())
        knows |= knows[given.table].any(axis=1)
        called = knows[given.call_starts] | knows[given.call_returns]
        knows[callers[called]] = True
    found: list[bool] = knows.tolist()
    return found


def _inside(given: NetworkTables, begun: Sequence[int]) -> set[int]:
    """The states that are reached from some of them."""

    def after(state: int) -> set[int]:
        calls = slice(*given.call_offsets[state : state + 2].tolist())
        called = {*given.call_starts[calls].tolist(), *given.call_returns[calls].tolist()}
        return {*given.table[state].tolist(), *called} - {DEAD}

    return set(reached({*begun} - {DEAD}, after))
