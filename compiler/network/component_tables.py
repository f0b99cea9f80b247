"""Rows of runs as the tables of a network: over classes of bytes, token terminals and calls.

1: [a-z] → 2, call of procedure 0 → 3      ->      table[1, class of a–z] = 2, a call (start, 3)
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.tables import NetworkTables

from ..automata.nfa import FIRST_TERMINAL
from ..limits import Limits
from .counter_tables import Called, counted

_STAGE = "the grammar's network"


def tables_of(
    rows: Sequence[list[int]],
    accepting: Sequence[bool],
    names: Sequence[str],
    entries: Sequence[int],
    called_as: Sequence[Called | None],
    limits: Limits,
    terminals: int,
    nullable_start: bool,
) -> NetworkTables:
    """The network of rows, state 0 being dead; ``entries``: where the rules ``names`` start, or
    what is counted or permuted in these, as ``called_as`` says.

    A row is flat: low, high, target, low, … over bytes, token terminals and calls of ``names``.
    Raises ``LimitError``.
    """
    rules = names[:1]
    states = len(rows)
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=states) // 3
    runs = np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 3)
    low, high, targets = np.ascontiguousarray(runs.T)
    sources = np.repeat(np.arange(states), lengths)
    first_call = FIRST_TERMINAL + terminals
    is_byte, is_call = low < FIRST_TERMINAL, low >= first_call
    begins = np.zeros(FIRST_TERMINAL + 1, dtype=np.bool_)
    begins[low[is_byte]] = begins[high[is_byte] + 1] = True
    begins[0] = False
    columns = np.cumsum(begins[:FIRST_TERMINAL], dtype=np.int64)
    width = int(columns[-1]) + 1
    limits.check_allocation(3 * 4 * states * (width + terminals), _STAGE, rules)
    table = np.zeros((states, width), dtype=np.int32)
    _fill(table, sources[is_byte], columns[low[is_byte]], columns[high[is_byte]], targets[is_byte])
    classes, table = _joined(columns, table)
    if terminals:
        is_token = ~is_byte & ~is_call
        behind = np.zeros((states, terminals), dtype=np.int32)
        symbols = low[is_token] - FIRST_TERMINAL, high[is_token] - FIRST_TERMINAL
        _fill(behind, sources[is_token], *symbols, targets[is_token])
        table = np.concatenate((table, behind), axis=1)
    begun = np.array(entries, dtype=np.int32)
    called = low[is_call] - first_call
    returns, counters = counted(states, begun, called_as, called, targets[is_call])
    rules_called = [i for i, bounds in enumerate(called_as) if bounds is None]
    return NetworkTables(
        table=table,
        classes=classes,
        accepting=np.array(accepting, dtype=np.uint8),
        call_offsets=np.searchsorted(sources[is_call], np.arange(states + 1)).astype(np.int64),
        call_starts=begun[called],
        call_returns=returns,
        start=entries[0],
        nullable_start=nullable_start,
        names=tuple(names[i] for i in rules_called),
        entries=begun[rules_called],
        counters=counters,
    )


def _fill(
    table: NDArray[np.int32],
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> None:
    """Write targets to the columns ``first`` to ``last`` of ``rows``."""
    lengths = last - first + 1
    ends = np.cumsum(lengths)
    places = np.repeat(rows * table.shape[1] + first - ends + lengths, lengths)
    places += np.arange(len(places))
    table.ravel()[places] = np.repeat(targets, lengths)


def _joined(
    columns: NDArray[np.int64], table: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The class of each byte, equal columns being one, and the table of the classes."""
    numbers: dict[bytes, int] = {}
    distinct: list[int] = []
    found = np.zeros(table.shape[1], dtype=np.uint8)
    for i, column in enumerate(np.ascontiguousarray(table.T)):
        number = numbers.setdefault(column.tobytes(), len(numbers))
        if number == len(distinct):
            distinct.append(i)
        found[i] = number
    return found[columns], np.ascontiguousarray(table[:, distinct])
