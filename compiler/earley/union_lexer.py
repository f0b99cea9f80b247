"""All terminals of a grammar in one DFA, for ``viz --stage lexer``, and which of them end where.

terminals "if", /[a-z]+/   ->   after "if" both end, after "i" and "ifs" the second alone
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.dfa.stacked_dfas import DEAD, StackedDfas
from constrain.artifacts.tokens.vocabulary import TokenClasses

from ..automata.graphs import Numbered, reached
from ..limits import Limits

_OCTETS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Lexer:
    """``dfa``: all terminals at once. ``ends``: for each state the terminals that end there."""

    dfa: ByteDfa
    ends: Sequence[tuple[int, ...]]


def joint_lexer(stacked: StackedDfas, limits: Limits | None = None) -> Lexer:
    """The subset construction over the terminals' DFAs, all of which begin at once.

    Raises ``LimitError`` for too many states.
    """
    limits = (limits or Limits()).started()
    terminal_of = _terminals_of(stacked)
    table, width = stacked.table, len(stacked.columns)
    start = tuple(sorted(set(stacked.starts.tolist())))
    numbers = Numbered[tuple[int, ...]](start, ())
    rows: list[list[int]] = [[DEAD] * table.shape[1]]
    ends: list[tuple[int, ...]] = [()]
    for subset in numbers.order:
        targets = table[list(subset)]
        row = []
        for column in range(table.shape[1]):
            live = np.unique(targets[:, column][targets[:, column] != DEAD])
            row.append(numbers[tuple(live.tolist())])
            limits.check_states(len(numbers), "the lexer")
        rows.append(row)
        limits.check_resources("the lexer")
        accepting = [s for s in subset if stacked.accepting[s]]
        ends.append(tuple(sorted({t for s in accepting for t in terminal_of[s]})))
    # One column a byte class, and one for each token terminal after them.
    distinct, classes = np.unique(stacked.columns[:_OCTETS], return_inverse=True)
    columns = [*distinct.tolist(), *stacked.columns[_OCTETS:width].tolist()]
    dfa = ByteDfa(
        np.array(rows, dtype=np.int32)[:, columns],
        classes.astype(np.uint8),
        TokenClasses.of([[]] * (width - _OCTETS)),
        np.array([bool(found) for found in ends], dtype=np.uint8),
        1,
    )
    return Lexer(dfa, ends)


def _terminals_of(stacked: StackedDfas) -> list[list[int]]:
    """The terminals whose DFA each state is in; equal terminals share one."""
    found: list[list[int]] = [[] for _ in range(len(stacked.table))]

    def after(state: int) -> list[int]:
        return [t for t in np.unique(stacked.table[state]).tolist() if t != DEAD]

    for terminal in range(len(stacked.starts)):
        for state in reached([int(stacked.starts[terminal])], after):
            found[state].append(terminal)
    return found
